"""Local sensitivity of subgraph counts, and the laws of noise that follow it: ladders and smooth sensitivity.

One edge changes a count f by at most its *width* c_0, the local sensitivity or a bound on it, which is itself private:
for triangles the most common neighbours of two vertices. The width changes by at most c_1, that one by at most c_2, and
so on, down to a constant c_J = 1:

    |f - f'| <= min(c_0, c_0'),    |c_j - c_j'| <= min(c_{j+1}, c'_{j+1})    for neighbours.                        (1)

Where (1) holds, t edges away from a graph no edge changes the count by more than

    I_t = sum_j c_j C(t, j),    and    I_t(G) <= I_{t+1}(G'),                                                      (2)

**The ladder** (Zhang et al. 2015). Around f, rung 0 is f itself, and rung k >= 1 holds the next I_{k-1} integers on
either side; by (2) an integer on rung k of G is on rung k + 1 of G', at most. An integer of rung k is released with
probability proportional to e^{-g k}. Widths are raised first, to c_j >= b_j c_{j+1} with public b_0 <= b_1, all >= 1.
:func:`rung_exponent` takes the largest g that is epsilon-DP, about epsilon - 1/b_0, where the published analysis takes
epsilon/2.

**Smooth sensitivity** (Nissim, Raskhodnikova and Smith 2007). S = max_t e^{-beta t} I_t is at least c_0, and by (2)
changes by a factor of at most e^beta. See :func:`smooth_scale` for noise of a Cauchy law.

Proof of (2), and for raised widths: docs/counts-theory.md, "Why a ladder is private". Sources: there.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

#: Rates of ladders are multiples of 2**-RATE_BITS, those of exact coins.
RATE_BITS = 40
#: A smaller epsilon is refused: noise would be hundreds of thousands of times what one edge changes.
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


def raised_widths(widths: Sequence[int], floors: Sequence[int]) -> tuple[int, ...]:
    """The least widths with c_j >= b_j c_{j+1} that are not below the given ones; the last one is 1."""
    raised = [int(widths[-1])]
    for width, floor in zip(reversed(widths[:-1]), reversed(floors), strict=True):
        raised.insert(0, max(int(width), floor * raised[0]))
    return tuple(raised)


def normaliser_growth(rate: float, floors: Sequence[int]) -> float:
    """Bound on C/C' for neighbours, C the sum of the weights of all integers of a ladder at a rate g.

    Widths c_0, ..., c_J, J <= 2, are raised by J floors. Proof: docs/counts-theory.md, "Why a ladder is private".
    """
    y = 1 / math.expm1(rate)
    if not floors:
        return 1.0
    if len(floors) == 1:
        return 1 + y / (0.5 + floors[0] * y + y * y)
    first, second = floors
    return 1 + max((second + y) / (0.5 / y + (first + y) * second + y * y), 1 / (first + y))


def check_counts(epsilon: float) -> None:
    """Refuse an epsilon that is too small for a ladder."""
    if not epsilon >= LEAST_EPSILON:
        raise InvalidParameterError(
            f"counts need epsilon of at least {LEAST_EPSILON:g} for each number that is released; got {epsilon:g}"
        )


def rung_exponent(epsilon: float, floors: Sequence[int]) -> int:
    """The largest rate of a rung, in units of 2**-40, at which a ladder with widths raised by these is epsilon-DP.

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
        fits = rate + math.log(normaliser_growth(rate, floors)) <= epsilon * (1 - _ROUNDING)
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def local_growth(widths: Sequence[int], t: FloatArray) -> FloatArray:
    """I_t = sum_j c_j C(t, j), for all t at once."""
    total, binomial = np.zeros(t.size), np.ones(t.size)
    for j, width in enumerate(widths):
        total += width * binomial
        binomial = binomial * (t - j) / (j + 1)
    return total


def check_smooth(epsilon: float) -> None:
    """Refuse an epsilon that is too small for a smooth sensitivity."""
    if not epsilon >= LEAST_SMOOTH_EPSILON:
        raise InvalidParameterError(
            f"smooth sensitivity needs epsilon of at least {LEAST_SMOOTH_EPSILON:g} for each count; got {epsilon:g}. "
            f"mechanism='ladder' takes less"
        )


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
    check_smooth(epsilon)
    shift, growth = smooth_shift_epsilon(epsilon), _GROWTH_SHARE * epsilon
    t = np.arange(math.ceil((len(widths) - 1) / growth) + 2, dtype=np.float64)
    local = local_growth(widths, t)
    scale = float(np.max(np.exp(-growth * t) * local)) / shift
    return math.ceil(max(scale, _LEAST_SCALE) * (1 + _ROUNDING) * 2.0**SCALE_BITS)


def smooth_scales(widths: FloatArray, epsilon: float) -> FloatArray:
    """No less than :func:`smooth_scale`, in units of 1, for widths c_0, c_1, c_2 of shape (3, k), c_0 > 0.

    The maximum over real t >= 0 of e^(-beta t) I_t is at 0, or at the larger t with I_t' = beta I_t, a quadratic.
    """
    c0, c1, c2 = widths
    growth, one = _GROWTH_SHARE * epsilon, 2.0**-SCALE_BITS
    a, b, c = growth * c2 / 2, growth * (c1 - c2 / 2) - c2, growth * c0 - c1 + c2 / 2
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(a > 0, (root - b) / (2 * a), -c / b)
    t = np.where(np.isfinite(t), np.maximum(t, 0.0), 0.0)
    most = np.maximum(c0, np.exp(-growth * t) * (c0 + t * (c1 + (t - 1) / 2 * c2)))
    return np.asarray(np.maximum(most / smooth_shift_epsilon(epsilon), _LEAST_SCALE) * (1 + 1e-9) + one)


def smooth_shift_epsilon(epsilon: float) -> float:
    """The a of :func:`smooth_scale`: what is left of epsilon for the change of the count."""
    return epsilon - (1 + _NORMALISER) * (_GROWTH_SHARE * epsilon + 2.0**-SCALE_BITS)
