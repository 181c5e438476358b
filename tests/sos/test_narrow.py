"""Cuts of graphs of small treewidth are the largest ones, and proven."""

import networkx as nx
import numpy as np
import pytest

from dpgraph import max_2csp, max_cut
from dpgraph.instance import TwoCSP
from dpgraph.sos.branching import narrow


def k_tree(n, width, seed):
    """A random tree of cliques of one vertex more than the width."""
    rng, cliques = np.random.default_rng(seed), [tuple(range(width + 1))]
    G = nx.complete_graph(width + 1)
    for v in range(width + 1, n):
        near = rng.choice(cliques[rng.integers(len(cliques))], width, replace=False).tolist()
        G.add_edges_from((v, u) for u in near)
        cliques.append((*near, v))
    return G


def weighted(G, kind, seed):
    rng = np.random.default_rng(seed)
    for u, v in G.edges:
        G.edges[u, v]["weight"] = {"ones": 1.0, "whole": float(rng.integers(-9, 10)), "real": rng.normal()}[kind]
    return G


@pytest.mark.parametrize("kind", ["ones", "whole", "real"])
@pytest.mark.parametrize("width", [3, 5])
def test_a_cut_of_a_narrow_graph_takes_no_relaxation_and_is_optimal(kind, width, monkeypatch):
    monkeypatch.delattr("dpgraph.sos.cut.solver.solve_low_rank")
    G = weighted(k_tree(80, width, 1), kind, 2)
    found = max_cut(G, weight="weight", rng=0)
    assert found.status == "optimal"
    assert found.bound_kind == "proven"
    assert found.certificate.bound >= found.upper_bound >= found.value
    assert found.value == pytest.approx(nx.cut_size(G, found.partition[0], weight="weight"))


@pytest.mark.parametrize("seed", range(20))
def test_it_is_worth_as_much_as_the_assignment_of_a_2csp(seed):
    G = weighted(k_tree(30, 1 + seed % 5, seed), ["ones", "whole", "real"][seed % 3], seed)
    moved, tables = 10.0, TwoCSP(len(G), 2)  # tables have no negative entries
    for u, v, w in G.edges(data="weight"):
        tables.add_constraint(u, v, moved + np.array([[0.0, w], [w, 0.0]]))
    best = max_2csp(tables, rng=0)
    assert best.status == "optimal"
    assert max_cut(G, weight="weight", rng=0).value == pytest.approx(best.value - moved * G.size(), abs=1e-9)


def test_what_asks_for_rounding_or_is_too_wide_is_not_eliminated(monkeypatch):
    G = k_tree(60, 3, 0)
    assert max_cut(G, rng=0, seeds=2).global_correlation > 0.0
    calls = []
    monkeypatch.setattr(narrow, "ExactSearch", lambda *given: calls.append(given))
    max_cut(nx.random_regular_graph(12, 80, seed=1), rng=0, sweeps=5)
    assert not calls
