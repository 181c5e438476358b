"""Exact 2-CSPs of small treewidth (:mod:`dpgraph.sos.csp.elimination`)."""

import itertools
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from dpgraph import TwoCSP, max_2csp
from dpgraph.sos.csp import elimination, series, tables
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.objective import CSPObjective
from tests.sos.brute_force import exact_best


def instance(G, q, seed, *, real=False):
    rng = np.random.default_rng(seed)
    made = TwoCSP(list(G), range(q))
    for u, v in G.edges:
        made.add_constraint(u, v, rng.random((q, q)) if real else rng.integers(0, 7, size=(q, q)).astype(float))
    return made


def k_tree(n, k, seed):
    """A random k-tree: treewidth k."""
    rng = np.random.default_rng(seed)
    G, cliques = nx.complete_graph(k + 1), [tuple(range(k + 1))]
    for v in range(k + 1, n):
        kept = [int(u) for u in rng.permutation(cliques[rng.integers(len(cliques))])[:k]]
        G.add_edges_from((v, u) for u in kept)
        cliques.append((*kept, v))
    return G


GRAPHS = {
    "tree": nx.random_labeled_tree(8, seed=1),
    "cycle": nx.cycle_graph(7),
    "cactus": nx.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6)]),
    "2-tree": k_tree(8, 2, 0),
    "3-tree": k_tree(8, 3, 1),
    "clique": nx.complete_graph(6),
    "two parts and a point": nx.disjoint_union_all([nx.path_graph(3), nx.cycle_graph(4), nx.empty_graph(1)]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_optimum_is_found_and_proven(name):
    for q, real in itertools.product((2, 3), (False, True)):
        made = instance(GRAPHS[name], q, seed=q, real=real)
        best, found = exact_best(made), max_2csp(made, rng=0)
        assert found.status == "optimal"
        assert found.value == pytest.approx(float(best), rel=1e-14)
        assert Fraction(found.upper_bound) >= best
        assert made.value(found.assignment) == found.value


@pytest.mark.parametrize(("G", "q"), [(nx.random_labeled_tree(300, seed=3), 20), (k_tree(60, 5, 2), 6)])
def test_forests_with_many_labels_and_width_five_take_no_relaxation(G, q, monkeypatch):
    monkeypatch.delattr("dpgraph.sos.csp.solver.solve_csp_relaxation")
    found = max_2csp(instance(G, q, seed=1), rng=0)
    assert found.status == "optimal"
    assert found.bound_kind == "proven"


def reduced(G, q):
    return elimination.reduced(IntegerCosts.of(CSPObjective.of(instance(G, q, seed=0))))


def test_what_is_too_wide_loses_only_variables_of_few_neighbours():
    hairy = nx.complete_graph(30)
    hairy.add_edges_from([(30, 0), (31, 30), (32, 0), (32, 1)])
    assert reduced(nx.grid_2d_graph(4, 30), 4).kept.size == 0
    assert reduced(hairy, 4).kept.tolist() == list(range(30))


def test_tables_stay_within_the_limits_of_room_and_steps(monkeypatch):
    with monkeypatch.context() as few:
        few.setattr(elimination, "MOST_STEPS", 9 * 3)
        assert reduced(k_tree(9, 3, 0), 3).kept.size > 0
    monkeypatch.setattr(elimination, "_LARGEST", 3**2)
    assert reduced(nx.cycle_graph(9), 3).kept.size == 0
    assert reduced(k_tree(9, 3, 0), 3).kept.size > 0


@pytest.mark.parametrize("block", [1, 2**6, 2**10])
@pytest.mark.parametrize("most", [2**4, 2**18])
@pytest.mark.parametrize(("k", "q"), [(3, 4), (5, 3), (9, 2)])
def test_blocks_of_all_sizes_give_the_same_optimum(k, q, most, block, monkeypatch):
    """With messages on different neighbours, in whatever order, of which some are innermost."""
    made = IntegerCosts.of(CSPObjective.of(instance(k_tree(40, k, 5), q, seed=3, real=True)))
    whole = elimination.reduced(made).best()
    for name, size in (("_BLOCK", block), ("_MOST", most), ("_SMALL", 0)):
        monkeypatch.setattr(tables, name, size)
    labels, more = elimination.reduced(made).best()
    assert made.cost(labels) == made.cost(whole[0])
    assert more == whole[1]


@pytest.mark.parametrize("more", [0, 9])
def test_leaves_are_eliminated_in_rounds_or_one_by_one_to_the_same_end(more, monkeypatch):
    G = nx.random_labeled_tree(300, seed=2)
    G.add_edges_from(nx.gnm_random_graph(20, more, seed=3).edges)
    made = IntegerCosts.of(CSPObjective.of(instance(G, 3, seed=4, real=True)))
    found = []
    for many in (1, 64, 10**9):
        monkeypatch.setattr(series, "_MANY", many)
        core = elimination.reduced(made)
        labels, room = core.best()
        assert sorted(core.order) == list(range(300))
        found.append((made.cost(labels), room))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("largest", [2**16, 2**32, 2**40])
@pytest.mark.parametrize("beyond", [0, 1])
def test_the_best_labels_are_exact_whatever_numbers_tables_hold(largest, beyond, monkeypatch):
    """Costs that just fit a type of numbers, and costs that do not and are rounded, in tables that are forgotten."""
    made = instance(k_tree(10, 3, 7), 4, seed=5)
    scale = int(largest / float(made.tables.max(axis=(1, 2)).sum())) + beyond
    costs = IntegerCosts.of(CSPObjective.of(made))
    costs = replace(costs, pair=scale * costs.pair + np.random.default_rng(0).integers(scale, size=costs.pair.shape))
    with monkeypatch.context() as forgetful:
        forgetful.setattr(tables, "_SMALL", 0)
        forgetful.setattr(elimination, "_SMALL", 0)
        forgetful.setattr(elimination, "_STEPS_OF_AN_ENTRY", 300)
        found, more = elimination.reduced(costs).best()
    monkeypatch.setattr(elimination, "KINDS", (np.int64,))
    whole, room = elimination.reduced(costs).best()
    assert costs.cost(found) == costs.cost(whole)
    assert 0 <= more <= room


def test_labels_that_are_worth_the_same_are_all_asked_for_or_tables_are_exact(monkeypatch):
    """Every permutation of the labels is as good: where that asks for too much, tables hold all of a cost."""
    made = TwoCSP.from_networkx(k_tree(9, 3, 1), "coloring", 3)
    scaled = TwoCSP(9, 3)
    for (u, v), table in zip(made.pairs.tolist(), made.tables, strict=True):
        scaled.add_constraint(u, v, table * np.random.default_rng(9 * u + v).random())
    best = exact_best(scaled)
    for asked in (0, 2**20):
        monkeypatch.setattr(elimination, "_MOST_ASKED", asked)
        found = max_2csp(scaled, rng=0)
        assert found.value == pytest.approx(float(best), rel=1e-14)
        assert Fraction(found.upper_bound) >= best
