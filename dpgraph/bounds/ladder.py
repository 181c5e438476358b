r"""How far a subgraph count may move, and the laws of noise that follow it: ladders and smooth sensitivity.

One edge moves a count f by at most its *width* c_0, which is itself private: for triangles the most common neighbours
of two vertices. The width moves by at most c_1, that one by at most c_2, and so on, down to a constant c_J = 1:

    |f - f'| <= min(c_0, c_0'),    |c_j - c_j'| <= min(c_{j+1}, c'_{j+1})    for neighbours.                        (1)

Where (1) holds, t edges away from a graph no edge moves the count by more than

    I_t = sum_j c_j C(t, j),    and    I_t(G) <= I_{t+1}(G'),                                                      (2)

because c_j <= c_j' + c'_{j+1} and C(t, j) + C(t, j - 1) = C(t + 1, j).

**The ladder** (Zhang et al. 2015). Around f, rung 0 is f itself, and rung k >= 1 holds the next I_{k-1} integers on
either side. By (2) an integer on rung k of G is on rung k + 1 of G', at most: if y <= f + I_0 + ... + I_{k-1}, then
y <= f' + I_0' + I_1' + ... + I_k'. So the release of an integer of rung k with probability proportional to e^{-g k}
costs g for the rung, and what the normaliser moves by. With y = 1/(e^g - 1), the normaliser is

    C = 1 + 2 sum_j c_j y^{j+1},    and    C - C' <= 2 sum_{j >= 1} c_j' y^j.

The published analysis takes g = epsilon/2. Widths that are not small cost much less, so they are raised first, to
c_j >= b c_{j+1} with a public number b >= 1. That keeps (1): max(c_j, b c_{j+1}) <= max(c_j' + c'_{j+1}, b (c'_{j+1} +
c'_{j+2})), and b c'_{j+2} <= c'_{j+1} once that is raised. :func:`normaliser_growth` bounds C/C' for raised widths, and
:func:`rung_exponent` takes the largest g with g + ln(C/C') <= epsilon, about epsilon - 1/b: nearly twice epsilon/2.

**Smooth sensitivity** (Nissim, Raskhodnikova and Smith 2007). S = max_t e^{-beta t} I_t is at least c_0, and by (2)
moves by a factor of at most e^beta. See :func:`smooth_scale` for noise of a Cauchy law.

References
----------
J. Zhang, G. Cormode, C. Procopiuc, D. Srivastava, X. Xiao, "Private release of graph statistics using ladder
functions", SIGMOD 2015. K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data
analysis", STOC 2007. V. Karwa, S. Raskhodnikova, A. Smith, G. Yaroslavtsev, "Private analysis of graph structure",
VLDB 2011 (released bounds on local sensitivity).
"""

import math
from collections.abc import Sequence

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

__all__ = [
    "LEAST_EPSILON",
    "RATE_BITS",
    "SCALE_BITS",
    "local_bound_quantile",
    "local_growth",
    "normaliser_growth",
    "raised_widths",
    "rung_exponent",
    "smooth_scale",
    "smooth_shift_epsilon",
]

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


def raised_widths(widths: Sequence[int], floor: int) -> tuple[int, ...]:
    """The least widths with c_j >= `floor` c_{j+1} that are not below the given ones; the last one is 1."""
    raised = [int(widths[-1])]
    for width in reversed(widths[:-1]):
        raised.insert(0, max(int(width), floor * raised[0]))
    return tuple(raised)


def normaliser_growth(rate: float, order: int, floor: int) -> float:
    r"""Bound on C/C' for neighbours with raised widths c_0, ..., c_J, J = `order` <= 2, at a rate g.

    Notes
    -----
    C/C' - 1 <= sum_{j >= 1} c_j y^j / (1/2 + sum_j c_j y^{j+1}), all widths those of one graph, y = 1/(e^g - 1). It
    decreases with c_0, so take c_0 = b c_1. For J = 1 that is y/(1/2 + b y + y^2). For J = 2 it is (c_1 + y)/(1/(2 y) +
    (b + y) c_1 + y^2), a quotient of linear functions of c_1, which lies between its values at the least c_1 = b and at
    infinity, 1/(b + y).
    """
    y = 1 / math.expm1(rate)
    if order == 0:
        return 1.0
    if order == 1:
        return 1 + y / (0.5 + floor * y + y * y)
    return 1 + max((floor + y) / (0.5 / y + (floor + y) * floor + y * y), 1 / (floor + y))


def rung_exponent(epsilon: float, order: int, floor: int) -> int:
    """The largest rate of a rung, in units of 2**-40, at which a ladder with raised widths is epsilon-DP.

    Raises
    ------
    InvalidParameterError
        epsilon is below :data:`LEAST_EPSILON`.
    """
    if not epsilon >= LEAST_EPSILON:
        raise InvalidParameterError(
            f"counts need epsilon of at least {LEAST_EPSILON:g} for each number that is released; got {epsilon:g}"
        )
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


def local_bound_quantile(scale: float, delta: float) -> int:
    """What to add to a number released with discrete Laplace noise, to bound it from above except with `delta`.

    P[Z < -q] = e^{-(q + 1)/scale}/(1 + e^{-1/scale}) <= e^{-q/scale}/2.
    """
    return max(math.ceil(scale * math.log(0.5 / delta) * (1 + _ROUNDING)), 0)
