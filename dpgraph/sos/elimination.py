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
DENSE, INDEFINITE, TOO_LARGE, UNFINISHED = 0, 1, 2, 3

#: A sparse update costs some ten times a dense one; beyond this share of the order, dense is faster.
DENSE_SHARE = 0.1
#: A pivot of more neighbours is not worth it.
LARGEST_PIVOT_DEGREE = 400
_FIRST_FORECAST = 20  # pivot degree
_LONG = 8  # times the pivot row: a row that is rather searched than copied
_FORECAST = 2  # times what fell away last is taken to be what can still fall away

# Rows of :attr:`RowPool.at`.
START, LENGTH, CAPACITY, DEGREE = range(4)
_NONE = 2**62  # more than any column


class RowPool(NamedTuple):
    """Rows of a symmetric matrix that grow by fill-in; sorted, without the diagonal.

    Row v is at the positions ``at[START, v] .. at[START, v] + at[LENGTH, v]`` of `columns` and `values`, with room for
    ``at[CAPACITY, v]`` entries. Those in columns of eliminated rows, whose degree is -1, no longer count:
    ``at[DEGREE, v]`` is the number of the others. They go when the row is next written, so that a leaf costs its hub
    nothing. What is behind `used[0]` is free. Arrays of few types, no slices and no growth: this is compiled in half of
    the time that the same takes with them.
    """

    columns: IntArray
    values: FloatArray
    at: IntArray
    used: IntArray

    @classmethod
    def of(cls, rows: Rows) -> "RowPool":
        """The rows of a matrix, with room for as many entries again."""
        length = np.diff(rows.indptr)
        at = np.array([rows.indptr[:-1], length, length, length], dtype=np.int64)
        pool = cls(rows.indices.astype(np.int64), np.array(rows.data, np.float64), at, np.array([rows.indices.size]))
        return pool.enlarged()

    def enlarged(self) -> "RowPool":
        """The same with twice the room, and more. What is not used yet takes no memory."""
        used, size = int(self.used[0]), 2 * self.columns.size + self.at.shape[1]
        columns, values = np.empty(size, self.columns.dtype), np.empty(size)
        columns[:used], values[:used] = self.columns[:used], self.values[:used]
        return self._replace(columns=columns, values=values)


@njit()
def has_room(pool: RowPool, v: int) -> bool:
    """Whether there is room for all rows that change when row v is eliminated."""
    at, need = pool.at, 0
    for p in range(at[START, v], at[START, v] + at[LENGTH, v]):
        if at[DEGREE, pool.columns[p]] >= 0:
            need += 2 * (at[LENGTH, pool.columns[p]] + at[DEGREE, v])
    return bool(pool.used[0] + need <= pool.columns.size)


@njit()
def take_row(pool: RowPool, v: int) -> int:
    """Eliminate row v: what is left of its entries comes first, and is counted."""
    at = pool.at
    at[DEGREE, v] = -1
    first = last = at[START, v]
    for p in range(first, first + at[LENGTH, v]):
        if at[DEGREE, pool.columns[p]] >= 0:
            pool.columns[last], pool.values[last] = pool.columns[p], pool.values[p]
            last += 1
    return int(last - first)


@njit()
def subtract_row(pool: RowPool, u: int, pivot: int, count: int, factor: float, drop_zeros: bool) -> None:
    """Row u minus `factor` times the `count` entries of an eliminated row, without u.

    Drop zeros only where both triangles of a symmetric matrix get exactly the same values. The new row is written where
    the pool is free, and copied back if it fits.
    """
    columns, values, at = pool.columns, pool.values, pool.at
    if at[LENGTH, u] > _LONG * count and _subtract_in_place(pool, u, pivot, count, factor, drop_zeros):
        at[DEGREE, u] -= 1
        return
    p, last = at[START, u], at[START, u] + at[LENGTH, u]
    q, pivot_last = at[START, pivot], at[START, pivot] + count
    free = end = pool.used[0]
    while p < last or q < pivot_last:
        left = columns[p] if p < last else _NONE
        right = columns[q] if q < pivot_last else _NONE
        column = min(left, right)
        value = 0.0
        if left == column:
            value += values[p]
            p += 1
        if right == column:
            value -= factor * values[q]
            q += 1
        if at[DEGREE, column] >= 0 and column != u and not (drop_zeros and value == 0.0):
            columns[end], values[end] = column, value
            end += 1
    length = end - free
    if length > at[CAPACITY, u]:
        at[START, u], at[CAPACITY, u] = free, length + length // 2
        pool.used[0] += at[CAPACITY, u]
    else:
        for k in range(length):
            columns[at[START, u] + k], values[at[START, u] + k] = columns[free + k], values[free + k]
    at[LENGTH, u] = at[DEGREE, u] = length


@njit()
def _subtract_in_place(pool: RowPool, u: int, pivot: int, count: int, factor: float, drop_zeros: bool) -> bool:
    """The same where no entry is new and none is dropped: else False, and nothing is changed.

    A hub with many neighbours of low degree is not copied for each of them.
    """
    columns, values, at = pool.columns, pool.values, pool.at
    for write in range(2):
        for q in range(at[START, pivot], at[START, pivot] + count):
            if columns[q] == u:
                continue
            p, last = at[START, u], at[START, u] + at[LENGTH, u] - 1
            while p < last:
                middle = (p + last) // 2
                if columns[middle] < columns[q]:
                    p = middle + 1
                else:
                    last = middle
            value = values[p] - factor * values[q]
            if columns[p] != columns[q] or (drop_zeros and value == 0.0):
                return False
            if write == 1:
                values[p] = value
    return True


