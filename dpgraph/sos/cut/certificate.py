"""Dual certificates: true upper bounds on the max-cut relaxation, whatever the primal solver did.

For every t with Diag(t) + M/4 positive semidefinite, every X with X_ii = 1 has <W, X> <= sum(t), W = -M/4. From
multipliers y_i = <V_i, (W V)_i> and positive weights s, t = y - lambda s is feasible once lambda is at most the
smallest eigenvalue of S^{-1/2} (Diag(y) - W) S^{-1/2}, of either sign. Weights s close to y instead of 1 keep a hub
of a heavy-tailed graph from paying for every other vertex.

A Lanczos run only *guesses* lambda (it overestimates it); the guess is lowered until positive semidefiniteness is
proven. Where a proof would cost too much, the run itself shows it for a random start (:mod:`dpgraph.linalg.lanczos`),
and the certificate says so by ``kind = "lanczos"``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

from dpgraph import threads
from dpgraph.linalg.lanczos import Lanczos, lower_bound
from dpgraph.sos.cut.base import CutObjective, on_binary_grid
from dpgraph.sos.proofs import CutProof, DualPoint, Part
from dpgraph.sos.units import rounded_once
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray

#: Probability that a bound of kind "lanczos" fails (over the random start, in exact arithmetic).
FAILURE_PROBABILITY = 1e-10

_ATTEMPTS = 60
_SHORT_RUN = 100
_CAREFUL_RUN = 300  # before a proof of more than _COSTLY vertices, which takes seconds and may fail
_COSTLY = 5000
#: Most Lanczos steps where no proof is affordable.
LONG_RUN = 1000
_SHARE_OF_PROOF = 0.5  # of the time that is left, if there is a limit; what follows costs less
_LEAST_LONG_RUN, _PRODUCTS = 300, 100_000_000  # as many steps are taken at any size; steps times vertices


@dataclass(frozen=True)
class Certificate:
    """An upper bound on a relaxation, hence on every cut or assignment; docs/sos-theory.md describes the kinds.

    The `bound` includes a rounding margin and the slack of the objective. Of a cut the `diagonal` is the dual point t,
    shape (n,): the bound is ``constant + sum(t)`` plus margin and slack.
    """

    bound: float
    kind: str
    diagonal: FloatArray | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Pinned:
    """A relaxation with some variables pinned, for the search over seeds; the bound may be that of fewer pins."""

    solution: Any
    certificate: Certificate

    @property
    def value(self) -> float:
        """Value of the relaxation."""
        return float(self.solution.value)

    @property
    def bound(self) -> float:
        """No solution that agrees with the pins is worth more."""
        return self.certificate.bound

    @property
    def kind(self) -> str:
        """How the bound is known."""
        return self.certificate.kind


def certify(
    objective: CutObjective, vectors: FloatArray, rng: np.random.Generator, deadline: float = math.inf
) -> Certificate:
    """Certified upper bound from any unit rows, shape (n, k): the closer they are to optimal, the better the bound.

    Where no proof is affordable, it is that of as many Lanczos steps as there is time for.
    """
    if time_is_up():
        return trivial_certificate(objective)
    line = _DualLine.through(objective, vectors)
    return line.best(line.lanczos(rng).run(_SHORT_RUN), deadline)


def certify_within(
    objective: CutObjective,
    vectors: FloatArray,
    gap: float,
    rng: np.random.Generator,
    deadline: float = math.inf,
    *,
    prove: bool = True,
    last: float = math.inf,
) -> tuple[Certificate | None, float]:
    """Certified upper bound at most `gap` above the value of the relaxation at `vectors`, or None; and the gap guessed.

    Costs little when the answer is None: the Lanczos run, which underestimates the gap, is asked before a proof.
    Where no proof is affordable the bound of kind "lanczos" may be further above: better rows would not help it.
    From the time `last` on, after which no better rows come, it is the best one there is time for in place of None.
    Without a proof that of kind "guess" is what a proof would show if it were begun: no bound.
    """
    line = _DualLine.through(objective, vectors)
    if line.trivial.bound - line.bound(0.0) <= gap:
        return line.trivial, gap
    total_weight = max(math.fsum(line.weights), 1e-300)
    shift = -gap / total_weight
    run = line.lanczos(rng)
    found = None
    for steps in (_SHORT_RUN, _CAREFUL_RUN if objective.n_vertices > _COSTLY else _SHORT_RUN):
        run.look(shift, FAILURE_PROBABILITY / 2, steps, deadline)
        smallest = float(run.ritz()[0])
        if smallest <= shift:
            gap = -smallest * total_weight
            break
    else:
        if not prove:
            return Certificate(line.bound(shift), "guess"), gap
        found = line.prove(shift, run, deadline)
    if found is None and time.monotonic() >= last:
        found = line.best(run, deadline)
    return found, gap


def proof_of(certificate: Certificate, price: float = 0.0) -> CutProof | str:
    """What proves a bound on all cuts to others, or why nothing does; with a `price` it is on balanced ones."""
    if certificate.kind == "lanczos" or certificate.diagonal is None:
        return "the bound is that of a Lanczos run: a proof would have cost too much, or time was up"
    trivial = certificate.kind == "trivial" and not price
    diagonal = None if trivial else certificate.diagonal - price
    return CutProof(Part(DualPoint(certificate.bound, diagonal=diagonal, price=price)))


def trivial_certificate(objective: CutObjective) -> Certificate:
    """The sum of all positive weights: with t_i = |M_i|_1/4, Diag(t) + M/4 is diagonally dominant."""
    dominant = 0.25 * objective.absolute_row_sums
    return Certificate(dual_bound(objective, dominant), "trivial", dominant)


@dataclass(frozen=True, eq=False)
class _DualLine:
    """The dual points t = y - lambda s of one set of unit rows."""

    objective: CutObjective
    multipliers: FloatArray
    weights: FloatArray
    trivial: Certificate

    @classmethod
    def through(cls, objective: CutObjective, vectors: FloatArray) -> _DualLine:
        live = objective.row_norms > 0.0
        y = np.where(live, -0.25 * np.sum(vectors * objective.multiply(vectors), axis=1), 0.0)
        floor = 0.05 * float(np.abs(y).sum()) / max(int(live.sum()), 1)
        weights = np.where(live, np.maximum(y, floor) if floor > 0.0 else 1.0, 0.0)
        return cls(objective, y, weights, trivial_certificate(objective))

    def point(self, shift: float) -> FloatArray:
        return self.multipliers - shift * self.weights

    def bound(self, shift: float) -> float:
        return dual_bound(self.objective, self.point(shift))

    def prove(self, shift: float, run: Lanczos, deadline: float) -> Certificate | None:
        """The better of the trivial bound and that at `shift`, or None if its point could not be shown to be feasible.

        Where no proof is affordable, `run` is continued until it shows the same, or its bound is taken instead.
        """
        t = self.point(shift)
        left = min(deadline, threads.deadline()) - time.monotonic()
        with threads.within(_SHARE_OF_PROOF * left):
            proven = self.objective.is_semidefinite(t)
            if not proven and time_is_up():
                proven = None
        if proven is None:
            return self.seen(run, shift, min(LONG_RUN, max(_LEAST_LONG_RUN, _PRODUCTS // t.size)), deadline)
        if not proven:
            return None
        return self._certified(t, "proven")

    def best(self, run: Lanczos, deadline: float) -> Certificate:
        """The bound at what `run` takes for the smallest eigenvalue, or as much below as it takes to prove it."""
        guess = float(run.ritz()[0])
        step = max(0.2 * abs(guess), 1e-7)  # a failed proof is dear
        for _ in range(_ATTEMPTS):
            if min(deadline, threads.deadline()) <= time.monotonic():
                return self.seen(run, math.inf, run.steps)
            guess -= step
            step *= 2.0
            found = self.prove(guess, run, deadline)
            if found is not None:
                return found
            if self.bound(guess) > self.trivial.bound:
                break
        return self.trivial

    def seen(self, run: Lanczos, shift: float, steps: int, deadline: float = math.inf) -> Certificate:
        """The better of the trivial bound and that at `shift`, or below it, once `run` shows it, in so many steps."""
        known = lower_bound(run, shift, steps=steps, failure=FAILURE_PROBABILITY, deadline=deadline)
        return self.trivial if known == -math.inf else self._certified(self.point(known), "lanczos")

    def _certified(self, t: FloatArray, kind: str) -> Certificate:
        return min(Certificate(dual_bound(self.objective, t), kind, t), self.trivial, key=attrgetter("bound"))

    def lanczos(self, rng: np.random.Generator) -> Lanczos:
        """A run for the smallest eigenvalue of S^{-1/2} (Diag(y) + M/4) S^{-1/2}."""
        return scaled_run(lambda z: 0.25 * self.objective.multiply(z), self.multipliers, self.weights, rng)


def scaled_run(
    rest: Callable[[FloatArray], FloatArray], diagonal: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> Lanczos:
    """A run on W^{-1/2} (Diag(diagonal) + rest) W^{-1/2}, on the coordinates of positive weight."""
    live = weights > 0.0
    root = np.where(live, 1.0 / np.sqrt(np.where(live, weights, 1.0)), 0.0)

    def multiply(x: FloatArray) -> FloatArray:
        z = root * x
        return np.asarray(root * (diagonal * z + rest(z)))

    return Lanczos(multiply, np.where(live, rng.standard_normal(live.size), 0.0))


def dual_bound(objective: CutObjective, t: FloatArray) -> float:
    """The sum constant + sum(t), plus the slack of the objective, rounded up where the sum has rounding errors."""
    bound = objective.constant + rounded_once(t) + objective.slack
    if objective.exact_sums and on_binary_grid(np.append(4.0 * t, objective.constant)):
        return bound
    return bound + 1e-13 * (abs(objective.constant) + rounded_once(np.abs(t)))
