"""Message passing finds leading eigenvectors in noisy matrices better than the eigenvectors of these do."""

import numpy as np
import pytest

from dpgraph.denoise.message_passing import refined_eigenvectors


def problem(strength, scales, rng, n=1200):
    """A matrix of rank one between two communities, with noise of a variance profile; its space, and the noisy one."""
    truth = rng.choice([-1.0, 1.0], n) / np.sqrt(n)
    noise = rng.normal(size=(n, n)) * np.outer(scales, scales)
    noisy = strength * np.outer(truth, truth) + np.triu(noise, 1) + np.triu(noise, 1).T
    values, vectors = np.linalg.eigh(noisy)
    return truth, noisy, values[-1:], vectors[:, -1:]


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
