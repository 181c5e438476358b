"""Numba kernels for 2-CSPs: block ascent on label vectors, annealing of assignments.

Conventions: constraint e is on the pair (u, v), u < v, with table T[e, a, b]; :class:`Constraints` lists them.
The frame of variable i is E[i, a] in R^k for the labels a: orthonormal rows whose span contains v_0, the first basis
vector. Its label vectors are V[i, a] = E[i, a, 0] E[i, a]: then sum_a V[i, a] = v_0 and the V[i, a] are orthogonal.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.sos.kernels import REORDER, uniform
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray, IntArray

_JACOBI_SWEEPS = 12
_ROTATIONS = 2


class Constraints(NamedTuple):
    """Variable i has constraint number[p] with neighbour[p], ``p = indptr[i] .. indptr[i + 1]``."""

    indptr: IntArray
    neighbour: IntArray
    number: IntArray
    tables: FloatArray
    unary: FloatArray


@njit(error_model="numpy")
def _symmetric_eigen(A: FloatArray, d: int, Q: FloatArray) -> None:
    """Jacobi's method: the leading d x d part of A becomes diagonal, columns of Q its eigenvectors.

    LAPACK costs ten times as much here.
    """
    for a in range(d):
        for b in range(d):
            Q[a, b] = 1.0 if a == b else 0.0
    for _ in range(_JACOBI_SWEEPS):
        off = 0.0
        trace = 0.0
        for a in range(d):
            trace += abs(A[a, a])
            for b in range(a):
                off += abs(A[a, b])
        if off <= 1e-15 * trace:
            return
        for a in range(d):
            for b in range(a):
                if A[a, b] == 0.0:
                    continue
                theta = (A[a, a] - A[b, b]) / (2.0 * A[a, b])
                t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for z in range(d):
                    x, y = A[b, z], A[a, z]
                    A[b, z], A[a, z] = c * x - s * y, s * x + c * y
                for z in range(d):
                    x, y = A[z, b], A[z, a]
                    A[z, b], A[z, a] = c * x - s * y, s * x + c * y
                    x, y = Q[z, b], Q[z, a]
                    Q[z, b], Q[z, a] = c * x - s * y, s * x + c * y


@njit(error_model="numpy")
def _polar_rows(F: FloatArray, d: int, k: int, gram: FloatArray, Q: FloatArray, root: FloatArray) -> bool:
    """Replace the rows of the leading d x k part of F by the nearest orthonormal ones; False when they are dependent.

    Then F is untouched. Slices of arrays have types of their own, for which all this would be compiled again.
    """
    for _ in range(2):
        for a in range(d):
            for b in range(a + 1):
                inner = 0.0
                for c in range(k):
                    inner += F[a, c] * F[b, c]
                gram[a, b] = gram[b, a] = inner
        _symmetric_eigen(gram, d, Q)
        largest = smallest = gram[0, 0]
        for a in range(d):
            largest = max(largest, gram[a, a])
            smallest = min(smallest, gram[a, a])
        if smallest <= 1e-12 * largest:  # too small to divide by
            return False
        for a in range(d):
            for b in range(d):
                root[a, b] = 0.0
                for z in range(d):
                    root[a, b] += Q[a, z] * Q[b, z] / np.sqrt(gram[z, z])
        for c in range(k):
            for a in range(d):
                gram[a, 0] = 0.0
                for b in range(d):
                    gram[a, 0] += root[a, b] * F[b, c]
            for a in range(d):
                F[a, c] = gram[a, 0]
        if smallest >= 1e-4 * largest:  # else the square root of the Gram matrix has lost digits: once more
            break
    return True


@njit(error_model="numpy")
def improve_block(E: FloatArray, G: FloatArray, room: FloatArray, work: FloatArray) -> None:
    """Raise sum_a <G_a, V_a>, V_a = E[a, 0] E[a], over orthonormal frames E whose span contains v_0.

    Frames are E = R'Q with Q = (v_0, W) and R orthogonal. For fixed R the sum is linear in W: W is a polar factor. For
    fixed Q it is sum_a r_a'H_a r_a over the columns of R, H_a = (e_0 g_a' + g_a e_0')/2 and g_a = Q G_a: with a shift
    that makes it convex, the polar factor of its gradient never lowers it.
    """
    q, k = E.shape
    Q, F, R, h = room[1], room[2], work[5], work[0, 0]  # Householder: R = I - 2 hh'/h'h has the first row (E[a, 0])_a
    norm = 0.0
    for a in range(q):
        h[a] = E[a, 0] - (1.0 if a == 0 else 0.0)
        norm += h[a] * h[a]
    for a in range(q):
        for b in range(q):
            R[a, b] = (1.0 if a == b else 0.0) - (2.0 * h[a] * h[b] / norm if norm > 1e-24 else 0.0)
    for c in range(q):
        Q[c, 0] = 1.0 if c == 0 else 0.0
    for z in range(1, k):
        Q[0, z] = 0.0
    for c in range(1, q):
        for z in range(1, k):
            Q[c, z] = 0.0
            F[c - 1, z - 1] = 0.0
            for a in range(q):
                Q[c, z] += R[c, a] * E[a, z]
                F[c - 1, z - 1] += R[c, a] * R[0, a] * G[a, z]
    g, shift = work[4], 1e-12
    for turn in range(1 + _ROTATIONS):  # with one call of what is long: where there are two, it is compiled twice
        d = q - 1 if turn == 0 else q
        independent = _polar_rows(F, d, k - 1 if turn == 0 else q, work[1], work[2], work[3])
        if turn == 0:
            for c in range(1, q):
                for z in range(1, k):
                    Q[c, z] = F[c - 1, z - 1] if independent else Q[c, z]
            for a in range(q):
                length = 0.0
                for c in range(q):
                    g[a, c] = 0.0
                    for z in range(k):
                        g[a, c] += Q[c, z] * G[a, z]
                    length += g[a, c] * g[a, c]
                shift = max(shift, (0.5 + 1e-12) * (np.sqrt(length) - g[a, 0]) + 1e-12)
        elif independent:
            for a in range(q):
                for c in range(q):
                    R[a, c] = F[a, c]
        else:
            break
        for a in range(q):
            inner = 0.0
            for c in range(q):
                inner += g[a, c] * R[c, a]
            for c in range(q):
                F[c, a] = 0.5 * g[a, c] * R[0, a] + shift * R[c, a]
            F[0, a] += 0.5 * inner
    for a in range(q):
        for z in range(k):
            E[a, z] = 0.0
            for c in range(q):
                E[a, z] += R[c, a] * Q[c, z]


@njit(fastmath=REORDER, error_model="numpy")
def _gradient(
    i: int, C: Constraints, S: FloatArray, penalty: float, V: FloatArray, G: FloatArray, fresh: bool
) -> float:
    """Add to G[a] the sum of t V[j, b], t = T + max(S - penalty <V_ia, V_jb>, 0); the largest curvature is returned.

    If the sweep is a `fresh` one, the multipliers S are still those before the sweep that has ended.
    """
    T = C.tables
    q, k = G.shape
    active = 0.0
    for p in range(C.indptr[i], C.indptr[i + 1]):
        j = C.neighbour[p]
        e = C.number[p]
        for a in range(q):
            for b in range(q):
                t = T[e, a, b] if i < j else T[e, b, a]
                s = S[e, a, b] if i < j else S[e, b, a]
                if penalty > 0.0:
                    inner = 0.0
                    for z in range(k):
                        inner += V[i, a, z] * V[j, b, z]
                    if fresh and i < j:
                        S[e, a, b] = s = max(s - penalty * inner, 0.0)
                    s -= penalty * inner
                    if s > 0.0:
                        active += penalty * V[j, b, 0]  # |V_jb|^2 = <V_jb, v_0>
                if s > 0.0:
                    t += s
                if t != 0.0:
                    for z in range(k):
                        G[a, z] += t * V[j, b, z]
    return float(active / q)


@njit(nogil=True, error_model="numpy")
def ascend_blocks(  # noqa: PLR0913
    C: Constraints, S: FloatArray, penalty: float, E: FloatArray, V: FloatArray, room: FloatArray, work: FloatArray,
    sweeps: int, stop: Stop,
) -> None:  # fmt: skip
    """Sweeps of block ascent on all variables, in place.

    With `penalty` > 0 the objective is the augmented Lagrangian of <V_ia, V_jb> >= 0 on the constraints, multipliers
    S; a proximal term bounds its curvature. The multipliers become max(S - penalty <V_ia, V_jb>, 0) between sweeps, and
    are left to the caller after the last. There is `room` (3, q, k) and `work` (6, q, q) for what is in between.
    """
    n, q, k = V.shape
    G = room[0]
    for sweep in range(sweeps):
        for i in range(n):
            if stop[0]:
                return
            for a in range(q):
                for z in range(k):
                    G[a, z] = 0.0
                G[a, 0] = C.unary[i, a]
            proximal = _gradient(i, C, S, penalty, V, G, sweep > 0)
            for a in range(q if proximal > 0.0 else 0):
                for z in range(k):
                    G[a, z] += proximal * V[i, a, z]
            improve_block(E[i], G, room, work)
            for a in range(q):
                for z in range(k):
                    V[i, a, z] = E[i, a, 0] * E[i, a, z]


@njit()
def fields(C: Constraints, labels: IntArray, field: FloatArray) -> None:
    """From the unary one: what variable i earns with label a while the others keep theirs, in place."""
    n, q = field.shape
    for i in range(n):
        for p in range(C.indptr[i], C.indptr[i + 1]):
            j, e = C.neighbour[p], C.number[p]
            for a in range(q):
                field[i, a] += C.tables[e, a, labels[j]] if i < j else C.tables[e, labels[j], a]


@njit()
def relabel(C: Constraints, field: FloatArray, labels: IntArray, i: int, new: int) -> None:
    """Give variable i a new label, and its neighbours their fields beside it."""
    old, labels[i] = labels[i], new
    for p in range(C.indptr[i], C.indptr[i + 1]):
        j, e = C.neighbour[p], C.number[p]
        for b in range(field.shape[1]):
            more = C.tables[e, new, b] - C.tables[e, old, b] if i < j else C.tables[e, b, new] - C.tables[e, b, old]
            field[j, b] += more


@njit(nogil=True)
def anneal_labels(
    C: Constraints, labels: IntArray, field: FloatArray, temperatures: FloatArray, tol: float,
    state: NDArray[np.uint64], stop: Stop,
) -> None:  # fmt: skip
    """Metropolis annealing in place, a sweep for each temperature; at 0 to the best labels, until none moves.

    The `field` is the unary one: it becomes that of :func:`fields`.
    """
    n, q = field.shape
    fields(C, labels, field)
    for temperature in temperatures:
        moves = 0
        for i in range(n):
            old = labels[i]
            if temperature > 0.0:
                new = (old + 1 + int(uniform(state) * (q - 1))) % q
                ratio = (field[i, new] - field[i, old]) / temperature
                if ratio < 0.0 and (ratio < -30.0 or uniform(state) >= np.exp(ratio)):
                    continue
            else:
                new = 0
                for a in range(1, q):
                    if field[i, a] > field[i, new]:
                        new = a
                if field[i, new] <= field[i, old] + tol:
                    continue
            moves += 1
            relabel(C, field, labels, i, new)
        if (moves == 0 and temperature == 0.0) or stop[0]:
            return


@njit()
def ascend_factored(U: FloatArray, UB: FloatArray, q: int, labels: IntArray, order: IntArray, sweeps: int) -> float:
    """Give each variable in turn the label of largest field, in place, until nothing moves; the value of the result."""
    n, r = labels.size, U.shape[1]
    total = np.zeros(r)
    for i in range(n):
        total += U[i * q + labels[i]]
    value = 0.0
    for _ in range(sweeps):
        moved = False
        value = 0.0
        for i in order:
            old = labels[i]
            total -= U[i * q + old]  # a variable does not interact with itself
            best, best_field = old, np.dot(UB[i * q + old], total)
            for a in range(q):
                field = np.dot(UB[i * q + a], total)
                if field > best_field + 1e-12:
                    best, best_field = a, field
            labels[i] = best
            moved = moved or best != old
            value += 0.5 * best_field
            total += U[i * q + best]
        if not moved:
            break
    return value
