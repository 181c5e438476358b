r"""Release numbers, vectors and matrices, with noise, on a public grid: one implementation, and its proof.

A sum of data and noise in floating point shows low-order bits of both. Here a release is a function of an integer. Let
G, the step of the grid, be a public power of two. A double x is p G + r, p G the multiple of G that is nearest to it
and abs(r) <= G/2; both are doubles, for a double of 2**52 steps or more is itself a multiple of G. An integer k is
drawn from r and from the noise, and F(p + k) is released, where F(s) is the double nearest to s G (the largest double
where s G is beyond all of them). F is the same for all data, so that F(p + k) is post-processing of p + k. And F(p + k)
is what is computed, however large x is: an addition of two doubles that are multiples of G is rounded once, by the
exact sum alone. So nothing is clipped, and no value is refused.

Three laws of k are in use.

**Real noise Z** (Gaussian, Wishart, nuclear Laplace): k = round((r + Z)/G), so that p + k = round((x + Z)/G). That is
post-processing of x + Z: the grid costs nothing, whatever its step. Z is a double of 53 bits, and G is chosen 2**-30
times its scale (:func:`grid_step`), so that doubles are dense between two points of the grid.

**Integer noise K on data that are multiples of G**: r = 0 and k = K.

**Discrete Laplace noise K of parameter b on data whose own grid is too fine for it**: k = K + C, where C = sign(r) with
probability abs(r)/G and else 0 (:func:`coins` are exact). Where neighbours differ by s in l1 this is (s / scale)-DP for
b = scale/G + 1.
*Proof.* Let x = (m + f) G, 0 <= f <= 1. The output is m + K with probability 1 - f and m + 1 + K with probability f, so
that the point z has the probability p_x(z) = (1 - f) L(z - m) + f L(z - m - 1), L the law of K. This is continuous and
piecewise linear in x, of slope at most abs(L(z - m - 1) - L(z - m))/G <= (e^(1/b) - 1) p_x(z)/G, because the two values
of L differ at most by the factor e^(1/b), and p_x(z) is at least the smaller one. So ln p_x(z) moves by at most
(e^(1/b) - 1)/G for each unit of x, and e^(1/b) - 1 <= 1/(b - 1) = G/scale. Independent numbers add up.
"""

import math
from fractions import Fraction

import numpy as np

from dpgraph.exceptions import InvalidGraphError
from dpgraph.typing import BoolArray, FloatArray

__all__ = [
    "GRID_BITS",
    "LAPLACE_BITS",
    "Terms",
    "add_on_grid",
    "coins",
    "grid_step",
    "nearest_multiples",
    "nearest_points",
    "split",
    "sum_on_grid",
    "symmetric_part",
]

#: An array, or several of one shape whose exact sum is meant.
Terms = FloatArray | tuple[FloatArray, ...]

#: The grid of real noise is this many bits finer than its scale.
GRID_BITS = 30
#: The grid of discrete Laplace noise: its scale is then at most 2**29 + 1 steps, which the exact sampler can draw.
LAPLACE_BITS = 28
#: A double of this many steps or more is a multiple of the step.
_ALL_MULTIPLES = 2.0**52
_LARGEST = float(np.finfo(np.float64).max)
#: The remainder of a sum is off by at most 2**-53 steps for each addition. Closer than this to 1/2 it is computed
#: exactly.
_CLOSE_TO_HALF = 2.0**-40


def grid_step(scale: float, unit: float = 0.0, *, bits: int = GRID_BITS) -> float:
    """Step of the grid for noise of this public scale: `unit`, or a power of two about ``scale * 2**-bits`` if larger.

    The data are multiples of `unit`, a power of two; it is 0 if the noise is real, whose grid costs nothing. The noise
    is less than ``2**(bits + 1)`` steps wide.
    """
    return max(unit, 2.0 ** (math.floor(math.log2(scale)) - bits))


