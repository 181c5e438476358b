"""The degree-2 relaxation of max-cut in low-rank form, with a certificate that decides when to stop.

Maximise constant + <W, V V'> over V with unit rows in R^k (Burer, Monteiro 2003) by exact maximisation over one row
at a time (Wang, Chang, Kolter 2017). For k > sqrt(2n) local optima are global for almost every objective (Boumal,
Voroninski, Bandeira 2016); smaller k are faster and nearly always enough, so the rank starts small and grows only if
the certified gap stalls.
"""

import math
import time
from dataclasses import dataclass

import numpy as np

from dpgraph import threads
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.certificate import Certificate, certify, certify_within, trivial_certificate
from dpgraph.typing import FloatArray

_BATCH = 400
_COARSE, _FIRST = 1e-3, 10  # a coarse tolerance is relative to a value near the optimum, after this many sweeps
_STALLED = 0.9  # a gap above this share of the one before, at a fifth of the threshold, is the rank's fault
_LARGE, _MOST_TOLERANCE = 20_000, 1e-2  # vertices from which the default tolerance grows, and up to what
_PRODUCTS = 40  # as long as so many take the least that a bound other than the trivial one costs
_LEAST_RANK = 4
_COLUMNS = 8  # of a product that tells how long one of all columns will take
_SPREAD = 0.1  # length of the new coordinates of a row; measured


@dataclass(frozen=True, eq=False)
class LowRankSolution:
    """A feasible point X = V V' of the relaxation, V unit rows (n, k), its `value`, and an upper bound on every cut."""

    vectors: FloatArray
    value: float
    certificate: Certificate
    sweeps: int
    converged: bool  #: whether bound and value are within the tolerance


def solve_low_rank(
    objective: CutObjective,
    rng: np.random.Generator,
    *,
    tol: float | None = None,
    max_sweeps: int | None = None,
    start: FloatArray | None = None,
    deadline: float = math.inf,
    prove: bool = True,
) -> LowRankSolution:
    """Solve the degree-2 relaxation to a certified relative gap.

    Stops once ``bound - value <= tol * max(|constant|, |value|)``, `tol` by default 1e-6 up to 1000 vertices, 1e-4 up
    to 20,000, and above in proportion to their number, 5e-3 at a million. Or after `max_sweeps`, by default 20/tol and
    at most 20,000, or soon after the `deadline`, a time of ``time.monotonic``. `start` holds unit rows of a warm start.
    Unless it is to `prove` its bound, that may be a guess, of this kind.
    A cut that meets the trivial bound is itself the solution, of rank one; without the time for a bound a random one.
    The ascent has half of the time, as a bound from few sweeps is worth more than none.
    """
    n, (first, most) = objective.n_vertices, objective.ranks()
    deadline = min(deadline, threads.deadline())
    cut = None if start is not None or threads.time_is_up() else objective.unfrustrated()
    rank = _affordable_rank(objective, first, deadline) if cut is None and start is None else first
    if cut is not None or rank < min(first, _LEAST_RANK):
        V = (np.where(rng.random(n) < 0.5, 1.0, -1.0) if cut is None else cut)[:, None]
        return LowRankSolution(V, _value_and_scale(objective, V)[0], trivial_certificate(objective), 0, cut is not None)
    if tol is None:
        tol = 1e-6 if n <= 1000 else min(1e-4 * max(1.0, n / _LARGE), _MOST_TOLERANCE)
    if max_sweeps is None:
        max_sweeps = math.ceil(min(20_000, 20 / tol))
    V = _unit_rows(rng.standard_normal((n, rank))) if start is None else np.array(start, dtype=np.float64, order="C")
    threshold = 0.01 * tol
    sweeps = objective.ascend(V, min(_FIRST, max_sweeps), 0.0)[0] if tol >= _COARSE else 0
    stalls, last_gap = 0, math.inf
    value, scale = _value_and_scale(objective, V)
    now = time.monotonic()
    half = now + 0.5 * (deadline - now)
    while True:
        with threads.within(half - time.monotonic()):
            done, gain = objective.ascend(V, min(_BATCH, max_sweeps - sweeps), threshold * scale)
        sweeps += done
        V = _unit_rows(V)
        value, scale = _value_and_scale(objective, V)
        last = half if sweeps < max_sweeps else -math.inf
        if gain > threshold * scale and time.monotonic() < last:
            continue
        certificate, gap = certify_within(objective, V, tol * scale, rng, deadline, prove=prove, last=last)
        if certificate is not None:
            converged = certificate.bound - value <= 1.01 * tol * scale
            return LowRankSolution(V, value, certificate, sweeps, converged)
        stalls = stalls + 1 if gap > _STALLED * last_gap else 0
        last_gap = gap
        exhausted = gain <= 1e-13 * scale
        if (stalls >= 2 or exhausted) and V.shape[1] < most:
            # Twice the rank, the new coordinates random: a way out of what is only optimal among the smaller rank.
            V = _unit_rows(np.hstack([V, _SPREAD * rng.standard_normal(V.shape) / math.sqrt(V.shape[1])]))
            threshold, stalls, last_gap = 0.01 * tol, 0, math.inf
            continue
        if exhausted:
            return LowRankSolution(V, value, certify(objective, V, rng, deadline), sweeps, False)
        threshold = max(threshold / 5.0, 1e-14)


def _affordable_rank(objective: CutObjective, rank: int, deadline: float) -> int:
    """At most `rank`, as large as lets as many products as a bound needs, the trivial one apart, end in time."""
    began = time.monotonic()
    if began < deadline < math.inf:
        objective.multiply(np.ones((objective.n_vertices, _COLUMNS)))
        now = time.monotonic()
        rank = min(rank, int(_COLUMNS * (deadline - now) / max(_PRODUCTS * (now - began), 1e-9)))
    return rank if began < deadline else 0


def _value_and_scale(objective: CutObjective, V: FloatArray) -> tuple[float, float]:
    """Value of the relaxation, and what gaps are relative to: the larger of |constant| and |value|, never 0."""
    value = objective.constant - 0.25 * float(np.vdot(V, objective.multiply(V)))
    return value, max(abs(objective.constant), abs(value), 1e-300)


def _unit_rows(V: FloatArray) -> FloatArray:
    return np.asarray(V / np.sqrt(np.einsum("ik,ik->i", V, V))[:, None])
