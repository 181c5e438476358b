"""Products of compressed sparse rows with narrow dense arrays, on all cores where the product is large enough."""

from typing import Any

import numpy as np
from numba import get_num_threads, prange
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.typing import FloatArray, IntArray

#: Multiplications below which starting a second thread costs more than it saves.
_PARALLEL_WORK = 2_000_000


def csr_times_block(A: Any, block: FloatArray) -> FloatArray:
    """Sparse CSR matrix times a dense array of shape (n, k)."""
    if not _worth_sharing(A, block):
        return np.asarray(A @ block)  # on one thread nothing here is faster than scipy
    return csr_rows_times_block(A, np.arange(A.shape[0]), block)


def csr_rows_times_block(A: Any, rows: IntArray, block: FloatArray) -> FloatArray:
    """Selected rows of (CSR matrix times dense (n, k) array), without copying the rows."""
    shared = _worth_sharing(A, block)
    if block.shape[1] == 1:
        vector_kernel = _vector_rows_parallel if shared else _vector_rows
        return vector_kernel(A.indptr, A.indices, A.data, rows, np.ascontiguousarray(block[:, 0]))[:, None]
    kernel = _block_rows_parallel if shared else _block_rows
    return kernel(A.indptr, A.indices, A.data, rows, np.ascontiguousarray(block))


def _worth_sharing(A: Any, block: FloatArray) -> bool:
    return A.nnz * block.shape[1] > _PARALLEL_WORK and get_num_threads() > 1


# A sum that is kept in a register is three times as fast as one that is kept in the array of results, so that single
# columns, the common case, have kernels of their own.


def _vector_rows_source(
    indptr: NDArray[np.int32], indices: NDArray[np.int32], data: FloatArray, rows: IntArray, x: FloatArray
) -> FloatArray:
    out = np.empty(rows.size)
    for t in prange(rows.size):
        total = 0.0
        for p in range(indptr[rows[t]], indptr[rows[t] + 1]):
            total += data[p] * x[indices[p]]
        out[t] = total
    return out


def _block_rows_source(
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


_vector_rows = njit()(_vector_rows_source)
_vector_rows_parallel = njit(parallel=True)(_vector_rows_source)
_block_rows = njit()(_block_rows_source)
_block_rows_parallel = njit(parallel=True)(_block_rows_source)
