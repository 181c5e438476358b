"""Kernels for inequalities ``(s_1 x_a + s_2 x_b + ...)^2 >= 1`` of an odd number of signed vertices."""

import numpy as np

from dpgraph.compiled import njit
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray, IntArray


@njit(nogil=True)
def add_pairs(C: FloatArray, members: IntArray, t: FloatArray) -> None:
    """Add t_k s_p s_q/2 to the entries of all pairs p, q of every inequality k.

    A row of `members` holds vertices v from 1 on, as v or -v, and zeros at its end.
    """
    for k in range(members.shape[0]):
        for a in range(members.shape[1]):
            p = members[k, a]
            if p == 0:
                break
            for b in range(a):
                q = members[k, b]
                amount = 0.5 * t[k] if (p > 0) == (q > 0) else -0.5 * t[k]
                i, j = abs(p) - 1, abs(q) - 1
                C[i, j] += amount
                C[j, i] += amount


@njit(nogil=True)
def pair_sums(X: FloatArray, members: IntArray) -> FloatArray:
    """Sum of s_p s_q X_pq over the pairs of every inequality."""
    sums = np.zeros(members.shape[0])
    for k in range(members.shape[0]):
        for a in range(members.shape[1]):
            p = members[k, a]
            if p == 0:
                break
            for b in range(a):
                q = members[k, b]
                entry = X[abs(p) - 1, abs(q) - 1]
                sums[k] += entry if (p > 0) == (q > 0) else -entry
    return sums


@njit(nogil=True)
def violated_triangles(X: FloatArray, least: float, most: int, stop: Stop) -> tuple[IntArray, FloatArray]:
    """Up to `most` triangle inequalities that are violated by more than `least`, and by how much."""
    n = X.shape[0]
    members = np.zeros((most, 3), dtype=np.int64)
    violation, worst = np.zeros(most), np.empty(n)
    count = 0
    for i in range(n):
        if stop[0]:
            break
        for j in range(i):
            for k in range(j):
                worst[k] = max(abs(X[i, j] + X[i, k]) - X[j, k], abs(X[i, j] - X[i, k]) + X[j, k])
            for k in range(j):
                ij, ik, jk = X[i, j], X[i, k], X[j, k]
                for case in range(4 if worst[k] > 1.0 + least else 0):
                    a = -1 if case == 1 else 1
                    b = -1 if case == 2 else 1
                    c = -1 if case == 3 else 1
                    amount = -1.0 - (a * b * ij + a * c * ik + b * c * jk)
                    if amount > least and count < most:
                        members[count, 0], members[count, 1], members[count, 2] = a * (i + 1), b * (j + 1), c * (k + 1)
                        violation[count] = amount
                        count += 1
    return members[:count], violation[:count]


@njit(nogil=True)
def extended(X: FloatArray, members: IntArray, stop: Stop) -> tuple[IntArray, FloatArray]:
    """Every inequality with the two further signed vertices that violate the new one most, and by how much."""
    n, size = X.shape[0], members.shape[1]
    longer = np.zeros((members.shape[0], size + 2), dtype=np.int64)
    violation = np.full(members.shape[0], -np.inf)
    field, more = np.empty(n), np.empty(n)
    for k in range(members.shape[0]):
        if stop[0]:
            break
        field[:] = 0.0
        total = 0.0
        for a in range(size):
            p = members[k, a]
            sign = 1.0 if p > 0 else -1.0
            for b in range(a):
                q = members[k, b]
                total += X[abs(p) - 1, abs(q) - 1] * (sign if q > 0 else -sign)
            for v in range(n):
                field[v] += sign * X[abs(p) - 1, v]
        for a in range(size):
            field[abs(members[k, a]) - 1] = np.nan  # compares with nothing
        most, first, second = -np.inf, 0, 0
        for u in range(n):
            for v in range(u):
                more[v] = max(abs(field[u] + field[v]) - X[u, v], abs(field[u] - field[v]) + X[u, v])
            for v in range(u):
                if more[v] > most:
                    most, first, second = more[v], u, v
        violation[k] = most - 0.5 * (size + 1) - total
        for a in range(size):
            longer[k, a] = members[k, a]
        x, y = field[first], field[second]
        alike = abs(x + y) - X[first, second] >= abs(x - y) + X[first, second]
        longer[k, size] = -(first + 1) if x + (y if alike else -y) > 0.0 else first + 1
        longer[k, size + 1] = second + 1 if (longer[k, size] > 0) == alike else -(second + 1)
    return longer, violation
