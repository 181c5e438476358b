"""max_cut on exact data: right answers in the caller's labels, on every kind of graph."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from dpgraph import private_normalized_adjacency
from dpgraph.datasets import planted_cut
from dpgraph.evaluate import cut_fraction, cut_value
from dpgraph.exceptions import InvalidGraphError
from dpgraph.problems.cut.exact import max_cut

# Best known cuts and optimal values of the relaxation (rounded to 0.1) as stated in the design pages.


def check_cut(G, result, **weight):
    left, right = result.partition
    nodes = set(range(G.shape[0])) if sparse.issparse(G) else set(G.nodes)
    assert left | right == nodes
    assert not left & right
    assert result.value == pytest.approx(cut_value(G, result.partition, **weight))
    assert result.value <= result.upper_bound
    assert result.gap >= 0.0


@pytest.mark.parametrize(
    ("graph", "value"),
    [
        (nx.cycle_graph(5), 4),
        (nx.cycle_graph(6), 6),
        (nx.complete_graph(2), 1),
        (nx.complete_graph(8), 16),
        (nx.petersen_graph(), 12),
        (nx.complete_bipartite_graph(4, 7), 28),
        (nx.star_graph(9), 9),
        (nx.grid_2d_graph(4, 5), 31),
        (nx.disjoint_union(nx.cycle_graph(5), nx.complete_graph(4)), 8),
    ],
)
def test_known_cuts_are_found(graph, value):
    result = max_cut(graph, rng=0)
    check_cut(graph, result)
    assert result.value == value
    assert type(result.value) is float


def test_one_vertex_and_graphs_without_edges_are_cut_with_value_zero():
    for graph in (nx.empty_graph(1), nx.empty_graph(4), sparse.csr_array((3, 3))):
        result = max_cut(graph, rng=0)
        check_cut(graph, result)
        assert (result.value, result.upper_bound, result.gap, result.status) == (0.0, 0.0, 0.0, "optimal")


def test_operators_are_cut_as_their_matrices_without_diagonal():
    A = nx.to_numpy_array(nx.petersen_graph())
    for operator in (aslinearoperator(A), aslinearoperator(sparse.csr_array(A)), aslinearoperator(A + np.eye(10))):
        result = max_cut(G_or_operator=operator, rng=0)
        assert (result.value, set().union(*result.partition)) == (12.0, set(range(10)))
    for wrong in (aslinearoperator(np.ones((2, 3))), aslinearoperator(np.triu(A)), aslinearoperator(np.nan * A)):
        with pytest.raises(InvalidGraphError, match="expected"):
            max_cut(wrong)


def test_the_cut_of_a_published_matrix_needs_its_factors_only(monkeypatch):
    graph = planted_cut(400, 150, -0.8, rng=0)
    private = private_normalized_adjacency(graph, epsilon=4.0, delta=1e-6, rank=2, mechanism="noisy-power", rng=0)
    monkeypatch.setattr(LinearOperator, "__matmul__", None)
    result = max_cut(private.adjacency_operator(), rng=0)
    assert cut_fraction(graph, result.partition) > 0.85
    assert result.value <= result.upper_bound


def test_labels_may_be_tuples_strings_and_numbers_at_once():
    graph = nx.Graph([((0, 1), "a"), ("a", 3.5), (3.5, frozenset({1})), (frozenset({1}), None_label := ("x",))])
    graph.add_edge(None_label, (0, 1))
    result = max_cut(graph, rng=0)
    check_cut(graph, result)
    assert result.value == 4
    assert (0, 1) in result.partition[0]
