"""The private normalized adjacency approximates the exact one, halts privately, and publishes only released values."""

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.datasets.planted import planted_cut_sparse


def planted(n=800, degree=250, correlation=-0.75):
    return planted_cut_sparse(n, degree, correlation, rng=1)


def exact_normalized(A, tau):
    root = 1 / np.sqrt(np.asarray(A.sum(axis=1)).ravel() + tau)
    return root[:, None] * A.toarray() * root


@pytest.mark.parametrize("coherence", ["degree-corrected", "rank"])
def test_both_coherences_find_the_planted_side(coherence):
    A, side = planted()
    options = {"mechanism": "coherence", "rank": 2, "coherence": coherence}
    private = dpgraph.private_normalized_adjacency(A, epsilon=8.0, delta=1e-6, rng=0, **options)
    _, vectors = np.linalg.eigh(private.core)
    signs = np.sign(private.basis @ vectors[:, 0])
    agreement = abs(np.mean(signs * (1 - 2.0 * side)))
    assert agreement > 0.9


def sine(private, exact, rank):
    """Sine of the largest angle between the released space and the exact leading one."""
    values, vectors = np.linalg.eigh(exact)
    U = vectors[:, np.argsort(-np.abs(values))[:rank]]
    return np.linalg.norm(U - private.basis @ (private.basis.T @ U), 2)


@pytest.mark.parametrize("regularization", ["auto", 50.0])
def test_noisy_power_finds_the_leading_space_and_the_core_on_it(regularization):
    A, _ = planted()
    private = dpgraph.private_normalized_adjacency(
        A, epsilon=8.0, delta=1e-6, rank=2, mechanism="noisy-power", regularization=regularization, rng=0
    )
    exact = exact_normalized(A, private.regularization)
    assert sine(private, exact, 2) < 0.1
    assert np.linalg.norm(private.core - private.basis.T @ exact @ private.basis, 2) < 0.02 * np.linalg.norm(exact, 2)


@pytest.mark.parametrize("n", [600, 800])
def test_randomized_response_is_pure_and_finds_all_leading_eigenvectors_at_a_large_budget(n):
    A, _ = planted(n)
    options = {"delta": 1e-6, "mechanism": "randomized-response", "rng": 0}
    private = dpgraph.private_normalized_adjacency(A, epsilon=8.0, rank=2, **options)
    exact = exact_normalized(A, private.regularization)
    assert private.privacy.delta == 0.0
    assert dpgraph.private_normalized_adjacency(A, epsilon=1.0, **options).rank == 2  # what stands out of the noise
    assert sine(private, exact, 2) < 0.05
    assert np.abs(private.degrees - exact_degrees(A)).mean() < 2.0


def exact_degrees(A):
    return np.asarray(A.sum(axis=1)).ravel()


def test_operators_and_matrix_agree():
    A, _ = planted(300, 120)
    private = dpgraph.private_normalized_adjacency(A, epsilon=20.0, delta=1e-6, rank=2, rng=0)
    x = np.arange(300.0)
    root = np.sqrt(private.scale)
    assert np.allclose(private.linear_operator() @ x, private.matrix() @ x)
    assert np.allclose(private.adjacency_operator() @ x, root * (private.matrix() @ (root * x)))
    assert np.allclose(
        private.embedding() @ np.sign(np.diag([1.0, 1.0])) @ private.embedding().T,
        private.embedding() @ private.embedding().T,
    )


def test_synthetic_graph_has_the_vertices_and_weights_in_range():
    G = nx.complete_bipartite_graph(60, 60)
    private = dpgraph.private_normalized_adjacency(G, epsilon=20.0, delta=1e-6, rank=2, rng=0)
    synthetic = private.to_networkx(threshold=0.1)
    assert list(synthetic.nodes) == list(G.nodes)
    weights = [w for _, _, w in synthetic.edges(data="weight")]
    assert min(weights) > 0.1
    assert max(weights) <= 1.0


def test_zero_regularization_with_isolated_vertices_halts_before_dividing():
    G = nx.empty_graph(30)
    options = {"mechanism": "coherence", "regularization": 0.0}
    with pytest.raises(dpgraph.MechanismHalted) as halt:
        dpgraph.private_normalized_adjacency(G, epsilon=1.0, delta=1e-6, rng=0, **options)
    assert halt.value.stage == "minimum degree"


def test_gaussian_mechanism_never_halts_and_is_limited_in_size():
    private = dpgraph.private_normalized_adjacency(
        nx.path_graph(40), epsilon=0.1, delta=1e-6, mechanism="gaussian", rng=0
    )
    assert 1 <= private.rank <= 8
    with pytest.raises(dpgraph.InvalidParameterError, match="5000"):
        dpgraph.private_normalized_adjacency(nx.empty_graph(5001), epsilon=1, delta=1e-6, mechanism="gaussian")
