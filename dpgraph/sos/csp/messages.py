"""The linear relaxation of a 2-CSP by messages.

A share of a table's entries may be moved to the labels of either end: it changes the value of no assignment. The sum of
the largest entries of all that is left bounds every assignment, whatever was moved (the dual of the local polytope;
virtual arc consistency: Cooper et al. 2010). Sequential passes that pull all shares of a variable and push them on to
those that come later never raise it (Kolmogorov 2006).
"""

import math

import numpy as np

from dpgraph.compiled import at_once, njit
from dpgraph.sos.csp.kernels import Constraints
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.threads import Stop, on_thread, time_is_up
from dpgraph.typing import FloatArray, IntArray

_PASSES = 20  # between two looks at the bound
_OPERATIONS = 2e9
_LEAST_GAIN = 1e-4  # of the bound, in those passes


def pass_messages(objective: CSPObjective) -> tuple[FloatArray, IntArray]:
    """Shares (2, m, q) of the tables that labels get, and an assignment that the last pass found.

    Passes end when they gain little, or with the time limit.
    """
    q, (m, n) = objective.alphabet_size, (len(objective.pairs), objective.n_variables)
    shares, labels = np.zeros((2, m, q)), np.zeros(n, dtype=np.int64)
    best, bound, kept = math.inf, math.inf, shares.copy()
    room = np.empty((2 + int(np.diff(objective.constraints.indptr).max(initial=0)), q))
    for _ in range(int(np.clip(_OPERATIONS / (_PASSES * 4.0 * (m * q * q + 1)), 1, 100))):
        if time_is_up():
            break
        passes = at_once(_sequential_passes, 4.0 * _PASSES * m * q * q)
        on_thread(passes, objective.constraints, shares, labels, room, _PASSES)
        before, bound = bound, _bound(objective, shares)
        if bound < best:
            best, kept = bound, shares.copy()
        if before - bound <= _LEAST_GAIN * abs(bound):
            break
    return kept, labels


def _bound(objective: CSPObjective, shares: FloatArray) -> float:
    """The sum of the largest entries."""
    (u, v), (f, g) = objective.pairs.T, shares
    single = objective.unary.copy()
    np.add.at(single, u, f)
    np.add.at(single, v, g)
    left = objective.tables - f[:, :, None] - g[:, None, :]
    return math.fsum([objective.constant, *single.max(axis=1), *left.max(axis=(1, 2), initial=-math.inf)])


@njit(nogil=True)
def _sequential_passes(
    C: Constraints, shares: FloatArray, labels: IntArray, room: FloatArray, passes: int, stop: Stop
) -> None:
    """Passes to and fro over the variables: shares[0, e] are those of the first variable of a table, in place.

    There is `room` for what labels pull from each table, and for the sums of all of it and of what they are worth.
    """
    n, q = C.unary.shape
    for turn in range(2 * passes):
        if stop[0]:
            return
        for k in range(n):
            i = k if turn % 2 == 0 else n - 1 - k
            for a in range(q):
                room[0, a] = room[1, a] = C.unary[i, a]
            first, later = C.indptr[i] - 2, 0
            for p in range(C.indptr[i], C.indptr[i + 1]):
                j, e = C.neighbour[p], C.number[p]
                comes = (j > i) == (turn % 2 == 0)
                later += comes
                for a in range(q):
                    most_left = -np.inf
                    for b in range(q):
                        t = C.tables[e, a, b] if i < j else C.tables[e, b, a]
                        t -= shares[1 if i < j else 0, e, b]
                        most_left = t if t > most_left else most_left
                    room[p - first, a] = most_left
                    room[0, a] += most_left
                    known = C.tables[e, a, labels[j]] if i < j else C.tables[e, labels[j], a]
                    room[1, a] += most_left if comes else known
            labels[i] = 0
            for a in range(q):
                labels[i] = a if room[1, a] > room[1, labels[i]] else labels[i]
            sooner = C.indptr[i + 1] - C.indptr[i] - later
            share = 1.0 / (max(later, sooner) if later + sooner > 0 else 1)
            for p in range(C.indptr[i], C.indptr[i + 1]):
                j, e = C.neighbour[p], C.number[p]
                comes = (j > i) == (turn % 2 == 0)
                for a in range(q):
                    shares[0 if i < j else 1, e, a] = room[p - first, a] - (share * room[0, a] if comes else 0.0)
