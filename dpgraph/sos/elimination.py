"""Symmetric elimination of the sparse part of a matrix, in minimum-degree order; LAPACK gets the dense rest.

References
----------
A. George, J. W. H. Liu, The evolution of the minimum degree ordering algorithm, SIAM Review 31 (1989).
"""

from typing import NamedTuple

import numpy as np

from dpgraph.compiled import njit
from dpgraph.typing import FloatArray, IntArray

__all__ = [
    "DENSE",
    "INDEFINITE",
    "TOO_LARGE",
    "RowPool",
    "eliminate_low_degree",
    "enlarged",
    "merge_row",
    "row_pool",
    "store_row",
]

#: Outcomes of :func:`eliminate_low_degree`.
DENSE, INDEFINITE, TOO_LARGE = 0, 1, 2

# A sparse update costs some ten times a dense one; beyond this share of the order, dense is faster.
_DENSE_SHARE = 0.1
_LARGEST_PIVOT_DEGREE = 400
_FIRST_FORECAST = 20  # pivot degree
_FORECAST = 2  # times what fell away last is taken to be what can still fall away


class RowPool(NamedTuple):
    """Rows of a symmetric matrix that grow by fill-in; sorted, without the diagonal.

    Row v is at the positions ``start[v] .. start[v] + length[v]`` of `columns` and `values`, with room for
    ``capacity[v]`` entries. An eliminated row has length -1.
    """

    columns: IntArray
    values: FloatArray
    start: IntArray
    length: IntArray
    capacity: IntArray


class Row(NamedTuple):
    """Room for one row of the pool."""

    columns: IntArray
    values: FloatArray


@njit()
def row_pool(indptr: IntArray, indices: IntArray, data: FloatArray, size: int) -> tuple[RowPool, Row]:
    """The rows of a CSR matrix in a pool with room for `size` entries, and an empty row."""
    n = indptr.size - 1
    columns, values = _grown(indices.astype(np.int64), data, size)
    start = indptr[:-1].astype(np.int64)
    length = (indptr[1:] - indptr[:-1]).astype(np.int64)
    return RowPool(columns, values, start, length, length.copy()), Row(np.empty(n, dtype=np.int64), np.empty(n))


