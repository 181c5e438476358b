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
