"""Posterior means of released rows are closer to the true space, and answers of little noise are left alone."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.denoise import products
from dpgraph.problems.embedding import strategies as embeddings
from dpgraph.releases.eigenspaces import power_method as noisy_power
from tests.spelling import spelled


def sine(A, private):
    """Sine of the largest angle from the true leading space to the released one."""
    truth = eigsh(A, k=private.rank, which="LM", v0=np.ones(A.shape[0]))[1]
    Q = np.linalg.qr(private.adjacency_factor())[0]
    return float(np.linalg.norm(truth - Q @ (Q.T @ truth), 2))


def release(A, **options):
    function = dpgraph.private_normalized_adjacency
    return function(A, rng=0, **spelled(function, {"delta": 1e-6, "rank": 2} | options))


@pytest.mark.parametrize(("mechanism", "epsilon"), [("randomized-response", 3.0), ("noisy-power", 1.5)])
def test_the_space_of_a_planted_cut_comes_closer_by_a_fifth(mechanism, epsilon, monkeypatch):
    A = planted_cut_sparse(1000, 120, -0.75, rng=0)[0]
    denoised = sine(A, release(A, epsilon=epsilon, mechanism=mechanism))
    for module in (noisy_power, embeddings):
        monkeypatch.setattr(module, "enough_rows", lambda *_: False)
    raw = sine(A, release(A, epsilon=epsilon, mechanism=mechanism))
    assert denoised < 0.8 * raw < 0.4


def test_a_gap_that_shows_drops_columns_and_lets_posterior_means_steer(monkeypatch):
    """Three blocks of even degrees, whose first iterates are noise."""
    sizes, within = [400] * 3, np.full((3, 3), 0.03) + 0.09 * np.eye(3)
    A = nx.to_scipy_sparse_array(nx.stochastic_block_model(sizes, within, seed=1), dtype=float)

    def error():
        release = {"epsilon": 4.0, "delta": 1e-6, "rank": 3, "mechanism": "noisy-power"}
        return float(np.mean([sine(A, dpgraph.private_normalized_adjacency(A, **release, rng=s)) for s in range(3)]))

    seen = error()
    monkeypatch.setattr(products.Products, "drop_idle_columns", lambda *_: 0.0)
    assert seen < 0.9 * error()
