"""Local sensitivity of subgraph counts, and the laws of noise that follow it: ladders and smooth sensitivity.

One edge changes a count f by at most its *width* c_0, the local sensitivity or a bound on it, which is itself private:
for triangles the most common neighbours of two vertices. The width changes by at most c_1, that one by at most c_2, and
so on, down to a constant c_J = 1:

    |f - f'| <= min(c_0, c_0'),    |c_j - c_j'| <= min(c_{j+1}, c'_{j+1})    for neighbours.                        (1)

Where (1) holds, t edges away from a graph no edge changes the count by more than

    I_t = sum_j c_j C(t, j),    and    I_t(G) <= I_{t+1}(G'),                                                      (2)

**The ladder** (Zhang et al. 2015). Around f, rung 0 is f itself, and rung k >= 1 holds the next I_{k-1} integers on
either side; by (2) an integer on rung k of G is on rung k + 1 of G', at most. An integer of rung k is released with
probability proportional to e^{-g k}. Widths are raised first, to c_j >= b c_{j+1} with a public number b >= 1.
:func:`rung_exponent` takes the largest g that is epsilon-DP, about epsilon - 1/b, where the published analysis takes
epsilon/2.

**Smooth sensitivity** (Nissim, Raskhodnikova and Smith 2007). S = max_t e^{-beta t} I_t is at least c_0, and by (2)
changes by a factor of at most e^beta. See :func:`smooth_scale` for noise of a Cauchy law.

Proof of (2), and for raised widths: docs/counts-theory.md, "Why a ladder is private". Sources: there.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import betaincc

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

#: Rates of ladders are multiples of 2**-RATE_BITS, those of exact coins.
RATE_BITS = 40
#: A smaller epsilon is refused: noise would be hundreds of thousands of times what one edge moves.
LEAST_EPSILON = 2.0**-20
#: The same for smooth sensitivity, whose allowance for rounding would be more than a tenth of a smaller epsilon.
LEAST_SMOOTH_EPSILON = 2.0**-16
#: A larger rate makes noise no smaller: rung 0 has all but e^-64 of the probability.
_LARGEST_RATE = 64.0
#: Relative allowance for the floating-point evaluation of public bounds.
_ROUNDING = 1e-12
#: The grid of the scale of Cauchy noise, the least scale, and what the logarithm of its normaliser adds there.
SCALE_BITS, _LEAST_SCALE, _NORMALISER = 20, 2.0, 1e-4
#: Part of epsilon for the growth of smooth sensitivity.
_GROWTH_SHARE = 0.2
#: Rungs beyond this many times 1/g weigh nothing.
_FAR = 80.0
_MOST_RUNGS = 20_000
#: The quantile of Cauchy noise at this probability, or at less, lies where its density is convex.
_CONVEX_MISS = 0.6
#: Part of the probability of an interval to miss that is left to the widths, which are released too.
_WIDTHS_SHARE = 0.2


def raised_widths(widths: Sequence[int], floor: int) -> tuple[int, ...]:
    """The least widths with c_j >= `floor` c_{j+1} that are not below the given ones; the last one is 1."""
    raised = [int(widths[-1])]
    for width in reversed(widths[:-1]):
        raised.insert(0, max(int(width), floor * raised[0]))
    return tuple(raised)


def normaliser_growth(rate: float, order: int, floor: int) -> float:
    """Bound on C/C' for neighbours, C the sum of the weights of all integers of a ladder at a rate g.

    Widths c_0, ..., c_J, J = `order` <= 2, are raised. Proof: docs/counts-theory.md, "Why a ladder is private".
    """
    y = 1 / math.expm1(rate)
    if order == 0:
        return 1.0
    if order == 1:
        return 1 + y / (0.5 + floor * y + y * y)
    return 1 + max((floor + y) / (0.5 / y + (floor + y) * floor + y * y), 1 / (floor + y))


def check_counts(epsilon: float) -> None:
    """Refuse an epsilon that is too small for a ladder."""
    if not epsilon >= LEAST_EPSILON:
        raise InvalidParameterError(
            f"counts need epsilon of at least {LEAST_EPSILON:g} for each number that is released; got {epsilon:g}"
        )


def rung_exponent(epsilon: float, order: int, floor: int) -> int:
    """The largest rate of a rung, in units of 2**-40, at which a ladder with raised widths is epsilon-DP.

    Raises
    ------
    InvalidParameterError
        epsilon is below :data:`LEAST_EPSILON`.
    """
    check_counts(epsilon)
    one = 1 << RATE_BITS
    low, high = 0, math.floor(min(epsilon, _LARGEST_RATE) * one)
    while low < high:
        rate = (middle := (low + high + 1) // 2) / one
        fits = rate + math.log(normaliser_growth(rate, order, floor)) <= epsilon * (1 - _ROUNDING)
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def local_growth(widths: Sequence[int], t: FloatArray) -> FloatArray:
    """I_t = sum_j c_j C(t, j), for all t at once."""
    total, binomial = np.zeros(t.size), np.ones(t.size)
    for j, width in enumerate(widths):
        total += width * binomial
        binomial = binomial * (t - j) / (j + 1)
    return total


def smooth_scale(widths: Sequence[int], epsilon: float) -> int:
    r"""Scale s, in units of 2**-20, of noise with P[Z = z] proportional to 1/(s^2 + z^2) for an epsilon-DP count.

    Notes
    -----
    s is S/a, rounded up, and at least 2. Neighbouring counts differ by at most c_0 <= S <= a s, and
    |d ln(s^2 + z^2)/dz| <= 1/s: that costs a. Neighbouring scales differ by a factor of at most e^(beta + 2^-20), with
    rounding. As sum_z 1/(s^2 + z^2) = pi coth(pi s)/s, the derivative of the logarithm of the probability with respect
    to ln s is 1 - 2 s^2/(s^2 + z^2) + 2 pi s/sinh(2 pi s), between -1 and 1.0001 for s >= 2. So a + 1.0001 (beta +
    2^-20) = epsilon. (The general theorem of the source gives a = beta = epsilon/6 for this law.)
    """
    if not epsilon >= LEAST_SMOOTH_EPSILON:
        raise InvalidParameterError(
            f"smooth sensitivity needs epsilon of at least {LEAST_SMOOTH_EPSILON:g} for each count; got {epsilon:g}. "
            f"mechanism='ladder' takes less"
        )
    shift, growth = smooth_shift_epsilon(epsilon), _GROWTH_SHARE * epsilon
    t = np.arange(math.ceil((len(widths) - 1) / growth) + 2, dtype=np.float64)
    local = local_growth(widths, t)
    scale = float(np.max(np.exp(-growth * t) * local)) / shift
    return math.ceil(max(scale, _LEAST_SCALE) * (1 + _ROUNDING) * 2.0**SCALE_BITS)


def smooth_shift_epsilon(epsilon: float) -> float:
    """The a of :func:`smooth_scale`: what is left of epsilon for the change of the count."""
    return epsilon - (1 + _NORMALISER) * (_GROWTH_SHARE * epsilon + 2.0**-SCALE_BITS)


# --- how large the noise is, known from its law -----------------------------------------------------------------------


def standard_deviation(noise: Mapping[str, Any]) -> float:
    """Standard deviation of a law as :attr:`dpgraph.PrivateCounts.noise` states it, at the released widths."""
    if noise["law"] == "ladder":
        probabilities, ends = _rungs(noise["widths"], noise["exponents"][0])
        inner = np.concatenate([[0.0], ends[:-1]])
        # The mean square of the integers inner + 1, ..., ends; rung 0 is 0 alone.
        squares = (2 * (inner**2 + inner * ends + ends**2) + 3 * (inner + ends) + (ends > 0)) / 6
        return math.sqrt(float(probabilities @ squares))
    return math.sqrt(2.0) * noise["scale"] if noise["law"] == "Laplace" else math.inf


def half_width(noise: Mapping[str, Any], miss: float) -> float:
    """Half-width of an interval around the released count that misses the count with probability at most `miss`.

    The widths that the law depends on are released as well: upper bounds on them are used, from the last to the first.
    """
    if noise["law"] == "Laplace":
        return float(laplace_half_width(noise["scale"], miss))
    widths, (own, *others) = noise["widths"], noise["exponents"]
    order = len(widths) - 1
    upper: tuple[int, ...] = (1,)
    for width, exponent in zip(reversed(widths[:-1]), reversed(others), strict=True):
        upper = (width + math.ceil(ladder_quantile(upper, exponent, 2 * miss * _WIDTHS_SHARE / order)), *upper)
    left = miss * (1 - _WIDTHS_SHARE) if order else miss
    if noise["law"] == "ladder":
        return ladder_quantile(upper, own, left)
    return float(cauchy_quantile(smooth_scale(upper, noise["epsilon"]) / 2.0**SCALE_BITS, left))


def laplace_half_width(scale: float, miss: float) -> int:
    """An integer that discrete Laplace noise of this scale exceeds, on either side, with probability `miss` at most.

    With x = e^-g, g its rate, P[abs(K) >= m] is 2 x^m/(1 + x) <= x^(m - 1/2). The rate is rounded down by less than
    2^-10 of itself. From a scale of 2^29 on (:mod:`dpgraph.privacy.grid`) the noise lies on a grid of G units, G at
    most 2^-28 scales; then it is one step wider, and the value is rounded to the grid, by less than a step.
    """
    step = scale * 2.0**-28 if scale >= 2.0**29 else 0.0
    return max(math.ceil((scale + step) * (1 + 2.0**-10) * math.log(1 / miss) + 1.5 * step - 0.5 * (step == 0)), 0)


def cauchy_quantile(scale: float, miss: float) -> int:
    """An integer h with P[abs(Z) > h] <= `miss`, Z an integer of weight 1/(s^2 + z^2), s = `scale`.

    The weights add up to more than pi/s. Where they are convex, beyond s/sqrt(3), each is at most the integral over an
    interval of length 1 about it; everywhere beyond 0, over the one that ends with it. So P[abs(Z) > h] is at most
    (2/pi) atan(s/t), t = h + 1/2 or h.
    """
    convex = miss <= _CONVEX_MISS
    return math.ceil(scale / math.tan(math.pi * miss / 2) * (1 + _ROUNDING) - 0.5 * convex)


def ladder_quantile(widths: Sequence[int], exponent: int, miss: float) -> float:
    """The end of the first rung beyond which there is a probability of at most `miss`, on both sides together.

    Term j of the rungs is negative binomial: weight 2 c_j C(k - 1, j) e^-gk at rung k.
    """
    rate = exponent / 2.0**RATE_BITS
    y, fails = 1 / math.expm1(rate), -math.expm1(-rate)
    terms = [2 * width * y ** (j + 1) for j, width in enumerate(widths)]

    def beyond(k: int) -> float:
        # A sum of j + 1 geometric variables is k - j or more: negative binomial.
        tails = (term * (betaincc(j + 1, k - j, fails) if k > j else 1.0) for j, term in enumerate(terms))
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
