"""Numba kernels on compressed sparse rows, on all cores where the product is large enough to pay for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["csr_rows_times_block", "csr_times_block"]

#: Multiplications below which starting a second thread costs more than it saves.
_PARALLEL_WORK = 2_000_000


def csr_times_block(A: Any, block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sparse CSR matrix times a dense array of shape (n, k)."""
    kernel = _all_rows_parallel if A.nnz * block.shape[1] > _PARALLEL_WORK else _all_rows
    return kernel(A.indptr, A.indices, A.data, np.ascontiguousarray(block))


def csr_rows_times_block(A: Any, rows: NDArray[np.int64], block: NDArray[np.float64]) -> NDArray[np.float64]:
    """Selected rows of (CSR matrix times dense (n, k) array), without copying the rows."""
    kernel = _some_rows_parallel if A.nnz * block.shape[1] > _PARALLEL_WORK else _some_rows
    return kernel(A.indptr, A.indices, A.data, rows, np.ascontiguousarray(block))


def _all_rows_source(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: NDArray[np.float64],
    block: NDArray[np.float64],
) -> NDArray[np.float64]:
    n, k = indptr.size - 1, block.shape[1]
    out = np.zeros((n, k))
    for i in prange(n):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            for c in range(k):
                out[i, c] += data[p] * block[j, c]
    return out


def _some_rows_source(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: NDArray[np.float64],
    rows: NDArray[np.int64],
    block: NDArray[np.float64],
) -> NDArray[np.float64]:
    k = block.shape[1]
    out = np.zeros((rows.size, k))
    for t in prange(rows.size):
        i = rows[t]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            for c in range(k):
                out[t, c] += data[p] * block[j, c]
    return out


_all_rows = njit(cache=True)(_all_rows_source)
_all_rows_parallel = njit(parallel=True, cache=True)(_all_rows_source)
_some_rows = njit(cache=True)(_some_rows_source)
_some_rows_parallel = njit(parallel=True, cache=True)(_some_rows_source)
