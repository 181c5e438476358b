"""Local search of a 2-CSP by moves of many variables at once: the best labels of an induced forest beside all others.

Dynamic programming finds them in q^2 steps a variable, and forests have half of the variables of a sparse graph (Hamze,
de Freitas 2004). With noise on what labels are worth, which falls to nothing, moves go past losses as annealing does.
"""

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.sos.csp.kernels import Constraints, fields, relabel
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.kernels import default_sweeps, uniform
from dpgraph.threads import Stop, on_thread, time_is_up
from dpgraph.typing import FloatArray, IntArray

_OPERATIONS = 4e8  # a few seconds
_MOST_MOVES = 2500
_HOT = 0.1  # of a typical change of value in a random assignment
_GREEDY_SHARE = 0.1  # of the moves come last and are without noise


def move_forests(
    objective: CSPObjective, labels: IntArray, rng: np.random.Generator, *, moves: int | None = None, share: float = 1.0
) -> IntArray:
    """Labels that are worth at least as much, after so many moves, or the `share` of the usual effort."""
    n, q = objective.unary.shape
    cost = n * q * (q + 2.0) + 2.0 * len(objective.pairs) * q
    moves = default_sweeps(share * _OPERATIONS, cost, _MOST_MOVES) if moves is None else moves
    if time_is_up() or objective.value(labels) >= objective.trivial_bound:
        return labels
    unit = 2.0 * float(objective.spread().mean())
    noise = np.maximum(np.linspace(_HOT, -_GREEDY_SHARE * _HOT, moves), 0.0) * unit
    found, state = np.array(labels, dtype=np.int64), np.array([rng.integers(2**63)], dtype=np.uint64)
    on_thread(_move, objective.constraints, found, objective.unary.copy(), noise, state)
    return found if objective.value(found) > objective.value(labels) else labels


@njit(nogil=True)
def _move(
    C: Constraints, labels: IntArray, field: FloatArray, noise: FloatArray, state: NDArray[np.uint64], stop: Stop
) -> None:
    """Moves in place, one for each size of the noise; the `field` is the unary one."""
    n, q = field.shape
    tree, inside = np.empty((3, n), np.int64), np.empty(n, np.int64)
    score, best = np.empty((n, q)), np.empty((n, q), np.int64)
    fields(C, labels, field)
    for size in noise:
        if stop[0]:
            return
        count = _grow(C, tree, inside, state)
        for k in range(count):
            v = tree[0, k]
            for a in range(q):
                score[v, a] = field[v, a] - (size * np.log(1.0 - uniform(state)) if size > 0.0 else 0.0)
            for p in range(C.indptr[v], C.indptr[v + 1]):
                j, e = C.neighbour[p], C.number[p]
                for a in range(q if inside[j] < 0 else 0):
                    score[v, a] -= C.tables[e, a, labels[j]] if v < j else C.tables[e, labels[j], a]
        for k in range(count - 1, -1, -1):
            v, u, e = tree[0, k], tree[1, k], tree[2, k]
            first = int(uniform(state) * q)  # of equal labels any may be best
            for a in range(q if u >= 0 else 1):
                most = -np.inf
                for x in range(first, first + q):
                    b = x if x < q else x - q
                    worth = score[v, b]
                    if u >= 0:
                        worth += C.tables[e, b, a] if v < u else C.tables[e, a, b]
                    if worth > most:
                        most, best[v, a] = worth, b
                if u >= 0:
                    score[u, a] += most
        for k in range(count):  # parents first, whose labels are the new ones
            v, u = tree[0, k], tree[1, k]
            new = best[v, labels[u] if u >= 0 else 0]
            if new != labels[v]:
                relabel(C, field, labels, v, new)


@njit(nogil=True)
def _grow(C: Constraints, tree: IntArray, inside: IntArray, state: NDArray[np.uint64]) -> int:
    """Draw an induced forest: its variables, parents first, with their parents and tables, or -1; how many.

    `inside` is negative there, and counts neighbours in the forest elsewhere.
    """
    n, count = inside.size, 0
    offset = int(uniform(state) * n)
    for i in range(n):
        inside[i] = 0
    for i in range(n):
        root = (offset + i) % n
        if inside[root] != 0:
            continue
        head, count = count, _join(C, tree, inside, (root, -1, -1), count)
        while head < count:
            k = head + int(uniform(state) * (count - head))  # whose children come next
            for row in range(3):
                tree[row, head], tree[row, k] = tree[row, k], tree[row, head]
            v = tree[0, head]
            head += 1
            for p in range(C.indptr[v], C.indptr[v + 1]):
                if inside[C.neighbour[p]] == 1:
                    count = _join(C, tree, inside, (C.neighbour[p], v, C.number[p]), count)
    return count


@njit(nogil=True)
def _join(C: Constraints, tree: IntArray, inside: IntArray, joined: tuple[int, int, int], count: int) -> int:
    """Take a variable into the forest, with its parent and table; how many it has."""
    v, tree[1, count], tree[2, count] = joined
    tree[0, count], inside[v] = v, -1 - inside.size
    for p in range(C.indptr[v], C.indptr[v + 1]):
        inside[C.neighbour[p]] += 1
    return count + 1
