"""Symmetric elimination of the sparse part of a matrix, in minimum-degree order (George, Liu 1989).

LAPACK gets the dense rest.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.threads import Stop, on_thread, time_is_up
from dpgraph.typing import FloatArray, IntArray

#: Outcomes of :func:`eliminate_low_degree`.
DENSE, INDEFINITE, TOO_LARGE = 0, 1, 2

# A sparse update costs some ten times a dense one; beyond this share of the order, dense is faster.
_DENSE_SHARE = 0.1
#: A pivot of more neighbours is not worth it.
LARGEST_PIVOT_DEGREE = 400
_FIRST_FORECAST = 20  # pivot degree
_LONG = 8  # times the pivot row: a row that is rather searched than copied
_FORECAST = 2  # times what fell away last is taken to be what can still fall away


class Row(NamedTuple):
    """Room for one row of a pool."""

    columns: IntArray
    values: FloatArray


class RowPool(NamedTuple):
    """Rows of a symmetric matrix that grow by fill-in; sorted, without the diagonal.

    Row v is at the positions ``start[v] .. start[v] + length[v]`` of `columns` and `values`, with room for
    ``capacity[v]`` entries. Those in columns of eliminated rows, whose degree is -1, no longer count: ``degree[v]`` is
    the number of the others. They go when the row is next written, so that a leaf costs its hub nothing.
    """

    columns: IntArray
    values: FloatArray
    start: IntArray
    length: IntArray
    capacity: IntArray
    degree: IntArray


@njit()
def _grown(columns: IntArray, values: FloatArray, size: int) -> tuple[IntArray, FloatArray]:
    """Copies with room for `size` entries."""
    more_columns, more_values = np.empty(size, dtype=np.int64), np.empty(size)
    more_columns[: columns.size] = columns
    more_values[: values.size] = values
    return more_columns, more_values


@njit()
def row_pool(rows: Rows, size: int) -> tuple[RowPool, Row]:
    """The rows of a matrix in a pool with room for `size` entries, and an empty row."""
    n = rows.indptr.size - 1
    columns, values = _grown(rows.indices.astype(np.int64), rows.data, size)
    start = rows.indptr[:-1].astype(np.int64)
    length = (rows.indptr[1:] - rows.indptr[:-1]).astype(np.int64)
    pool = RowPool(columns, values, start, length, length.copy(), length.copy())
    return pool, Row(np.empty(n, dtype=np.int64), np.empty(n))


@njit()
def take_row(pool: RowPool, v: int) -> int:
    """Eliminate row v: what is left of its entries comes first, and is counted."""
    pool.degree[v] = -1
    first = last = pool.start[v]
    for p in range(first, first + pool.length[v]):
        if pool.degree[pool.columns[p]] >= 0:
            pool.columns[last], pool.values[last] = pool.columns[p], pool.values[p]
            last += 1
    return int(last - first)


@njit()
def subtract_row(  # noqa: PLR0913
    pool: RowPool, u: int, pivot: int, count: int, factor: float, drop_zeros: bool, out: Row, used: int
) -> tuple[RowPool, int]:
    """Row u minus `factor` times the `count` entries of an eliminated row, without u: the pool, its used size.

    Drop zeros only where both triangles of a symmetric matrix get exactly the same values.
    """
    if pool.length[u] > _LONG * count and _subtract_in_place(pool, u, pivot, count, factor, drop_zeros):
        pool.degree[u] -= 1
        return pool, used
    length = _merge_row(pool, u, pivot, count, factor, drop_zeros, out)
    pool = _with_room(pool, length, used)
    pool.degree[u] = length
    return pool, _store_row(pool, u, length, out, used)


@njit()
def _subtract_in_place(pool: RowPool, u: int, pivot: int, count: int, factor: float, drop_zeros: bool) -> bool:
    """The same where no entry is new and none is dropped: else False, and nothing is changed.

    A hub with many neighbours of low degree is not copied for each of them.
    """
    columns, values = pool.columns, pool.values
    first, last = pool.start[u], pool.start[u] + pool.length[u]
    for write in (False, True):
        for q in range(pool.start[pivot], pool.start[pivot] + count):
            if columns[q] == u:
                continue
            p = first + np.searchsorted(columns[first:last], columns[q])
            if p == last or columns[p] != columns[q]:
                return False
            value = values[p] - factor * values[q]
            if drop_zeros and value == 0.0:
                return False
            if write:
                values[p] = value
    return True


@njit()
def _merge_row(pool: RowPool, u: int, pivot: int, count: int, factor: float, drop_zeros: bool, out: Row) -> int:
    """Write what :func:`subtract_row` makes of row u to `out`: its length."""
    columns, values = pool.columns, pool.values
    p, last = pool.start[u], pool.start[u] + pool.length[u]
    q, pivot_last = pool.start[pivot], pool.start[pivot] + count
    none = np.int64(1) << 62
    length = 0
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
        if pool.degree[column] >= 0 and column != u and not (drop_zeros and value == 0.0):
            out.columns[length] = column
            out.values[length] = value
            length += 1
    return length


@njit()
def _with_room(pool: RowPool, length: int, used: int) -> RowPool:
    """The pool, enlarged if a row of this length might not fit behind its `used` part."""
    if used + 2 * length <= pool.columns.size:
        return pool
    columns, values = _grown(pool.columns, pool.values, 2 * (used + 2 * length))
    return RowPool(columns, values, pool.start, pool.length, pool.capacity, pool.degree)


@njit()
def _store_row(pool: RowPool, u: int, length: int, row: Row, used: int) -> int:
    """Write row u back, behind the `used` part if it has outgrown its place: the used size of the pool."""
    if length > pool.capacity[u]:
        pool.capacity[u] = length + length // 2
        pool.start[u] = used
        used += pool.capacity[u]
    first = pool.start[u]
    pool.columns[first : first + length] = row.columns[:length]
    pool.values[first : first + length] = row.values[:length]
    pool.length[u] = length
    return used


def remaining(pool: RowPool) -> tuple[sparse.csr_array, IntArray]:
    """The rows that were not eliminated, as a matrix, and their numbers."""
    kept = np.flatnonzero(pool.degree >= 0)
    position = np.full(pool.degree.size, -1, dtype=np.int64)
    position[kept] = np.arange(kept.size)
    lengths = pool.length[kept]
    ends = np.cumsum(lengths)
    entry = np.repeat(pool.start[kept] - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    entry = entry[position[pool.columns[entry]] >= 0]
    rows = pool.values[entry], position[pool.columns[entry]], np.concatenate([[0], np.cumsum(pool.degree[kept])])
    return sparse.csr_array(rows, shape=(kept.size, kept.size)), kept


def eliminate_low_degree(rows: Rows, diagonal: FloatArray, dense_limit: int) -> tuple[int, FloatArray]:
    """Eliminate vertices of smallest degree until the Schur complement is dense, with at most `dense_limit` rows.

    The rows are those of a symmetric matrix without a diagonal, sorted; `diagonal` is overwritten. The outcome is
    INDEFINITE when a pivot is not positive, TOO_LARGE when elimination would cost too much, DENSE otherwise.
    """
    work = max(diagonal.size - dense_limit, 0) * LARGEST_PIVOT_DEGREE + 8 * (rows.indices.size + diagonal.size)
    outcome, pool = on_thread(at_once(_eliminate, work), rows, diagonal, dense_limit)
    if time_is_up():  # it may have been stopped
        outcome = TOO_LARGE
    if outcome != DENSE:
        return outcome, np.empty((0, 0))
    rest, kept = remaining(pool)
    complement = rest.toarray()
    np.fill_diagonal(complement, diagonal[kept])
    return outcome, complement


@njit()
def _link(v: int, degree: IntArray, head: IntArray, after: IntArray, before: IntArray) -> None:
    """Put v at the head of the doubly linked list of its degree."""
    first = head[degree[v]]
    after[v], before[v] = first, -1
    if first >= 0:
        before[first] = v
    head[degree[v]] = v


@njit()
def _unlink(v: int, degree: IntArray, head: IntArray, after: IntArray, before: IntArray) -> None:
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[degree[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@njit(nogil=True)
def _eliminate(rows: Rows, diagonal: FloatArray, dense_limit: int, stop: Stop) -> tuple[int, RowPool]:
    """The outcome, and the rows that are left."""
    n = diagonal.size
    used = rows.indices.size
    pool, row = row_pool(rows, 3 * used + n)
    degree = pool.degree
    lists = np.full((3, n + 1), -1, dtype=np.int64)
    head, after, before = lists[0], lists[1], lists[2]
    for v in range(n):
        _link(v, degree, head, after, before)
    left = n
    smallest = 0
    milestone, left_before = _FIRST_FORECAST, 0
    while left > 0 and not stop[0]:
        while head[smallest] < 0:
            smallest += 1
        if left <= dense_limit and (smallest >= _DENSE_SHARE * left or smallest > LARGEST_PIVOT_DEGREE):
            break
        if smallest >= milestone:
            # What falls away at twice the degree is half as much in random graphs and little less in grids.
            hopeless = left_before > 0 and left - _FORECAST * (left_before - left) > dense_limit
            if hopeless or smallest > LARGEST_PIVOT_DEGREE:
                return TOO_LARGE, pool
            milestone, left_before = 2 * smallest, left
        v = head[smallest]
        if not diagonal[v] > 0.0:
            return INDEFINITE, pool
        _unlink(v, degree, head, after, before)
        first, count = pool.start[v], take_row(pool, v)
        left -= 1
        for p in range(first, first + count):
            u = pool.columns[p]
            factor = pool.values[p] / diagonal[v]
            diagonal[u] -= factor * pool.values[p]
            _unlink(u, degree, head, after, before)
            pool, used = subtract_row(pool, u, v, count, factor, False, row, used)
            _link(u, degree, head, after, before)
            smallest = min(smallest, degree[u])
    return DENSE, pool
