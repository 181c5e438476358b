"""Lower bounds on the error of all private mechanisms."""

import itertools

import numpy as np
import pytest

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import gdp_mu
from dpgraph.problems.records.linear_queries import error_lower_bounds, expected_error, private_linear_queries
from tests.queries.test_linear_queries import prefix_sums

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


QUERIES = {
    "counts": np.eye(20),
    "few of many": (np.random.default_rng(0).random((8, 90)) < 0.5).astype(float),
    "prefix sums": prefix_sums(40),
    "scales": np.random.default_rng(1).normal(size=(12, 30)) * np.geomspace(1, 1000, 12)[:, None],
}


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("queries", QUERIES)
def test_no_mechanism_is_below_the_lower_bounds(queries, epsilon):
    A = QUERIES[queries]
    assert 0 < max(error_lower_bounds(A, epsilon=epsilon)) < expected_error(A, epsilon=epsilon)
    assert 0 < max(error_lower_bounds(A, epsilon=epsilon, delta=1e-2)) < expected_error(A, epsilon=epsilon, delta=1e-2)


def test_the_best_noise_for_a_count_is_within_a_small_factor_of_both_bounds():
    """The geometric mechanism has the least variance for one count: 2 q/(1 - q)^2, q = exp(-epsilon)."""
    for epsilon in (0.02, 0.5, 2.0):
        q = np.exp(-epsilon)
        best = np.sqrt(2 * q) / (1 - q)
        bounds = error_lower_bounds(np.ones((1, 1)), epsilon=epsilon)
        assert best / 4 < bounds.reconstruction < best
        assert best / 16 < bounds.volume < best


def test_the_optimal_factorization_is_within_a_constant_of_every_mechanism():
    """The ratio of both depends on epsilon and delta only: the trace of the same problem stands on both sides."""
    ratios = [
        expected_error(A, mechanism="factorization", **BUDGET) / error_lower_bounds(A, **BUDGET).reconstruction
        for A in QUERIES.values()
    ]
    assert np.ptp(ratios) < 0.01 * min(ratios)
    # By hand: 1/mu over the root of 2 (1 - T)/4 for groups of 2 records, T = (e^2 - 1)/(e^2 + 1).
    assert ratios[0] == pytest.approx(1 / gdp_mu(1.0, 1e-6) / np.sqrt(2 / (np.exp(2) + 1)), rel=0.01)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_with_few_records_the_bounds_fall_and_stay_below_what_the_projection_reaches(delta):
    A = (np.random.default_rng(3).random((60, 200)) < 0.5).astype(float)
    budget = {"epsilon": 1.0, "delta": delta}
    everywhere = error_lower_bounds(A, **budget)
    sizes = (1, 3, 10, 30, 10**6)
    bounds = [error_lower_bounds(A, records=n, **budget) for n in sizes]
    for few, more in itertools.pairwise(bounds):
        assert all(low <= high * (1 + 5e-3) for low, high in zip(few, more, strict=True))
    assert bounds[0].reconstruction < 0.5 * everywhere.reconstruction
    assert bounds[-1] == pytest.approx(everywhere, rel=5e-3)
    for n, bound in zip(sizes[:3], bounds, strict=False):
        x = np.bincount(np.arange(n), minlength=200)
        found = [private_linear_queries(A, x, records=n, sparse=True, rng=seed, **budget).answers for seed in range(8)]
        assert 0 < max(bound) < np.sqrt(np.mean(np.square(np.array(found) - A @ x)))


def test_one_record_of_one_kind_is_guessed_as_its_two_histograms_allow():
    """x is 0 or 1: T_1 = (e - 1)/(e + 1), and no estimate has a squared error below (1 - T_1)/4."""
    bound = error_lower_bounds(np.ones((1, 1)), epsilon=1.0, records=1).reconstruction
    assert bound == pytest.approx(np.sqrt(0.5 / (np.e + 1)))
    with pytest.raises(InvalidParameterError, match="records"):
        error_lower_bounds(np.ones((1, 1)), epsilon=1.0, records=0)
