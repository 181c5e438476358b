"""Lower bounds on the privacy loss of a mechanism from runs on two neighbouring inputs.

An audit can only refute: a lower bound above the promised parameter proves a fault, up to the stated confidence; one
below it proves nothing. Run the mechanism many times on two neighbours. From each output compute one number that tends
to be larger on the second input, such as a log-likelihood ratio or a trained linear statistic. Pass both samples.

The threshold of the test "second input if the number exceeds t" is chosen on one half of each sample; error rates are
bounded on the other half by Clopper-Pearson intervals, so that the choice costs no confidence.

References
----------
M. Jagielski, J. Ullman, A. Oprea, "Auditing differentially private machine learning: how private is private SGD?",
NeurIPS 2020 (epsilon from error rates); M. Nasr et al., "Tight auditing of differentially private machine learning",
USENIX Security 2023 (the same in Gaussian differential privacy, where it is sharper).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import beta

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

__all__ = ["epsilon_lower_bound", "mu_lower_bound"]

#: (power, false positive rate) of tests -> privacy parameter that they refute.
Bound = Callable[[FloatArray, FloatArray], FloatArray]

#: Thresholds tried on the first half of the samples: quantiles of the pooled sample.
_THRESHOLDS = 200


def mu_lower_bound(first: ArrayLike, second: ArrayLike, *, confidence: float = 0.99) -> float:
    """Lower bound on the Gaussian-DP parameter mu of a mechanism.

    Parameters
    ----------
    first, second : array_like, shape (k,)
        Statistic of independent runs on the first and on the second input, at least 20 each. It should tend to be
        larger on the second.
    confidence : float, default 0.99
        Probability over the runs that the bound holds, in (0, 1).

    Returns
    -------
    float
        At least 0. If the mechanism is mu-GDP, it is at most mu with probability at least `confidence`.

    Raises
    ------
    InvalidParameterError
        Too few runs, values that are not finite, or a confidence outside (0, 1).

    Notes
    -----
    mu-GDP means Phi^{-1}(power) - Phi^{-1}(false positive rate) <= mu for every test (DRS22, Definition 2.1).

    Examples
    --------
    >>> import numpy as np
    >>> from tests.privacy.audit import mu_lower_bound
    >>> rng = np.random.default_rng(0)
    >>> bound = mu_lower_bound(rng.normal(size=20_000), rng.normal(1.0, size=20_000))
    >>> bool(0.9 < bound <= 1.0)
    True
    """

    def bound(power: FloatArray, false_positives: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):  # all runs above or below the threshold: no information
            difference: FloatArray = ndtri(power) - ndtri(false_positives)
        return np.nan_to_num(difference, nan=-np.inf)

    return _lower_bound(first, second, confidence, bound)


def epsilon_lower_bound(first: ArrayLike, second: ArrayLike, *, delta: float = 0.0, confidence: float = 0.99) -> float:
    """Lower bound on the epsilon at which a mechanism can be (epsilon, `delta`)-DP.

    Arguments, errors and confidence are those of :func:`mu_lower_bound`; 0 <= `delta` < 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tests.privacy.audit import epsilon_lower_bound
    >>> rng = np.random.default_rng(0)
    >>> bound = epsilon_lower_bound(rng.laplace(size=20_000), rng.laplace(1.0, size=20_000))
    >>> bool(0.8 < bound <= 1.0)
    True
    """
    if not 0 <= delta < 1:
        raise InvalidParameterError(f"delta must lie in [0, 1); got {delta!r}")

    def bound(power: FloatArray, false_positives: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(power - delta, 0.0)) - np.log(false_positives)

    return _lower_bound(first, second, confidence, bound)


def _lower_bound(first: ArrayLike, second: ArrayLike, confidence: float, bound: Bound) -> float:
    x, y = _sample("first", first), _sample("second", second)
    if not 0 < confidence < 1:
        raise InvalidParameterError(f"confidence must lie in (0, 1); got {confidence!r}")
    # The test is tried in both directions, and each rests on two intervals: four chances of an error.
    error = (1 - confidence) / 4
    best = 0.0
    for null, other in ((x, y), (-y, -x)):
        tuning = np.quantile(np.concatenate([null[::2], other[::2]]), np.linspace(0, 1, _THRESHOLDS))
        guesses = _evaluate(null[::2], other[::2], tuning, error, bound)
        threshold = tuning[[int(np.argmax(guesses))]]
        best = max(best, float(_evaluate(null[1::2], other[1::2], threshold, error, bound)[0]))
    return best


def _evaluate(null: FloatArray, other: FloatArray, thresholds: FloatArray, error: float, bound: Bound) -> FloatArray:
    """Bound at each threshold, from a lower bound on the power and an upper bound on the false positive rate."""
    false, true = (np.sum(sample[:, None] > thresholds, axis=0) for sample in (null, other))
    false_rate = np.where(false == null.size, 1.0, beta.ppf(1 - error, false + 1, np.maximum(null.size - false, 1)))
    power = np.where(true == 0, 0.0, beta.ppf(error, np.maximum(true, 1), other.size - true + 1))
    return bound(power, false_rate)


def _sample(name: str, values: ArrayLike) -> FloatArray:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size < 20 or not np.all(np.isfinite(sample)):
        raise InvalidParameterError(
            f"{name} must hold at least 20 finite numbers, one for each run; got shape {sample.shape}"
        )
    return sample
