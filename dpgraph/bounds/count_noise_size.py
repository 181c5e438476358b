"""How large the noise on a count is, known from its law: standard deviations and half-widths of intervals."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import nbinom

from dpgraph.bounds.ladder import RATE_BITS, SCALE_BITS, local_growth, smooth_scale
from dpgraph.typing import FloatArray

__all__ = ["half_width", "ladder_quantile", "standard_deviation"]

#: Rungs beyond this many times 1/g weigh nothing.
_FAR = 80.0
_MOST_RUNGS = 20_000
#: Part of the probability of an interval to miss that is left to the widths, which are released too.
_WIDTHS_SHARE = 0.2


def standard_deviation(noise: Mapping[str, Any]) -> float:
    """Standard deviation of a law as :attr:`dpgraph.PrivateCounts.noise` states it, at the released widths."""
    if noise["law"] == "ladder":
        probabilities, ends = _rungs(noise["widths"], noise["exponents"][0])
        inner = np.concatenate([[0.0], ends[:-1]])
        squares = (inner**2 + inner * ends + ends**2) / 3  # of a uniform number between both ends of a rung
        return math.sqrt(float(probabilities @ squares))
    return math.sqrt(2.0) * noise["scale"] if noise["law"] == "Laplace" else math.inf


def half_width(noise: Mapping[str, Any], miss: float) -> float:
    """Half-width of an interval around the released count that misses the count with probability at most `miss`.

    The widths that the law depends on are released as well: upper bounds on them are used, from the last to the first.
    """
    if noise["law"] == "Laplace":
        return max(0.0, float(noise["scale"]) * math.log(1 / miss))
    widths, (own, *others) = noise["widths"], noise["exponents"]
    order = len(widths) - 1
    upper: tuple[int, ...] = (1,)
    for width, exponent in zip(reversed(widths[:-1]), reversed(others), strict=True):
        upper = (width + math.ceil(ladder_quantile(upper, exponent, 2 * miss * _WIDTHS_SHARE / order)), *upper)
    left = miss * (1 - _WIDTHS_SHARE) if order else miss
    if noise["law"] == "ladder":
        return ladder_quantile(upper, own, left)
    scale = smooth_scale(upper, noise["epsilon"]) / 2.0**SCALE_BITS
    return scale / math.tan(math.pi * left / 2)


def ladder_quantile(widths: Sequence[int], exponent: int, miss: float) -> float:
    """The end of the first rung beyond which there is a probability of at most `miss`, on both sides together.

    Term j of the rungs is negative binomial: weight 2 c_j C(k - 1, j) e^-gk at rung k.
    """
    rate = exponent / 2.0**RATE_BITS
    y, fails = 1 / math.expm1(rate), -math.expm1(-rate)
    terms = [2 * width * y ** (j + 1) for j, width in enumerate(widths)]

    def beyond(k: int) -> float:
        tails = (term * nbinom.sf(k - j - 1, j + 1, fails) for j, term in enumerate(terms))
        return float(sum(tails)) / (1 + sum(terms))

    low, high = 0, math.ceil(_FAR / rate)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if beyond(middle) <= miss else (middle + 1, high)
    return float(sum(width * math.comb(low, j + 1) for j, width in enumerate(widths)))


def _rungs(widths: Sequence[int], exponent: int) -> tuple[FloatArray, FloatArray]:
    """Probability of rungs, and their ends; at a low rate one rung in many stands for its neighbours.

    Rung k ends at sum_j c_j C(k, j + 1).
    """
    rate = exponent / 2.0**RATE_BITS
    k = np.arange(0.0, _FAR / rate + 2, math.ceil(_FAR / rate / _MOST_RUNGS))
    weights = 2 * local_growth(widths, k - 1) * np.exp(-rate * k)
    weights[0] = 1 / max(k[1], 1)
    return weights / weights.sum(), local_growth((0, *widths), k)
