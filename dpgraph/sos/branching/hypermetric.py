"""Inequalities ``(s_1 x_a + s_2 x_b + ...)^2 >= 1`` of an odd number of signed vertices, in plain numpy.

A row of `members` holds vertices v from 1 on, as v or -v, and zeros at its end.
"""

import numpy as np
from scipy import sparse

from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray, IntArray

_TRIES, _EXCHANGES = 4, 3  # of two vertices that extend an inequality


def pair_signs(members: IntArray, n: int) -> sparse.csr_array:
    """For every inequality a row with s_p s_q at place p n + q for each of its pairs, (m, n^2)."""
    a, b = np.tril_indices(members.shape[1], -1)
    p, q = members[:, a], members[:, b]
    used = p * q != 0
    p, q, ends = p[used], q[used], np.append(0, np.cumsum(used.sum(axis=1)))
    places = (np.abs(p) - 1) * n + np.abs(q) - 1
    return sparse.csr_array((np.sign(p * q).astype(np.float64), places, ends), shape=(len(members), n * n))


def priced_pairs(signs: sparse.csr_array, t: FloatArray) -> FloatArray:
    """The symmetric matrix (n, n) whose product with X is t' (signs X), half of it in each triangle."""
    n = int(np.sqrt(signs.shape[1]))
    half = 0.5 * (signs.T @ t).reshape(n, n)
    return np.asarray(half + half.T)


def violated_triangles(X: FloatArray, least: float, most: int) -> tuple[IntArray, FloatArray]:
    """About `most` triangles at most with an inequality violated by more than `least`, and the worst one of each."""
    found, count = [np.zeros((2, 0), dtype=np.int64)], 0
    for i in range(2, len(X)):
        if count >= most or time_is_up():
            break
        near, rest = X[i, :i], X[:i, :i]
        alike, apart = np.abs(near[:, None] + near) - rest, np.abs(near[:, None] - near) + rest
        at = np.flatnonzero(np.maximum(alike, apart) > 1.0 + least)
        found.append(np.array([np.broadcast_to(i, at.size), at]))
        count += at.size
    i, at = np.hstack(found)
    i, j, k = (part[at // np.maximum(i, 1) > at % np.maximum(i, 1)] for part in (i, *np.divmod(at, np.maximum(i, 1))))
    alike, apart = np.abs(X[i, j] + X[i, k]) - X[j, k], np.abs(X[i, j] - X[i, k]) + X[j, k]
    sign = np.where(alike >= apart, 1, -1)
    first = np.where(X[i, j] + sign * X[i, k] > 0.0, -1, 1)
    return np.column_stack([first * (i + 1), j + 1, sign * (k + 1)]), np.maximum(alike, apart) - 1.0


def extended(X: FloatArray, members: IntArray) -> tuple[IntArray, FloatArray]:
    """Every inequality with two further signed vertices, and by how much it is violated.

    The first has a large sum of s_p X_pv, the other violates it most with that, and so on in turn.
    """
    (m, size), place, signs = members.shape, np.abs(members) - 1, np.sign(members)
    field, each = np.zeros((m, len(X))), np.arange(m)[:, None]
    for a in range(size):
        field += signs[:, a, None] * X[place[:, a]]
    inner = 0.5 * np.sum(signs * field[each, place] - X[place, place], axis=1)
    away, worth = np.where(field > 0.0, -1, 1), np.abs(field)
    worth[each, place] = -np.inf
    v = np.argpartition(-worth, min(_TRIES, len(X) - size) - 1, axis=1)[:, :_TRIES]
    tries = np.arange(v.shape[1])
    for _ in range(_EXCHANGES):
        u = v
        with_u = worth[:, None] - X[u] * (away[:, None] * away[each, u][:, :, None])
        with_u[each, tries, u] = -np.inf
        v = with_u.argmax(axis=2)
    both = worth[each, u] + with_u[each, tries, v]
    best = each, both.argmax(axis=1)[:, None]
    pair = np.hstack([u[best], v[best]])
    more = np.hstack([members, away[each, pair] * (pair + 1)])
    return more, both[best].ravel() - 0.5 * (size + 1) - inner
