r"""Release numbers, vectors and matrices, with noise, on a public grid: one implementation, and why it is private.

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
Proof: docs/proofs.md, "Numbers in a computer".
"""

import math
from fractions import Fraction

import numpy as np

from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.privacy.exact_sampling import EXPONENT_BITS, laplace_exponent
from dpgraph.typing import BoolArray, FloatArray

#: The scale of the noise is at least this many steps of the grid. A larger epsilon than the second number counts as it:
#: there the noise is negligible.
_QUERY_STEPS, _LARGEST_EPSILON = 2.0**16, 2.0**16
#: The least epsilon: the noise is at least 1/epsilon steps wide, and the exact sampler must hold that many.
_LEAST_EPSILON = 2.0**-30

#: An array, or several of one shape whose exact sum is meant.
Terms = FloatArray | tuple[FloatArray, ...]

#: The grid of real noise is this many bits finer than its scale.
GRID_BITS = 30
#: The grid of discrete Laplace noise: its scale is then at most 2**29 + 1 steps, which the exact sampler can draw.
LAPLACE_BITS = 28
#: No noise has a smaller scale, so that its grid can be written in doubles.
LEAST_SCALE = 2.0**-900
#: A double of this many steps or more is a multiple of the step.
_ALL_MULTIPLES = 2.0**52
#: Relative allowance for the floating-point evaluation of a quantile.
_ROUNDING = 1e-12
_LARGEST = float(np.finfo(np.float64).max)
#: The remainder of a sum is off by at most 2**-53 steps for each addition. Closer than this to 1/2 it is computed
#: exactly.
_CLOSE_TO_HALF = 2.0**-40


def grid_step(scale: float, unit: float = 0.0, *, bits: int = GRID_BITS) -> float:
    """Step of the grid for noise of this public scale: `unit`, or a power of two about ``scale * 2**-bits`` if larger.

    The data are multiples of `unit`, a power of two; it is 0 if the noise is real, whose grid costs nothing. The noise
    is less than ``2**(bits + 1)`` steps wide.
    """
    return max(unit, 2.0 ** (math.floor(math.log2(max(scale, LEAST_SCALE))) - bits))


def laplace_grid(scale: float, unit: float) -> tuple[float, float]:
    """Step of the grid of discrete Laplace noise of this scale on multiples of `unit`, and its scale in steps.

    Where the step is larger than `unit`, values are rounded to it up or down at random, for which the noise is one step
    wider.
    """
    step = grid_step(scale, unit, bits=LAPLACE_BITS)
    return step, scale / unit if step == unit else scale / step + 1


def laplace_quantile(scale: float, failure: float) -> int:
    r"""The least q >= 0 at which an integer is more than q above its release with probability at most `failure`.

    The release is that of :meth:`~dpgraph.privacy.noise.NoiseSource.laplace_on_grid` with this scale and unit 1.

    Notes
    -----
    K is the noise in steps of G, of rate g: P[K >= m] = T(m) = e^{-g m}/(1 + e^{-g}) for m >= 0. The value is f steps
    above a point of the grid, 0 <= f < 1, f a multiple of 1/G, and is rounded up to the next one with probability f. So
    the release is G (K - f) above the value with probability 1 - f, and G (K + 1 - f) with probability f. With
    q + 1 = G (a + t), 0 < t <= 1, it is more than q below the value with probability T(a + 1) at most where f < t, and
    with (1 - f) T(a) + f T(a + 1) elsewhere, which is largest at f = t. (At f = 0 if t = 1; the number is the same.)
    So the worst value has (1 - t) T(a) + t T(a + 1), the linear interpolation of T at (q + 1)/G. It falls with q.
    """
    step, steps = laplace_grid(scale, 1.0)
    rate = laplace_exponent(steps) / 2.0**EXPONENT_BITS
    failure *= 1 - _ROUNDING
    below_zero = -math.log1p(math.exp(-rate))  # ln T(0)
    a = max(math.floor((below_zero - math.log(failure)) / rate), 0)
    here, further = (math.exp(below_zero - rate * m) for m in (a, a + 1))
    t = (here - failure) / (here - further)
    return max(math.ceil(step * (a + t)) - 1, 0)


def nearest_points(values: FloatArray, step: float) -> FloatArray:
    """Nearest multiples of `step`, a power of two: exact; not for NaN or infinity."""
    largest = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(largest):
        raise InvalidGraphError("expected finite numbers to release on a grid; at least one is not")
    if largest < _ALL_MULTIPLES * step:
        points = values / step
        np.rint(points, out=points)
        points *= step
        return points
    between = np.abs(values) < _ALL_MULTIPLES * step
    return np.where(between, np.rint(np.where(between, values, 0.0) / step) * step, values)


