"""The private normalized adjacency: near the exact one, private halts, the choice of "auto", rows of communities."""

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.problems.embedding.normalized_adjacency import choose_mechanism


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
    assert np.abs(private.degrees - A.sum(axis=1)).mean() < 2.0


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


def test_gaussian_mechanism_never_halts():
    private = dpgraph.private_normalized_adjacency(
        nx.path_graph(40), epsilon=0.1, delta=1e-6, mechanism="gaussian", rng=0
    )
    assert 1 <= private.rank <= 8


def embedding(graph, **options):
    return dpgraph.private_normalized_adjacency(graph, mechanism="communities", rng=0, **options)


def test_rows_of_a_planted_part_point_in_one_direction_of_their_own():
    parts, graph = np.arange(600) // 200, nx.planted_partition_graph(3, 200, 0.25, 0.02, seed=3)
    rows = embedding(graph, epsilon=2.0).embedding()
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = rows @ rows.T
    same = parts[:, None] == parts
    assert cosines[same].mean() > 0.95
    assert cosines[~same].mean() < 0.2


@pytest.mark.parametrize("epsilon", [0.1, 50.0])
def test_the_basis_is_orthonormal_and_the_matrix_has_the_norm_of_a_normalized_adjacency(epsilon):
    found = embedding(nx.les_miserables_graph(), epsilon=epsilon, rank=np.int64(7))
    assert found.basis.shape == (77, 7)
    assert np.abs(found.basis.T @ found.basis - np.eye(7)).max() < 1e-12
    assert found.spectrum[0] <= 1 + 1e-9
    assert found.privacy.delta == 0.0


def test_at_a_large_budget_it_is_the_matrix_of_the_block_model():
    graph = nx.planted_partition_graph(4, 50, 0.5, 0.1, seed=1)
    found = embedding(graph, epsilon=1e4, rank=4)
    blocks = nx.quotient_graph(graph, dpgraph.private_communities(graph, epsilon=1e4, rng=0).communities, relabel=True)
    weights = nx.to_numpy_array(blocks, weight="weight") + 2 * np.diag([blocks.nodes[b]["nedges"] for b in blocks])
    sums = weights.sum(axis=1)
    expected = np.linalg.eigvalsh(weights / np.sqrt(np.outer(sums, sums)))
    assert np.sort(np.diag(found.core)) == pytest.approx(np.sort(expected), abs=0.01)
    assert found.degrees.sum() == pytest.approx(2 * graph.number_of_edges(), rel=0.01)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("rank", ["auto", 1, 3])
def test_without_delta_the_call_is_pure_whatever_is_chosen(epsilon, rank):
    A = planted_cut_sparse(300, 60, -0.75, rng=0)[0]
    private = dpgraph.private_normalized_adjacency(A, epsilon=epsilon, rank=rank, rng=0)
    assert (private.privacy.delta, private.privacy.mu) == (0.0, None)
    assert private.mechanism in ("randomized-response", "noisy-power")
    assert rank == "auto" or private.rank == rank


def test_edges_of_any_weight_are_never_asked_for_one_bit():
    assert choose_mechanism(800, 2, 8.0, 1e-6, weighted=True) == "noisy-power"


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.complete_bipartite_graph(60, 540), "randomized-response"),
        (nx.random_regular_graph(20, 600, seed=0), "randomized-response"),
        (nx.random_regular_graph(100, 600, seed=0), "noisy-power"),
        (nx.gnp_random_graph(600, 0.2, seed=0), "noisy-power"),
    ],
    ids=["hubs", "few edges", "regular", "random"],
)
def test_uneven_degrees_and_few_edges_are_seen_by_one_bit_of_a_hundredth_of_epsilon_and_pay_for_answers(
    graph, expected
):
    for seed in range(5):
        private = dpgraph.private_normalized_adjacency(
            graph, epsilon=2.0, delta=1e-6, rank=2, mechanism="auto", rng=seed
        )
        assert private.mechanism == expected
        first, *others = private.privacy.entries
        assert first.name == "choice by degrees"
        assert first.epsilon <= 0.02
        if expected == "noisy-power":  # which pays nothing for the bit
            assert private.privacy.mu == pytest.approx(dpgraph.privacy.gdp_mu(2.0, 1e-6))
            assert first.share == 0.0
        else:
            assert first.epsilon + sum(entry.epsilon for entry in others) == pytest.approx(2.0)
        assert sum(entry.share for entry in private.privacy.entries) == pytest.approx(1.0)
        assert (private.privacy.epsilon, private.privacy.delta) == (2.0, 1e-6)
