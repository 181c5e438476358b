"""Random draws with exact probabilities: floating point proposes, and integers decide wherever it might be wrong.

A bound on a likelihood ratio does not survive floating point: compared numbers are off by rounding, and the tails of a
floating-point sampler may be off by any factor. Here every draw is a function of E = -ln U, for a uniform real U whose
first 63 or 64 bits are drawn. The function jumps at some E, and is computed in doubles. Where E is so near to a jump
that a logarithm right to 48 bits (doubles have 53) could be on the wrong side, it is computed again from the same bits,
with as many further digits and bits of U as it takes (:func:`_decided`). So a draw is that of exact arithmetic, and the
same on every machine.

References
----------
C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Algorithm 3.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TypeVar

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import BoolArray, FloatArray, IntArray

Answer = TypeVar("Answer", bool, int)
Numbers = TypeVar("Numbers", IntArray, FloatArray)

#: Exponents are multiples of 2**-EXPONENT_BITS.
EXPONENT_BITS = 40
_ONE = 1 << EXPONENT_BITS
#: For sets of at most this size, the sum of a batch of gaps between members stays below 2**63.
MOST_ELEMENTS = 1 << 42
_BATCH = 1 << 20
#: Numbers that are drawn at once: their arrays stay in the cache of a core.
_BLOCK = 1 << 14
#: Doubles decide where E is further than this plus 1/k from a jump, k being the whole number that the 63 bits of U are:
#: they leave E open by 1/k, a logarithm right to 48 bits by 2**-42.5, as E < 44, and the other operations by less than
#: 2**-45. Beyond the second number 1/k is less than what is left of the first.
_NEAR_JUMP, _LEAST = 2.0**-41, 1 << 46
#: A probability is computed to 2**-41: exp(-x) x^k is less than k!, and x is off by 2**-45 (1 + x) at most.
_NEAR_PROBABILITY = 2.0**-40
#: Up to this scale, rounding the exponent widens discrete Laplace noise by less than a thousandth.
LARGEST_SCALE = 2.0 ** (EXPONENT_BITS - 10)
#: A smaller epsilon is refused: the probability of a flip would be one half, up to the precision of an exponent.
LEAST_FLIP_EPSILON = 2.0**-20


def exponential_coins(exponents: IntArray, generator: np.random.Generator) -> BoolArray:
    """True with probability exp(-x) exactly, independently for each x = ``exponents`` / 2**EXPONENT_BITS >= 0."""
    return _coins(exponents / _ONE, lambda i: Fraction(int(exponents[i]), _ONE), generator)


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


def discrete_laplace(count: int, scale: float, generator: np.random.Generator) -> FloatArray:
    """Independent integers with P[Z = z] proportional to exp(-g |z|) exactly, for 0 < `scale` <= LARGEST_SCALE.

    They come as doubles. g is 1/`scale` rounded down to a multiple of 2**-EXPONENT_BITS: the noise is a little wider
    than asked for, so that adding it to integers of l1-sensitivity s is (s / scale)-DP.
    """
    rate = Fraction(laplace_exponent(scale), _ONE)
    return _in_blocks(np.empty(count), rate, generator, two_sided=True)


def discrete_gaussian(count: int, scale: float, generator: np.random.Generator) -> IntArray:
    """Independent integers with P[Y = y] proportional to exp(-y**2 / (2 scale**2)) exactly.

    Nothing is rounded: `scale` is a double, hence a rational number. So adding the noise to integers of l2-sensitivity
    s costs exactly what the theorems on the discrete Gaussian say for s / `scale`. Beyond a scale of 2**46, 64-bit
    integers may overflow.

    Algorithm 3 of Canonne, Kamath and Steinke. With t = floor(scale) + 1, discrete Laplace noise of scale t is accepted
    with probability exp(-g), g = (|y| - scale**2 / t)**2 / (2 scale**2), because |y| / t + g = y**2 / (2 scale**2) + a
    constant. More than half of the draws of a scale above one are accepted. How often one is rejected depends on the
    noise alone: no data are seen here.
    """
    t = math.floor(scale) + 1
    p, q = scale.as_integer_ratio()
    a, b, denominator = q * q * t, p * p, 2 * (p * q * t) ** 2  # g = (a |y| - b)**2 / denominator
    draws, filled = np.empty(count, dtype=np.int64), 0
    while filled < count:
        tried = min(2 * (count - filled) + 8, _BLOCK)
        proposed = _in_blocks(np.empty(tried, dtype=np.int64), Fraction(1, t), generator, two_sided=True)
        sizes = np.abs(proposed)
        with np.errstate(over="ignore"):
            exponents = (sizes / scale - scale / t) ** 2 / 2
        accepted = _coins(exponents, lambda i: Fraction((a * int(sizes[i]) - b) ** 2, denominator), generator)  # noqa: B023
        found = proposed[accepted][: count - filled]
        draws[filled : filled + found.size] = found
        filled += found.size
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


def geometric(count: int, exponent: int, generator: np.random.Generator) -> IntArray:
    """Independent integers with P[Y >= y] = exp(-y g), g = `exponent` / 2**EXPONENT_BITS: the whole part of E/g."""
    return _in_blocks(np.empty(count, dtype=np.int64), Fraction(exponent, _ONE), generator, two_sided=False)


def _in_blocks(results: Numbers, rate: Fraction, generator: np.random.Generator, *, two_sided: bool) -> Numbers:
    """Fill an array with independent integers of weight exp(-rate |z|) if `two_sided`, else exp(-rate z), z >= 0."""
    for start in range(0, results.size, _BLOCK):
        here = results[start : start + _BLOCK]
        here[:] = _whole_parts(_words(here.size, generator), rate, generator, two_sided=two_sided)
    return results


def _whole_parts(words: IntArray, rate: Fraction, generator: np.random.Generator, *, two_sided: bool) -> IntArray:
    """The whole part of (E + c)/g for each word, with g = `rate`; its last bit is the sign if `two_sided`.

    It is m or more with probability e^c e^(-g m), for m >= 1. c is 0, and the law geometric; or, for the absolute value
    of a two-sided law, e^c = 2/(1 + e^-g).
    """
    g = float(rate)
    shift = -math.log1p(math.expm1(-g) / 2) if two_sided else 0.0

    def exactly(E: Decimal) -> int:
        return math.floor((E + _shift(rate, getcontext().prec) if two_sided else E) / _decimal(rate))

    bits = words >> np.uint64(1)
    places = bits + 0.5
    places *= 2.0**-63
    np.log(places, out=places)
    np.subtract(shift, places, out=places)
    places /= g
    results: IntArray = places.astype(np.int64)
    places -= np.rint(places)
    unsure = np.abs(places, out=places) <= _NEAR_JUMP / g
    unsure |= bits < _LEAST
    for i in np.flatnonzero(unsure).tolist():
        if places[i] * g <= _NEAR_JUMP or places[i] * g * bits[i] <= 2:
            results[i] = _decided(int(bits[i]), 63, exactly, generator)
    if two_sided:
        minus = -(words & np.uint64(1)).view(np.int64)  # of -1 all bits are set
        results ^= minus
        results -= minus
    return results


@lru_cache(8)
def _shift(rate: Fraction, digits: int) -> Decimal:
    """The c of a two-sided law, to so many digits."""
    with localcontext(prec=digits):
        return Decimal(2).ln() - (1 + (-_decimal(rate)).exp()).ln()


def _coins(exponents: FloatArray, exact: Callable[[int], Fraction], generator: np.random.Generator) -> BoolArray:
    """True with probability exp(-x) exactly, where ``exact(i)`` is x, and `exponents` are x in floating point."""
    words = _words(exponents.size, generator)
    ahead = np.exp(-exponents) - (words + 0.5) * 2.0**-64
    coins: BoolArray = ahead > 0
    for i in np.flatnonzero(np.abs(ahead) <= _NEAR_PROBABILITY).tolist():
        x = exact(i)
        coins[i] = _decided(int(words[i]), 64, lambda E: _decimal(x) < E, generator)  # noqa: B023
    return coins


def _decided(word: int, bits: int, answer: Callable[[Decimal], Answer], generator: np.random.Generator) -> Answer:
    """``answer(E)``, monotone, for E = -ln U, where `word` holds the first bits of U.

    They leave E between two ends. If both have one answer, that is it; else 64 more bits are drawn. Ends are widened
    far beyond what rounding to `bits` decimal digits does, here and in `answer`: to move E by a few units of the last.
    """
    while True:
        with localcontext(Context(prec=bits, Emin=-(10**9), Emax=10**9)):  # whatever that of the caller traps
            slack = Decimal(10) ** (15 - bits)
            whole = bits * Decimal(2).ln()
            if word:
                ends = (whole - Decimal(word + 1).ln() - slack, whole - Decimal(word).ln() + slack)
                least, most = map(answer, ends)
                if least == most:
                    return least
        word, bits = word << 64 | _word(generator), bits + 64


def _words(count: int, generator: np.random.Generator) -> IntArray:
    """Independent uniform 64-bit words, unsigned."""
    return generator.integers(0, 1 << 64, size=count, dtype=np.uint64)


def _word(generator: np.random.Generator) -> int:
    """One of them."""
    return int(generator.integers(0, 1 << 64, dtype=np.uint64))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / number.denominator


# --- noise on a count: a place on a ladder (:mod:`dpgraph.bounds.ladder`), or an integer of a Cauchy law --------------


def ladder_offset(widths: Sequence[int], exponent: int, generator: np.random.Generator) -> int:
    r"""A random integer: 0 is rung 0, and the next I_{k-1} integers on either side are rung k, of weight e^-gk.

    `widths` are c_0, ..., c_J: rung k has I_{k-1} = sum_j c_j C(k - 1, j) integers on either side. `exponent` is g in
    units of 2**-40, positive.

    Notes
    -----
    With x = e^-g, all rungs weigh 1 + 2 sum_j c_j (x/(1 - x))^{j+1}. Term j is 2 c_j sum_k C(k - 1, j) x^k: in it, k is
    a sum of j + 1 geometric variables, plus j + 1. One uniform number chooses the term, so that however wide rungs are,
    the time does not tell of it.
    """
    terms = _term(widths, exponent, generator)
    if terms == 0:
        return 0
    k = terms + int(geometric(terms, exponent, generator).sum())
    inner = reach_of_rungs(widths, k - 1)
    rung = sum(width * math.comb(k - 1, j) for j, width in enumerate(widths))
    offset = inner + 1 + _uniform(rung, generator)
    return offset if _uniform(2, generator) else -offset


def reach_of_rungs(widths: Sequence[int], k: int) -> int:
    """How far k rungs reach: sum_j c_j C(k, j + 1)."""
    return sum(width * math.comb(k, j + 1) for j, width in enumerate(widths))


def _term(widths: Sequence[int], exponent: int, generator: np.random.Generator) -> int:
    """Which term of the weight of all rungs a uniform number lies in: so many are below it, the 1 among them."""

    def below(E: Decimal) -> int:
        y = 1 / (_decimal(Fraction(exponent, _ONE)).exp() - 1)
        terms = (2 * width * y ** (j + 1) for j, width in enumerate(widths))
        *ends, total = accumulate(terms, initial=Decimal(1))
        return sum((total / end).ln() > E for end in ends)

    return _decided(_word(generator), 64, below, generator)


def cauchy_offset(scale: int, bits: int, generator: np.random.Generator) -> int:
    """A random integer z of weight 1/(s^2 + z^2), where s >= 1 is `scale` / 2**`bits`.

    Rejection, with N = ceil(s): weights up to N are at most 1/s^2. Beyond, z is uniform in (a, 2 a], a = N 2^i, with
    probability 2^-(i+1); there the weight is at most 1/a^2, so 2/N times what is proposed bounds it.
    """
    square, one = scale * scale, 1 << (2 * bits)
    N = -(-scale // (1 << bits))
    near, far = (N + 1) * N * one, 2 * square
    while True:
        if _uniform(near + far, generator) < near:
            z, most = _uniform(N + 1, generator), square
        else:
            a = N
            while _uniform(2, generator):
                a *= 2
            z, most = a + 1 + _uniform(a, generator), one * a * a
        negative = _uniform(2, generator) == 1
        if _uniform(square + one * z * z, generator) < most and not (negative and z == 0):
            return -z if negative else z


def _uniform(bound: int, generator: np.random.Generator) -> int:
    """A uniform integer below `bound`, of any size."""
    bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(generator.bytes(-(-bits // 8)), "little") >> (-bits % 8)
        if drawn < bound:
            return drawn
