"""What leaves a release is a function of an integer, however large data and noise are, and has the law proved."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import gdp_mu
from dpgraph.privacy.call import open_call
from dpgraph.privacy.grid import (
    LAPLACE_BITS,
    add_on_grid,
    grid_step,
    nearest_multiples,
    nearest_points,
    query_grid,
    split,
    sum_on_grid,
)
from dpgraph.privacy.matrix_noise import MatrixLaw
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Custom
from dpgraph.problems.matrices.perturb_and_project import perturb_and_project
from dpgraph.projections import Box

EVERYTHING = Box(-1e151, 1e151)
STEPS = st.sampled_from([2.0**-40, 1.0, 2.0**70])
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def nearest_double(exact):
    try:
        return float(exact)
    except OverflowError:
        return np.finfo(float).max * (1 if exact > 0 else -1)


@settings(max_examples=300, deadline=None)
@given(FINITE, STEPS)
def test_a_number_is_the_sum_of_its_grid_point_and_of_what_is_left(value, step):
    assume(value == 0 or abs(value) > 1e-280 * step)  # quotients below 2**-1022 underflow
    (points,), left = split(np.array([value]), step)
    assert Fraction(float(points[0])) + Fraction(float(left[0])) * Fraction(step) == Fraction(value)
    assert (Fraction(float(points[0])) / Fraction(step)).denominator == 1
    assert abs(left[0]) <= 0.5


@settings(max_examples=300, deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=4), st.integers(-(2**50), 2**50), STEPS)
@example([np.finfo(float).max] * 3, 2**50, 2.0**969)
def test_a_release_is_the_double_nearest_to_the_exact_sum_and_nothing_is_clipped(values, noise, step):
    values = [value / len(values) for value in values]
    points = tuple(nearest_points(np.array([value]), step) for value in values)
    with np.errstate(over="ignore"):  # as in every private call
        released = sum_on_grid(points, np.array([float(noise)]), step)[0]
    exact = sum((Fraction(float(p[0])) for p in points), start=noise * Fraction(step))
    assert released == nearest_double(exact)


def test_the_sum_of_several_arrays_is_rounded_to_the_grid_once():
    A = np.array([[0.0, 1e20], [3.7, 0.25]])
    released = add_on_grid((A / 2, A.T / 2), np.full((2, 2), 0.4), 1.0)
    assert np.array_equal(released, [[0.0, 5e19], [5e19, 1.0]])
    assert add_on_grid((np.array([2.0**53]), np.array([1.0])), np.array([1.0]), 1.0) == 2.0**53 + 2
    assert add_on_grid((np.array([2.0**60]), np.array([-(2.0**60)])), np.array([3.2]), 1.0) == 3.0


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(-(2**80), 2**80), min_size=1, max_size=6), st.integers(-50, 50))
@example([3 * 2**20, -(2**60), 1], 21)  # a hair from half a step
def test_the_multiples_of_a_step_are_within_half_a_step_of_the_exact_sum_of_several_arrays(numbers, exponent):
    values, step = tuple(np.array([float(number)]) for number in numbers), 2.0**exponent
    points = [Fraction(float(part[0])) for part in nearest_multiples(values, step)]
    assert all((point / Fraction(step)).denominator == 1 for point in points)
    exact = sum(Fraction(float(part[0])) for part in values)
    assert abs(sum(points) - exact) <= Fraction(step) / 2


def laplace_of(x, scale, points):
    """Exact law on points of step 1 of the Laplace release of a real x, from the formula of the module."""
    rate = 1 / (scale + 1)
    law = np.tanh(rate / 2) * np.exp(-rate * np.abs(points[:, None] - np.floor(x) - np.array([0, 1])))
    return law @ np.array([1 - (x - np.floor(x)), x - np.floor(x)])


@pytest.mark.parametrize("scale", [1.0, 3.0, 40.0])
def test_laplace_noise_on_reals_that_are_rounded_at_random_costs_what_their_distance_costs(scale):
    points = np.arange(-60, 61)
    numbers = [-1.0, -0.3, 0.0, 1e-9, 0.2, 0.5, 0.9, 1.0, 2.7]
    worst = 0.0
    for x, y in itertools.permutations(numbers, 2):
        loss = np.max(np.log(laplace_of(x, scale, points)) - np.log(laplace_of(y, scale, points)))
        worst = max(worst, loss * scale / abs(x - y))
    assert 0.6 < worst <= 1 + 1e-12


@pytest.mark.parametrize("rng", [None, 11])
def test_the_laplace_release_on_a_coarser_grid_has_that_law(rng, monkeypatch):
    monkeypatch.setattr("dpgraph.privacy.grid.LAPLACE_BITS", 1)  # a coarse grid, of which every point is seen
    x, scale = 0.7, 4.0
    step = grid_step(scale, bits=1)
    released = noise_source(rng).laplace_on_grid(np.full(40_000, x), 2.0**-60, scale) / step
    points = np.arange(-12, 14)
    frequencies = np.array([np.mean(released == point) for point in points])
    expected = laplace_of(x / step, scale / step, points)
    assert np.abs(frequencies - expected).max() < 6 * math.sqrt(expected.max() / released.size)


@pytest.mark.parametrize("rng", [None, 11])
def test_what_is_left_of_several_arrays_is_rounded_at_random_to_the_points_beside_their_sum(rng, monkeypatch):
    # Four times 0.4375 of a step is 1.75 steps: before, one step came out always, as from a coin of probability 1.75.
    source = noise_source(rng)
    monkeypatch.setattr(source, "_laplace", lambda shape, scale: np.zeros(shape))
    step = grid_step(1.0, bits=LAPLACE_BITS)
    parts = tuple(np.full(20_000, 0.4375 * step) for _ in range(4))
    released = source.laplace_on_grid(parts, 2.0**-60, 1.0) / step
    assert set(released) == {1.0, 2.0}
    assert abs(np.mean(released) - 1.75) < 6 * math.sqrt(0.75 * 0.25 / released.size)


def odd_share(release, weight, unit):
    """Share of the releases of a weight that are no even multiple of the unit."""
    return np.mean(np.mod(release(np.full(4000, weight)) / unit, 2.0) != 0.0)


@pytest.mark.parametrize("rng", [None, 3])
@pytest.mark.parametrize("law", ["gaussian_on_grid", "laplace_on_grid"])
def test_low_order_bits_of_a_weight_do_not_show_through_noise_of_more_than_2_to_the_53_steps(law, rng):
    unit, source = 2.0**-20, noise_source(rng)
    scale = math.sqrt(2.0) / gdp_mu(1e-10, 1e-12) if law == "gaussian_on_grid" else 2 / 1e-11
    assert scale / unit > 2**53

    def release(values):
        return getattr(source, law)(values, unit, scale)

    step = grid_step(scale, unit, bits=30 if law == "gaussian_on_grid" else 28)
    for weight in (0.0, unit, 1 - unit):
        assert np.all(np.mod(release(np.full(4000, weight)), step) == 0.0)
    assert odd_share(release, 0.0, unit) == odd_share(release, 1 - unit, unit) == 0.0


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_degrees_with_a_tiny_budget_have_the_noise_of_their_ledger_line_on_a_coarser_grid(mechanism):
    A = (1 - 2.0**-20) * (np.ones((300, 300)) - np.eye(300))
    result = dpgraph.private_degrees(A, epsilon=1e-9, delta=1e-6, mechanism=mechanism, max_weight=1.0, rng=0)
    line = result.privacy.entries[0]
    assert line.sensitivity == (math.sqrt(2.0) if mechanism == "gaussian" else 2.0)
    typical = np.sqrt(np.mean(result.values**2)) if mechanism == "gaussian" else np.mean(np.abs(result.values))
    assert typical == pytest.approx(line.scale, rel=0.2)
    assert np.all(np.mod(result.values, grid_step(line.scale, 2.0**-20)) == 0)


def noisy_maximum_line(epsilon):
    A = np.triu(np.random.default_rng(0).random((30, 30)), 1)
    result = dpgraph.private_max_k_cut(
        A + A.T, 3, epsilon=epsilon, weight="weight", max_weight=1.0, mechanism="bounded-iterates", rng=0
    )
    return next(line for line in result.privacy.entries if "maximum" in line.mechanism)


def test_a_noisy_maximum_pays_in_its_ledger_line_for_a_coarser_grid():
    unit = 2.0**-28  # of the weights times that of the iterates
    line = noisy_maximum_line(1e-4)
    step = line.sensitivity - 1.0
    assert unit < step == grid_step(1 / line.epsilon, unit, bits=28)
    assert noisy_maximum_line(2.0).sensitivity == 1.0


@pytest.mark.parametrize("rng", [None, 5])
def test_a_noisy_maximum_whose_noise_no_sampler_can_hold_looks_at_nothing(rng):
    scores = np.tile([0.0, 1e9, 3.0], (6000, 1))
    counts = np.bincount(noise_source(rng).noisy_argmax(scores, 1.0, 1e30), minlength=3)
    assert np.abs(counts - 2000).max() < 250
    assert noisy_maximum_line(1e-80).scale > 1e80


def test_noise_that_cannot_be_drawn_exactly_is_refused_by_public_numbers_alone():
    with pytest.raises(InvalidParameterError, match="drawn exactly"):
        query_grid(1.0, 1, 2.0**-8, 2.0**-31)
    ledger = open_call(epsilon=1e-90, delta=1e-6, accountant=None, relation=Custom(""), noise=noise_source(0)).ledger
    with pytest.raises(InvalidParameterError, match="drawn exactly"):
        ledger.gaussian_on_grid("a number", sensitivity=1.0, mu=1e-14, count=1)
    assert not ledger.entries


def test_entries_of_any_size_are_released_with_their_noise():
    A = np.array([2e7, -2e7, 1e15, 1e100, 5.0, 1e150])
    noisy = perturb_and_project(A, EVERYTHING, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0)
    scale = noisy.privacy.entries[0].scale
    assert noisy.privacy.entries[0].sensitivity == 1.0
    difference = noisy.matrix - A
    assert np.all(np.abs(difference[[0, 1, 2, 4]]) < 5 * scale)
    assert np.all(difference[[0, 1, 2, 4]] != 0)
    assert np.array_equal(noisy.matrix[[3, 5]], A[[3, 5]])  # noise is less than half a unit in the last place


@pytest.mark.parametrize("d", [16, 64])
@pytest.mark.parametrize("size", [2.0**51, 2.0**60])
def test_the_nuclear_distance_of_two_matrices_does_not_grow_on_the_grid(d, size, monkeypatch):
    """A Hadamard pattern at the end of a range, of which clipping moves half of the entries: 2.25, 4.4 of s."""
    monkeypatch.setattr(MatrixLaw, "difference", lambda laws, noise, d, scale: np.zeros((d, d)))
    H = np.array([[1.0]])
    while len(H) < d:
        H = np.block([[H, H], [H, -H]])
    E = np.full((d, d), 1 / d)  # nuclear norm 1
    largest = size * grid_step(1.0)
    first, second = (
        dpgraph.private_symmetric_matrix(largest * H + t * E, sensitivity=1.0, epsilon=1.0, rng=0) for t in (0.0, 1.0)
    )
    moved = largest * H + E - largest * H  # as doubles hold it
    ratio = np.linalg.norm(second.matrix - first.matrix, "nuc") / np.linalg.norm(moved, "nuc")
    assert ratio <= 1 + 1e-9
    assert np.linalg.norm(second.matrix - first.matrix, "nuc") <= first.privacy.entries[0].sensitivity * (1 + 1e-9)


def test_a_released_zero_does_not_tell_the_sign_of_what_was_rounded():
    step = 2.0**-30
    # -0.0 == 0.0, but their bits differ: before, -0.3 steps could come out as -0.0, and 0.3 steps never did.
    below, above = (add_on_grid(np.array([x * step]), np.array([-0.1 * step]), step) for x in (-0.3, 0.3))
    assert below.tobytes() == above.tobytes()
    assert not np.signbit(noise_source(0).laplace_on_grid(-np.zeros(99), 1.0, 0.01)).any()
