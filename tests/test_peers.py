"""Mechanisms of others that the benchmarks run: their laws are those of their papers."""

import numpy as np
import pytest

from dpgraph.privacy.accounting import gaussian_scale
from tests.programs import benchmark

covariance, peers, science = map(benchmark, ("covariance", "peers", "science"))


def test_draws_from_the_exponential_mechanism_on_the_sphere_have_its_moments():
    B, rng = np.diag([3.0, 1.0, 0.0]), np.random.default_rng(0)
    drawn = np.mean([covariance.bingham(B, rng) ** 2 for _ in range(4000)], axis=0)
    sphere = rng.normal(size=(200_000, 3))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    weights = np.exp(sphere**2 @ np.diag(B))
    np.testing.assert_allclose(drawn, weights @ sphere**2 / weights.sum(), atol=0.02)


def test_the_sine_of_the_exponential_mechanism_is_that_of_its_draws():
    values, rng = np.r_[60.0, np.linspace(-20.0, 20.0, 39)], np.random.default_rng(0)
    drawn = np.mean([1 - covariance.bingham(np.diag(values), rng)[0] ** 2 for _ in range(500)])
    assert peers.exponential_eigenvector_sine(values, 2.0) == pytest.approx(np.sqrt(drawn), rel=0.05)


def test_exact_accounting_of_the_noisy_power_method_pays_for_every_product_and_the_two_longest_rows():
    n, steps = 400, 3
    X, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(n, 2)))
    change = np.zeros((n, n))
    i, j = np.argsort(np.linalg.norm(X, axis=1))[-2:]
    change[i, j] = change[j, i] = 1.0
    moved = np.linalg.norm(change @ X)  # the pair of vertices whose edge moves the product most
    _, Y = peers.noisy_power_method_exact(np.zeros((n, n)), 1, 1.0, 1e-6, np.random.default_rng(0), steps=1)
    assert np.std(Y) == pytest.approx(gaussian_scale(moved, epsilon=1.0, delta=1e-6), rel=0.1)
    last, Y = peers.noisy_power_method_exact(np.zeros((n, n)), 1, 1.0, 1e-6, np.random.default_rng(0), steps=steps)
    longest = np.sqrt(np.sort(np.sum(last**2, axis=1))[-2:].sum())
    assert np.std(Y) == pytest.approx(steps**0.5 * gaussian_scale(longest, epsilon=1.0, delta=1e-6), rel=0.1)


def test_a_neighbour_moves_a_product_by_its_longest_row_and_an_entry_of_a_wide_matrix_by_one_of_each_half():
    X = np.random.default_rng(0).normal(size=(30, 2))
    lengths = np.linalg.norm(X, axis=1)
    assert peers.row_moves(X) == pytest.approx(lengths.max())
    change = np.zeros((30, 30))
    i, j = int(np.argmax(lengths[:10])), 10 + int(np.argmax(lengths[10:]))
    change[i, j] = change[j, i] = 1.0
    assert science.entry_moves(X, 10) == pytest.approx(np.linalg.norm(change @ X))
