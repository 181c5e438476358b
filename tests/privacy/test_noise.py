"""What runs by default is a cryptographic generator, and every primitive has the law that the proofs use."""

import copy
import itertools
import pickle
import secrets
import struct

import numpy as np
import pytest
from randomgen import ChaCha
from scipy import stats

from dpgraph.exceptions import InvalidGraphError
from dpgraph.privacy import noise as noise_module
from dpgraph.privacy.noise import _AT_ONCE, noise_source
from tests.about import each
from tests.programs import forked

#: Every statistical test below fails a correct sampler with at most this probability; seeded ones never change.
REJECT = 1e-7
DRAWS = 20_000
SOURCES = pytest.mark.parametrize("rng", [None, 20240229], ids=["cryptographic", "seeded"])


def chacha20_block(key, counter):
    """RFC 8439, section 2.3, with the original 64-bit counter; written from the specification."""
    mask = 0xFFFFFFFF
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8I", key), counter & mask, counter >> 32]
    start += [0, 0]
    s = list(start)

    def turn(x, bits):
        return ((x << bits) | (x >> (32 - bits))) & mask

    def quarter(a, b, c, d):
        for target, source, other, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[target] = (s[target] + s[source]) & mask
            s[other] = turn(s[other] ^ s[target], bits)

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((x + y) & mask for x, y in zip(s, start, strict=True)))


def key_of(source):
    return tuple(int(word) for word in source.generator.bit_generator.state["state"]["keysetup"])


def test_the_default_generator_is_chacha20_with_a_fresh_key_of_256_bits(monkeypatch):
    asked = []
    monkeypatch.setattr(secrets, "randbits", lambda bits: asked.append(bits) or (1 << 255) + 12345)
    source = noise_source(None)
    assert asked == [256]
    assert source.generator.bit_generator.state["state"]["rounds"] == 20
    stream = source.generator.bit_generator.random_raw(8 * 30).astype("<u8").tobytes()
    key = ((1 << 255) + 12345).to_bytes(32, "little")
    assert stream == b"".join(chacha20_block(key, block) for block in range(30))


def test_a_generator_that_is_used_again_begins_with_a_fresh_key():
    first = noise_source(None)
    of_generator, key = first.generator.bit_generator, key_of(first)
    words = of_generator.random_raw(33)
    first.generator.integers(0, 2**32, size=3, dtype=np.uint32)
    del first
    source = noise_source(None)
    assert source.generator.bit_generator is of_generator
    assert key_of(source) != key
    fresh = ChaCha(key=int.from_bytes(struct.pack("<8I", *key_of(source)), "little"), rounds=20)
    drawn = source.generator.bit_generator.random_raw(33)
    assert np.array_equal(drawn, fresh.random_raw(33))
    assert not np.array_equal(drawn, words)


def test_a_generator_that_somebody_still_holds_is_given_to_no_other_call():
    """A thread of a call that was interrupted goes on drawing until it looks whether to stop."""
    held = noise_source(None).generator
    sources = [noise_source(None) for _ in range(len(noise_module._SPARE) + 1)]
    assert not any(source.generator is held for source in sources)


def test_every_call_has_its_own_key_and_all_256_bits_vary():
    keys = [key_of(noise_source(None)) for _ in range(400)]
    assert len(set(keys)) == 400
    bits = np.array([[word >> b & 1 for word in key for b in range(32)] for key in keys])
    # 256 binomial(400, 1/2) counts: six standard deviations are 60.
    assert np.all(np.abs(bits.sum(axis=0) - 200) < 65)


def test_seeding_numpy_or_python_does_not_reach_the_noise():
    import random

    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        random.seed(0)
        draws.append(noise_source(None).gaussian(4, 1.0))
    assert not np.array_equal(*draws)


def test_a_seed_reproduces_the_noise_and_is_marked():
    for make in (lambda: 5, lambda: np.int64(5), lambda: np.random.default_rng(5)):
        first, second = noise_source(make()), noise_source(make())
        assert first.seeded
        assert np.array_equal(first.gaussian(3, 1.0), second.gaussian(3, 1.0))
        values = np.zeros(3)
        assert np.array_equal(first.scalars(values, 1.0, 50.0), second.scalars(values, 1.0, 50.0))
    assert not noise_source(None).seeded


def test_a_source_is_passed_through_unchanged():
    source = noise_source(3)
    assert noise_source(source) is source


