"""Random draws with exact probabilities, in integer arithmetic.

A bound on a likelihood ratio does not survive floating point: compared numbers are off by rounding, and the tails of a
floating-point sampler may be off by any factor. Here every probability is an exact function of integers, given
independent uniform bits; all draws are made of coins of probability exp(-x) for rational x.

References
----------
C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Algorithms 1 to 3.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import BoolArray, IntArray

#: Exponents are multiples of 2**-EXPONENT_BITS.
EXPONENT_BITS = 40
_ONE = 1 << EXPONENT_BITS
#: Random bits that are compared at once with a rational probability.
_WORD_BITS = 62
#: For sets of at most this size, the sum of a batch of gaps between members stays below 2**63.
MOST_ELEMENTS = 1 << 42
_BATCH = 1 << 20
#: Up to this scale, rounding the exponent widens discrete Laplace noise by less than a thousandth.
LARGEST_SCALE = 2.0 ** (EXPONENT_BITS - 10)
#: A smaller epsilon is refused: the probability of a flip would be one half, up to the precision of an exponent.
LEAST_FLIP_EPSILON = 2.0**-20


def exponential_coins(exponents: IntArray, generator: np.random.Generator) -> BoolArray:
    """True with probability exp(-x) exactly, independently for each x = ``exponents`` / 2**EXPONENT_BITS >= 0.

    Canonne, Kamath and Steinke's Algorithm 1: x is a number of units plus a fraction. One coin is tossed for each unit
    and one for the fraction; all must succeed.
    """
    return _and_units(_coins_below_one(exponents % _ONE, generator), exponents >> EXPONENT_BITS, generator)


def flip_exponent(epsilon: float) -> int:
    """Exponent g, in units of 2**-EXPONENT_BITS, such that flips of probability p = 1 - exp(-g) are epsilon-private.

    A flip is epsilon-private when 1/(1 + e**epsilon) <= p <= e**epsilon/(1 + e**epsilon). The first holds for g >=
    ln(1 + e**-epsilon). Two units are added, far more than the rounding of the logarithm. The second still holds then
    for every epsilon above 1e-11. All randomised response takes its probability from here.
    """
    if not epsilon >= LEAST_FLIP_EPSILON:
        raise InvalidParameterError(
            f"answers are flipped with epsilon of at least {LEAST_FLIP_EPSILON:g}: below, they are fair coins; "
            f"got {epsilon:g}"
        )
    return math.floor(math.log1p(math.exp(-epsilon)) * _ONE) + 2


def flip_probability(exponent: int) -> float:
    """1 - exp(-g) in floating point, for estimates."""
    return -math.expm1(-exponent / _ONE)


def laplace_exponent(scale: float) -> int:
    """Rate of discrete Laplace noise of this scale in steps: 1/`scale`, rounded down to units of 2**-EXPONENT_BITS."""
    return min(math.floor(_ONE / Fraction(scale)), 1 << 62)


def discrete_laplace(count: int, scale: float, generator: np.random.Generator) -> IntArray:
    """Independent integers with P[Z = z] proportional to exp(-g |z|) exactly, for 0 < `scale` <= LARGEST_SCALE.

    g is 1/`scale` rounded down to a multiple of 2**-EXPONENT_BITS: the noise is a little wider than asked for, so that
    adding it to integers of l1-sensitivity s is (s / scale)-DP. A difference of two geometric variables has this law.
    """
    draws = geometric(2 * count, laplace_exponent(scale), generator)
    return draws[:count] - draws[count:]


def discrete_gaussian(count: int, scale: float, generator: np.random.Generator) -> IntArray:
    """Independent integers with P[Y = y] proportional to exp(-y**2 / (2 scale**2)) exactly.

    Nothing is rounded: `scale` is a double, hence a rational number, and probabilities are compared with as many random
    bits as it takes. So adding the noise to integers of l2-sensitivity s costs exactly what the theorems on the
    discrete Gaussian say for s / `scale`. Beyond a scale of 2**46, 64-bit integers may overflow.

    Algorithm 3 of Canonne, Kamath and Steinke. With t = floor(scale) + 1, discrete Laplace noise of scale t is accepted
    with probability exp(-g), g = (|y| - scale**2 / t)**2 / (2 scale**2), because |y| / t + g = y**2 / (2 scale**2) + a
    constant. More than half of the draws of a scale above one are accepted. How often one is rejected depends on the
    noise alone: no data are seen here.
    """
    t = math.floor(scale) + 1
    p, q = scale.as_integer_ratio()
    a, b, denominator = q * q * t, p * p, 2 * (p * q * t) ** 2  # g = (a |y| - b)**2 / denominator
    draws = np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:
        proposed = geometric(2 * wanted.size, 1, generator, one=t)
        draws[wanted] = proposed[: wanted.size] - proposed[wanted.size :]
        numerators = [(a * y - b) ** 2 for y in np.abs(draws[wanted]).tolist()]
        wanted = wanted[~_rational_coins(numerators, denominator, generator)]
    return draws


def random_subset(size: int, exponent: int, generator: np.random.Generator) -> IntArray:
    """A random subset of {0, ..., size - 1}, increasing: each element independently, with probability 1 - exp(-g).

    `size` is at most MOST_ELEMENTS, and g > 0 is `exponent` in units of 2**-EXPONENT_BITS. The gaps between successive
    members are geometric, P[gap >= y] = exp(-g y), and are drawn as such (Algorithm 2 of Canonne, Kamath and Steinke),
    so that nothing is done for the elements in between.
    """
    found: list[IntArray] = []
    start = 0
    while start < size:
        expected = (size - start) * flip_probability(exponent)
        count = min(int(expected + 6 * math.sqrt(expected)) + 16, _BATCH)
        members = start + np.cumsum(np.minimum(geometric(count, exponent, generator), size) + 1) - 1
        found.append(members[members < size])
        start = int(members[-1]) + 1
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def geometric_sums(terms: IntArray, exponent: int, generator: np.random.Generator) -> IntArray:
    """Entry i is a sum of ``terms[i]`` >= 1 independent geometric variables."""
    starts = np.concatenate([[0], np.cumsum(terms)[:-1]])
    return np.add.reduceat(geometric(int(terms.sum()), exponent, generator), starts)


def geometric(count: int, exponent: int, generator: np.random.Generator, one: int = _ONE) -> IntArray:
    """Independent integers with P[Y >= y] = exp(-y exponent / `one`)."""
    fine = np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:  # uniform below one unit, accepted with probability exp(-fraction)
        fine[wanted] = generator.integers(0, one, size=wanted.size)
        wanted = wanted[~_coins_below_one(fine[wanted], generator, one)]
    units = np.zeros(count, dtype=np.int64)
    alive = np.arange(count)
    while alive.size:
        alive = alive[_coins_below_one(np.full(alive.size, _ONE), generator)]
        units[alive] += 1
    return (fine + units * one) // exponent


def _and_units(coins: BoolArray, units: IntArray, generator: np.random.Generator) -> BoolArray:
    """Keep those of `coins` for which ``units`` further coins of probability 1/e succeed too."""
    alive = np.flatnonzero(coins & (units > 0))
    passed = 0
    while alive.size:  # each round leaves about a third
        coins[alive] = _coins_below_one(np.full(alive.size, _ONE), generator)
        passed += 1
        alive = alive[coins[alive] & (units[alive] > passed)]
    return coins


def _coins_below_one(exponents: IntArray, generator: np.random.Generator, one: int = _ONE) -> BoolArray:
    """True with probability exp(-x) for 0 <= x = `exponents` / `one` <= 1."""
    return _odd_runs(
        exponents.size, lambda k, alive: generator.integers(0, k * one, size=alive.size) < exponents[alive]
    )


def _rational_coins(numerators: list[int], denominator: int, generator: np.random.Generator) -> BoolArray:
    """True with probability exp(-x) exactly, independently for each x = numerator / denominator >= 0.

    For x below one, toss k compares a uniform number with x/k. The first _WORD_BITS bits are compared at once. The bits
    of x/k follow from those of x, because floor(floor(c)/k) = floor(c/k). Where all bits agree, which has probability
    2**-_WORD_BITS, further bits decide. An x above 2**62 counts as 2**62: no computer tosses that many coins.
    """
    one = 1 << _WORD_BITS
    bits = [(numerator << _WORD_BITS) // denominator for numerator in numerators]
    units = np.array([min(x >> _WORD_BITS, one) for x in bits], dtype=np.int64)
    fractions = np.array([x % one for x in bits], dtype=np.int64)

    def toss(k: int, alive: IntArray) -> BoolArray:
        drawn, wanted = generator.integers(0, one, size=alive.size), fractions[alive] // k
        success = drawn < wanted
        for i in np.flatnonzero(drawn == wanted):
            fraction = Fraction(numerators[alive[i]] % denominator, k * denominator)
            success[i] = _below(fraction * one - int(drawn[i]), generator)
        return success

    return _and_units(_odd_runs(len(bits), toss), units, generator)


def _below(fraction: Fraction, generator: np.random.Generator) -> bool:
    """Whether a uniform number is below `fraction`: bits are drawn until one differs."""
    drawn = digits = 0
    while drawn == digits:
        fraction *= 1 << _WORD_BITS
        digits, drawn = math.floor(fraction), int(generator.integers(0, 1 << _WORD_BITS, size=1)[0])
        fraction -= digits
    return drawn < digits


def _odd_runs(count: int, toss: Callable[[int, IntArray], BoolArray]) -> BoolArray:
    """Toss coins of probability x/1, x/2, x/3, ... until one fails, for each of `count` numbers 0 <= x <= 1.

    The number of coins tossed is odd with probability exp(-x). ``toss(k, alive)`` tosses the k-th for those alive.
    """
    odd = np.ones(count, dtype=bool)
    alive = np.arange(count)
    tosses = 1
    while alive.size:
        alive = alive[toss(tosses, alive)]
        tosses += 1
        odd[alive] = tosses % 2 == 1
    return odd
