"""The privacy curve of the Gaussian mechanism, and exact composition in Gaussian differential privacy (GDP).

Noise of standard deviation sigma on a statistic of l2-sensitivity s is mu-GDP with mu = s/sigma. Adaptive composition
is mu = sqrt(sum mu_k**2), and nothing is lost by composing in this form (DRS22, Theorem 2.7 and Corollary 3.3). The
conversion to (epsilon, delta) is exact (BW18, Theorem 8):

    delta(epsilon) = Phi(-epsilon/mu + mu/2) - exp(epsilon) Phi(-epsilon/mu - mu/2).

BW18 and DRS22 are listed in docs/theory.md.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from scipy.special import erfcx, log_ndtr, ndtri, ndtri_exp

from dpgraph.arguments import check_delta, check_epsilon, check_nonnegative, check_positive

_SQRT2 = math.sqrt(2.0)
#: Below this mu the two terms of the curve agree in nearly all digits.
_SMALL_MU = 1e-5


def _log_gdp_delta(mu: float, epsilon: float) -> float:
    """Natural logarithm of ``gdp_delta``, without overflow and without cancellation.

    With a = -epsilon/mu + mu/2 and b = a - mu, exp(epsilon) phi(b) = phi(a). So for a <= 0 both terms share the factor
    exp(-a**2/2), and what remains is a difference of scaled complementary error functions. For small mu that difference
    is mu times a derivative.
    """
    a, b = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    if mu < _SMALL_MU:
        return math.log(mu / (2 * _SQRT2)) + _log_slope(epsilon / mu / _SQRT2) - a * a / 2
    if a <= 0:
        difference = float(erfcx(-a / _SQRT2) - erfcx(-b / _SQRT2))
        return math.log(0.5 * difference) - a * a / 2 if difference > 0 else -math.inf
    log_first = float(log_ndtr(a))
    log_ratio = epsilon + float(log_ndtr(b)) - log_first
    return log_first + math.log(-math.expm1(log_ratio)) if log_ratio < 0 else -math.inf


def _log_slope(x: float) -> float:
    """Natural logarithm of -erfcx'(x) = 2/sqrt(pi) - 2 x erfcx(x), which is about 1/(sqrt(pi) x**2) for large x."""
    if x > 1e3:
        return -0.5 * math.log(math.pi) - 2 * math.log(x)
    return math.log(2 / math.sqrt(math.pi) - 2 * x * float(erfcx(x)))


