"""Similarities of the vertices of a private graph: what they say, what they refuse, and what is computed from them."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.exceptions import InvalidParameterError
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


def test_what_answers_do_not_tell_is_said_by_degrees_alone_also_where_persons_share_the_budget():
    def by_degrees(**options):
        vectors = found(**options).vectors
        return float((vectors[:, -1] ** 2).sum() / (vectors**2).sum())

    assert by_degrees(epsilon=8.0) < 0.05
    assert by_degrees(epsilon=0.1) > 0.9
    assert by_degrees(epsilon=2.0) < 0.4
    assert by_degrees(epsilon=2.0, accountant=PrivacyAccountant(epsilon=2.0, edges_per_person=20)) > 0.9


@pytest.mark.parametrize(("edges", "epsilon"), [(8, 0.2), (8, 0.5), (8, 4.0), (30, 2.0), (30, 4.0)])
def test_they_find_no_fewer_of_the_nearest_than_degrees_of_the_same_budget(edges, epsilon):
    """Where answers would be noise, all of epsilon but half a per cent is for the degrees."""
    graph = nx.barabasi_albert_graph(400, edges, seed=3)
    A = nx.to_numpy_array(graph)
    exact = normalized_gram(A) - 2 * np.eye(len(A))
    nearest = np.argsort(-exact, axis=1)[:, :10]
    ours, alone = [], []
    for seed in range(4):
        result = found(graph, epsilon=epsilon, rng=seed)
        degrees = dpgraph.private_degrees(graph, epsilon=epsilon, rng=seed).values
        assert result.vectors.shape[1] == (1 if epsilon < 1 else 33)
        assert result.privacy.entries[0].epsilon <= 0.006 * epsilon
        by_degrees = np.maximum(degrees, 1.0)[None] - 1e9 * np.eye(len(A))
        for values, shares in ((result.matrix - 2 * np.eye(len(A)), ours), (by_degrees, alone)):
            first = np.argsort(-values, axis=1)[:, :10]
            shares.append(np.mean([np.isin(a, b).mean() for a, b in zip(first, nearest, strict=True)]))
    assert np.mean(ours) >= np.mean(alone) - 0.005


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_errors_are_not_above_those_of_the_released_degrees(epsilon):
    exact = normalized_gram(nx.to_numpy_array(BLOCKS))
    whole, alone = [], []
    for seed in range(8):
        result = found(epsilon=epsilon, rng=seed)
        column = result.vectors[:, -1] / np.linalg.norm(result.vectors[:, -1])
        expected = np.outer(column, column)
        expected *= (exact.sum() - len(exact)) / (expected.sum() - (column**2).sum())  # the best level, in hindsight
        for matrix, errors in ((result.matrix, whole), (expected, alone)):
            errors.append(float((np.tril(matrix - exact, -1) ** 2).sum()))
    assert np.mean(whole) <= 1.1 * np.mean(alone)


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


def test_a_large_matrix_is_refused_and_single_vertices_are_not(monkeypatch):
    result = found()
    monkeypatch.setattr(similarities, "DENSE_LIMIT", 200)
    with pytest.raises(InvalidParameterError, match="nearest"):
        _ = result.matrix
    assert len(result.nearest(0, 5)) == 5


def test_without_delta_it_is_pure_and_a_graph_too_large_for_that_asks_for_one_before_the_debit():
    assert found().privacy.delta == 0.0
    accountant = PrivacyAccountant(epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="delta"):
        found(sparse.csr_array((60_000, 60_000)), epsilon=0.5, accountant=accountant)
    assert accountant.spent.epsilon == 0.0
