"""Numbers that one edge moves by one: every graph on five vertices with all its neighbours, and exact values."""

import itertools

import networkx as nx
import numpy as np
from scipy import sparse

import dpgraph
from dpgraph.bounds import sensitivity
from dpgraph.linalg.connectivity import edge_connectivity, matching_number
from dpgraph.releases.statistics import STATISTICS

EXACT = {
    "components": nx.number_connected_components,
    "matching": lambda G: len(nx.max_weight_matching(G, maxcardinality=True)),
    "degeneracy": lambda G: max(nx.core_number(G).values()),
    "edge-connectivity": lambda G: nx.edge_connectivity(G) if len(G) > 1 else 0,
}


def matrix(G):
    return sparse.csr_array(nx.to_scipy_sparse_array(G, dtype=float))


def test_no_edge_of_any_graph_on_five_vertices_moves_them_by_more_than_the_bound():
    """Of every kind of graph one, as names of vertices do not count."""
    graphs = [G for G in nx.graph_atlas_g() if len(G) == 5]
    for name, statistic in STATISTICS.items():
        found, moved = [], []
        for G in graphs:
            found.append(statistic.of(matrix(G)))
            for u, v in itertools.combinations(G, 2):
                H = nx.Graph(G)
                (H.remove_edge if H.has_edge(u, v) else H.add_edge)(u, v)
                moved.append(abs(statistic.of(matrix(H)) - found[-1]))
        assert max(moved) == sensitivity.one_edge_statistic(), name
        low, high = statistic.limits(5)
        assert (min(found), max(found)) == (low, min(high, {"degeneracy": 4, "edge-connectivity": 4}.get(name, high)))


def test_they_are_exact():
    rng = np.random.default_rng(0)
    for seed in range(120):
        G = nx.gnp_random_graph(int(rng.integers(1, 30)), rng.choice([0.05, 0.1, 0.2, 0.5]), seed=seed)
        for name, statistic in STATISTICS.items():
            assert statistic.of(matrix(G)) == EXACT[name](G), (name, seed)
    for seed in range(3):  # odd cycles inside odd cycles, and cuts that are no degrees
        G = nx.random_regular_graph(3, 100, seed=seed)
        assert matching_number(matrix(G)) == EXACT["matching"](G)
        G = nx.disjoint_union(nx.random_regular_graph(8, 30, seed=seed), nx.random_regular_graph(8, 30, seed=seed + 9))
        G.add_edges_from([(0, 30), (1, 31), (2, 32)])
        assert edge_connectivity(matrix(G)) == 3
    assert edge_connectivity(matrix(nx.connected_caveman_graph(5, 6))) == 2
    for G in nx.graph_atlas_g()[1:209]:  # all of up to six vertices: apart with degrees of 1, too
        for name, statistic in STATISTICS.items():
            assert statistic.of(matrix(G)) == EXACT[name](G), (name, G.edges)


def test_answers_are_possible_and_intervals_hold():
    G = nx.gnm_random_graph(40, 35, seed=1)
    for name, exact in EXACT.items():
        low, high = STATISTICS[name].limits(40)
        answers = [dpgraph.private_statistic(G, name, epsilon=0.5, rng=seed) for seed in range(200)]
        assert all(low <= found.value <= high and found.value == int(found.value) for found in answers)
        held = sum(found.interval(0.8)[0] <= exact(G) <= found.interval(0.8)[1] for found in answers)
        assert held > 200 * 0.8 - 3 * np.sqrt(200 * 0.8 * 0.2)
