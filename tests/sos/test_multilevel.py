"""Multilevel bisections: balanced, as good as the structure allows, and better than annealing alone on communities."""

import networkx as nx
import numpy as np
import pytest

from dpgraph import max_bisection
from dpgraph.sos.cut.multilevel import multilevel_cut


def matrix(G, sign):
    return nx.to_scipy_sparse_array(G, weight=None, dtype=float, format="csr") * sign


def crossing(A, x):
    return 0.25 * (A.sum() - x @ (A @ x))


def best(A, imbalance, count=5):
    cuts = [multilevel_cut(A, imbalance, np.random.default_rng(seed)) for seed in range(count)]
    assert all(abs(x.sum()) <= imbalance for x in cuts)
    return max(crossing(A, x) for x in cuts)


def test_a_grid_is_cut_in_the_middle():
    assert best(matrix(nx.grid_2d_graph(20, 20), -1.0), 0) == -20.0


def test_two_communities_are_found_though_many_vertices_have_few_edges():
    G = nx.planted_partition_graph(2, 300, 0.05, 0.002, seed=1)
    G.add_nodes_from(range(600, 700))  # alone
    planted = sum((u < 300) != (v < 300) for u, v in G.edges)
    assert -best(matrix(G, -1.0), 0) <= planted


def test_bipartite_graphs_are_cut_whole():
    G = nx.random_regular_graph(3, 100, seed=2)
    double = nx.tensor_product(G, nx.path_graph(2))
    assert best(matrix(double, 1.0), 0) == double.number_of_edges()


@pytest.mark.parametrize("n", [61, 200])
def test_cuts_differ_by_at_most_the_imbalance(n):
    best(matrix(nx.barabasi_albert_graph(n, 3, seed=3), 1.0), n % 2, count=10)
    best(matrix(nx.empty_graph(n), 1.0), n % 2, count=1)


def test_a_bisection_of_communities_is_found_at_default():
    G = nx.random_partition_graph([40] * 8, 0.4, 0.02, seed=4)
    A = matrix(G, -1.0)
    halves = max_bisection(A, rng=0)
    assert halves.value >= best(A, 0)
