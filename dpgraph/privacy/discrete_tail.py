"""The tail of the noise of scalars: a discrete Gaussian, added to values that were rounded to its grid."""

import math

from scipy.special import ndtri

from dpgraph.exceptions import DPGraphError
from dpgraph.privacy.accounting import check_delta

__all__ = ["grid_quantile"]

#: Bound on the relative error of the computed normal quantile (that of scipy is about 1e-15).
_QUANTILE_ERROR = 1e-12


def grid_quantile(failure: float, *, ratio: float, terms: int = 2) -> float:
    """Slack z of a one-sided good event about scalars on a grid, in standard deviations of their noise.

    A real v is rounded to a multiple of the step g and released as R = round(v) + g X, X a discrete Gaussian:
    P[X = k] proportional to exp(-k**2 / (2 s**2)) for integers k, with s >= `ratio`. Then for up to `terms` such
    releases R_1, ..., R_k with independent noise of one scale sigma = g s, and any signs,

        P[sum of +-(R_i - v_i) > z sqrt(k) sigma] <= `failure`,

    for z the normal quantile of `failure` plus ``1.5 sqrt(terms) / ratio``.

    *Theorem.* Let Z be normal with mean 0 and standard deviation s >= 1. Then P[X >= t] <= P[Z + 1 >= t] for every t.

    *Proof.* X is an integer, so let t = m be one. f is the density of Z and C = sum_k exp(-k**2/(2 s**2)), which by
    Poisson's summation formula is sqrt(2 pi) s (1 + 2 sum_{j >= 1} exp(-2 pi**2 s**2 j**2)).

    For m >= 1: C >= sqrt(2 pi) s, hence P[X = k] <= f(k), which is at most the integral of f over [k - 1, k] as f falls
    on it. Summed over k >= m that is P[X >= m] <= P[Z >= m - 1].

    For m <= 0 the claim says, X and Z being symmetric, P[X >= k] >= P[Z >= k] for k = 1 - m >= 1. The integral of f
    over [j, j + 1] is at most f(j) times that of exp(-t**2/(2 s**2)) over [0, 1], which is at most 1 - 1/(6 s**2) +
    1/(40 s**4) <= 1 - 1/(8 s**2). And P[X = j] >= f(j)/(1 + 3 exp(-2 pi**2 s**2)), where 3 exp(-2 pi**2 s**2) <=
    1/(8 s**2). So P[X = j] is at least that integral; sum over j >= k.

    *The quantile.* -X has the law of X, and an order of laws is kept by sums of independent terms. So k noises together
    are at most sqrt(k) Z + k in this order, and k roundings add at most k/2. What is asked for holds if z sqrt(k) s >=
    q sqrt(k) s + 3 k/2, with q the normal quantile, P[Z > q s] = `failure`.

    C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, section 3.2 (the
    first half: the tail of X beside that of a rounded Z).
    """
    if not ratio >= 1 or terms < 1:
        raise DPGraphError("internal error: the noise of a good event must be at least one step of its grid wide")
    quantile = -float(ndtri(check_delta(failure)))
    return quantile + _QUANTILE_ERROR * abs(quantile) + 1.5 * math.sqrt(terms) / ratio
