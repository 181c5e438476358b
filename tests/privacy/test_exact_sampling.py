"""Coins and subsets have exactly the probabilities on which likelihood ratios rest."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpgraph.privacy import exact_sampling
from dpgraph.privacy import noise as noise_module
from dpgraph.privacy.exact_sampling import (
    EXPONENT_BITS,
    LARGEST_SCALE,
    MOST_ELEMENTS,
    discrete_gaussian,
    discrete_laplace,
    exponential_coins,
    flip_exponent,
    flip_probability,
    random_subset,
)
from dpgraph.privacy.noise import noise_source

ONE = 1 << EXPONENT_BITS
#: Every statistical test below fails a correct sampler with at most this probability; all are seeded.
REJECT = 1e-7
DRAWS = 40_000


def rng(seed):
    return np.random.default_rng(seed)


class Scripted:
    """A generator that hands out given integers and remembers from which ranges they were asked for."""

    def __init__(self, *values):
        self.values, self.ranges = list(values), []

    def integers(self, low, high, size):
        self.ranges.append((low, high))
        return np.array([self.values.pop(0) for _ in range(size)])


# --- coins -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0, 1, ONE // 3, ONE - 1, ONE, 2 * ONE, 2 * ONE + 12345, 5 * ONE + ONE // 2])
def test_a_coin_succeeds_with_probability_exp_of_minus_x(x):
    successes = int(exponential_coins(np.full(DRAWS, x), rng(x % 1000)).sum())
    assert stats.binomtest(successes, DRAWS, math.exp(-x / ONE)).pvalue > REJECT


def test_coins_of_different_exponents_are_independent():
    coins = exponential_coins(np.tile([ONE // 2, ONE], DRAWS), rng(3)).reshape(-1, 2)
    table = [[np.sum((coins[:, 0] == a) & (coins[:, 1] == b)) for b in (False, True)] for a in (False, True)]
    assert stats.chi2_contingency(table).pvalue > REJECT


def test_the_k_th_toss_compares_an_integer_below_k_units_with_the_exponent():
    """So that toss k succeeds with probability exactly x/k: no rounding, whatever x is."""
    x = 7
    for tosses in range(1, 6):  # the last of them fails at the first value that is not below x
        script = Scripted(*[x - 1] * (tosses - 1), x)
        coin = exponential_coins(np.array([x]), script)
        assert script.ranges == [(0, k * ONE) for k in range(1, tosses + 1)]
        assert bool(coin[0]) == (tosses % 2 == 1)


def test_a_coin_of_several_units_tosses_one_coin_for_each():
    script = Scripted(5, *[ONE - 1, 2 * ONE - 1] * 3)  # fraction 5 fails at once: success; each unit: success, failure
    assert not exponential_coins(np.array([3 * ONE + 5]), script)[0]
    assert len(script.ranges) == 3, "the first unit that fails ends it"


# --- discrete Laplace noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.2, 0.7, 4.0, 100.0])
def test_discrete_laplace_noise_has_its_law(scale):
    draws = np.clip(discrete_laplace(DRAWS, scale, rng(int(100 * scale))), -int(20 * scale) - 1, int(20 * scale) + 1)
    values, counts = np.unique(draws, return_counts=True)
    q = math.exp(-1 / scale)
    expected = DRAWS * (1 - q) / (1 + q) * q ** np.abs(values)
    often = expected > 5
    observed, expected = np.append(counts[often], 0), np.append(expected[often], 0)
    observed[-1], expected[-1] = DRAWS - observed.sum(), max(DRAWS - expected.sum(), 1e-9)
    assert stats.chisquare(observed[expected > 1], expected[expected > 1], sum_check=False).pvalue > REJECT


def test_large_scales_are_exponential_on_both_sides():
    draws = discrete_laplace(DRAWS, 1e8, rng(5)) / 1e8
    assert stats.kstest(draws, stats.laplace.cdf).pvalue > REJECT


@pytest.mark.parametrize("scale", [1e-30, 0.01, 1 / 3, 1.0, math.pi, 1e3 + 1e-9, 2.0**20, 1e9 / 7, LARGEST_SCALE])
def test_discrete_laplace_noise_is_never_narrower_than_asked_for(scale, monkeypatch):
    used = []
    monkeypatch.setattr(
        exact_sampling, "geometric", lambda count, exponent, _: used.append(exponent) or np.zeros(count, dtype=int)
    )
    discrete_laplace(1, scale, rng(0))
    rate = Fraction(used[0], ONE)
    assert rate <= 1 / Fraction(scale)
    assert scale < 1e-6 or rate >= (1 - Fraction(1, 1024)) / Fraction(scale)


@pytest.mark.parametrize("scale", [2.5, LARGEST_SCALE, 1.01 * LARGEST_SCALE, 1e60])
def test_default_laplace_noise_comes_from_an_exact_sampler_whose_range_holds_it(scale, monkeypatch):
    used = []

    def spy(count, scale, _):
        used.append(scale)
        return np.zeros(count)

    monkeypatch.setattr(noise_module.exact, "discrete_laplace", spy)
    noise_source(None).laplace_on_grid(np.zeros(3), 1.0, scale)
    assert used == [scale] if scale < 2**29 else used[0] <= LARGEST_SCALE


# --- coins of any rational exponent -----------------------------------------------------------------------------

WORD = 1 << 62


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(22, 7), Fraction(10**40 - 1, 10**40)])
def test_a_coin_of_any_rational_exponent_succeeds_with_probability_exp_of_minus_x(x):
    successes = int(exact_sampling._rational_coins([x.numerator] * DRAWS, x.denominator, rng(x.numerator % 97)).sum())
    assert stats.binomtest(successes, DRAWS, math.exp(-x)).pvalue > REJECT


@pytest.mark.parametrize("x", [Fraction(1, 3), Fraction(5, 7), Fraction(1, 10**30), 1 - Fraction(1, 10**30)])
@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_toss_k_of_a_rational_coin_compares_bits_with_x_over_k_for_as_long_as_they_agree(x, k, words, monkeypatch):
    tosses = []
    monkeypatch.setattr(exact_sampling, "_odd_runs", lambda count, toss: tosses.append(toss) or np.ones(count, bool))
    exact = math.floor(x / k * WORD**words)
    for number in {max(exact - 1, 0), min(exact + 1, WORD**words - 1)}:
        script = Scripted(*[number // WORD**i % WORD for i in reversed(range(words))], *[WORD - 1] * 3)
        exact_sampling._rational_coins([x.numerator], x.denominator, script)
        assert tosses.pop()(k, np.array([0]))[0] == (number < exact)
        assert set(script.ranges) == {(0, WORD)}


def test_a_rational_coin_of_several_units_tosses_one_coin_for_each():
    fraction, success, failure = [WORD - 1], [0, 0, 3 * ONE - 1], [0, 2 * ONE - 1]
    for units, coin in ((success + success, True), (success + failure, False), (failure, False)):
        script = Scripted(*fraction, *units)
        assert exact_sampling._rational_coins([2 * 10**30 + 1], 10**30, script)[0] == coin
        assert not script.values, "all of the script is used"


def test_a_coin_of_an_exponent_that_no_integer_type_holds_fails():
    assert not exact_sampling._rational_coins([10**400, 10**40], 10**9, rng(4)).any()


# --- discrete Gaussian noise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-300, 0.01, 0.5, 1.0, 3.7, 1e3, 2.0**17 * 1.2345, 2.0**46])
def test_proposal_and_acceptance_multiply_to_the_discrete_gaussian_exactly(scale, monkeypatch):
    """|y|/t + g is y^2 / (2 scale^2) + a constant, in rational numbers, for every y."""
    step, proposed, exponents = max(round(scale / 3), 1), [], []

    def proposals(count, exponent, generator, one):
        proposed.append((exponent, one))
        values = step * np.arange(count // 2)
        return np.concatenate([values // 2, values // 2 - values])  # positive and negative in turn

    def accept(numerators, denominator, generator):
        exponents.extend(Fraction(numerator, denominator) for numerator in numerators)
        return np.ones(len(numerators), dtype=bool)

    monkeypatch.setattr(exact_sampling, "geometric", proposals)
    monkeypatch.setattr(exact_sampling, "_rational_coins", accept)
    draws = discrete_gaussian(20, scale, rng(0))
    [(exponent, one)] = proposed
    left = {
        Fraction(abs(y) * exponent, one) + g - y**2 / (2 * Fraction(scale) ** 2)
        for y, g in zip(draws.tolist(), exponents, strict=True)
    }
    assert len(left) == 1, "the same for every y"
    assert min(exponents) >= 0, "a probability"


@pytest.mark.parametrize("one", [1, 3, 2**46 + 1])
def test_proposals_are_geometric_in_units_of_any_integer(one):
    draws = exact_sampling.geometric(DRAWS, 1, rng(one), one=one)
    least = max(one // 4, 1)
    for y in (least, 3 * least, 8 * least):
        assert stats.binomtest(int(np.sum(draws >= y)), DRAWS, math.exp(-y / one)).pvalue > REJECT


def gaussian_masses(scale, far):
    support = np.arange(-far, far + 1)
    masses = np.exp(-(support**2) / (2 * scale**2))
    return masses / masses.sum()


@pytest.mark.parametrize("scale", [0.3, 0.5, 1.0, 2.0, 3.7, 25.0])
def test_discrete_gaussian_noise_has_its_law(scale):
    far = math.ceil(12 * scale)
    counts = np.bincount(discrete_gaussian(DRAWS, scale, rng(int(100 * scale))) + far, minlength=2 * far + 1)
    expected = DRAWS * gaussian_masses(scale, far)
    often = expected > 5
    observed, wanted = (
        np.append(counts[often], counts[~often].sum()),
        np.append(expected[often], expected[~often].sum()),
    )
    assert stats.chisquare(observed[wanted > 1e-3], wanted[wanted > 1e-3], sum_check=False).pvalue > REJECT


@pytest.mark.parametrize("scale", [1e4 / 3, 2.0**17 * 1.2345, 2.0**46])
def test_wide_discrete_gaussian_noise_is_normal(scale):
    assert stats.kstest(discrete_gaussian(DRAWS, scale, rng(6)) / scale, stats.norm.cdf).pvalue > REJECT


@pytest.mark.parametrize("scale", [1e-300, 1e-5])
def test_noise_of_a_tiny_scale_is_zero(scale):
    assert not discrete_gaussian(50, scale, rng(7)).any()


@pytest.mark.parametrize("scale", [0.5, 3.7, 1e6])
def test_discrete_gaussian_noise_agrees_with_the_sampler_of_opendp(scale):
    import opendp.prelude as opendp  # takes a second, in every process

    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    reference = np.array(opendp.m.make_gaussian(*space, scale=scale)([0] * 5000))
    own = discrete_gaussian(5000, scale, rng(8))
    edges = np.unique(np.quantile(reference, np.linspace(0.05, 0.95, 13)))
    table = [np.bincount(np.searchsorted(edges, sample), minlength=edges.size + 1) for sample in (own, reference)]
    table = np.array(table)[:, np.sum(table, axis=0) > 0]
    assert stats.chi2_contingency(table).pvalue > REJECT


# --- the probability of a flip ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "epsilon", [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 27.0, 28.0, 36.0, 50.0, 700.0, 1e4]
)
def test_neither_answer_is_e_to_the_epsilon_times_as_likely_as_the_other(epsilon):
    with mpmath.workdps(60):
        flip = 1 - mpmath.exp(-mpmath.mpf(flip_exponent(epsilon)) / ONE)
        assert (1 - flip) / flip <= mpmath.exp(mpmath.mpf(epsilon))
        assert flip / (1 - flip) <= mpmath.exp(mpmath.mpf(epsilon))
        least = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        assert flip - least <= mpmath.mpf(4) / ONE, "more is flipped than privacy needs"
        assert flip_probability(flip_exponent(epsilon)) == pytest.approx(float(flip), rel=1e-14)


# --- subsets ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
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


@pytest.mark.parametrize(("size", "epsilon"), [(2_000_000, 8.0), (50_000, 1.0), (10**12, 22.0)])
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


@pytest.mark.parametrize("epsilon", [1e-6, 50.0])
def test_empty_and_huge_sets_are_drawn_from(epsilon):
    assert random_subset(0, flip_exponent(epsilon), rng(0)).size == 0
    if epsilon > 1:
        assert random_subset(MOST_ELEMENTS, flip_exponent(epsilon), rng(0)).size < 100


def test_either_answer_stays_possible_when_a_double_cannot_tell_the_probability_from_one():
    assert flip_probability(flip_exponent(500.0)) > 0


# --- randomised response and the best of many --------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, 20240229], ids=["cryptographic", "seeded"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
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


def test_the_best_of_one_and_the_best_at_a_huge_epsilon_are_certain():
    assert noise_source(0).noisy_best(np.array([5]), 1.0) == 0
    assert noise_source(0).noisy_best(np.array([0, (190 << 20) - 1, 190 << 20]), 1e300) == 2
