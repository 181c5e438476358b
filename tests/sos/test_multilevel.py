"""Multilevel bisections: balanced, as good as the structure allows, and better than annealing alone on communities."""

import networkx as nx
import numpy as np
import pytest

from dpgraph import max_bisection
from dpgraph.compiled import Rows
from dpgraph.sos.cut import multilevel
from dpgraph.threads import within


def matrix(G, sign):
    return nx.to_scipy_sparse_array(G, weight=None, dtype=float, format="csr") * sign


def multilevel_cut(A, imbalance, rng, parents=None):
    return multilevel.multilevel_cut(
        Rows.of(A), imbalance, rng, np.empty((A.shape[0], 0)) if parents is None else parents
    )


def crossing(A, x):
    return 0.25 * (A.sum() - x @ (A @ x))


def best(A, imbalance, count=5):
    cuts = [multilevel_cut(A, imbalance, np.random.default_rng(seed)) for seed in range(count)]
    assert all(abs(x.sum()) <= imbalance for x in cuts)
    return max(crossing(A, x) for x in cuts)


def test_a_grid_is_cut_in_the_middle():
    assert best(matrix(nx.grid_2d_graph(20, 20), -1.0), 0) == -20.0


def test_what_two_cuts_make_together_is_better_than_both():
    A = matrix(nx.random_geometric_graph(600, 0.07, seed=5), -1.0)
    cuts = np.column_stack([multilevel_cut(A, 0, np.random.default_rng(seed)) for seed in range(20)])
    values = np.array([crossing(A, x) for x in cuts.T])
    parents = cuts[:, np.argsort(values)[:2]]  # bad ones
    children = [multilevel_cut(A, 0, np.random.default_rng(seed), parents) for seed in range(3)]
    assert max(crossing(A, x) for x in children) > max(crossing(A, x) for x in parents.T)


def test_once_the_time_is_up_a_balanced_cut_is_dealt():
    A = matrix(nx.gnm_random_graph(501, 2000, seed=6), 1.0)
    with within(0.0):
        assert best(A, 1, count=1) > 0.65 * 2000


@pytest.mark.parametrize("n", [61, 200])
def test_cuts_differ_by_at_most_the_imbalance(n):
    best(matrix(nx.barabasi_albert_graph(n, 3, seed=3), 1.0), n % 2, count=10)
    best(matrix(nx.empty_graph(n), 1.0), n % 2, count=1)


def test_a_bisection_of_communities_is_found_at_default():
    G = nx.random_partition_graph([40] * 8, 0.4, 0.02, seed=4)
    A = matrix(G, -1.0)
    halves = max_bisection(A, rng=0)
    assert halves.value >= best(A, 0)