def split(values: Terms, step: float) -> tuple[tuple[FloatArray, ...], FloatArray]:
    """Grid points of each array (:func:`nearest_points`), and the sum of the remainders in steps.

    The remainder of one array is exact, down to 2**-1074 steps. For k arrays it is at most k/2 steps, and exact where
    all remainders are multiples of 2**-50 steps. Otherwise each addition may be off by 2**-53 of the sum, which is less
    than the rounding of real noise, itself a double. Discrete Laplace noise is added to several arrays only where the
    remainder is exact.
    """
    points = on_points(values, step)
    left = [(part - point) / step for part, point in zip(terms(values), points, strict=True)]
    return points, sum(left[1:], start=left[0])


def on_points(values: Terms, step: float) -> tuple[FloatArray, ...]:
    """The nearest multiples of `step` of each array."""
    return tuple(nearest_points(part, step) for part in terms(values))


def terms(values: Terms) -> tuple[FloatArray, ...]:
    """The arrays that a value is the exact sum of."""
    return values if isinstance(values, tuple) else (values,)


def nearest_multiples(values: Terms, step: float) -> tuple[FloatArray, ...]:
    """Multiples of `step` whose exact sum is within half a step of the exact sum of `values`, at most 64 arrays."""
    points, left = split(values, step)
    if len(points) == 1:
        return points
    whole = np.rint(left)
    for place in zip(*np.nonzero(np.abs(left - whole) > 0.5 - _CLOSE_TO_HALF), strict=True):
        exact = [Fraction(float(part[place])) for part in terms(values)]
        on_grid = [Fraction(float(part[place])) for part in points]
        whole[place] = round((sum(exact) - sum(on_grid)) / Fraction(step))
    return (*points, whole * step)


def symmetric_part(A: Terms) -> Terms:
    """(A + A')/2 without rounding."""
    return tuple(half for part in terms(A) for half in (part / 2, part.T / 2))


def sum_on_grid(points: Terms, steps: FloatArray, step: float) -> FloatArray:
    """Double nearest to the exact value of sum(`points`) + `steps` * `step`; `points` are multiples of `step`.

    `steps` are not kept. Private calls ignore that a sum may overflow, which is set right here.
    """
    parts = (*terms(points), np.multiply(steps, step, out=steps))
    total: FloatArray = np.add(parts[0], parts[1], out=steps if len(parts) == 2 else None)
    for part in parts[2:]:
        total += part
    if len(parts) > 2:  # the first additions are exact for numbers of moderate size; others are summed as fractions
        sizes = np.max([np.abs(part) for part in parts], axis=0)
        for place in zip(*np.nonzero(sizes >= _ALL_MULTIPLES / 8 * step), strict=True):
            total[place] = _rounded_once([float(part[place]) for part in parts])
    # The sum of two zeros below 0 is -0.0, which would tell on which side of 0 the data are. F(0) is +0.0.
    np.maximum(np.minimum(total, _LARGEST, out=total), -_LARGEST, out=total)  # np.clip takes three times as long
    total += 0.0
    return total


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


def _rounded_once(terms: list[float]) -> float:
    total = sum(map(Fraction, terms), start=Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return _LARGEST if total > 0 else -_LARGEST


def query_grid(envelope: float, columns: int, unit: float, epsilon: float) -> tuple[float, float, float]:
    """Grid step of the noise of repeated noisy queries; the sensitivity `envelope` on it; and the epsilon to spend.

    Values are multiples of `unit`. The step is `unit` times a power of two, so small that the noise is many steps
    wide. `envelope` is the sum, over the `columns` numbers in a row, of the largest change that an edge makes to that
    number in any query; where the grid is coarser than `unit`, it grows by one step for each number. `epsilon`, the
    public budget of all queries together, is refused if it is too small for exact noise, and cut if there is no grid.
    """
    if epsilon < _LEAST_EPSILON:
        raise InvalidParameterError(
            f"repeated queries get epsilon = {epsilon:.3g}, and their noise cannot be drawn exactly below "
            f"{_LEAST_EPSILON:.1g}; raise epsilon"
        )
    epsilon = min(epsilon, _LARGEST_EPSILON)
    step = unit * 2.0 ** math.floor(math.log2(envelope / (epsilon * unit * _QUERY_STEPS)))
    return step, envelope + columns * step * (step > unit), epsilon
