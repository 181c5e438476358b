"""The degree-2 relaxation of max-cut in low-rank form, with a certificate that decides when to stop.

Maximise constant + <W, V V'> over V with unit rows in R^k (Burer, Monteiro 2003) by exact maximisation over one row
at a time. For k > sqrt(2n) local optima are global for almost every objective; smaller k are faster and nearly
always enough, so the rank starts small and grows only if the certified gap stalls.

References
----------
S. Burer, R. D. C. Monteiro, A nonlinear programming algorithm for solving semidefinite programs via low-rank
factorization, Mathematical Programming 95 (2003).
N. Boumal, V. Voroninski, A. Bandeira, The non-convex Burer-Monteiro approach works on smooth semidefinite programs,
NIPS 2016, Theorem 2.
P.-W. Wang, W.-C. Chang, J. Z. Kolter, The mixing method: low-rank coordinate descent for semidefinite programming
with diagonal constraints, arXiv:1706.00476.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.certificate import Certificate, certify, certify_within
from dpgraph.typing import FloatArray

__all__ = ["LowRankSolution", "solve_low_rank"]

_BATCH = 400
_COARSE, _FIRST = 1e-3, 10  # a coarse tolerance is relative to a value near the optimum, after this many sweeps
_STALLED = 0.9  # a gap above this share of the one before, at a fifth of the threshold, is the rank's fault
_SPREAD = 0.1  # length of the new coordinates of a row; measured


@dataclass(frozen=True, eq=False)
class LowRankSolution:
    """A feasible point of the relaxation and an upper bound on it.

    Attributes
    ----------
    vectors : numpy.ndarray, shape (n, k)
        Unit rows; the moments are X = V V'.
    value : float
        Value of the relaxation at X: a lower bound on its optimum (not on the max-cut).
    certificate : Certificate
        Upper bound on the relaxation and on every cut.
    sweeps : int
        Sweeps of coordinate ascent.
    converged : bool
        Whether the relative gap between bound and value reached the tolerance.
    """

    vectors: FloatArray
    value: float
    certificate: Certificate
    sweeps: int
    converged: bool

    def __repr__(self) -> str:
        n, k = self.vectors.shape
        return (
            f"LowRankSolution(n={n}, rank={k}, value={self.value:.6g}, bound={self.certificate.bound:.6g}, "
            f"converged={self.converged})"
        )


def solve_low_rank(
    objective: CutObjective,
    rng: np.random.Generator,
    *,
    tol: float | None = None,
    max_sweeps: int | None = None,
    start: FloatArray | None = None,
) -> LowRankSolution:
    """Solve the degree-2 relaxation to a certified relative gap.

    Stops once ``bound - value <= tol * max(|constant|, |value|)``, `tol` by default 1e-6 up to 1000 vertices and 1e-4
    above, or after `max_sweeps`, by default 20/tol and at most 20,000. `start` holds unit rows, shape (n, k), of a warm
    start. The result is a deterministic function of the state of `rng`.
    """
    n = objective.n_vertices
    if tol is None:
        tol = 1e-6 if n <= 1000 else 1e-4
    if max_sweeps is None:
        max_sweeps = min(20_000, math.ceil(20 / tol))
    first, most = objective.ranks()
    V = _random_rows(n, first, rng) if start is None else np.array(start, dtype=np.float64, order="C")
    threshold = 0.01 * tol
    sweeps = objective.ascend(V, min(_FIRST, max_sweeps), 0.0)[0] if tol >= _COARSE else 0
    stalls, last_gap = 0, math.inf
    while True:
        done, gain = objective.ascend(V, min(_BATCH, max_sweeps - sweeps), threshold * _scale(objective, V))
        sweeps += done
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        value = _relaxed_value(objective, V)
        scale = _scale(objective, V)
        out_of_sweeps = sweeps >= max_sweeps
        if gain > threshold * scale and not out_of_sweeps:
            continue
        certificate, gap = certify_within(objective, V, tol * scale, rng)
        if certificate is not None:
            converged = certificate.bound - value <= 1.01 * tol * scale
            return LowRankSolution(V, value, certificate, sweeps, converged)
        stalls = stalls + 1 if gap > _STALLED * last_gap else 0
        last_gap = gap
        exhausted = gain <= 1e-13 * scale
        if (stalls >= 2 or exhausted) and not out_of_sweeps and V.shape[1] < most:
            V = _widen(V, rng)
            threshold, stalls, last_gap = 0.01 * tol, 0, math.inf
            continue
        if exhausted or out_of_sweeps:
            return LowRankSolution(V, value, certify(objective, V, rng), sweeps, False)
        threshold = max(threshold / 5.0, 1e-14)


def _relaxed_value(objective: CutObjective, V: FloatArray) -> float:
    return objective.constant - 0.25 * float(np.sum(V * objective.multiply(V)))


def _scale(objective: CutObjective, V: FloatArray) -> float:
    """What gaps are relative to: the larger of |constant| and |value| of the relaxation, never 0."""
    return max(abs(objective.constant), abs(_relaxed_value(objective, V)), 1e-300)


def _random_rows(n: int, k: int, rng: np.random.Generator) -> FloatArray:
    V = rng.standard_normal((n, k))
    return np.asarray(V / np.linalg.norm(V, axis=1, keepdims=True))


def _widen(V: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Twice the rank, the new coordinates random: a way out of what is only optimal among the smaller rank."""
    wide = np.hstack([V, _SPREAD * rng.standard_normal(V.shape) / math.sqrt(V.shape[1])])
    return np.asarray(wide / np.linalg.norm(wide, axis=1, keepdims=True))
