"""Products of compressed sparse rows with narrow dense arrays, on all cores where the product is large enough."""

from typing import Any

import numpy as np
from numba import get_num_threads, prange, set_num_threads
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.threads import thread_count
from dpgraph.typing import FloatArray, IntArray

#: Multiplications below which starting a second thread costs more than it saves.
_PARALLEL_WORK = 2_000_000


def csr_times_block(A: Any, block: FloatArray) -> FloatArray:
    """Sparse CSR matrix times a dense array of shape (n, k)."""
    shared = _worth_sharing(A, block)
    return csr_rows_times_block(A, np.arange(A.shape[0]), block) if shared else np.asarray(A @ block)


def csr_rows_times_block(A: Any, rows: IntArray, block: FloatArray) -> FloatArray:
    """Selected rows of (CSR matrix times dense (n, k) array)."""
    if not _worth_sharing(A, block):
        return np.asarray(A[rows] @ block)  # on one thread nothing here is faster than scipy
    threads = get_num_threads()
    set_num_threads(min(threads, thread_count()))
    try:
        return _rows_times_block(A.indptr, A.indices, A.data, rows, np.ascontiguousarray(block))
    finally:
        set_num_threads(threads)


def _worth_sharing(A: Any, block: FloatArray) -> bool:
    return A.nnz * block.shape[1] > _PARALLEL_WORK and thread_count() > 1


@njit(parallel=True)
def _rows_times_block(
    indptr: NDArray[np.int32], indices: NDArray[np.int32], data: FloatArray, rows: IntArray, block: FloatArray
) -> FloatArray:
    k = block.shape[1]
    out = np.zeros((rows.size, k))
    for t in prange(rows.size):
        i = rows[t]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            for c in range(k):
                out[t, c] += data[p] * block[j, c]
    return out
