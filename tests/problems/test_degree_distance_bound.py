"""No private degree distribution is nearer than this (benchmarks/degree_distribution.py)."""

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

import dpgraph
from tests.programs import benchmark

table = benchmark("degree_distribution")


def best_mechanism(law, width, epsilon):
    """The probability that the best epsilon-private choice of an interval of this width holds a value of this law."""
    size, choices = law.size, law.size - width + 1
    value = np.zeros((size, choices))  # p(choice | value), in this order
    for low in range(choices):
        value[low : low + width, low] = law[low : low + width]
    rows = []
    for a, b in [*((k, k + 1) for k in range(size - 1)), *((k + 1, k) for k in range(size - 1))]:
        for low in range(choices):
            row = np.zeros((size, choices))
            row[a, low], row[b, low] = 1, -np.exp(epsilon)
            rows.append(row.ravel())
    sums = np.kron(np.eye(size), np.ones(choices))
    found = linprog(-value.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(size))
    return -found.fun


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("size", [1, 3, 6, 9])
def test_no_mechanism_knows_a_degree_better_than_the_bound_says(size, epsilon):
    law = table.prior(size, epsilon)
    assert law.sum() == pytest.approx(1)
    for width in range(1, size + 1):
        best, bound = best_mechanism(law, width, epsilon), table.most_certain(law, width, epsilon)
        assert best <= bound + 1e-7
        assert bound <= 1.6 * best  # the bound asks of one release what holds in the mean of all


def test_the_bound_is_below_what_is_measured_and_not_by_much():
    graph = nx.gnp_random_graph(400, 0.05, seed=1)
    true = np.bincount([d for _, d in graph.degree], minlength=400)

    def distance(seed):
        found = dpgraph.private_degree_distribution(graph, epsilon=1.0, rng=seed).degree_sequence
        return np.abs(np.cumsum(np.bincount(found, minlength=400) - true)).max() / 400

    measured = np.mean([distance(seed) for seed in range(20)])
    assert 0.3 * measured < table.least_distance(graph, 1.0) < measured


def test_free_pairs_are_disjoint_non_edges_of_equal_degrees():
    sizes = table.free_pairs(nx.cycle_graph(9))
    assert sizes == {4: 1}  # nine vertices of degree 2: four pairs and one vertex left
    assert table.free_pairs(nx.complete_graph(6)) == {}
