"""The degree-2 relaxation with triangle and longer hypermetric inequalities, for up to some hundreds of vertices.

For signs s of an odd number k of vertices, s'x is odd, so that ``(s'x)^2 >= 1`` for every cut x: the sum of
s_p s_q X_pq over the pairs is at least -(k - 1)/2. For k = 3 these are the triangle inequalities. For multipliers
t >= 0 every cut is worth at most its value in the objective with ``M - sum_k t_k (s_k s_k' off the diagonal)``, and
the constant grown by t'(k - 1)/2. So the certificate of any such objective is a bound, whatever t is; it contains the
rounding errors of the new matrix.

The multipliers come from an augmented Lagrangian: y, t minimise ``1'y + t'(k - 1)/2 + |[C + a X]_+|^2/(2a)`` with
``C = W - Diag(y) + sum_k t_k ...`` by L-BFGS, then ``X = [C + a X]_+/a`` (Malick, Povh, Rendl, Wiegele 2009; Krislock,
Malick, Roupin 2014). After each round violated inequalities are added, and those without a multiplier left out.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy import sparse

from dpgraph.sos.branching.hypermetric import extended, pair_signs, priced_pairs, violated_triangles
from dpgraph.sos.cut.base import on_binary_grid, rounding_slack
from dpgraph.sos.cut.certificate import dual_bound
from dpgraph.sos.cut.objective import DenseObjective
from dpgraph.sos.definiteness import there_is_time
from dpgraph.sos.proofs import DualPoint, Inequality, Part
from dpgraph.sos.quasi_newton import ENOUGH, SHORTER, SHORTEST, descent
from dpgraph.typing import FloatArray, IntArray

_LONGEST = 7  # signed vertices of an inequality
_WEIGHT = 0.3  # of the quadratic term, in units of the mean size of an entry
_STEPS, _MEMORY = 10, 10  # of L-BFGS in a round
_MOST_FOUND, _SHARE = 200_000, 3  # violated triangles that are compared, and taken for each vertex
_VIOLATED, _IDLE = 1e-3, 1e-7  # least violation, and largest multiplier that counts as none
_WINDOW, _OUTLOOK = 3, 12  # rounds
_ATTEMPTS = 8
_FLAT = 1e-12  # slope, beside a diagonal of 1, of a minimum
_ODD = 0x9E3779B97F4A7C15  # numbers rows: one of few that had the number of another would not be taken
_COST_OF_EIGENVECTORS = 2.5  # they take as long as a Cholesky factorisation of so many times the order


@dataclass(frozen=True, eq=False)
class MetricBound:
    """A bound on all cuts of an objective, and where the next one starts."""

    objective: DenseObjective
    bound: float
    moments: FloatArray  #: X (n, n)
    diagonal: FloatArray  #: y (n,)
    members: IntArray  #: inequalities (m, 7): signed vertices from 1 on, then zeros
    multipliers: FloatArray  #: t (m,)
    group: IntArray  #: vertex of the objective for each vertex of the root, whose sign is that of the vertex times
    signs: FloatArray
    part: Part = field(default_factory=Part)

    def first(self) -> tuple[IntArray, FloatArray]:
        """For each vertex of the objective the first vertex of the root in its group, and the sign of that."""
        first = np.unique(self.group, return_index=True)[1]
        return first, self.signs[first]

    def lift(self, cut: FloatArray) -> FloatArray:
        """The cut of the root."""
        return np.asarray(self.signs * cut[self.group])


def start(objective: DenseObjective) -> MetricBound:
    """Nothing known but the sum of the positive weights."""
    n, dominant = objective.n_vertices, 0.25 * objective.absolute_row_sums
    none = np.zeros((0, _LONGEST), dtype=np.int64)
    return MetricBound(objective, math.inf, np.eye(n), dominant, none, np.zeros(0), np.arange(n), np.ones(n))


def merged(parent: MetricBound, i: int, j: int, sign: float) -> MetricBound:
    """The part in which x_j = sign x_i, not bounded yet; it starts from what its parent ends with."""
    n = parent.objective.n_vertices
    group = np.arange(n) - (np.arange(n) > j)
    group[j] = group[i]
    signs = np.where(np.arange(n) == j, sign, 1.0)
    kept = np.delete(np.arange(n), j)
    diagonal = np.asarray(np.bincount(group, weights=parent.diagonal), dtype=np.float64)
    place = np.abs(parent.members) - 1
    one = ~(np.any(place == i, axis=1) & np.any(place == j, axis=1))
    place, negative = place[one], parent.members[one] < 0
    flipped = negative ^ (signs[place] < 0.0)
    members = np.where(place < 0, 0, (group[place] + 1) * np.where(flipped, -1, 1))
    objective = parent.objective.contract(group, signs)
    moments = parent.moments[np.ix_(kept, kept)]
    return MetricBound(
        objective, parent.bound, moments, diagonal, members, parent.multipliers[one],
        group[parent.group], parent.signs * signs[parent.group],
    )  # fmt: skip


def time_for_a_round(now: MetricBound) -> bool:
    """Whether the eigenvectors that a minimisation starts with may be known before the time limit."""
    return there_is_time(_COST_OF_EIGENVECTORS * now.objective.n_vertices)


def enumerated(now: MetricBound) -> tuple[float, FloatArray]:
    """The largest value of a cut of few vertices, and that cut."""
    objective = now.objective
    rest = itertools.product((1.0, -1.0), repeat=objective.n_vertices - 1)
    cuts = np.array([(1.0, *signs) for signs in rest]).T
    values = objective.values(cuts)
    best = int(np.argmax(values))
    exact = objective.exact_sums and on_binary_grid(np.array([objective.constant]))
    magnitude = float(np.abs(objective.matrix).sum()) + abs(objective.constant)
    margin = 0.0 if exact else rounding_slack(2 * objective.n_vertices + 2, magnitude)
    return float(values[best]) + margin + objective.slack, cuts[:, best]


def tightened(now: MetricBound, beat: float, *, rounds: int, deadline: float = math.inf) -> MetricBound:
    """Rounds of minimisation and separation, until the bound is at most `beat`, or is not on its way there."""
    objective, n = now.objective, now.objective.n_vertices
    scale = float(np.linalg.norm(objective.matrix)) / (4.0 * n) or 1.0
    W = objective.matrix / (-4.0 * scale)
    X, y, members, t = now.moments, now.diagonal / scale, now.members, now.multipliers / scale
    bound, estimates = now.bound, list[float]()
    for _ in range(rounds):
        signs = pair_signs(members, n)
        try:
            X, y, t = _minimised(W, X, y, signs, _limits(members), t)
        except TimeoutError:
            break
        top = float(np.linalg.eigvalsh(_dual_matrix(W, y, signs, t))[-1])
        estimates.append(objective.constant + scale * (float(np.sum(y)) + n * top + float(t @ _limits(members))))
        if estimates[-1] < min(estimates[:-1], default=bound) or estimates[-1] <= beat:
            found, diagonal = certified_bound(objective, members, scale * t, scale * (y + top))
            if found < bound:
                bound = found
                now.part.point = DualPoint(bound, partial(_terms, now, members, scale * t), diagonal)
        if bound <= beat or time.monotonic() >= deadline or _hopeless(estimates, beat):
            break
        keep = t > _IDLE
        more = _violated(X, members[keep])
        members, t = np.vstack([members[keep], more]), np.append(t[keep], np.zeros(len(more)))
    return replace(now, bound=bound, moments=X, diagonal=scale * y, members=members, multipliers=scale * t)


def _terms(at: MetricBound, members: IntArray, t: FloatArray) -> list[tuple[Inequality, float]]:
    """Inequalities between vertices of the root, and their multipliers as inequalities of what is across."""
    first, signs = at.first()
    used = t > 0.0
    return [
        ({"clique": [int((first[abs(v) - 1] + 1) * np.sign(v) * signs[abs(v) - 1]) for v in row if v]}, 2.0 * float(y))
        for row, y in zip(members[used], t[used], strict=True)
    ]


def certified_bound(
    objective: DenseObjective, members: IntArray, t: FloatArray, diagonal: FloatArray
) -> tuple[float, FloatArray]:
    """The dual bound of any multipliers t >= 0, near a diagonal, or infinity where no point near it was feasible.

    And that point.

    With k terms in a sum each of them is rounded k + 1 times at most, which reaches a value with a quarter of it.
    """
    sizes = np.sum(members != 0, axis=1)
    matrix = objective.matrix + priced_pairs(pair_signs(members, objective.n_vertices), -4.0 * t)
    terms = int(np.bincount(np.abs(members).ravel())[1:].max(initial=0)) + 1  # no pair is in more than its vertex
    magnitude = math.fsum(np.abs(objective.matrix).ravel()) + 4.0 * math.fsum(t * sizes**2) + abs(objective.constant)
    priced = DenseObjective(matrix, objective.constant + math.fsum(t * _limits(members)))
    priced.slack = objective.slack + rounding_slack(terms + 2, magnitude)
    step = 1e-12 * max(float(np.abs(diagonal).max()), 1e-300)
    for _ in range(_ATTEMPTS):
        if priced.is_semidefinite(diagonal + step):
            return dual_bound(priced, diagonal + step), diagonal + step
        step *= 10.0
    return math.inf, diagonal


def _minimised(
    W: FloatArray, X: FloatArray, y: FloatArray, signs: sparse.csr_array, limits: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One round: the next X, y and t. Steps of limited-memory BFGS on what is free, projected to t >= 0."""
    n = len(W)

    def lagrangian(point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        y, t = point[:n], point[n:]
        positive = _positive_part(_dual_matrix(W, y, signs, t) + _WEIGHT * X)
        moments = positive / _WEIGHT
        value = float(np.sum(y)) + float(limits @ t) + 0.5 * float(np.vdot(positive, moments))
        return value, np.concatenate([1.0 - np.diag(moments), limits + signs @ moments.ravel()]), moments

    point, least = np.append(y, t), np.repeat([-np.inf, 0.0], [n, t.size])
    value, slope, moments = lagrangian(point)
    pairs: list[tuple[FloatArray, FloatArray]] = []
    longer = 1.0  # as long as no curvature is seen
    for _ in range(_STEPS):
        free = (point > least) | (slope < 0.0)
        steepest, length = np.where(free, slope, 0.0), 1.0
        size = float(np.linalg.norm(steepest))
        if size <= _FLAT:
            break
        first = longer / size
        direction = np.where(free, descent(steepest, pairs, first), 0.0)
        if float(slope @ direction) >= 0.0:
            direction = -first * steepest
        while length > SHORTEST:
            at = np.maximum(point + length * direction, least)
            reached, steeper, found = lagrangian(at)
            if reached <= value + ENOUGH * float(slope @ (at - point)):
                break
            length *= SHORTER
        else:
            break
        pairs, longer = [*pairs, (at - point, steeper - slope)][-_MEMORY:], 10.0 * longer
        point, value, slope, moments = at, reached, steeper, found
    return moments, point[:n], point[n:]


def _dual_matrix(W: FloatArray, y: FloatArray, signs: sparse.csr_array, t: FloatArray) -> FloatArray:
    return np.asarray(W - np.diag(y) + priced_pairs(signs, t))


def _positive_part(A: FloatArray) -> FloatArray:
    if not there_is_time(_COST_OF_EIGENVECTORS * len(A)):
        raise TimeoutError
    values, vectors = np.linalg.eigh(A)
    kept = values > 0.0
    return np.asarray((vectors[:, kept] * values[kept]) @ vectors[:, kept].T)


def _limits(members: IntArray) -> FloatArray:
    return np.asarray(0.5 * (np.sum(members != 0, axis=1) - 1.0))


def _hopeless(estimates: list[float], beat: float) -> bool:
    """Whether some more rounds as good as the last will not be enough."""
    if len(estimates) <= _WINDOW:
        return False
    gained = (estimates[-1 - _WINDOW] - min(estimates)) / _WINDOW
    return min(estimates) - _OUTLOOK * gained > beat


def _violated(X: FloatArray, known: IntArray) -> IntArray:
    """The inequalities that X violates most, without those that are known: triangles, and longer ones from them."""
    n, found = len(X), [known]
    members, violation = violated_triangles(X, _VIOLATED, _MOST_FOUND)
    while members.size:
        strongest = np.argsort(-violation, kind="stable")[: _SHARE * n]
        members = members[strongest]
        found.append(np.pad(members, ((0, 0), (0, _LONGEST - members.shape[1]))))
        if members.shape[1] == _LONGEST or n < members.shape[1] + 2:
            break
        members, violation = extended(X, members)
        members, violation = members[violation > _VIOLATED], violation[violation > _VIOLATED]
    rows = np.concatenate(found)
    order = np.argsort(np.where(rows == 0, n + 1, np.abs(rows)), axis=1, kind="stable")
    rows = np.take_along_axis(rows, order, axis=1)
    rows *= np.sign(rows[:, :1])  # of both signs, which say the same, one
    numbers = rows @ (np.uint64(_ODD) ** np.arange(_LONGEST, dtype=np.uint64)).astype(np.int64)  # modulo 2**64
    first = np.sort(np.unique(numbers, return_index=True)[1])
    return np.asarray(rows[first[first >= len(known)]])
