"""Bernoulli draws whose probabilities are exact, in 64-bit integers, and what is made of many of them.

A comparison of floating-point numbers has a probability that is off by its rounding, and a binomial or geometric
sampler in floating point has tails that are off by any factor: no bound on a likelihood ratio survives either. Here
every probability is an exact function of integers, given independent uniform bits: coins of probability exp(-x) for
rational x, and from them discrete Laplace noise, and a random subset of a huge set that holds each element with one
exact probability, in time that is proportional to the size of the subset.

References
----------
C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Algorithms 1 and 2;
M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC 2010, section 4.1 (:func:`nested_cubes`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "EXPONENT_BITS",
    "LARGEST_SCALE",
    "MOST_ELEMENTS",
    "discrete_laplace",
    "exponential_coins",
    "flip_exponent",
    "flip_probability",
    "nested_cubes",
    "random_subset",
]

IntArray = NDArray[np.int64]

#: Exponents are multiples of 2**-EXPONENT_BITS.
EXPONENT_BITS = 40
_ONE = 1 << EXPONENT_BITS
#: A sum of skips over fewer elements than this, in batches as below, stays below 2**63.
MOST_ELEMENTS = 1 << 42
_BATCH = 1 << 20
#: Discrete Laplace noise of a scale up to this is wider than asked for by less than a thousandth.
LARGEST_SCALE = 2.0 ** (EXPONENT_BITS - 10)


def exponential_coins(exponents: IntArray, generator: np.random.Generator) -> NDArray[np.bool_]:
    """True with probability exp(-x) exactly, independently for each x = ``exponents`` / 2**EXPONENT_BITS >= 0.

    Canonne, Kamath and Steinke's Algorithm 1: x is split into units, each of which must succeed, and a fraction.
    """
    result = _coins_below_one(exponents % _ONE, generator)
    units = exponents >> EXPONENT_BITS
    alive = np.flatnonzero(result & (units > 0))
    passed = 0
    while alive.size:  # each round leaves about a third
        result[alive] = _coins_below_one(np.full(alive.size, _ONE), generator)
        passed += 1
        alive = alive[result[alive] & (units[alive] > passed)]
    return result


def flip_exponent(epsilon: float) -> int:
    """Exponent g with which coins of probability 1 - exp(-g) flip answers epsilon-privately, in 2**-EXPONENT_BITS.

    1 - exp(-g) >= 1/(1 + e**epsilon) holds for g >= ln(1 + e**-epsilon); two units more, far more than the logarithm is
    rounded by, make that a fact. The other answer must not be favoured either, 1 - exp(-g) <= e**epsilon/(1 +
    e**epsilon), which the two units leave true for epsilon above 1e-11.
    """
    return math.floor(math.log1p(math.exp(-epsilon)) * _ONE) + 2


def flip_probability(exponent: int) -> float:
    """1 - exp(-g) in floating point, for estimates."""
    return -math.expm1(-exponent / _ONE)


def discrete_laplace(count: int, scale: float, generator: np.random.Generator) -> IntArray:
    """Independent integers with P[Z = z] proportional to exp(-g |z|) exactly.

    g is 1/`scale` rounded down to a multiple of 2**-EXPONENT_BITS: the noise is a little wider than asked for, so that
    adding it to integers of l1-sensitivity s is (s / scale)-DP. A difference of two geometric variables has this law.

    Parameters
    ----------
    count : int
        Number of draws.
    scale : float
        0 < scale <= LARGEST_SCALE.
    generator : numpy.random.Generator
        Source of uniform bits.
    """
    exponent = min(math.floor(_ONE / Fraction(scale)), 1 << 62)
    draws = _geometric(2 * count, exponent, generator)
    return draws[:count] - draws[count:]


def nested_cubes(
    count: int, first: int, later: int, exponents: tuple[int, int], generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """First part of `count` independent vectors of integers, and the half-widths of the cubes in which the rest lies.

    A vector (y, z), y of `first` entries and z of `later` ones, has probability proportional to
    exp(-g max|y| - h max(max|z| - max|y|, 0)) exactly, if z is drawn uniformly from {-r, ..., r}^later, r its
    half-width.

    Parameters
    ----------
    count, first, later : int
        Number of vectors and of their entries, first >= 1.
    exponents : tuple of int
        g and h in units of 2**-EXPONENT_BITS, g >= h > 0. Fast where both are much smaller than one over the number of
        entries: where the noise is many steps wide.
    generator : numpy.random.Generator
        Source of uniform bits.

    Returns
    -------
    y : ndarray of int64, shape (count, first)
    r : ndarray of int64, shape (count,)

    Notes
    -----
    With M = max|y| the weight of z given y is sum over r >= max(M, max|z|) of e^(-h (r - M)) (1 - e^-h). So (y, r) has
    weight (2 r + 1)^later e^(-h r) e^(-(g - h) M) for r >= M: r is drawn with weight (2 r + 1)^k e^(-h r), k = first +
    later, y uniformly from {-r, ..., r}^first, and the pair is accepted with probability e^(-(g - h) M). A sum of k + 1
    geometric variables has weight (r + 1) ... (r + k) e^(-h r) at r, and is accepted with the probability
    product of (2 r + 1)/(2 r + 2 j), j = 1, ..., k.
    """
    outer, inner = exponents[1], exponents[0] - exponents[1]
    y, r = np.empty((count, first), dtype=np.int64), np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:
        some = wanted[: max(_BATCH // (first + later + 1), 1)]
        radii = _cube_radii(some.size, first + later, outer, generator)
        inside = generator.integers(-radii[:, None], radii[:, None] + 1, size=(some.size, first))
        r[some], y[some] = radii, inside
        accepted = exponential_coins(np.abs(inside).max(axis=1) * inner, generator)
        wanted = np.concatenate([some[~accepted], wanted[some.size :]])
    return y, r


def random_subset(size: int, exponent: int, generator: np.random.Generator) -> IntArray:
    """A random subset of {0, ..., size - 1}, increasing: each element independently, with probability 1 - exp(-g).

    Parameters
    ----------
    size : int
        0 <= size <= MOST_ELEMENTS.
    exponent : int
        g in units of 2**-EXPONENT_BITS, positive.
    generator : numpy.random.Generator
        Source of uniform bits.

    Notes
    -----
    The gaps between successive members are geometric, P[gap >= y] = exp(-g y), and are drawn as such (Algorithm 2 of
    Canonne, Kamath and Steinke), so that nothing is done for the elements in between.
    """
    found: list[IntArray] = []
    start = 0
    while start < size:
        expected = (size - start) * flip_probability(exponent)
        count = min(int(expected + 6 * math.sqrt(expected)) + 16, _BATCH)
        members = start + np.cumsum(np.minimum(_geometric(count, exponent, generator), size) + 1) - 1
        found.append(members[members < size])
        start = int(members[-1]) + 1
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _cube_radii(count: int, dimension: int, exponent: int, generator: np.random.Generator) -> IntArray:
    """Independent integers r >= 0 of weight (2 r + 1)^dimension exp(-r exponent / 2**EXPONENT_BITS)."""
    radii = np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:
        r = _geometric(wanted.size * (dimension + 1), exponent, generator).reshape(wanted.size, -1).sum(axis=1)
        accepted = np.ones(wanted.size, dtype=bool)
        for j in range(1, dimension + 1):
            accepted &= generator.integers(0, 2 * (r + j)) < 2 * r + 1
        radii[wanted[accepted]] = r[accepted]
        wanted = wanted[~accepted]
    return radii


def _geometric(count: int, exponent: int, generator: np.random.Generator) -> IntArray:
    """Independent integers with P[Y >= y] = exp(-y exponent / 2**EXPONENT_BITS)."""
    fine = np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:  # uniform below one unit, accepted with probability exp(-fraction)
        fine[wanted] = generator.integers(0, _ONE, size=wanted.size)
        wanted = wanted[~_coins_below_one(fine[wanted], generator)]
    units = np.zeros(count, dtype=np.int64)
    alive = np.arange(count)
    while alive.size:
        alive = alive[_coins_below_one(np.full(alive.size, _ONE), generator)]
        units[alive] += 1
    return (fine + (units << EXPONENT_BITS)) // exponent


def _coins_below_one(exponents: IntArray, generator: np.random.Generator) -> NDArray[np.bool_]:
    """True with probability exp(-x) for 0 <= x = exponents / 2**EXPONENT_BITS <= 1.

    Coins of probability x/1, x/2, x/3, ... until one fails; the number of coins tossed is odd with probability exp(-x).
    """
    odd = np.ones(exponents.size, dtype=bool)
    alive = np.arange(exponents.size)
    tosses = 1
    while alive.size:
        success = generator.integers(0, tosses << EXPONENT_BITS, size=alive.size) < exponents[alive]
        alive = alive[success]
        tosses += 1
        odd[alive] = tosses % 2 == 1
    return odd