def _border(above: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbouring doubles between which a condition that fails at `low` and holds at `high` begins to hold."""
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if above(middle) else (middle, high)
    return low, high


def gdp_delta(mu: float, epsilon: float) -> float:
    """Smallest delta at which mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    mu, epsilon : float
        At least 0; mu is the l2-sensitivity divided by the standard deviation of the noise.

    Returns
    -------
    float
        delta in [0, 1), relative accuracy about 1e-9 or better.

    Raises
    ------
    InvalidParameterError
        `mu` or `epsilon` is negative or not finite.

    References
    ----------
    BW18, Theorem 8; DRS22, Corollary 2.13.

    Examples
    --------
    >>> from dpgraph.privacy import gdp_delta
    >>> gdp_delta(1.0, 1.0)
    0.126936737507
    """
    mu, epsilon = check_nonnegative("mu", mu), check_nonnegative("epsilon", epsilon)
    return 0.0 if mu == 0 else math.exp(_log_gdp_delta(mu, epsilon))


def gdp_epsilon(mu: float, delta: float) -> float:
    """Smallest epsilon at which mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    mu, delta : float
        mu >= 0 and 0 < delta < 1; otherwise an error as for :func:`gdp_delta`.

    Examples
    --------
    >>> from dpgraph.privacy import gdp_epsilon
    >>> round(gdp_epsilon(0.2367044, 1e-6), 6)
    1.0
    """
    mu, target = check_nonnegative("mu", mu), math.log(check_delta(delta))
    if mu == 0 or _log_gdp_delta(mu, 0.0) <= target:
        return 0.0
    # delta(epsilon) <= Phi(-epsilon/mu + mu/2), which is at most delta here.
    high = mu * (mu / 2 - float(ndtri_exp(target))) + 1e-9
    while _log_gdp_delta(mu, high) > target:  # a rounding error of the bracket, for gigantic mu
        high *= 1 + 1e-9
    return _border(lambda e: _log_gdp_delta(mu, e) <= target, 0.0, high)[1]


def gdp_mu(epsilon: float, delta: float) -> float:
    """Largest mu for which mu-GDP implies (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon, delta : float
        epsilon > 0 and 0 < delta < 1; otherwise an error as for :func:`gdp_delta`.

    References
    ----------
    BW18, Algorithm 1 (solved here by a bracketed root search on log delta).

    Examples
    --------
    >>> from dpgraph.privacy import gdp_mu
    >>> [round(gdp_mu(eps, 1e-6), 4) for eps in (1, 2, 4)]
    [0.2367, 0.4483, 0.8379]
    """
    return _largest_mu(check_epsilon(epsilon), check_delta(delta))


@lru_cache(maxsize=128)
def _largest_mu(epsilon: float, delta: float) -> float:
    """The same for checked numbers: one call asks for that of its budget up to ten times."""
    target = math.log(delta)
    # At mu_high, -epsilon/mu + mu/2 is at least |quantile| + 1 and delta(epsilon) is above the target.
    quantile = abs(float(ndtri(delta))) + 2.0
    high = quantile + math.sqrt(quantile**2 + 2 * epsilon)
    low = high
    while _log_gdp_delta(low, epsilon) > target:
        low /= 2
    while _log_gdp_delta(high, epsilon) < target:
        high *= 2
    mu = _border(lambda m: _log_gdp_delta(m, epsilon) > target, low, high)[0]
    return mu * (1 - 1e-12)  # stay on the private side of the root's rounding error


def gaussian_scale(sensitivity: float, *, epsilon: float, delta: float) -> float:
    """Smallest standard deviation at which Gaussian noise is (epsilon, delta)-DP (BW18, Theorem 8 and Algorithm 1).

    Parameters
    ----------
    sensitivity : float
        l2-sensitivity of the released vector, > 0. The standard deviation has its unit.
    epsilon, delta : float
        0 < delta < 1, and epsilon > 0 of any size (the classical formula is not private for large epsilon); otherwise
        an error as for :func:`gdp_delta`.

    Examples
    --------
    >>> import dpgraph
    >>> dpgraph.gaussian_scale(1.0, epsilon=1.0, delta=1e-6)
    4.2247
    """
    return check_positive("sensitivity", sensitivity) / gdp_mu(epsilon, delta)


def free_choice_epsilon(epsilon: float, delta: float) -> float:
    """Largest e such that an e-DP bit may choose between a pure and a Gaussian mechanism, at no cost to the latter.

    Where the bit is 1, an (`epsilon` - e)-DP mechanism follows. Where it is 0, a ``gdp_mu(epsilon, delta)``-GDP
    mechanism follows, as if nothing had been released before. Together they are (`epsilon`, `delta`)-DP. The reason:
    the first spends no delta, and a 0 can reveal much only where 0 is rare.

    Proof: docs/proofs.md, "Composition", rule 4. There s = -d'(epsilon)/d(epsilon) for d(x) = ``gdp_delta(mu, x)``, and
    e is as large as ``s e <= ln(1 + exp(-e))`` allows.
    """
    mu = gdp_mu(epsilon, delta)
    slope = math.exp(epsilon + float(log_ndtr(-epsilon / mu - mu / 2)) - math.log(delta))
    limit = _border(lambda e: slope * e > math.log1p(math.exp(-e)), 0.0, math.log(2) / slope)[0]
    return min(limit * (1 - 1e-6), epsilon)
