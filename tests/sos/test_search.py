"""Depth-first branch and bound for any number of labels: no false bound, and proofs of optimality."""

import itertools
import time
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from dpgraph import max_2csp
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp import elimination, solver
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.search import ExactSearch
from dpgraph.threads import time_is_up, within
from tests.sos.brute_force import exact_best


def instance(seed, n=6, q=3):
    """Random tables of one scale or of many, or of small integers."""
    rng = np.random.default_rng(seed)
    made = TwoCSP(n, q)
    for u, v in itertools.combinations(range(n), 2):
        if rng.random() < 0.7:
            tables = (
                rng.integers(0, 3, (q, q)).astype(float),
                rng.random((q, q)),
                10.0 ** rng.integers(-15, 15, (q, q)),
            )
            made.add_constraint(u, v, tables[seed % 3])
    return made


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 12))])
def test_the_bound_is_true_and_the_assignment_is_the_best(seed):
    made = instance(seed)
    result = max_2csp(made, search="optimal", local_search=False, seeds=0, rounds=1, rng=0)
    best = exact_best(made)
    assert Fraction(result.upper_bound) >= best
    # Beside an entry of 1e15 one of 1e-15 is less than the rounding of the costs, and nothing is claimed.
    assert result.status == "optimal" or seed % 3 == 2
    assert result.value == pytest.approx(float(best), rel=1e-12)


def test_three_colours_of_a_random_graph_are_proven():
    """The relaxation alone bounds it by 174."""
    colours = TwoCSP.from_networkx(nx.gnm_random_graph(30, 200, seed=0), "coloring", [0, 1, 2])
    seen = []
    result = max_2csp(colours, search="optimal", rng=0, callback=lambda *now: seen.append(now))
    assert (result.value, result.upper_bound, result.status, result.bound_kind) == (172.0, 172.0, "optimal", "proven")
    assert [now[2] for now in seen] == sorted((now[2] for now in seen), reverse=True)


def test_a_search_that_is_stopped_keeps_a_true_bound():
    colours = TwoCSP.from_networkx(nx.gnm_random_graph(60, 300, seed=0), "coloring", [0, 1, 2])
    result = max_2csp(colours, search="optimal", time_limit=0.5, rng=0)
    assert result.value <= 273.0 <= result.upper_bound


def exactly(made, monkeypatch):
    """What the search proves by itself: nothing is eliminated before it, and no relaxation follows."""
    monkeypatch.setattr("dpgraph.sos.csp.elimination._LARGEST", 1)
    monkeypatch.delattr("dpgraph.sos.csp.solver.solve_csp_relaxation", raising=False)
    return max_2csp(made, rng=0)


@pytest.mark.parametrize("graph", [nx.random_regular_graph(3, 60, seed=1), nx.gnm_random_graph(80, 130, seed=2)])
def test_sparse_random_instances_need_no_relaxation(graph, monkeypatch):
    rng, made = np.random.default_rng(5), TwoCSP(len(graph), 4)
    for u, v in graph.edges:
        made.add_constraint(u, v, rng.random((4, 4)))
    assert exactly(made, monkeypatch).status == "optimal"


def test_a_time_limit_that_ends_before_the_search_leaves_a_greedy_assignment(monkeypatch):
    colours = TwoCSP.from_networkx(nx.gnm_random_graph(200, 600, seed=0), "coloring", range(4))
    eliminated, greedy = ExactSearch.eliminated, solver.one_opt_labels

    def slow(objective):
        while not time_is_up():
            time.sleep(0.01)
        return eliminated(objective)

    monkeypatch.setattr(ExactSearch, "eliminated", staticmethod(slow))
    result = max_2csp(colours, time_limit=1.0, rng=0)
    assert 450.0 <= result.value <= result.upper_bound  # no vertex has more than a quarter of its neighbours' colours

    def refuse(objective):
        raise AssertionError("there is no time for this")

    monkeypatch.setattr(ExactSearch, "eliminated", staticmethod(refuse))
    monkeypatch.setattr(solver, "one_opt_labels", lambda *given: time.sleep(0.6) or greedy(*given))
    result = max_2csp(colours, time_limit=1.0, rng=0)
    assert 450.0 <= result.value <= result.upper_bound


def test_no_order_is_looked_for_that_the_time_limit_would_wait_for(monkeypatch):
    costs = IntegerCosts.of(CSPObjective.of(TwoCSP.from_networkx(nx.gnm_random_graph(200, 600, seed=0), "coloring", 3)))
    asked = []
    monkeypatch.setattr(elimination, "elimination_order", lambda *given: asked.append(given) or ([], 0.0))
    for seconds in (1e-6, 1.0):  # for each pair
        monkeypatch.setattr(elimination, "_SECONDS_OF_A_PAIR", seconds)
        with within(30.0):
            assert elimination.reduced(costs).kept.size > 100
    assert len(asked) == 1
