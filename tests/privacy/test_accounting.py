"""The privacy curve agrees with two independent references and loses no digits anywhere."""

import itertools
import math

import dp_accounting
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import erfc, mp, mpf

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accounting import free_choice_epsilon, gaussian_scale, gdp_delta, gdp_epsilon, gdp_mu
from tests.about import each

EPSILONS = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)
DELTAS = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999)
GRID = list(itertools.product(EPSILONS, DELTAS))


def normal_cdf(x):
    return erfc(-x / mp.sqrt(2)) / 2


def reference_delta(mu, epsilon):
    """BW18, Theorem 8, in 80 digits."""
    with mp.workdps(80):
        mu, epsilon = mpf(mu), mpf(epsilon)
        return float(normal_cdf(-epsilon / mu + mu / 2) - mp.exp(epsilon) * normal_cdf(-epsilon / mu - mu / 2))


@each("epsilon, delta", GRID, parts=2)
def test_the_curve_agrees_with_eighty_digit_arithmetic(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert gdp_delta(mu, epsilon) == pytest.approx(reference_delta(mu, epsilon), rel=1e-10)


@each("epsilon, delta", GRID, parts=2)
def test_the_calibrated_gaussian_keeps_its_promise_and_wastes_nothing(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert reference_delta(mu, epsilon) <= delta
    assert reference_delta(mu * (1 + 1e-9), epsilon) > delta
    assert gaussian_scale(3.0, epsilon=epsilon, delta=delta) == pytest.approx(3.0 / mu, rel=1e-14)


@each("epsilon, delta", GRID, parts=2)
def test_epsilon_and_mu_are_inverse_to_each_other(epsilon, delta):
    # At tiny epsilon and delta near 1 the curve is flat: epsilon is the ill-conditioned side there, not mu.
    mu = gdp_mu(epsilon, delta)
    assert gdp_mu(gdp_epsilon(mu, delta), delta) == pytest.approx(mu, rel=1e-8)
    assert gdp_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-7)


@each(
    "delta, sigma",
    list(itertools.product([1e-15, 1e-9, 1e-6, 1e-3, 0.1], [0.05, 0.3, 1.0, 4.0, 60.0, 1000.0])),
    parts=2,
)
def test_epsilon_agrees_with_dp_accounting(sigma, delta):
    theirs = dp_accounting.get_epsilon_gaussian(sigma, delta, tol=1e-13)
    assert gdp_epsilon(1 / sigma, delta) == pytest.approx(theirs, rel=1e-6, abs=1e-12)


EXTREME_DELTAS = (5e-324, 1e-300, 1e-20, 1e-6, 0.5, 1 - 1e-12)


@each("delta, epsilon", list(itertools.product(EXTREME_DELTAS, [1e-100, 1e-15, 1e-9, 1e-6, 1e6, 1e9, 1e12])), parts=2)
def test_budgets_far_beyond_all_use_are_calibrated_too(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    with mp.workdps(400):
        b = -mpf(epsilon) / mu - mpf(mu) / 2
        exact = normal_cdf(b + mu) - mp.exp(epsilon) * normal_cdf(b)
        # What a last digit of mu is worth grows with the square of the exponent of the normal density.
        conditioning = 1e-11 * (1 + float(b * (b + mu)) + float(b) ** 2 / 1e3)
        assert 1 - max(conditioning, 1e-8) <= exact / mpf(delta) <= 1


@each("delta, epsilon", list(itertools.product(EXTREME_DELTAS, [1e15, 1e18, 1e30, 1e100, 1e300])), parts=2)
def test_at_gigantic_budgets_mu_is_the_root_of_twice_epsilon(epsilon, delta):
    mu = gdp_mu(epsilon, delta)
    assert mu == pytest.approx(math.sqrt(2 * epsilon), rel=1e-5)
    assert gdp_epsilon(mu, delta) == pytest.approx(epsilon, rel=1e-5)


@each("epsilon", [5e-324, 1e-101, 1.1e300, 1e308, 10**400], parts=2)
def test_an_epsilon_that_no_noise_scale_could_hold_is_refused(epsilon):
    with pytest.raises(InvalidParameterError, match=r"epsilon must be .* in \[1e-100, 1e\+300\]; got"):
        gdp_mu(epsilon, 1e-6)


@settings(max_examples=150, deadline=None)
@given(st.floats(1e-3, 100.0), st.floats(0.0, 1e4), st.floats(1.0001, 10.0))
def test_the_curve_falls_in_epsilon_and_rises_in_mu(mu, epsilon, factor):
    # Two evaluations may each be off by rounding; far out, relative rounding of the exponent dominates.
    rounding = 1 + 1e-12 * (1 + (epsilon / mu + mu) ** 2)
    assert gdp_delta(mu, epsilon * factor) <= gdp_delta(mu, epsilon) * rounding
    assert gdp_delta(mu * factor, epsilon) * rounding >= gdp_delta(mu, epsilon)
    assert 0 <= gdp_delta(mu, epsilon) <= 1


def worst_delta_of_a_choice(e, epsilon, mu):
    """Worst delta of an e-DP bit that chooses a mu-GDP mechanism (or a pure one), over all laws of the bit."""
    pure_side = np.linspace(0, 1, 20_001)[:-1]  # probability of choosing the pure mechanism
    here = 1 - pure_side
    there = np.maximum(1 - math.exp(e) * pure_side, math.exp(-e) * here)
    return max(a * gdp_delta_at(mu, epsilon - math.log(a / b)) for a, b in zip(here[::20], there[::20], strict=True))


def gdp_delta_at(mu, epsilon):
    """The curve of mu-GDP, for negative epsilon too."""
    phi = [0.5 * math.erfc(-x / math.sqrt(2)) for x in (-epsilon / mu + mu / 2, -epsilon / mu - mu / 2)]
    return phi[0] - math.exp(epsilon) * phi[1]


@each("delta, epsilon", list(itertools.product([1e-8, 1e-6, 1e-2], [0.25, 1.0, 4.0, 8.0])), parts=2)
def test_a_choice_of_the_free_epsilon_adds_nothing_to_delta_and_twice_as_much_would(epsilon, delta):
    free, mu = free_choice_epsilon(epsilon, delta), gdp_mu(epsilon, delta)
    assert 0.005 * epsilon < free < epsilon
    assert worst_delta_of_a_choice(free, epsilon, mu) <= delta * (1 + 1e-6)
    assert worst_delta_of_a_choice(2 * free, epsilon, mu) > 1.05 * delta
