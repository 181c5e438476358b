"""Message passing finds leading eigenvectors in noisy matrices better than the eigenvectors of these do."""

import numpy as np
import pytest

from dpgraph.mechanisms.message_passing import refined_eigenvectors


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
    better = refined_eigenvectors(noisy.__matmul__, values, vectors, variance=1.0, scales=scales)
    assert sine(truth, better) < 0.6 * sine(truth, vectors)


def test_without_noise_the_eigenvectors_stay():
    rng = np.random.default_rng(1)
    truth, _, _, _ = problem(50.0, np.ones(1200), rng)
    exact = 50.0 * np.outer(truth, truth)
    better = refined_eigenvectors(
        exact.__matmul__, np.array([50.0]), truth[:, None], variance=0.0, scales=np.ones(1200)
    )
    assert sine(truth, better) < 1e-6
