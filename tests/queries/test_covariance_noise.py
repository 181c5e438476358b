"""Noise of private covariances: how far one record moves the moments, the size of the noise, and which law is taken."""

import itertools

import numpy as np
import pytest

from dpgraph.bounds.moments import moments_sensitivity
from dpgraph.problems.records.covariance import _augmented, private_covariance, short_rows
from dpgraph.problems.records.covariance_noise import noise_of, quietest
from dpgraph.releases.records.moments import SecondMoments
from tests.privacy.replay import larger_trace


def nuclear(E):
    return np.abs(np.linalg.eigvalsh(E)).sum()


NORMS = [("nuclear", nuclear), ("larger-trace", larger_trace), ("frobenius", np.linalg.norm)]


@pytest.mark.parametrize(("name", "norm"), NORMS)
@pytest.mark.parametrize("d", [1, 2, 4])
def test_one_record_moves_the_second_moments_by_the_stated_bound_and_some_by_no_less(d, name, norm):
    rng = np.random.default_rng(d)
    replaced, added = (moments_sensitivity(1, adjacency, name, d) for adjacency in ("replace", "add-remove"))
    unit = np.diag(np.eye(d)[0])
    largest = [max(norm(unit - np.diag(np.eye(d)[-1])), norm(unit)), 0.0]
    for _ in range(300):
        x, y = short_rows(rng.normal(size=(2, d)) * rng.choice([0.2, 1.0, 3.0], size=(2, 1)), 1.0)
        largest[0] = max(largest[0], norm(np.outer(x, x) - np.outer(y, y)))
        largest[1] = max(largest[1], norm(np.outer(x, x)))
    assert largest[0] <= replaced + 1e-12
    assert largest == pytest.approx([replaced, added])


@pytest.mark.parametrize(("name", "norm"), NORMS)
@pytest.mark.parametrize("weight", [0.2, 0.8])
def test_the_constant_coordinate_of_the_centred_version_does_not_raise_the_sensitivity(weight, name, norm):
    rng, largest, bound = np.random.default_rng(0), 0.0, moments_sensitivity(1, "replace", name, 4)
    for _ in range(1500):
        x, y = short_rows(rng.normal(size=(2, 3)) * rng.choice([0.3, 2.0], size=(2, 1)), 1.0)
        if rng.random() < 0.5:  # the worst case has an angle: walk towards it
            y = -x * rng.uniform(-1, 1) + 0.05 * y
            y /= max(np.linalg.norm(y), 1.0)
        u, v = _augmented(np.array([x, y]), weight)
        assert np.linalg.norm(u) <= 1 + 1e-12
        largest = max(largest, norm(np.outer(u, u) - np.outer(v, v)))
    assert 0.9 * bound < largest <= bound + 1e-12


def test_without_delta_the_release_is_pure_and_a_pure_mechanism_leaves_delta_unspent():
    assert private_covariance(np.eye(3), epsilon=1.0, rng=0).privacy.delta == 0.0
    asked = {"epsilon": 1.0, "delta": 1e-6, "rng": 0}
    assert private_covariance(np.eye(30), **asked).privacy.delta == 1e-6
    assert private_covariance(np.eye(30), **asked, mechanism="wishart-difference").privacy.delta == 0.0


@pytest.mark.parametrize(
    ("mechanism", "d", "adjacency"),
    [
        *itertools.product(["wishart-difference", "nuclear-laplace", "gaussian"], [3], ["replace", "add-remove"]),
        ("gaussian", 1, "replace"),
        ("wishart-difference", 12, "add-remove"),
    ],
)
def test_the_stated_size_is_that_of_the_noise(mechanism, d, adjacency):
    options = {"adjacency": adjacency, "epsilon": 1.0, "delta": 1e-6, "mechanism": mechanism}
    size = noise_of(mechanism, SecondMoments(10, adjacency, d), 1.0, 1e-6)
    options |= {"project": False, "n_records": 10}
    draws = np.array([private_covariance(np.zeros((10, d)), **options, rng=seed).matrix for seed in range(800)])
    assert (draws**2).sum(axis=(1, 2)).mean() == pytest.approx(size.square, rel=0.1)
    assert np.trace(draws, axis1=1, axis2=2).var() == pytest.approx(size.trace_variance, rel=0.2)
    if d > 1:
        assert draws.var(axis=0)[np.triu_indices(d, 1)].mean() == pytest.approx(size.variance / 2, rel=0.1)


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize(
    ("d", "epsilon"), [(2, 1.0), (5, 1.0), (6, 1.0), (9, 1.0), (30, 1.0), (10, 8.0), (20, 8.0), (4, 0.1)]
)
def test_auto_takes_the_exact_law_of_least_expected_squared_error(d, epsilon, delta, adjacency):
    moments = SecondMoments(100, adjacency, d)
    names = ["wishart-difference", *["nuclear-laplace"] * (d <= 6), *["gaussian"] * (delta > 0)]
    sizes = {name: noise_of(name, moments, epsilon, delta).square for name in names}
    assert quietest(moments, epsilon, delta) == min(sizes, key=sizes.get)
