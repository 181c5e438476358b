"""Grids, rates and quantiles of the noise that is drawn on a grid: public numbers, which samplers and bounds share.

A bound that is meant to fail with probability delta is a quantile of the law of the sampler, with its rounded rate and
its step, and not of the ideal law of the same scale.
"""

import math

#: Exponents, the rates of discrete laws among them, are multiples of 2**-EXPONENT_BITS.
EXPONENT_BITS = 40
#: The grid of real noise is this many bits finer than its scale.
GRID_BITS = 30
#: The grid of discrete Laplace noise: its scale is then at most 2**29 + 1 steps, which the exact sampler can draw.
LAPLACE_BITS = 28
#: The largest exponent of a sampler.
_LARGEST_EXPONENT = 1 << 62
#: Relative allowance for the floating-point evaluation of a quantile.
_ROUNDING = 1e-12


def grid_step(scale: float, unit: float = 0.0, *, bits: int = GRID_BITS) -> float:
    """Step of the grid for noise of this public scale: `unit`, or a power of two about ``scale * 2**-bits`` if larger.

    The data are multiples of `unit`, a power of two; it is 0 if the noise is real, whose grid costs nothing. The noise
    is less than ``2**(bits + 1)`` steps wide.
    """
    return max(unit, 2.0 ** (math.floor(math.log2(scale)) - bits))


def laplace_grid(scale: float, unit: float) -> tuple[float, float]:
    """Step of the grid of discrete Laplace noise of this scale on multiples of `unit`, and its scale in steps.

    Where the step is larger than `unit`, values are rounded to it up or down at random, for which the noise is one step
    wider (:mod:`dpgraph.privacy.grid`).
    """
    step = grid_step(scale, unit, bits=LAPLACE_BITS)
    return step, scale / unit if step == unit else scale / step + 1


def laplace_exponent(scale: float) -> int:
    """Rate of discrete Laplace noise of this scale in steps: 1/`scale`, rounded down to units of 2**-EXPONENT_BITS."""
    numerator, denominator = scale.as_integer_ratio()
    return min((denominator << EXPONENT_BITS) // numerator, _LARGEST_EXPONENT)


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