@each("rng, duplicate", list(itertools.product([None, 1], [copy.copy, copy.deepcopy, pickle.dumps])), parts=2)
def test_a_source_cannot_be_duplicated(duplicate, rng):
    with pytest.raises(TypeError, match="copied or pickled"):
        duplicate(noise_source(rng))


def test_no_two_processes_draw_the_same_noise():
    source, values = noise_source(None), np.zeros(4)
    source.gaussian(1, 1.0)
    source.expect_laplace(50, 1.0, 1e6)
    source.laplace_on_grid(np.zeros(1), 1.0, 1e6)

    def draw():
        laplace = source.laplace_on_grid(values, 1.0, 1e6)
        return source.gaussian(4, 1.0), source.scalars(values, 1.0, 1e6), laplace

    draws = [*(forked(draw) for _ in range(3)), draw()]
    for kind in zip(*draws, strict=True):
        assert len({tuple(values) for values in kind}) == len(draws)


@SOURCES
@pytest.mark.parametrize("expected", [0, 40, 4000, 10**6])
def test_no_laplace_draw_is_handed_out_twice(rng, expected):
    source = noise_source(rng)
    sizes = [1, 3, 2047, 1, 5000, 2, 700, 0, 1]
    source.expect_laplace(expected, 1.0, 1e12 / 2**13)
    draws = np.concatenate([source.laplace_on_grid(np.zeros(size), 1.0, 1e12 / 2**13) for size in sizes])
    assert draws.size == sum(sizes)
    assert np.unique(draws).size >= draws.size - 3, "of a law as wide as this, equal draws are rare"


def test_laplace_numbers_that_are_left_of_those_drawn_ahead_are_handed_out_with_the_last_ones():
    source, sizes = noise_source(None), (_AT_ONCE - 4, 14)
    source.expect_laplace(sum(sizes), 1.0, 1e6)
    assert [source.laplace_on_grid(np.zeros(size), 1.0, 1e6).size for size in sizes] == list(sizes)


@SOURCES
def test_laplace_draws_of_different_scales_are_not_mixed(rng):
    source = noise_source(rng)
    narrow, wide = [], []
    source.expect_laplace(400, 1.0, 1e6)
    for _ in range(300):
        narrow.append(source.laplace_on_grid(np.zeros(2), 1.0, 0.1))
        wide.append(source.laplace_on_grid(np.zeros(2), 1.0, 1e6))
    assert np.abs(narrow).max() <= 5
    assert np.median(np.abs(wide)) == pytest.approx(np.log(2) * 1e6, rel=0.4)


