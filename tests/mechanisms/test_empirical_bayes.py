"""Posterior means, and eigenvectors by message passing, are closer to the truth than what was released."""

import numpy as np
import pytest
from scipy import linalg

from dpgraph.denoise import empirical_bayes
from dpgraph.denoise.empirical_bayes import posterior_means, posterior_means_and_response, refined_eigenvectors


def rows_of(law, rng, n=3000):
    if law == "two communities":
        return np.column_stack([np.ones(n), rng.choice([-1.0, 1.0], n)])
    if law == "few large rows":
        return np.where(rng.random(n) < 0.03, 8.0, 0.0)[:, None] * rng.normal(size=(n, 2))
    return rng.normal(size=(n, 2)) * [2.0, 1.0]


@pytest.mark.parametrize(
    ("law", "share"), [("two communities", 0.35), ("few large rows", 0.25), ("Gaussian, near the best possible", 0.7)]
)
def test_errors_shrink_without_knowing_the_law(law, share):
    rng = np.random.default_rng(0)
    rows = rows_of(law, rng)
    covariance = np.array([[0.5, 0.3], [0.3, 0.8]])
    noisy = rows + rng.multivariate_normal(np.zeros(2), covariance, size=len(rows))
    error = np.mean((posterior_means(noisy, covariance) - rows) ** 2)
    assert error < share * np.mean((noisy - rows) ** 2)


def test_little_noise_leaves_rows_where_they_are_however_far_apart():
    rng = np.random.default_rng(1)
    rows = np.exp(2 * rng.normal(size=(1500, 2)))
    noisy = rows + 1e-4 * rng.normal(size=rows.shape)
    assert np.abs(posterior_means(noisy, 1e-8 * np.eye(2)) - noisy).max() < 1e-3
    assert posterior_means(noisy, np.zeros((2, 2))) is noisy


@pytest.mark.parametrize("law", ["two communities", "few large rows", "Gaussian"])
def test_the_response_is_the_sum_of_the_derivatives(law, monkeypatch):
    rng = np.random.default_rng(4)
    rows, scales = rows_of(law, rng, n=400), rng.uniform(0.5, 2.0, 400)
    covariance = np.array([[0.5, 0.3], [0.3, 0.8]])
    noisy = rows + scales[:, None] * rng.multivariate_normal(np.zeros(2), covariance, size=400)
    monkeypatch.setattr(empirical_bayes, "_ALIKE", 0.0)  # each row has its own noise
    fit = empirical_bayes._fitted_law
    laws = []
    monkeypatch.setattr(empirical_bayes, "_fitted_law", lambda *rows: laws.append(fit(*rows)) or laws[0])
    _, response = posterior_means_and_response(noisy, covariance, scales)  # from now on with this law
    step = 1e-5
    numeric = np.empty((2, 2))
    for axis in range(2):
        ahead, _ = posterior_means_and_response(noisy + step * np.eye(2)[axis], covariance, scales)
        behind, _ = posterior_means_and_response(noisy - step * np.eye(2)[axis], covariance, scales)
        numeric[:, axis] = scales**2 @ (ahead - behind) / (2 * step)
    assert response == pytest.approx(numeric, rel=1e-4, abs=1e-3)


def test_rows_far_from_all_rows_that_the_law_is_fitted_to_stay_where_they_are():
    """Their components have no weight left, and the others no likelihood: once this was 0/0."""
    noisy, far = np.random.default_rng(0).normal(size=(20_000, 1)), [12_345, 12_346]
    noisy[far, 0] = 500.0, 501.0
    assert not set(far) & set(empirical_bayes._evenly(len(noisy), empirical_bayes._FITTED))
    means = posterior_means(noisy, np.eye(1))
    assert np.all(np.isfinite(means))
    assert np.abs(means[far, 0] - 500.5).max() < 1.0


def problem(strength, scales, rng, n=1200):
    """A matrix of rank one between two communities, with noise of a variance profile; its space, and the noisy one."""
    truth = rng.choice([-1.0, 1.0], n) / np.sqrt(n)
    noise = rng.normal(size=(n, n)) * np.outer(scales, scales)
    noisy = strength * np.outer(truth, truth) + np.triu(noise, 1) + np.triu(noise, 1).T
    return truth, noisy, *linalg.eigh(noisy, subset_by_index=[n - 1, n - 1])


def sine(truth, basis):
    Q = np.linalg.qr(basis)[0]
    return float(np.linalg.norm(truth - Q @ (Q.T @ truth)))


@pytest.mark.parametrize("uneven", [False, True])
def test_the_error_falls_below_that_of_the_eigenvector(uneven):
    rng = np.random.default_rng(0)
    scales = np.where(np.arange(1200) < 600, 1.2, 0.8) if uneven else np.ones(1200)
    truth, noisy, values, vectors = problem(80.0, scales, rng)
    better, _ = refined_eigenvectors(noisy.__matmul__, values, vectors, variance=1.0, scales=scales)
    assert sine(truth, better) < 0.6 * sine(truth, vectors)


def test_without_noise_the_eigenvectors_stay():
    rng = np.random.default_rng(1)
    truth, _, _, _ = problem(50.0, np.ones(1200), rng)
    exact = 50.0 * np.outer(truth, truth)
    better, bias = refined_eigenvectors(
        exact.__matmul__, np.array([50.0]), truth[:, None], variance=0.0, scales=np.ones(1200)
    )
    assert sine(truth, better) < 1e-6
    assert abs(bias[0, 0]) < 1e-9


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("strength", [36.0, 60.0])
def test_the_noisy_matrix_less_its_bias_is_the_true_one_on_the_estimated_space(strength, uneven):
    scales, before, after = np.where(np.arange(600) < 300, 1.2, 0.8) if uneven else np.ones(600), [], []
    for seed in range(8):
        truth, noisy, values, vectors = problem(strength, scales, np.random.default_rng(100 + seed), n=600)
        X, bias = refined_eigenvectors(noisy.__matmul__, values, vectors, variance=1.0, scales=scales)
        size = float(X[:, 0] @ X[:, 0])
        before.append(float(X[:, 0] @ noisy @ X[:, 0]) / size - strength * float(truth @ X[:, 0]) ** 2 / size)
        after.append(before[-1] - float(bias[0, 0]) / size)
    # The noise on any one unit vector has standard deviation sqrt(2).
    assert np.mean(before) > 4.0
    assert abs(np.mean(after)) < 3 * np.sqrt(2 / 8) + 0.1 * np.mean(before)
