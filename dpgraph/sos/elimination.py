"""Symmetric elimination of the sparse part of a matrix, in minimum-degree order; LAPACK gets the dense rest.

References
----------
A. George, J. W. H. Liu, The evolution of the minimum degree ordering algorithm, SIAM Review 31 (1989).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit

__all__ = ["DENSE", "INDEFINITE", "TOO_LARGE", "eliminate_low_degree", "grown", "merge_rows", "store_row"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Outcomes of :func:`eliminate_low_degree`.
DENSE, INDEFINITE, TOO_LARGE = 0, 1, 2

# A sparse update costs some ten times a dense one; beyond this share of the order, dense is faster.
_DENSE_SHARE = 0.1
_LARGEST_PIVOT_DEGREE = 400
_FIRST_FORECAST = 20  # pivot degree
_FORECAST = 2  # times what fell away last is taken to be what can still fall away


@njit()
def _relink(v: int, new_degree: int, degree: Ints, head: Ints, after: Ints, before: Ints) -> None:
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
def merge_rows(
    columns: Ints, values: Floats, first: int, last: int, pivot_first: int, pivot_last: int, pivot: int, u: int,
    factor: float, drop_zeros: bool, out_columns: Ints, out_values: Floats,
) -> int:  # fmt: skip
    """Row u minus `factor` times the pivot row, without the pivot and u itself: length of the sorted union.

    Drop zeros only where both triangles of a symmetric matrix get exactly the same values.
    """
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
            out_columns[length] = column
            out_values[length] = value
            length += 1
    return length


@njit()
def eliminate_low_degree(
    indptr: Ints, indices: Ints, data: Floats, diagonal: Floats, dense_limit: int
) -> tuple[int, Floats]:
    """Eliminate vertices of smallest degree until the Schur complement is dense.

    Parameters
    ----------
    indptr, indices, data : numpy.ndarray
        Symmetric CSR matrix with sorted indices and no diagonal.
    diagonal : numpy.ndarray, shape (n,)
        Its diagonal; overwritten.
    dense_limit : int
        Largest Schur complement to return.

    Returns
    -------
    (int, numpy.ndarray)
        DENSE and the Schur complement; INDEFINITE when a pivot is not positive; TOO_LARGE when elimination would
        cost too much.
    """
    n = diagonal.size
    used = indices.size
    columns, values = grown(indices.astype(np.int64), data, 3 * used + n)
    start = np.empty(n, dtype=np.int64)
    degree = np.empty(n, dtype=np.int64)
    capacity = np.empty(n, dtype=np.int64)
    head = np.full(n + 1, -1, dtype=np.int64)  # doubly linked lists of the vertices of each degree
    after = np.full(n, -1, dtype=np.int64)
    before = np.full(n, -1, dtype=np.int64)
    for v in range(n):
        start[v] = indptr[v]
        degree[v] = capacity[v] = indptr[v + 1] - indptr[v]
        after[v] = head[degree[v]]
        if after[v] >= 0:
            before[after[v]] = v
        head[degree[v]] = v
    row_columns = np.empty(n, dtype=np.int64)
    row_values = np.empty(n)
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
        first, last = start[v], start[v] + degree[v]
        _relink(v, -1, degree, head, after, before)
        left -= 1
        for p in range(first, last):
            u = columns[p]
            factor = values[p] / diagonal[v]
            diagonal[u] -= factor * values[p]
            length = merge_rows(
                columns, values, start[u], start[u] + degree[u], first, last, v, u, factor, False,
                row_columns, row_values,
            )  # fmt: skip
            columns, values, used = store_row(
                u, length, row_columns, row_values, columns, values, start, capacity, used
            )
            _relink(u, length, degree, head, after, before)
            smallest = min(smallest, length)
    return DENSE, _dense_rest(left, start, degree, columns, values, diagonal)


@njit()
def store_row(
    u: int, length: int, row_columns: Ints, row_values: Floats, columns: Ints, values: Floats, start: Ints,
    capacity: Ints, used: int,
) -> tuple[Ints, Floats, int]:  # fmt: skip
    """Write a row back, at the end of the pool if it has outgrown its place: the (new) pool and its used length."""
    if length > capacity[u]:
        capacity[u] = length + length // 2
        start[u] = used
        used += capacity[u]
        if used > columns.size:
            columns, values = grown(columns, values, 2 * used)
    for p in range(length):
        columns[start[u] + p] = row_columns[p]
        values[start[u] + p] = row_values[p]
    return columns, values, used


@njit()
def grown(columns: Ints, values: Floats, size: int) -> tuple[Ints, Floats]:
    """Copies with room for `size` entries."""
    more_columns = np.empty(size, dtype=np.int64)
    more_values = np.empty(size)
    for p in range(columns.size):
        more_columns[p] = columns[p]
        more_values[p] = values[p]
    return more_columns, more_values


@njit()
def _dense_rest(left: int, start: Ints, degree: Ints, columns: Ints, values: Floats, diagonal: Floats) -> Floats:
    """The Schur complement on the vertices that were not eliminated (degree >= 0)."""
    position = np.full(degree.size, -1, dtype=np.int64)
    count = 0
    for v in range(degree.size):
        if degree[v] >= 0:
            position[v] = count
            count += 1
    rest = np.zeros((left, left))
    for v in range(degree.size):
        if degree[v] >= 0:
            rest[position[v], position[v]] = diagonal[v]
            for p in range(start[v], start[v] + degree[v]):
                rest[position[v], position[columns[p]]] = values[p]
    return rest