@njit()
def _relink(v: int, new_degree: int, degree: IntArray, head: IntArray, after: IntArray, before: IntArray) -> None:
    """Move v to the list of its new degree (-1: to none)."""
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[degree[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
    degree[v] = new_degree
    if new_degree >= 0:
        after[v] = head[new_degree]
        before[v] = -1
        if head[new_degree] >= 0:
            before[head[new_degree]] = v
        head[new_degree] = v


@njit()
def merge_row(pool: RowPool, u: int, pivot: int, count: int, factor: float, drop_zeros: bool, out: Row) -> int:
    """Row u minus `factor` times the `count` entries of the pivot row, without u and the pivot: length of the union.

    Drop zeros only where both triangles of a symmetric matrix get exactly the same values.
    """
    columns, values = pool.columns, pool.values
    first, last = pool.start[u], pool.start[u] + pool.length[u]
    pivot_first, pivot_last = pool.start[pivot], pool.start[pivot] + count
    none = np.int64(1) << 62
    length = 0
    p, q = first, pivot_first
    while p < last or q < pivot_last:
        left = columns[p] if p < last else none
        right = columns[q] if q < pivot_last else none
        column = min(left, right)
        value = 0.0
        if left == column:
            value += values[p]
            p += 1
        if right == column:
            value -= factor * values[q]
            q += 1
        if column != pivot and column != u and not (drop_zeros and value == 0.0):
            out.columns[length] = column
            out.values[length] = value
            length += 1
    return length


@njit()
def eliminate_low_degree(
    indptr: IntArray, indices: IntArray, data: FloatArray, diagonal: FloatArray, dense_limit: int
) -> tuple[int, FloatArray]:
    """Eliminate vertices of smallest degree until the Schur complement is dense.

    The matrix is symmetric CSR with sorted indices and no diagonal; `diagonal` is overwritten. Returned are DENSE and
    the Schur complement, of at most `dense_limit` rows; INDEFINITE when a pivot is not positive; TOO_LARGE when
    elimination would cost too much.
    """
    n = diagonal.size
    used = indices.size
    pool, row = row_pool(indptr, indices, data, 3 * used + n)
    degree = pool.length
    head = np.full(n + 1, -1, dtype=np.int64)  # doubly linked lists of the vertices of each degree
    after = np.full(n, -1, dtype=np.int64)
    before = np.full(n, -1, dtype=np.int64)
    for v in range(n):
        after[v] = head[degree[v]]
        if after[v] >= 0:
            before[after[v]] = v
        head[degree[v]] = v
    left = n
    smallest = 0
    milestone, left_before = _FIRST_FORECAST, 0
    while left > 0:
        while head[smallest] < 0:
            smallest += 1
        if left <= dense_limit and (smallest >= _DENSE_SHARE * left or smallest > _LARGEST_PIVOT_DEGREE):
            break
        if smallest >= milestone:
            # What falls away at twice the degree is half as much in random graphs and little less in grids.
            hopeless = left_before > 0 and left - _FORECAST * (left_before - left) > dense_limit
            if hopeless or smallest > _LARGEST_PIVOT_DEGREE:
                return TOO_LARGE, np.empty((0, 0))
            milestone, left_before = 2 * smallest, left
        v = head[smallest]
        if not diagonal[v] > 0.0:
            return INDEFINITE, np.empty((0, 0))
        first, count = pool.start[v], degree[v]
        _relink(v, -1, degree, head, after, before)
        left -= 1
        for p in range(first, first + count):
            u = pool.columns[p]
            factor = pool.values[p] / diagonal[v]
            diagonal[u] -= factor * pool.values[p]
            length = merge_row(pool, u, v, count, factor, False, row)
            if used + 2 * length > pool.columns.size:
                pool = enlarged(pool, 2 * (used + 2 * length))
            used = store_row(pool, u, length, row, used)
            _relink(u, length, degree, head, after, before)
            smallest = min(smallest, length)
    return DENSE, _dense_rest(left, pool, diagonal)


@njit()
def store_row(pool: RowPool, u: int, length: int, row: Row, used: int) -> int:
    """Write row u back, at the end of the pool if it has outgrown its place: the used size of the pool.

    The pool must have room for ``2 * length`` entries behind `used`.
    """
    if length > pool.capacity[u]:
        pool.capacity[u] = length + length // 2
        pool.start[u] = used
        used += pool.capacity[u]
    first = pool.start[u]
    for p in range(length):
        pool.columns[first + p] = row.columns[p]
        pool.values[first + p] = row.values[p]
    return used


@njit()
def enlarged(pool: RowPool, size: int) -> RowPool:
    """The pool with room for `size` entries."""
    columns, values = _grown(pool.columns, pool.values, size)
    return RowPool(columns, values, pool.start, pool.length, pool.capacity)


@njit()
def _grown(columns: IntArray, values: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
    """Copies with room for `size` entries."""
    more_columns = np.empty(size, dtype=np.int64)
    more_values = np.empty(size)
    for p in range(columns.size):
        more_columns[p] = columns[p]
        more_values[p] = values[p]
    return more_columns, more_values


@njit()
def _dense_rest(left: int, pool: RowPool, diagonal: FloatArray) -> FloatArray:
    """The Schur complement on the vertices that were not eliminated (length >= 0)."""
    n = diagonal.size
    position = np.full(n, -1, dtype=np.int64)
    count = 0
    for v in range(n):
        if pool.length[v] >= 0:
            position[v] = count
            count += 1
    rest = np.zeros((left, left))
    for v in range(n):
        if pool.length[v] >= 0:
            rest[position[v], position[v]] = diagonal[v]
            for p in range(pool.start[v], pool.start[v] + pool.length[v]):
                rest[position[v], position[pool.columns[p]]] = pool.values[p]
    return rest
