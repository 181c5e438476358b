"""Which vertices there are, and in which order, must not depend on private edges."""

import itertools

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError

EDGES = [(3, 1), (1, 2), (0, 3), (2, 3)]
BUDGET = {"epsilon": 1.0, "delta": 1e-6, "rng": 0}


def test_the_order_of_a_graph_that_was_built_from_its_edges_tells_of_its_edges():
    """The trap: the neighbour without the first edge, and results that show which of the two it was."""
    G, H = nx.Graph(EDGES), nx.Graph(EDGES[1:])
    assert dpgraph.private_degrees(G, **BUDGET).nodes == (3, 1, 2, 0)
    assert dpgraph.private_degrees(H, **BUDGET).nodes == (1, 2, 0, 3)


@pytest.mark.parametrize("nodes", ["sorted", 4, [2, 0, 3, 1]])
@pytest.mark.parametrize("function", [dpgraph.private_degrees, dpgraph.private_max_cut])
def test_with_public_nodes_no_list_of_the_edges_changes_the_order_of_a_result(nodes, function):
    expected = (0, 1, 2, 3) if nodes in ("sorted", 4) else (2, 0, 3, 1)
    for edges in [*itertools.permutations(EDGES), EDGES[1:], EDGES[:-1]]:
        G = dpgraph.with_public_nodes(nx.Graph(edges), nodes)
        assert function(G, **BUDGET).nodes == expected


@pytest.mark.parametrize("labels", [list(map(frozenset, "abcd")), [1.0, float("nan"), 0.0, 2.0]])
def test_labels_that_are_compared_in_part_keep_no_order_of_appearance(labels):
    graphs = [nx.relabel_nodes(nx.Graph(edges), dict(enumerate(labels))) for edges in itertools.permutations(EDGES)]
    assert len({tuple(dpgraph.with_public_nodes(G)) for G in graphs}) == 1 < len({tuple(G) for G in graphs})
    made = [nx.Graph([(frozenset(pair), frozenset({5}))]) for pair in ((0, 8), (8, 0))]  # equal, of two text forms
    assert len({tuple(dpgraph.with_public_nodes(G)) for G in made}) == 1


def test_vertices_without_an_edge_stay_if_they_are_named():
    for edges in (EDGES, [(1, 2)]):
        assert list(dpgraph.with_public_nodes(nx.Graph(edges), 6)) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_everything_else_is_kept(kind):
    G = kind(name="office")
    G.add_node("b", side=1)
    G.add_edge("b", "a", w=2.0)
    if G.is_multigraph():
        G.add_edge("b", "a", key="second", w=3.0)
    H = dpgraph.with_public_nodes(G)
    assert type(H) is kind
    assert list(H) == ["a", "b"]
    assert nx.utils.graphs_equal(G, H)
    H.nodes["b"]["side"] = 2
    assert G.nodes["b"]["side"] == 1


def test_what_is_no_vertex_set_is_refused_and_no_vertex_is_named():
    with pytest.raises(InvalidGraphError) as error:
        dpgraph.with_public_nodes(nx.Graph([("secret", "ann")]), ["ann"])
    assert "secret" not in str(error.value)
    for nodes in ("all", ["a", "a"]):
        with pytest.raises(InvalidParameterError):
            dpgraph.with_public_nodes(nx.Graph(), nodes)
    with pytest.raises(InvalidParameterError, match="edge_frame"):
        dpgraph.with_public_nodes(np.eye(3))
