"""The linear relaxation of a 2-CSP by messages, and exact moves of whole forests of variables.

A share of a table's entries may be moved to the labels of either end: it changes the value of no assignment. The sum of
the largest entries of all that is left bounds every assignment, whatever was moved (the dual of the local polytope;
virtual arc consistency: Cooper et al. 2010). Sequential passes that pull all shares of a variable and push them on to
those that come later never raise it (Kolmogorov 2006).

Variables that induce a forest get their best labels together, the others fixed, by eliminating leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import at_once, njit
from dpgraph.sos.csp.kernels import Constraints
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.cut.base import rounding_slack
from dpgraph.sos.kernels import uniform
from dpgraph.sos.proofs import ShiftProof
from dpgraph.threads import Stop, on_thread, on_threads, time_is_up
from dpgraph.typing import FloatArray, IntArray

_PASSES = 20  # between two looks at the bound
_OPERATIONS = 2e9
_LEAST_GAIN = 1e-4  # of the bound, in those passes
_FORESTS = 4  # after each disturbance
_DISTURBED = 0.05  # share of the variables


@dataclass(frozen=True, eq=False)
class Messages:
    """A bound, what proves it, and an assignment that the last pass found."""

    bound: float
    proof: ShiftProof
    labels: IntArray


def pass_messages(objective: CSPObjective) -> Messages:
    """Passes until they gain little, or the time limit ends."""
    q, (m, n) = objective.alphabet_size, (len(objective.pairs), objective.n_variables)
    shares, labels = np.zeros((2, m, q)), np.zeros(n, dtype=np.int64)
    best, bound = objective.trivial_bound, math.inf
    kept = shares.copy()
    for _ in range(int(np.clip(_OPERATIONS / (_PASSES * 4.0 * (m * q * q + 1)), 1, 100))):
        passes = at_once(_sequential_passes, 4.0 * _PASSES * m * q * q)
        on_thread(passes, objective.constraints, shares, labels, _PASSES)
        before, bound = bound, _bound(objective, shares)
        if bound < best:
            best, kept = bound, shares.copy()
        little = before < math.inf and before - bound <= _LEAST_GAIN * max(abs(bound), abs(before))
        if little or time_is_up():
            break
    return Messages(best, ShiftProof(kept), labels)


def _bound(objective: CSPObjective, shares: FloatArray) -> float:
    """The sum of the largest entries, with a margin for rounding: a term is in as many sums as constraints."""
    (u, v), (f, g) = objective.pairs.T, shares
    single = objective.unary.copy()
    np.add.at(single, u, f)
    np.add.at(single, v, g)
    left = objective.tables - f[:, :, None] - g[:, None, :]
    degree = int(np.diff(objective.constraints.indptr).max(initial=0))
    magnitude = objective.magnitude() + 4.0 * float(np.abs(shares).max(axis=2, initial=0.0).sum())
    parts = [objective.constant, *single.max(axis=1), *left.max(axis=(1, 2), initial=-math.inf)]
    return math.fsum(parts) + rounding_slack(degree + 4, magnitude) + objective.slack


def improve_by_forests(objective: CSPObjective, labels: IntArray, rng: np.random.Generator, rounds: int) -> IntArray:
    """Assignments (c, n), each no worse: disturbed a little, and forests of variables set to their best labels."""
    rows = np.array(labels, dtype=np.int64, order="C")

    def search(row: IntArray, seed: np.int64, stop: Stop) -> None:
        _search_forests(objective.constraints, row, rounds, np.uint64(seed), stop)

    on_threads(search, rows, rng.integers(2**63, size=len(rows)))
    return rows


@njit(nogil=True)
def _sequential_passes(C: Constraints, shares: FloatArray, labels: IntArray, passes: int, stop: Stop) -> None:
    """Passes to and fro over the variables: shares[0, e] are those of the first variable of a table, in place."""
    n, q = C.unary.shape
    most = 0
    for i in range(n):
        most = max(most, C.indptr[i + 1] - C.indptr[i])
    pulled = np.empty((most, q))
    belief, score = np.empty(q), np.empty(q)
    for turn in range(2 * passes):
        if stop[0]:
            return
        for k in range(n):
            i = k if turn % 2 == 0 else n - 1 - k
            for a in range(q):  # a copy of a slice takes numba half a second more to compile
                belief[a] = score[a] = C.unary[i, a]
            first, later = C.indptr[i], 0
            for p in range(first, C.indptr[i + 1]):
                j, e = C.neighbour[p], C.number[p]
                comes = (j > i) == (turn % 2 == 0)
                later += comes
                for a in range(q):
                    most_left = -np.inf
                    for b in range(q):
                        t = C.tables[e, a, b] if i < j else C.tables[e, b, a]
                        most_left = max(most_left, t - shares[1 if i < j else 0, e, b])
                    pulled[p - first, a] = most_left
                    belief[a] += most_left
                    known = C.tables[e, a, labels[j]] if i < j else C.tables[e, labels[j], a]
                    score[a] += most_left if comes else known
            labels[i] = np.argmax(score)
            share = 1.0 / max(later, C.indptr[i + 1] - first - later, 1)
            for p in range(first, C.indptr[i + 1]):
                j, e = C.neighbour[p], C.number[p]
                comes = (j > i) == (turn % 2 == 0)
                for a in range(q):
                    shares[0 if i < j else 1, e, a] = pulled[p - first, a] - (share * belief[a] if comes else 0.0)


@njit()
def _root(parent: IntArray, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return int(i)


@njit()
def _entry(C: Constraints, e: int, i: int, j: int, a: int, b: int) -> float:
    return float(C.tables[e, a, b] if i < j else C.tables[e, b, a])


@njit()
def _value(C: Constraints, labels: IntArray) -> float:
    total = 0.0
    for i in range(labels.size):
        total += C.unary[i, labels[i]]
        for p in range(C.indptr[i], C.indptr[i + 1]):
            if C.neighbour[p] > i:
                total += C.tables[C.number[p], labels[i], labels[C.neighbour[p]]]
    return total


@njit()
def _random_forest(C: Constraints, degree: IntArray, state: NDArray[np.uint64]) -> None:
    """Degrees in a maximal induced forest, -1 outside; it is one of the vertices in random order."""
    n = degree.size
    order, parent, seen = np.arange(n), np.arange(n), np.full(n, -1, dtype=np.int64)
    degree[:] = -1
    for k in range(n - 1, -1, -1):
        at = int(uniform(state) * (k + 1))
        i, order[at] = order[at], order[k]
        fits, inside = True, 0
        for p in range(C.indptr[i], C.indptr[i + 1]):
            j = C.neighbour[p]
            if degree[j] >= 0:
                root = _root(parent, j)
                fits = fits and seen[root] != i
                seen[root] = i
                inside += 1
        if fits:
            degree[i] = inside
            for p in range(C.indptr[i], C.indptr[i + 1]):
                j = C.neighbour[p]
                if degree[j] >= 0 and j != i:
                    degree[j] += 1
                    parent[_root(parent, j)] = i


@njit()
def _best_on_forest(C: Constraints, labels: IntArray, degree: IntArray) -> None:
    """The best labels of the variables of a forest, the others fixed, in place; its degrees are used up."""
    n, q = C.unary.shape
    field, choice = C.unary.copy(), np.zeros((n, q), dtype=np.int64)
    above, queue, last = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    inside = degree >= 0
    for i in range(n):
        if not inside[i]:
            continue
        for p in range(C.indptr[i], C.indptr[i + 1]):
            j = C.neighbour[p]
            if not inside[j]:
                for a in range(q):
                    field[i, a] += _entry(C, C.number[p], i, j, a, labels[j])
        if degree[i] <= 1:
            queue[last] = i
            last += 1
    first = 0
    while first < last:
        i = queue[first]
        first += 1
        degree[i] = -1
        for p in range(C.indptr[i], C.indptr[i + 1]):
            j, e = C.neighbour[p], C.number[p]
            if not inside[j] or degree[j] < 0:
                continue
            above[i] = j
            for b in range(q):
                most = -np.inf
                for a in range(q):
                    earned = field[i, a] + _entry(C, e, i, j, a, b)
                    if earned > most:
                        most, choice[i, b] = earned, a
                field[j, b] += most
            degree[j] -= 1
            if degree[j] == 1:
                queue[last] = j
                last += 1
    for k in range(last - 1, -1, -1):
        i = queue[k]
        labels[i] = choice[i, labels[above[i]]] if above[i] >= 0 else np.argmax(field[i])


@njit(nogil=True)
def _search_forests(C: Constraints, labels: IntArray, rounds: int, seed: np.uint64, stop: Stop) -> None:
    """Disturb a few variables, set some forests, and keep what is no worse, so many times, in place."""
    n, q = C.unary.shape
    state = np.array([seed], dtype=np.uint64)
    degree, now, best = np.empty(n, dtype=np.int64), labels.copy(), _value(C, labels)
    for turn in range(rounds):
        if stop[0]:
            return
        for _ in range(1 + int(_DISTURBED * n) if turn > 0 else 0):
            now[int(uniform(state) * n)] = int(uniform(state) * q)
        for _ in range(_FORESTS):
            _random_forest(C, degree, state)
            _best_on_forest(C, now, degree)
        value = _value(C, now)
        if value >= best:
            best = value
            labels[:] = now
        else:
            now[:] = labels
