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

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.sos.elimination import RowPool, remaining, row_pool, subtract_row, take_row
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import FloatArray, IntArray


def reduce_low_degree(
    matrix: sparse.csr_array, most: int = 3
) -> tuple[sparse.csr_array, IntArray, Callable[[FloatArray], FloatArray], int]:
    """Eliminate vertices of degree at most `most` <= 3 until there are none, or one vertex is left.

    Returned are the smaller matrix, the numbers of its vertices, and the best extension of their signs (k,) to all
    vertices (n,): its value is that in the smaller matrix plus a constant. Last, how many times an entry was rounded.
    """
    A = matrix.sorted_indices()
    pool, order, neighbours, weights = on_thread(at_once(_eliminate, 4 * (A.nnz + A.shape[0])), Rows.of(A), most)
    rest, kept = remaining(pool)
    # A vertex of degree 1 or 2 takes one edge with it, and one more where its edge is added to another, rounded.
    # One of degree 3 takes those that are added to others; four sums make each of its three edges.
    degrees = np.sum(neighbours >= 0, axis=1)
    single, threes = int(np.sum((degrees == 1) | (degrees == 2))), int(np.sum(degrees == 3))
    roundings = (A.nnz - rest.nnz) // 2 - single + 12 * threes
    return rest, kept, partial(at_once(_extend, 3 * order.size), kept, order, neighbours, weights), roundings


@njit()
def _replacement(w: FloatArray, count: int, delta: FloatArray) -> None:
    """Weights of the edges 01, 02, 12 that replace a vertex with weights w to its `count` neighbours."""
    delta[:] = 0.0
    if count == 2:
        delta[0] = -np.sign(w[0] * np.sign(w[1])) * min(abs(w[0]), abs(w[1]))
    elif count == 3:
        same = abs(w[0] + w[1] + w[2])
        first = abs(-w[0] + w[1] + w[2])
        second = abs(w[0] - w[1] + w[2])
        third = abs(w[0] + w[1] - w[2])
        delta[0] = 0.25 * (first + second - same - third)
        delta[1] = 0.25 * (first + third - same - second)
        delta[2] = 0.25 * (second + third - same - first)


@njit(nogil=True)
def _eliminate(rows: Rows, most: int, stop: Stop) -> tuple[RowPool, IntArray, IntArray, FloatArray]:
    """Rows that are left; vertices in order of elimination, with up to three neighbours then, else -1, and weights."""
    n = rows.indptr.size - 1
    used = rows.indices.size
    pool, row = row_pool(rows, 2 * used + n)
    degree = pool.degree
    order = np.empty(n, dtype=np.int64)
    neighbours = np.full((n, 3), -1, dtype=np.int64)
    weights = np.zeros((n, 3))
    delta = np.empty(3)
    few = np.flatnonzero(degree <= most)
    stack = np.empty(5 * n, dtype=np.int64)
    stack[: few.size] = few[::-1]
    height = few.size
    done = 0
    while height > 0 and done < n - 1 and not stop[0]:
        height -= 1
        v = stack[height]
        if degree[v] < 0 or degree[v] > most:
            continue
        first, count = pool.start[v], take_row(pool, v)
        neighbours[done, :count] = pool.columns[first : first + count]
        weights[done, :count] = pool.values[first : first + count]
        _replacement(weights[done], count, delta)
        order[done] = v
        for t in range(count):
            u = neighbours[done, t]
            for s in range(count):  # the row that is added to row u, written where row v was
                pool.values[first + s] = 0.0 if s == t else delta[s + t - 1]
            pool, used = subtract_row(pool, u, v, count, -1.0, True, row, used)
            if degree[u] <= most:
                stack[height] = u
                height += 1
        done += 1
    return pool, order[:done], neighbours[:done], weights[:done]


@njit()
def _extend(
    kept: IntArray, order: IntArray, neighbours: IntArray, weights: FloatArray, signs: FloatArray
) -> FloatArray:
    """The best sign of each eliminated vertex, last eliminated first, beside those of the kept ones."""
    whole = np.ones(kept.size + order.size)
    whole[kept] = signs
    for t in range(order.size - 1, -1, -1):
        field = 0.0
        for s in range(3):
            if neighbours[t, s] >= 0:
                field += weights[t, s] * whole[neighbours[t, s]]
        whole[order[t]] = -1.0 if field > 0.0 else 1.0
    return whole
