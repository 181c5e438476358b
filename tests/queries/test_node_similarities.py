"""Similarities of the vertices of a private graph: what they say, what they refuse, and what is computed from them."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph import strategies
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.problems.records.cosine import normalized_gram
from dpgraph.results import similarities

BLOCKS = nx.planted_partition_graph(4, 60, 0.5, 0.03, seed=2)


def found(graph=BLOCKS, **options):
    return dpgraph.private_node_similarities(graph, **{"epsilon": 2.0, "rng": 0, **options})


@pytest.mark.parametrize("mechanism", ["auto", "randomized-response", "noisy-power", "gaussian"])
def test_similarities_are_those_of_a_positive_semidefinite_matrix_with_unit_diagonal(mechanism):
    X = found(mechanism=mechanism, delta=1e-6).matrix
    assert np.array_equal(X, X.T)
    assert np.abs(X).max() <= 1.0
    assert np.array_equal(X.diagonal(), np.ones(len(X)))
    assert np.linalg.eigvalsh(X)[0] >= -1e-9


def test_with_hardly_any_noise_they_come_close_to_the_exact_ones():
    exact = normalized_gram(nx.to_numpy_array(BLOCKS))
    X = found(epsilon=40.0, rank=240).matrix
    assert np.abs(X - exact).max() < 1e-6


def test_they_are_nearer_than_the_identity():
    A = nx.to_scipy_sparse_array(BLOCKS, dtype=float)
    exact = normalized_gram(A)
    ours, identity = (np.sum((X - exact) ** 2) for X in (found().matrix, np.eye(len(exact))))
    assert 3 * ours < identity


def test_the_nearest_of_a_vertex_are_in_its_group_with_labels_of_the_caller():
    named = nx.relabel_nodes(BLOCKS, {i: ("v", i) for i in BLOCKS})
    result = found(named)
    nearest = result.nearest(("v", 5), 8)
    assert all(label[1] < 60 for label, _ in nearest)
    values = [value for _, value in nearest]
    assert values == sorted(values, reverse=True)
    place = result.nodes.index(nearest[0][0])
    assert values[0] == pytest.approx(result.matrix[result.nodes.index(("v", 5)), place])
    assert values[0] == pytest.approx(np.delete(result.matrix[5], 5).max())


def test_similarities_of_rows_have_nearest_rows_too():
    V = np.repeat(np.eye(2), 20, axis=0)
    private = dpgraph.private_cosine_similarities(V, sensitivity=0.01, epsilon=4.0, delta=1e-6, rng=0)
    assert {row for row, _ in private.nearest(3, 19)} == set(range(20)) - {3}
    assert private.vectors is None
    assert private.matrix is private.entries


@pytest.mark.parametrize(("node", "k"), [("nobody", 3), (0, 0), (0, 240), (0, 1.5)])
def test_a_vertex_or_a_number_that_is_not_there_is_refused(node, k):
    with pytest.raises(InvalidParameterError):
        found().nearest(node, k)


def test_a_large_matrix_is_refused_and_single_vertices_are_not(monkeypatch):
    result = found()
    monkeypatch.setattr(similarities, "DENSE_LIMIT", 200)
    with pytest.raises(InvalidParameterError, match="nearest"):
        _ = result.matrix
    assert len(result.nearest(0, 5)) == 5


@pytest.mark.parametrize("kind", ["node", "row"])
def test_they_survive_a_file(kind, tmp_path):
    if kind == "node":
        result = found()
    else:
        result = dpgraph.private_cosine_similarities(np.eye(4), sensitivity=0.1, epsilon=4.0, delta=1e-6, rng=0)
    dpgraph.save_result(result, tmp_path / "similarities.npz")
    loaded = dpgraph.load_result(tmp_path / "similarities.npz")
    assert np.array_equal(loaded.matrix, result.matrix)
    assert (loaded.nodes, loaded.privacy) == (result.nodes, result.privacy)
    assert loaded.nearest(1, 2) == result.nearest(1, 2)


def test_the_rank_is_public_and_may_be_chosen():
    assert found().vectors.shape == (240, 32)
    assert found(mechanism="noisy-power", delta=1e-6).vectors.shape == (240, 5)
    assert found(rank=3).vectors.shape == (240, 3)
    assert found(mechanism=strategies.RandomizedResponse(), rank=4).vectors.shape == (240, 4)
    assert found(nx.path_graph(6)).vectors.shape == (6, 6)


def test_without_delta_it_is_pure_and_a_graph_too_large_for_that_asks_for_one_before_the_debit():
    assert found().privacy.delta == 0.0
    accountant = PrivacyAccountant(epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="delta"):
        found(sparse.csr_array((60_000, 60_000)), epsilon=0.5, accountant=accountant)
    assert accountant.spent.epsilon == 0.0


def test_the_budget_is_that_of_one_embedding():
    accountant = PrivacyAccountant(epsilon=3.0)
    found(accountant=accountant)
    assert accountant.spent.epsilon == pytest.approx(2.0)
    with pytest.raises(BudgetExceededError):
        found(accountant=accountant, rng=1)


@pytest.mark.parametrize("graph", [nx.empty_graph(6), nx.star_graph(5), nx.complete_graph(6)])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 100.0])
def test_any_graph_and_noise_of_any_size_give_finite_similarities(graph, epsilon):
    X = found(graph, epsilon=epsilon, delta=1e-6).matrix
    assert np.isfinite(X).all()
    assert np.abs(X).max() <= 1.0
