"""Exact elimination of vertices of low degree before a cut is searched (Charfreitag et al. 2022).

With its neighbours fixed, the best side of a vertex v contributes (sum_k w_k + |sum_k w_k x_k|)/2. For one, two or
three neighbours |sum_k w_k x_k| = alpha + sum_{k<l} beta_kl x_k x_l, so v can be replaced by edges of weight -beta_kl
between its neighbours (Fisher 1959). Every cut of what is left extends to a cut of the whole graph that is optimal on
the eliminated vertices. Sparse graphs lose most of their vertices this way, forests and cycles all but one.

At one or two neighbours, where |sum_k w_k V_k| of unit vectors is at least its linear replacement, the relaxation of
what is left is at least as tight; at three it need not be.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.sos.elimination import DEGREE, START, RowPool, has_room, remaining, subtract_row, take_row
from dpgraph.threads import Stop, on_thread, time_is_up
from dpgraph.typing import FloatArray, IntArray

_AT_ONCE = 1000  # vertices that are eliminated by one call of the kernel, or more


def reduce_low_degree(
    matrix: sparse.csr_array, most: int = 3
) -> tuple[sparse.csr_array, IntArray, Callable[[FloatArray], FloatArray], int]:
    """Eliminate vertices of degree at most `most` <= 3 until there are none, or one vertex is left.

    Returned are the smaller matrix, the numbers of its vertices, and the best extension of their signs (k,) to all
    vertices (n,): its value is that in the smaller matrix plus a constant. Last, how many times an entry was rounded.
    Once the time is up nothing is eliminated.
    """
    A = matrix.sorted_indices()
    n, pool = A.shape[0], RowPool.of(Rows.of(A))
    few = np.flatnonzero(pool.at[DEGREE] <= most)
    stack, state = np.append(few[::-1], np.empty(5 * n - few.size, np.int64)), np.array([few.size, 0])
    work = _Work(stack, state, np.empty(n, np.int64), np.full((n, 3), -1), np.zeros((n, 3)))
    while state[0] > 0 and state[1] < n - 1 and not time_is_up():
        count = min(max(int(state[0]), _AT_ONCE), n)  # where few are eliminated, nothing is compiled
        kernel, last = at_once(_eliminate, 2 * most * count * (A.nnz / n + most)), min(state[1] + count, n - 1)
        on_thread(kernel, pool, work, most, last)
        pool = pool if state[0] == 0 or state[1] == last else pool.enlarged()
    if time_is_up():
        return matrix, np.arange(n), np.copy, 0
    order, neighbours, weights = work.order[: state[1]], work.neighbours[: state[1]], work.weights[: state[1]]
    rest, kept = remaining(pool)
    # A vertex of degree 1 or 2 takes one edge with it, and one more where its edge is added to another, rounded.
    # One of degree 3 takes those that are added to others; four sums make each of its three edges.
    degrees = np.sum(neighbours >= 0, axis=1)
    single, threes = int(np.sum((degrees == 1) | (degrees == 2))), int(np.sum(degrees == 3))
    roundings = (A.nnz - rest.nnz) // 2 - single + 12 * threes
    return rest, kept, partial(at_once(_extend, 3 * order.size), kept, order, neighbours, weights), roundings


@njit()
def _replacement(weights: FloatArray, row: int, count: int, delta: FloatArray) -> None:
    """Weights of the edges 01, 02, 12 that replace a vertex with weights w to its `count` neighbours."""
    w0, w1, w2 = weights[row, 0], weights[row, 1], weights[row, 2]
    delta[0] = delta[1] = delta[2] = 0.0
    if count == 2:
        delta[0] = -np.sign(w0 * np.sign(w1)) * min(abs(w0), abs(w1))
    elif count == 3:
        same = abs(w0 + w1 + w2)
        first = abs(-w0 + w1 + w2)
        second = abs(w0 - w1 + w2)
        third = abs(w0 + w1 - w2)
        delta[0] = 0.25 * (first + second - same - third)
        delta[1] = 0.25 * (first + third - same - second)
        delta[2] = 0.25 * (second + third - same - first)


class _Work(NamedTuple):
    """Vertices to look at, and those that are eliminated."""

    stack: IntArray
    state: IntArray  #: how high the stack is, and how many are eliminated
    order: IntArray
    neighbours: IntArray  #: up to three at that time, else -1
    weights: FloatArray  #: of their edges


@njit(nogil=True)
def _eliminate(pool: RowPool, work: _Work, most: int, last: int, stop: Stop) -> None:
    """Eliminate vertices of the stack until `last` are done, or none is left on it, or the pool has to grow."""
    stack, state, order, neighbours, weights = work
    at, delta = pool.at, np.empty(3)
    while state[0] > 0 and state[1] < last and not stop[0]:
        v, done = stack[state[0] - 1], state[1]
        eliminated = 0 <= at[DEGREE, v] <= most
        if eliminated and not has_room(pool, v):
            return
        state[0] -= 1
        if not eliminated:
            continue
        first, count = at[START, v], take_row(pool, v)
        for t in range(count):
            neighbours[done, t], weights[done, t] = pool.columns[first + t], pool.values[first + t]
        _replacement(weights, done, count, delta)
        order[done] = v
        for t in range(count):
            u = neighbours[done, t]
            for s in range(count):  # the row that is added to row u, written where row v was
                pool.values[first + s] = 0.0 if s == t else delta[s + t - 1]
            subtract_row(pool, u, v, count, -1.0, True)
            if at[DEGREE, u] <= most:
                stack[state[0]] = u
                state[0] += 1
        state[1] += 1


@njit()
def _extend(
    kept: IntArray, order: IntArray, neighbours: IntArray, weights: FloatArray, signs: FloatArray
) -> FloatArray:
    """The best sign of each eliminated vertex, last eliminated first, beside those of the kept ones."""
    whole = np.ones(kept.size + order.size)
    for k in range(kept.size):  # one by one: numba compiles texts of errors for arrays of unequal shapes, two seconds
        whole[kept[k]] = signs[k]
    for t in range(order.size - 1, -1, -1):
        field = 0.0
        for s in range(3):
            if neighbours[t, s] >= 0:
                field += weights[t, s] * whole[neighbours[t, s]]
        whole[order[t]] = -1.0 if field > 0.0 else 1.0
    return whole
