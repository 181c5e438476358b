"""mechanism="communities" of an embedding: rows of one community point in one direction."""

import networkx as nx
import numpy as np
import pytest

import dpgraph


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
