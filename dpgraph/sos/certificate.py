"""Dual certificates: true upper bounds on the max-cut relaxation, whatever the primal solver did.

For every t with Diag(t) + M/4 positive semidefinite, every X with X_ii = 1 has <W, X> <= sum(t), W = -M/4. From
multipliers y_i = <V_i, (W V)_i> and positive weights s, t = y - lambda s is feasible once lambda is at most the
smallest eigenvalue of S^{-1/2} (Diag(y) - W) S^{-1/2}, of either sign. Weights s close to y instead of 1 keep a hub
of a heavy-tailed graph from paying for every other vertex.

A Lanczos run only *guesses* lambda (it overestimates it); the guess is lowered until positive semidefiniteness is
proven. Where a proof would cost too much, the theorem of Kuczynski and Wozniakowski bounds the error of Lanczos for
a random start, and the certificate says so by ``kind = "lanczos"``.

References
----------
J. Kuczynski, H. Wozniakowski, Estimating the largest eigenvalue by the power and Lanczos algorithms with a random
start, SIAM J. Matrix Anal. Appl. 13 (1992), Theorem 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh_tridiagonal

from dpgraph.sos.objective import CutObjective

__all__ = ["Certificate", "certify"]

FloatArray = NDArray[np.float64]

#: Probability that a bound of kind "lanczos" fails (over the random start, in exact arithmetic).
FAILURE_PROBABILITY = 1e-10

_ATTEMPTS = 40
_LONG_RUN = 1000  # Lanczos steps when no proof is affordable


@dataclass(frozen=True)
class Certificate:
    """An upper bound on the relaxation, hence on every cut.

    Attributes
    ----------
    bound : float
        The bound.
    kind : str
        "proven": Diag(diagonal) + M/4 was proven positive semidefinite, rounding errors included (sparse
        elimination and Cholesky, or the inertia of diagonal + low rank). "lanczos": holds with probability
        1 - 1e-10 over the random start of a Lanczos run in exact arithmetic. "trivial": the sum of the positive
        weights or a diagonal dominance bound.
    diagonal : numpy.ndarray, shape (n,)
        The dual point t; ``bound = constant + sum(t)`` plus a rounding margin.
    """

    bound: float
    kind: str
    diagonal: FloatArray

    def __repr__(self) -> str:
        return f"Certificate(bound={self.bound:.6g}, kind={self.kind!r})"


def certify(
    objective: CutObjective, vectors: FloatArray, rng: np.random.Generator, *, slack: float = 1e-5, steps: int = 120
) -> Certificate:
    """Certified upper bound from unit rows.

    Parameters
    ----------
    objective : CutObjective
        What is to be cut.
    vectors : numpy.ndarray, shape (n, k)
        Unit rows, the closer to optimal the better the bound; any rows give a true bound.
    rng : numpy.random.Generator
        Start vector of the Lanczos run.
    slack : float, default 1e-5
        Smallest relative step by which the guess of lambda is lowered.
    steps : int, default 120
        Lanczos steps.

    Returns
    -------
    Certificate
    """
    y = -0.25 * np.sum(vectors * objective.multiply(vectors), axis=1)
    trivial = trivial_certificate(objective)
    live = objective.row_norms() > 0.0
    if not live.any():
        return Certificate(objective.constant, "proven", np.zeros(objective.n_vertices))
    y[~live] = 0.0
    s = np.where(live, np.maximum(y, 0.05 * float(np.abs(y[live]).mean())), 0.0)
    if not s.any():  # all multipliers are zero: any positive weights do
        s = live.astype(np.float64)

    apply = _scaled_operator(objective, y, s)
    guess, _ = _smallest_eigenvalue(apply, live, rng, steps)
    step = max(0.1 * abs(guess), slack)
    shift = guess
    for _ in range(_ATTEMPTS):
        shift -= step
        step *= 2.0
        t = y - shift * s
        proven = objective.is_semidefinite(t)
        if proven:
            return min(Certificate(_bound(objective, t), "proven", t), trivial, key=_by_bound)
        if proven is None:
            guess, error = _smallest_eigenvalue(apply, live, rng, _LONG_RUN)
            t = y - (guess - error) * s
            return min(Certificate(_bound(objective, t), "lanczos", t), trivial, key=_by_bound)
    return trivial


def trivial_certificate(objective: CutObjective) -> Certificate:
    """The sum of all positive weights, as the dual point t_i = |M_i|_1/4: Diag(t) + M/4 is diagonally dominant.

    Never below the relaxation. (A factored objective uses |M_i|_1 <= sqrt(n) |M_i|_2.)
    """
    t = 0.25 * objective.absolute_row_sums()
    return Certificate(_bound(objective, t), "trivial", t)


def _by_bound(certificate: Certificate) -> float:
    return certificate.bound


def _bound(objective: CutObjective, t: FloatArray) -> float:
    """Constant + sum(t), rounded up for the rounding errors of the two sums (none when all numbers are quarters)."""
    if objective.integral and np.all(4.0 * t == np.rint(4.0 * t)):
        return objective.constant + math.fsum(t)
    return objective.constant + math.fsum(t) + 1e-13 * (abs(objective.constant) + math.fsum(np.abs(t)))


def _scaled_operator(objective: CutObjective, y: FloatArray, s: FloatArray) -> Callable[[FloatArray], FloatArray]:
    root = np.where(s > 0.0, 1.0 / np.sqrt(np.where(s > 0.0, s, 1.0)), 0.0)

    def apply(x: FloatArray) -> FloatArray:
        z = root * x
        return root * (y * z + 0.25 * objective.multiply(z))

    return apply


def _smallest_eigenvalue(
    apply: Callable[[FloatArray], FloatArray], live: NDArray[np.bool_], rng: np.random.Generator, steps: int
) -> tuple[float, float]:
    """Lanczos estimate of the smallest eigenvalue, and by how much it may overestimate it.

    The second number is ``eps (largest - smallest)`` with 1.648 sqrt(n) exp(-sqrt(eps) (2 steps - 1)) equal to half
    the failure probability; the other half is for the largest eigenvalue, which the same run underestimates.
    """
    n = int(live.sum())
    steps = min(steps, n)
    v = np.where(live, rng.standard_normal(live.size), 0.0)
    v /= np.linalg.norm(v)
    before = np.zeros_like(v)
    alpha: list[float] = []
    beta: list[float] = []
    for _ in range(steps):
        w = apply(v) - (beta[-1] * before if beta else 0.0)
        alpha.append(float(v @ w))
        w -= alpha[-1] * v
        norm = float(np.linalg.norm(w))
        if norm <= 1e-14 * (abs(alpha[-1]) + 1.0):
            break
        beta.append(norm)
        before, v = v, w / norm
    ritz = eigvalsh_tridiagonal(np.array(alpha), np.array(beta[: len(alpha) - 1]))
    root = math.log(2.0 * 1.648 * math.sqrt(n) / FAILURE_PROBABILITY) / max(2 * steps - 1, 1)
    relative = min(root**2, 0.25)
    return float(ritz[0]), relative / (1.0 - 2.0 * relative) * float(ritz[-1] - ritz[0])
