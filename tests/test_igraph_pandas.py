"""igraph and pandas: graphs in, results out, names and weights kept."""

from dataclasses import replace

import igraph as ig
import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import as_graph, open_graph
from dpgraph.inputs.public_nodes import edge_frame

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

BUDGET = {"epsilon": 4.0, "delta": 1e-6, "rng": 0}


def named(G, name="v"):
    g = ig.Graph(n=len(G), edges=list(G.edges))
    g.vs["name"] = [f"{name}{i}" for i in range(len(G))]
    return g


def test_a_result_is_not_put_on_another_graph():
    G = nx.complete_bipartite_graph(10, 10)
    result = dpgraph.private_max_cut(named(G), **BUDGET)
    for other in (named(G, "w"), named(nx.path_graph(3)), ig.Graph(n=20)):
        with pytest.raises(InvalidParameterError, match="those of this result"):
            result.to_igraph_clustering(other)
    with pytest.raises(InvalidParameterError, match="got Graph"):
        result.to_igraph_clustering(G)


def test_a_graph_that_igraph_made_from_networkx_keeps_its_names():
    whole = nx.connected_caveman_graph(4, 6)
    for G in (nx.relabel_nodes(whole, lambda v: 23 - v), nx.relabel_nodes(whole, lambda v: f"person {v}")):
        g = ig.Graph.from_networkx(G)
        result, same = dpgraph.max_cut(G, rng=0), dpgraph.max_cut(g, rng=0)
        for clustering in (found.to_igraph_clustering(g) for found in (result, same)):
            assert [{list(G)[v] for v in cluster} for cluster in clustering] == list(result.partition)
        assert dpgraph.evaluate.cut_value(g, result) == result.value


def test_an_exact_cut_becomes_a_clustering_whose_crossing_edges_weigh_its_value():
    g = named(nx.gnp_random_graph(30, 0.3, seed=0))
    g.es["weight"] = [1.0 + (edge % 3) for edge in range(g.ecount())]
    result = dpgraph.max_cut(g, weight="weight", rng=0)
    across = result.to_igraph_clustering(g).crossing()
    assert sum(g.es[edge]["weight"] for edge, it in enumerate(across) if it) == pytest.approx(result.value)
    assert (
        result.to_igraph_clustering(g).membership
        == result.to_igraph_clustering(g.permute_vertices([*range(30)])).membership
    )
    moved = g.permute_vertices(list(range(29, -1, -1)))  # names say where each vertex went
    assert result.to_igraph_clustering(moved).membership == result.to_igraph_clustering(g).membership[::-1]


@pytest.mark.parametrize("private", [False, True])
def test_an_assignment_becomes_a_clustering_with_a_cluster_for_each_label(private):
    g = named(nx.complete_multipartite_graph(20, 20, 20))
    instance = dpgraph.TwoCSP.from_networkx(
        g.to_networkx(vertex_attr_hashable="name"), "max-k-cut", ["red", "green", "blue"]
    )
    result = dpgraph.private_max_2csp(instance, **BUDGET) if private else dpgraph.max_2csp(instance, rng=0)
    clustering = result.to_igraph_clustering(g)
    found = [{result.assignment[g.vs[v]["name"]] for v in cluster} for cluster in clustering]
    assert found == ([{"red"}, {"green"}, {"blue"}] if private else [{"blue"}, {"green"}, {"red"}])
    assert clustering.graph is g


def test_a_synthetic_graph_of_igraph_keeps_names_and_weights_on_the_way_in_and_out():
    g = named(dpgraph.datasets.planted_bisection(200, 80, 0.8, rng=0))
    g.es["weight"] = 2.0
    private = dpgraph.private_normalized_adjacency(g, rank=2, weight="weight", max_weight=2.0, **BUDGET)
    synthetic = private.to_igraph()
    assert synthetic.vs["name"] == g.vs["name"]
    assert 0.0 < max(synthetic.es["weight"]) <= 2.0


def friends():
    return pd.DataFrame({"source": ["a", "b", "a"], "target": ["b", "c", "b"], "weight": [1.0, 2.5, 0.5]})


def test_a_table_of_edges_is_a_graph_on_its_declared_vertices():
    G = edge_frame(friends(), nodes=["d", "c", "b", "a"])
    graph = open_graph(G, weight="weight", max_weight=2.0).read()
    assert graph.nodes == ("d", "c", "b", "a")
    expected = np.zeros((4, 4))
    expected[3, 2] = expected[2, 3] = 1.5  # two rows of one pair are summed
    expected[2, 1] = expected[1, 2] = 2.0  # and capped
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, atol=1e-5)
    np.testing.assert_array_equal(as_graph(G).adjacency.toarray(), expected > 0)


def test_vertices_taken_from_the_table_come_in_an_order_that_tells_nothing():
    shuffled = friends().sample(frac=1, random_state=1)
    for word in ("frame", "file", "sorted"):
        assert open_graph(edge_frame(shuffled, nodes=word)).nodes == ("a", "b", "c")
    long = pl.DataFrame({"source": [2**100], "target": [1]}, schema=dict.fromkeys(("source", "target"), pl.Int128))
    assert open_graph(edge_frame(long, nodes="frame")).nodes == (1, 2**100)
    mixed = pd.DataFrame({"source": [1, "x"], "target": ["x", 2]})
    assert set(open_graph(edge_frame(mixed, nodes="frame")).nodes) == {1, 2, "x"}


def test_vertices_in_two_spellings_are_counted_for_the_owner():
    names = ["caf\u00e9", "cafe\u0301", "1", "1.0", "Ann", " ANN", "bob", "v1", "v10"]
    table = pd.DataFrame({"source": names, "target": names[1:] + names[:1]})
    assert edge_frame(table, nodes="sorted").summary().alike == 3


@pytest.mark.parametrize("kind", ["int64", "uint8", "int32"])
def test_columns_of_integers_are_matched_as_their_names_one_by_one(kind):
    drawn = np.random.default_rng(5).integers(0, 90, (400, 2)).astype(kind)
    table = pd.DataFrame(drawn, columns=["source", "target"])
    by_number = edge_frame(table, nodes=range(80), unknown="drop")
    by_name = edge_frame(table.astype(object), nodes=range(80), unknown="drop")
    assert np.array_equal(by_number.ends(), by_name.ends())
    told = by_number.summary(), by_name.summary()
    assert replace(told[0], unknown_sample=()) == replace(told[1], unknown_sample=())
    assert set(told[0].unknown_sample) <= set(range(80, 90))