def nearest_points(values: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Nearest multiples of `step`, a power of two, and the remainders in steps. Both are exact, down to 2**-1074 steps.

    A value that is NaN or infinite is refused; the functions that read data refuse those before.
    """
    if not np.all(np.isfinite(values)):
        raise InvalidGraphError("expected finite numbers to release on a grid; at least one is not")
    between = np.abs(values) < _ALL_MULTIPLES * step
    points = np.where(between, np.rint(np.where(between, values, 0.0) / step) * step, values)
    return points, (values - points) / step


def split(values: Terms, step: float) -> tuple[tuple[FloatArray, ...], FloatArray]:
    """Grid points of each array, and the sum of the remainders in steps (:func:`nearest_points`).

    For k arrays the remainder is at most k/2 steps. It is exact where all remainders are multiples of 2**-50 steps.
    Otherwise each addition may be off by 2**-53 of the sum, which is less than the rounding of real noise, itself a
    double. Discrete Laplace noise is added to several arrays only where the remainder is exact.
    """
    parts = [nearest_points(part, step) for part in _terms(values)]
    return tuple(part[0] for part in parts), sum((part[1] for part in parts[1:]), start=parts[0][1])


def nearest_multiples(values: Terms, step: float) -> tuple[FloatArray, ...]:
    """Multiples of `step` whose exact sum is within half a step of the exact sum of `values`, at most 64 arrays."""
    points, left = split(values, step)
    if len(points) == 1:
        return points
    whole = np.rint(left)
    for place in zip(*np.nonzero(np.abs(left - whole) > 0.5 - _CLOSE_TO_HALF), strict=True):
        exact = [Fraction(float(part[place])) for part in _terms(values)]
        on_grid = [Fraction(float(part[place])) for part in points]
        whole[place] = round((sum(exact) - sum(on_grid)) / Fraction(step))
    return (*points, whole * step)


def symmetric_part(A: Terms) -> Terms:
    """(A + A')/2 without rounding."""
    return tuple(half for part in _terms(A) for half in (part / 2, part.T / 2))


def sum_on_grid(points: Terms, steps: FloatArray, step: float) -> FloatArray:
    """Double nearest to the exact value of sum(`points`) + `steps` * `step`; `points` are multiples of `step`."""
    terms = (*_terms(points), steps * step)
    with np.errstate(over="ignore"):
        total = np.asarray(sum(terms[1:], start=terms[0]))
    if len(terms) > 2:  # the first additions are exact for numbers of moderate size; others are summed as fractions
        sizes = np.max([np.abs(term) for term in terms], axis=0)
        for place in zip(*np.nonzero(sizes >= _ALL_MULTIPLES / 8 * step), strict=True):
            total[place] = _rounded_once([float(term[place]) for term in terms])
    # The sum of two zeros below 0 is -0.0, which would tell on which side of 0 the data are. F(0) is +0.0.
    return np.clip(total, -_LARGEST, _LARGEST) + 0.0


def add_on_grid(values: Terms, noise: FloatArray, unit: float) -> FloatArray:
    """Round the exact sum of `values` and real `noise` to the grid of step `unit`; see the head of this module."""
    points, left = split(values, unit)
    return sum_on_grid(points, np.rint(left + noise / unit), unit)


def coins(probabilities: FloatArray, generator: np.random.Generator) -> BoolArray:
    """True with exactly these probabilities, doubles in [0, 1], by comparing their binary digits with random ones."""
    result = np.zeros(probabilities.shape, dtype=bool)
    left, tied = probabilities.ravel().copy(), np.arange(probabilities.size)
    while tied.size:
        left = left * 2.0**32
        digits, drawn = np.floor(left), generator.integers(0, 2**32, size=tied.size)
        result.ravel()[tied[drawn < digits]] = True
        left = left - digits
        more = (drawn == digits) & (left > 0)
        left, tied = left[more], tied[more]
    return result


def _terms(values: Terms) -> tuple[FloatArray, ...]:
    return values if isinstance(values, tuple) else (values,)


def _rounded_once(terms: list[float]) -> float:
    total = sum(map(Fraction, terms), start=Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return _LARGEST if total > 0 else -_LARGEST