def remaining(pool: RowPool) -> tuple[sparse.csr_array, IntArray]:
    """The rows that were not eliminated, as a matrix, and their numbers."""
    kept = np.flatnonzero(pool.at[DEGREE] >= 0)
    position = np.full(pool.at.shape[1], -1, dtype=np.int64)
    position[kept] = np.arange(kept.size)
    start, lengths, _, degree = pool.at[:, kept]
    ends = np.cumsum(lengths)
    entry = np.repeat(start - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    entry = entry[position[pool.columns[entry]] >= 0]
    rows = pool.values[entry], position[pool.columns[entry]], np.concatenate([[0], np.cumsum(degree)])
    return sparse.csr_array(rows, shape=(kept.size, kept.size)), kept


def eliminate_low_degree(rows: Rows, diagonal: FloatArray, dense_limit: int) -> tuple[int, FloatArray]:
    """Eliminate vertices of smallest degree until the Schur complement is dense, with at most `dense_limit` rows.

    The rows are those of a symmetric matrix without a diagonal, sorted; `diagonal` is overwritten. The outcome is
    INDEFINITE when a pivot is not positive, TOO_LARGE when elimination would cost too much, DENSE otherwise.
    """
    degree = rows.indices.size / diagonal.size + 1.0
    work = diagonal.size * max(4.0 * degree**2, LARGEST_PIVOT_DEGREE * (diagonal.size > dense_limit))
    pool, lists = RowPool.of(rows), np.full((3, diagonal.size + 1), -1, dtype=np.int64)
    state = np.array([UNFINISHED, -1, diagonal.size, _FIRST_FORECAST, 0])
    kernel = at_once(_eliminate, work)
    while on_thread(kernel, pool, diagonal, dense_limit, lists, state) == UNFINISHED and not time_is_up():
        pool = pool.enlarged()
    outcome = int(state[0])
    if time_is_up():  # it may have been stopped
        outcome = TOO_LARGE
    if outcome != DENSE:
        return outcome, np.empty((0, 0))
    rest, kept = remaining(pool)
    complement = rest.toarray()
    np.fill_diagonal(complement, diagonal[kept])
    return outcome, complement


@njit()
def _link(v: int, degree: int, lists: IntArray) -> None:
    """Put v at the head of the doubly linked list of its degree: `lists` has heads, and who comes after and before."""
    first = lists[0, degree]
    lists[1, v], lists[2, v] = first, -1
    if first >= 0:
        lists[2, first] = v
    lists[0, degree] = v


@njit()
def _unlink(v: int, degree: int, lists: IntArray) -> None:
    after, before = lists[1, v], lists[2, v]
    if before >= 0:
        lists[1, before] = after
    else:
        lists[0, degree] = after
    if after >= 0:
        lists[2, after] = before


@njit(nogil=True)
def _eliminate(
    pool: RowPool, diagonal: FloatArray, dense_limit: int, lists: IntArray, state: IntArray, stop: Stop
) -> int:
    """Go on from the `state` until there is an outcome, which it begins with, or no room: then the pool is to grow.

    The others are the smallest degree (negative before there are lists), how many are left, when there is the next
    forecast, and how many were left at the last.
    """
    at = pool.at
    state[0] = UNFINISHED
    if state[1] < 0:
        state[1] = 0
        for v in range(diagonal.size):
            _link(v, at[DEGREE, v], lists)
    while not stop[0]:
        smallest, left = state[1], state[2]
        while left > 0 and lists[0, smallest] < 0:
            smallest += 1
        if left == 0 or (left <= dense_limit and (smallest >= DENSE_SHARE * left or smallest > LARGEST_PIVOT_DEGREE)):
            state[0] = DENSE
            break
        if smallest >= state[3]:
            # What falls away at twice the degree is half as much in random graphs and little less in grids.
            hopeless = state[4] > 0 and left - _FORECAST * (state[4] - left) > dense_limit
            if hopeless or smallest > LARGEST_PIVOT_DEGREE:
                state[0] = TOO_LARGE
                break
            state[3], state[4] = 2 * smallest, left
        v = lists[0, smallest]
        if not diagonal[v] > 0.0:
            state[0] = INDEFINITE
            break
        if not has_room(pool, v):
            break
        _unlink(v, smallest, lists)
        first, count = at[START, v], take_row(pool, v)
        for p in range(first, first + count):
            u = pool.columns[p]
            factor = pool.values[p] / diagonal[v]
            diagonal[u] -= factor * pool.values[p]
            _unlink(u, at[DEGREE, u], lists)
            subtract_row(pool, u, v, count, factor, False)
            _link(u, at[DEGREE, u], lists)
            smallest = min(smallest, at[DEGREE, u])
        state[1], state[2] = smallest, left - 1
    return int(state[0])
