"""Shrinkage of eigenvalues: what it keeps, and that it is close to the best that can be done with the eigenvectors."""

import numpy as np
import pytest

from dpgraph.projections import project_psd, shrink_psd_trace
from dpgraph.projections.spectral_sets import shrunken_eigenvalues


def noisy(truth, std, rng):
    d = len(truth)
    W = np.triu(rng.normal(size=(d, d)), 1) * std / np.sqrt(2)
    return truth + W + W.T + np.diag(rng.normal(size=d) * std)


def spectra(d):
    rng = np.random.default_rng(d)
    return {
        "one spike": np.eye(d)[0] * 8.0,
        "decaying": 10.0 / np.arange(1, d + 1),
        "flat": np.full(d, 4.0),
        "random": np.sort(rng.exponential(3.0, size=d)),
    }


@pytest.mark.parametrize("std", [0.01, 1.0, 100.0])
def test_the_order_and_the_sum_of_the_eigenvalues_are_kept(std):
    values = np.sort(np.random.default_rng(0).normal(size=40))
    shrunk = shrunken_eigenvalues(values, std)
    assert (np.diff(shrunk) >= 0).all()
    assert shrunk.sum() == pytest.approx(values.sum(), abs=1e-9 * std)


@pytest.mark.parametrize("d", [3, 20, 60])
def test_the_estimate_is_positive_semidefinite_within_the_trace_and_has_the_eigenvectors_of_the_noisy_matrix(d):
    Y = noisy(np.diag(spectra(d)["decaying"]), 1.0, np.random.default_rng(1))
    estimate = shrink_psd_trace(Y, 5.0, std=1.0)
    assert np.linalg.eigvalsh(estimate)[0] >= -1e-10
    assert np.trace(estimate) <= 5.0 + 1e-10
    assert estimate @ Y == pytest.approx(Y @ estimate, abs=1e-9)


@pytest.mark.parametrize("d", [20, 60])
def test_shrinkage_is_near_the_best_eigenvalues_in_hindsight(d):
    truth, rng = np.diag(spectra(d)["decaying"]), np.random.default_rng(3)
    shrunk, best, projected = [], [], []
    for _ in range(30):
        Y = noisy(truth, 1.0, rng)
        vectors = np.linalg.eigh(Y)[1]
        oracle = np.maximum(np.einsum("ji,jk,ki->i", vectors, truth, vectors), 0.0)
        best.append(np.linalg.norm((vectors * oracle) @ vectors.T - truth))
        shrunk.append(np.linalg.norm(shrink_psd_trace(Y, 1e9, std=1.0) - truth))
        projected.append(np.linalg.norm(project_psd(Y) - truth))
    assert np.mean(shrunk) < 1.25 * np.mean(best)
    assert np.mean(shrunk) < 0.7 * np.mean(projected)
