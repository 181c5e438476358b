"""Numba kernels for 2-CSPs: block ascent on label vectors, annealing of assignments.

Conventions: constraint e is on the pair (u, v), u < v, with table T[e, a, b]; :class:`Constraints` lists them.
Label vectors V[i, a] = E[i, a, 0] E[i, a] live in R^k and come from frames E[i], see :mod:`dpgraph.sos.csp.frames`.
"""

from typing import NamedTuple

import numpy as np

from dpgraph.compiled import njit
from dpgraph.sos.csp.frames import best_pair, improve_block
from dpgraph.sos.kernels import REORDER, uniform
from dpgraph.typing import FloatArray, IntArray


class Constraints(NamedTuple):
    """Constraints and single labels, as the kernels take them.

    The constraints on variable i are at the positions ``indptr[i] .. indptr[i + 1]`` of `neighbour`, the other
    variable, and `number`, e.
    """

    indptr: IntArray
    neighbour: IntArray
    number: IntArray
    tables: FloatArray
    unary: FloatArray


@njit(fastmath=REORDER)
def _gradient(i: int, C: Constraints, S: FloatArray, penalty: float, V: FloatArray, G: FloatArray) -> float:
    """Add to G[a] the sum of t V[j, b], t = T + max(S - penalty <V_ia, V_jb>, 0); the largest curvature is returned."""
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
                    s -= penalty * inner
                    if s > 0.0:
                        active += penalty * V[j, b, 0]  # |V_jb|^2 = <V_jb, v_0>
                if s > 0.0:
                    t += s
                if t != 0.0:
                    for z in range(k):
                        G[a, z] += t * V[j, b, z]
    return float(active / q)


@njit()
def ascend_blocks(C: Constraints, S: FloatArray, penalty: float, E: FloatArray, V: FloatArray, sweeps: int) -> float:
    """Sweeps of block ascent on all variables, in place: the gain of the last one.

    With `penalty` > 0 the objective is the augmented Lagrangian of <V_ia, V_jb> >= 0 on the constraints, multipliers
    S; a proximal term bounds its curvature.
    """
    n, q, k = V.shape
    G = np.empty((q, k))
    Q = np.empty((q, k))
    R = np.empty((q, q))
    F = np.empty((q, k))
    work = np.empty((6, q, q))
    gain = 0.0
    for _ in range(sweeps):
        gain = 0.0
        for i in range(n):
            G[:] = 0.0
            G[:, 0] = C.unary[i]
            proximal = _gradient(i, C, S, penalty, V, G)
            for a in range(q):
                for z in range(k):
                    gain -= G[a, z] * V[i, a, z]
            if proximal > 0.0:
                G += proximal * V[i]
            if q == 2:
                best_pair(E[i], G)
            else:
                improve_block(E[i], G, Q, R, F, work)
            if proximal > 0.0:
                G -= proximal * V[i]
            for a in range(q):
                for z in range(k):
                    V[i, a, z] = E[i, a, 0] * E[i, a, z]
                    gain += G[a, z] * V[i, a, z]
    return gain


@njit()
def label_gradients(C: Constraints, V: FloatArray) -> FloatArray:
    """G[i, a] = unary[i, a] v_0 + sum of T[(i,a), (j,b)] V[j, b], shape (n, q, k)."""
    G = np.zeros_like(V)
    S = np.zeros_like(C.tables)
    G[:, :, 0] = C.unary
    for i in range(len(V)):
        _gradient(i, C, S, 0.0, V, G[i])
    return G


@njit(fastmath=REORDER)
def pair_moments(pairs: IntArray, V: FloatArray) -> FloatArray:
    """Inner products <V[u, a], V[v, b]> of all constraints, shape (m, q, q)."""
    _, q, k = V.shape
    moments = np.empty((len(pairs), q, q))
    for e in range(len(pairs)):
        u, v = pairs[e, 0], pairs[e, 1]
        for a in range(q):
            for b in range(q):
                inner = 0.0
                for z in range(k):
                    inner += V[u, a, z] * V[v, b, z]
                moments[e, a, b] = inner
    return moments


@njit(nogil=True)
def anneal_labels(C: Constraints, labels: IntArray, temperatures: FloatArray, tol: float, seed: np.uint64) -> None:
    """Metropolis annealing of labels in place, one sweep for each temperature; at 0 every variable moves to its best.

    Stops early at a local optimum of temperature 0.
    """
    T = C.tables
    n, q = C.unary.shape
    state = np.array([seed], dtype=np.uint64)
    field = C.unary.copy()  # what variable i earns with label a while the others keep theirs
    for i in range(n):
        for p in range(C.indptr[i], C.indptr[i + 1]):
            j, e = C.neighbour[p], C.number[p]
            for a in range(q):
                field[i, a] += T[e, a, labels[j]] if i < j else T[e, labels[j], a]
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
                new = np.argmax(field[i])
                if field[i, new] <= field[i, old] + tol:
                    continue
            moves += 1
            labels[i] = new
            for p in range(C.indptr[i], C.indptr[i + 1]):
                j, e = C.neighbour[p], C.number[p]
                for b in range(q):
                    field[j, b] += T[e, new, b] - T[e, old, b] if i < j else T[e, b, new] - T[e, b, old]
        if moves == 0 and temperature == 0.0:
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
