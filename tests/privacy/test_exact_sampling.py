"""Coins and subsets have exactly the probabilities on which likelihood ratios rest."""

import decimal
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpgraph.privacy import exact_sampling
from dpgraph.privacy.exact_sampling import (
    EXPONENT_BITS,
    LARGEST_SCALE,
    discrete_gaussian,
    discrete_laplace,
    exponential_coins,
    flip_exponent,
    flip_probability,
    random_subset,
)
from dpgraph.privacy.noise import noise_source
from tests.about import each

ONE = 1 << EXPONENT_BITS
#: Every statistical test below fails a correct sampler with at most this probability; all are seeded.
REJECT = 1e-7
DRAWS = 40_000


def rng(seed):
    return np.random.default_rng(seed)


class Scripted:
    """A generator that hands out given words."""

    def __init__(self, *words):
        self.words = list(words)

    def integers(self, low, high, dtype, size=None):
        assert (low, high, dtype) == (0, 1 << 64, np.uint64)
        return np.array([self.words.pop(0) for _ in range(size)], dtype=dtype) if size else self.words.pop(0)


@each("x", [0, 1, ONE // 3, ONE - 1, ONE, 2 * ONE, 2 * ONE + 12345, 5 * ONE + ONE // 2], parts=2)
def test_a_coin_succeeds_with_probability_exp_of_minus_x(x):
    successes = int(exponential_coins(np.full(DRAWS, x), rng(x % 1000)).sum())
    assert stats.binomtest(successes, DRAWS, math.exp(-x / ONE)).pvalue > REJECT


def test_coins_of_different_exponents_are_independent():
    coins = exponential_coins(np.tile([ONE // 2, ONE], DRAWS), rng(3)).reshape(-1, 2)
    table = [[np.sum((coins[:, 0] == a) & (coins[:, 1] == b)) for b in (False, True)] for a in (False, True)]
    assert stats.chi2_contingency(table).pvalue > REJECT


#: Words by which a uniform number may be decided: the next 64 bits of it are all 0, all 1, or in between.
NEXT = [(0, 1 << 63), ((1 << 64) - 1, 1 << 63), (1 << 63, 5)]


def uniform(word, bits, further, script):
    """The least and the largest number that begins with these bits, and with what was taken from the script."""
    for more in further[: len(further) - len(script.words)]:
        word, bits = word << 64 | more, bits + 64
    return mpmath.mpf(word) / 2**bits, mpmath.mpf(word + 1) / 2**bits


@each("x", [Fraction(0), Fraction(1, 3), Fraction(ONE - 1, ONE), Fraction(7), Fraction(10**40, 3)], parts=2)
def test_coins_compare_as_many_bits_as_it_takes_with_the_probability(x):
    with mpmath.workdps(80):
        p = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
        jump = int(mpmath.floor(p * 2**64))
        for word in {w for near in (-(2**30), -(2**13), -1, 0, 1, 2**13, 2**30) if 0 <= (w := jump + near) < 2**64}:
            for further in NEXT:
                script = Scripted(word, *further)
                coin = exact_sampling._coins(np.array([float(x)]), lambda _: x, script)[0]
                low, high = uniform(word, 64, further, script)
                assert coin == (high <= p) == (low < p)
                assert len(script.words) == 2 or word in (jump, 0, 2**64 - 1), "no more bits than it takes"


@each("rate", [Fraction(1, 2**20), Fraction(3, 10), Fraction(64)], parts=3)
@pytest.mark.parametrize("widths", [(1,), (12, 4, 1), (10**30, 10**12, 1)])
def test_the_term_of_a_ladder_is_that_of_exact_arithmetic_however_near_a_jump_it_is(widths, rate):
    exponent = int(rate * ONE)
    of_a_caller = decimal.localcontext(prec=1, rounding=decimal.ROUND_UP, traps=[decimal.Inexact])
    with mpmath.workdps(120), of_a_caller:
        y = 1 / mpmath.expm1(mpmath.mpf(exponent) / ONE)
        ends = list(itertools.accumulate((2 * c * y ** (j + 1) for j, c in enumerate(widths)), initial=mpmath.mpf(1)))
        for jump in {int(mpmath.floor(end / ends[-1] * 2**64)) for end in ends}:
            for word, further in itertools.product(range(max(jump - 1, 0), min(jump + 2, 2**64)), NEXT):
                script = Scripted(word, *further)
                term = exact_sampling._term(widths, exponent, script)
                low, high = uniform(word, 64, further, script)
                assert term == sum(end / ends[-1] <= low for end in ends) == sum(end / ends[-1] < high for end in ends)


@each(
    "rate, two_sided",
    list(
        itertools.product(
            [Fraction(5), Fraction(1), Fraction(1, 3), Fraction(4097, ONE), Fraction(1, 2**40)], [False, True]
        )
    ),
    parts=2,
)
def test_a_draw_is_that_of_exact_arithmetic_however_near_a_jump_it_is(rate, two_sided):
    """(E + c)/rate, in 80 digits, for words about the jumps at 1, 2, 5 and 1000 times the mean, and the least ones."""
    with mpmath.workdps(80):
        g = mpmath.mpf(rate.numerator) / rate.denominator
        c = mpmath.log(2 / (1 + mpmath.exp(-g))) if two_sided else mpmath.mpf(0)
        numbers = {0, 1, 2, 3, 2**63 - 1, 2**62}
        for m in {1, 2, 5, max(math.floor(1 / rate), 1), max(math.floor(20 / rate), 1)}:
            jump = int(mpmath.floor(mpmath.exp(c - g * m) * 2**63))
            numbers |= {w for near in (-(2**24), -3, -1, 0, 1, 3, 2**24) if 0 <= (w := jump + near) < 2**63}
        for word in numbers:
            for further in NEXT:
                script, words = Scripted(*further), np.array([2 * word + 1], np.uint64)
                drawn = (-1 if two_sided else 1) * exact_sampling._whole_parts(
                    words, rate, script, two_sided=two_sided
                )[0]
                low, high = uniform(word, 63, further, script)
                assert drawn == mpmath.floor((c - mpmath.log(high)) / g)
                assert low > 0
                assert drawn == mpmath.ceil((c - mpmath.log(low)) / g) - 1 >= 0


def test_logarithms_are_as_good_as_is_assumed():
    """Right to 48 bits."""
    values = (rng(13).integers(0, 1 << 63, size=4000) + 0.5) * 2.0**-63
    values[:1000] = 1 - np.cumsum(np.full(1000, 2.0**-50))
    values[1000:2000] *= 2.0 ** -rng(14).integers(0, 62, size=1000)
    with mpmath.workdps(40):
        exact = np.array([float(mpmath.log(mpmath.mpf(value))) for value in values])
    assert np.all(np.abs(np.log(values) - exact) <= 2.0**-48 * np.abs(exact) * 1.001)


@each("scale", [1e-30, 0.01, 1 / 3, 1.0, math.pi, 1e3 + 1e-9, 2.0**20, 1e9 / 7, LARGEST_SCALE], parts=2)
def test_discrete_laplace_noise_is_never_narrower_than_asked_for(scale, monkeypatch):
    used = []
    monkeypatch.setattr(exact_sampling, "_in_blocks", lambda into, rate, _, *, two_sided: used.append(rate) or into)
    discrete_laplace(1, scale, rng(0))
    [rate] = used
    assert rate <= 1 / Fraction(scale)
    assert scale < 1e-6 or rate >= (1 - Fraction(1, 1024)) / Fraction(scale)


@each("scale", [1e-300, 0.01, 0.5, 1.0, 3.7, 1e3, 2.0**17 * 1.2345, 2.0**46], parts=2)
def test_proposal_and_acceptance_multiply_to_the_discrete_gaussian_exactly(scale, monkeypatch):
    """|y|/t + g is y^2 / (2 scale^2) + a constant, in rational numbers, for every y."""
    step, proposed, exponents = max(round(scale / 3), 1), [], []

    def proposals(into, rate, generator, *, two_sided):
        proposed.append(rate)
        return step * np.arange(into.size) * (-1) ** np.arange(into.size)

    def accept(rounded, exact, generator):
        exponents.extend(exact(i) for i in range(rounded.size))
        p = [math.exp(-min(x, 700)) for x in exponents]
        assert np.all(np.abs(np.exp(-rounded) - p) < 2.0**-41), "where doubles decide, they are good enough"
        return np.ones(rounded.size, dtype=bool)

    monkeypatch.setattr(exact_sampling, "_in_blocks", proposals)
    monkeypatch.setattr(exact_sampling, "_coins", accept)
    draws = discrete_gaussian(20, scale, rng(0))
    [rate] = proposed
    left = {
        abs(y) * rate + g - y**2 / (2 * Fraction(scale) ** 2)
        for y, g in zip(draws.tolist(), exponents[:20], strict=True)
    }
    assert len(left) == 1, "the same for every y"
    assert min(exponents) >= 0, "a probability"


@each("epsilon", [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 27.0, 28.0, 36.0, 50.0, 700.0, 1e4], parts=2)
def test_neither_answer_is_e_to_the_epsilon_times_as_likely_as_the_other(epsilon):
    with mpmath.workdps(60):
        flip = 1 - mpmath.exp(-mpmath.mpf(flip_exponent(epsilon)) / ONE)
        assert (1 - flip) / flip <= mpmath.exp(mpmath.mpf(epsilon))
        assert flip / (1 - flip) <= mpmath.exp(mpmath.mpf(epsilon))
        least = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        assert flip - least <= mpmath.mpf(4) / ONE, "more is flipped than privacy needs"
        assert flip_probability(flip_exponent(epsilon)) == pytest.approx(float(flip), rel=1e-14)


@each("epsilon", [0.3, 1.0, 3.0], parts=2)
def test_all_subsets_of_a_small_set_have_their_product_probabilities(epsilon):
    size, exponent = 4, flip_exponent(epsilon)
    p = flip_probability(exponent)
    generator = rng(round(10 * epsilon))
    counts = np.zeros(1 << size)
    for _ in range(6000):
        counts[int(np.sum(1 << random_subset(size, exponent, generator)))] += 1
    ones = np.array([sum(bits) for bits in itertools.product((0, 1), repeat=size)])  # the order does not matter
    expected = np.array(
        [p ** bin(code).count("1") * (1 - p) ** (size - bin(code).count("1")) for code in range(1 << size)]
    )
    assert ones.size == expected.size
    assert stats.chisquare(counts, 6000 * expected).pvalue > REJECT


@each("size, epsilon", [(2_000_000, 8.0), (50_000, 1.0), (10**12, 22.0)], parts=2)
def test_the_size_of_a_subset_is_binomial_and_its_elements_are_uniform(size, epsilon):
    exponent = flip_exponent(epsilon)
    subset = random_subset(size, exponent, rng(1))
    assert stats.binomtest(subset.size, size, flip_probability(exponent)).pvalue > REJECT
    assert np.all(np.diff(subset) > 0)
    assert subset[0] >= 0
    assert subset[-1] < size
    assert stats.kstest(subset / size, "uniform").pvalue > REJECT


def test_gaps_are_geometric_at_the_seams_between_batches_too():
    exponent = flip_exponent(2.0)
    small = np.concatenate([np.diff(random_subset(60, exponent, rng(k))) for k in range(3000)])
    p = flip_probability(exponent)
    counts = np.array([np.sum(small == g) for g in range(1, 8)])
    # A gap g is seen at its (59 - g + 1) possible places.
    expected = 3000 * np.array([(60 - g) * p * p * (1 - p) ** (g - 1) for g in range(1, 8)])
    assert np.all(np.abs(counts - expected) < 6 * np.sqrt(expected))


def test_either_answer_stays_possible_when_a_double_cannot_tell_the_probability_from_one():
    assert flip_probability(flip_exponent(500.0)) > 0


@each("share, seed", list(itertools.product([0.0, 0.3, 1.0], [None, 20240229])), parts=2)
def test_an_answer_is_one_with_the_stated_probability(seed, share):
    exponent = flip_exponent(1.5)
    p = flip_probability(exponent)
    pairs = np.arange(0, 2 * DRAWS, 2)
    answers = noise_source(seed).flipped_pairs(pairs, np.full(DRAWS, share), 2 * DRAWS, exponent)
    assert np.all(np.diff(answers) > 0)
    true, others = int(np.sum(answers % 2 == 0)), int(np.sum(answers % 2 == 1))
    assert stats.binomtest(true, DRAWS, p + (1 - 2 * p) * share).pvalue > REJECT
    assert stats.binomtest(others, DRAWS, p).pvalue > REJECT


def test_the_best_is_drawn_with_the_law_of_exponential_noise():
    epsilon, scores = 1.25, np.array([0, 1 << 20, 1 << 19, 0])
    source = noise_source(8)
    counts = np.bincount([source.noisy_best(scores, epsilon) for _ in range(8000)], minlength=4)
    noisy = scores * 2.0**-20 + rng(9).exponential(1 / epsilon, size=(400_000, 4))
    expected = np.bincount(np.argmax(noisy, axis=1), minlength=4) / 400_000
    assert stats.chisquare(counts, 8000 * expected).pvalue > REJECT