def test_laplace_numbers_that_are_drawn_ahead_have_their_law():
    source, scale = noise_source(None), 1.5
    source.expect_laplace(DRAWS, 1.0, scale)
    draws = np.concatenate([source.laplace_on_grid(np.zeros((4, 5)), 1.0, scale).ravel() for _ in range(DRAWS // 20)])
    counts = np.bincount(np.clip(draws, -6, 6).astype(int) + 6, minlength=13)
    masses = np.exp(-np.abs(np.arange(-200, 201)) / scale)
    masses = np.bincount(np.clip(np.arange(-200, 201), -6, 6) + 6, weights=masses / masses.sum())
    assert stats.chisquare(counts, DRAWS * masses).pvalue > REJECT


def assert_law(sample, cdf):
    assert stats.kstest(sample, cdf).pvalue > REJECT


@SOURCES
def test_gaussian_noise_has_the_stated_standard_deviation(rng):
    assert_law(noise_source(rng).gaussian((DRAWS // 100, 100), 2.5).ravel(), stats.norm(scale=2.5).cdf)


@SOURCES
def test_symmetric_noise_is_isotropic_in_the_frobenius_inner_product(rng):
    source, scale, n = noise_source(rng), 3.0, 5
    W = np.array([source.symmetric_gaussian(n, scale) for _ in range(DRAWS // 10)])
    assert np.array_equal(W, W.transpose(0, 2, 1))
    upper = np.triu_indices(n, 1)
    assert_law(W[:, range(n), range(n)].ravel(), stats.norm(scale=scale).cdf)
    assert_law(W[:, *upper].ravel(), stats.norm(scale=scale / np.sqrt(2)).cdf)
    # <W, S> is N(0, scale^2) for every symmetric S of Frobenius norm 1.
    S = np.random.default_rng(0).normal(size=(n, n))
    S = (S + S.T) / np.linalg.norm(S + S.T)
    assert_law(np.einsum("kij,ij->k", W, S), stats.norm(scale=scale).cdf)


@SOURCES
@each("degrees", [1, 2, 7, 100_000], parts=2)
def test_chi_variables_have_their_degrees_of_freedom(rng, degrees):
    assert_law(noise_source(rng).chi(np.full(DRAWS, degrees)), stats.chi(degrees).cdf)


def discrete_law(weights, support):
    masses = np.exp(weights(support))
    return masses / masses.sum()


def assert_discrete_law(sample, masses, support):
    inside = sample[np.abs(sample) <= support.max()]
    counts = np.bincount((inside + support.max()).astype(int), minlength=support.size)
    keep = masses * sample.size > 5
    observed = np.append(counts[keep], sample.size - counts[keep].sum())
    expected = np.append(masses[keep], 1 - masses[keep].sum()) * sample.size
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > REJECT


@SOURCES
@each("scale", [0.7, 4.0, 30.0], parts=2)
def test_laplace_noise_on_the_grid_is_the_discrete_laplace_law(rng, scale):
    unit = 0.25
    released = noise_source(rng).laplace_on_grid(np.full(DRAWS, 3 * unit), unit, scale * unit)
    support = np.arange(-int(60 * scale), int(60 * scale) + 1)
    masses = discrete_law(lambda k: -np.abs(k) / scale, support)
    assert_discrete_law(released / unit - 3, masses, support)


@each("scale", [2.0, 10.0], parts=2)
def test_scalars_carry_the_exact_discrete_gaussian(scale, monkeypatch):
    unit, used = 0.5, []
    exact = noise_module.exact.discrete_gaussian
    monkeypatch.setattr(noise_module.exact, "discrete_gaussian", lambda *a: used.append(a[:2]) or exact(*a))
    released = noise_source(None).scalars(np.full(DRAWS, 7.0), unit, scale * unit)
    assert used == [(DRAWS, scale)]
    support = np.arange(-int(12 * scale), int(12 * scale) + 1)
    masses = discrete_law(lambda k: -(k**2) / (2 * scale**2), support)
    assert_discrete_law(released / unit - 14, masses, support)


@SOURCES
@each("scale", [0.4, 6.0], parts=2)
def test_gaussian_noise_on_the_grid_is_a_rounded_gaussian(rng, scale):
    released = noise_source(rng).gaussian_on_grid(np.full(DRAWS, 11.0), 1.0, scale) - 11
    support = np.arange(-int(12 * scale + 3), int(12 * scale + 3) + 1)
    masses = stats.norm.cdf((support + 0.5) / scale) - stats.norm.cdf((support - 0.5) / scale)
    assert_discrete_law(released, masses, support)


@SOURCES
@each(
    "release, unit",
    list(itertools.product(["gaussian_on_grid", "laplace_on_grid", "scalars"], [1.0, 2.0**-20, 2.0**-340, 2.0**300])),
    parts=2,
)
def test_every_released_number_is_a_grid_point(rng, unit, release):
    values = np.random.default_rng(1).integers(0, 10_000, 200) * unit
    released = getattr(noise_source(rng), release)(values, unit, 500 * unit)
    assert np.array_equal(np.rint(released / unit) * unit, released)
    assert np.any(released != values)


def test_scalars_are_rounded_before_the_noise_so_that_their_low_bits_never_leave():
    values = np.random.default_rng(2).normal(size=100)
    nudged = values + 1e-9 * np.random.default_rng(3).normal(size=100)
    unit = 2.0**-10
    same = np.rint(values / unit) == np.rint(nudged / unit)
    assert same.sum() > 90
    first, second = (noise_source(4).scalars(v, unit, 1.0) for v in (values, nudged))
    assert np.array_equal(first[same], second[same])


@each(
    "release, bad",
    list(itertools.product(["gaussian_on_grid", "laplace_on_grid", "scalars"], [np.nan, np.inf, -np.inf])),
    parts=2,
)
def test_a_value_that_is_no_number_is_an_error_that_does_not_show_it(release, bad):
    with pytest.raises(InvalidGraphError) as caught, np.errstate(invalid="ignore"):
        getattr(noise_source(0), release)(np.array([1.0, bad]), 1.0, 10.0)
    assert "1.0" not in str(caught.value)
    assert str(bad) not in str(caught.value)
