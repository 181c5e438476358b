"""Numba kernels on compressed sparse rows."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

__all__ = ["csr_rows_times_block", "csr_times_block"]


@njit(parallel=True, cache=True, fastmath=False)
def csr_rows_times_block(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: NDArray[np.float64],
    rows: NDArray[np.int64],
    block: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Selected rows of (sparse matrix) times (dense n x k block), without copying the rows."""
    k = block.shape[1]
    out = np.zeros((rows.size, k))
    for t in prange(rows.size):
        i = rows[t]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            a = data[p]
            for c in range(k):
                out[t, c] += a * block[j, c]
    return out


@njit(parallel=True, cache=True, fastmath=False)
def csr_times_block(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    data: NDArray[np.float64],
    block: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sparse matrix times dense n x k block, on all cores."""
    n, k = indptr.size - 1, block.shape[1]
    out = np.zeros((n, k))
    if k == 1:
        column = block[:, 0]
        for i in prange(n):
            total = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                total += data[p] * column[indices[p]]
            out[i, 0] = total
        return out
    for i in prange(n):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            a = data[p]
            for c in range(k):
                out[i, c] += a * block[j, c]
    return out
