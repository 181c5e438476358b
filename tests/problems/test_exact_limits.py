"""Limits, a start, and what is reported on the way: time_limit, gap_tol, initial, callback; units of the values."""

import math
import time

import networkx as nx
import numpy as np
import pytest

from dpgraph import TwoCSP, max_2csp, max_bisection, max_cut
from dpgraph.evaluate import csp_value, cut_value
from dpgraph.exceptions import InvalidParameterError

GRAPH = nx.gnm_random_graph(40, 160, seed=1)
COLOURS = TwoCSP.from_networkx(nx.gnm_random_graph(20, 60, seed=0), "coloring", 3)
SOLVERS = [
    pytest.param(max_2csp, COLOURS, id="2csp"),
    pytest.param(max_bisection, GRAPH, id="bisection"),
    pytest.param(max_cut, GRAPH, id="cut"),
]


@pytest.mark.parametrize(("solve", "problem"), SOLVERS)
def test_the_callback_sees_values_rise_and_bounds_fall_to_those_of_the_result(solve, problem):
    seen = []
    result = solve(problem, seeds=3, rng=0, callback=lambda *state: seen.append(state))
    seconds, values, bounds = (list(column) for column in zip(*seen, strict=True))
    assert seconds == sorted(seconds)
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)
    assert (values[-1], bounds[-1]) == (result.value, result.upper_bound)


@pytest.mark.parametrize(("solve", "problem"), SOLVERS)
def test_a_time_limit_ends_a_search_that_would_not_end_and_keeps_one_that_would_busy(solve, problem):
    unlimited, found = solve(problem, sweeps=20, rng=0), []  # compiled
    for seed in range(3):  # how far a search comes depends on what else the machine does
        began = time.monotonic()
        result = solve(problem, rng=seed, time_limit=0.3, sweeps=10**7)
        assert time.monotonic() - began < 5.0
        assert result.status == "optimal" or time.monotonic() - began > 0.1
        found.append(result.value)
    assert max(found) >= 0.98 * unlimited.value


def test_time_limits_end_sweeps_and_proofs_too():
    large, rng = nx.gnm_random_graph(5000, 25_000, seed=1), np.random.default_rng(0)
    tables = TwoCSP(120, 12)
    for u, v in nx.gnm_random_graph(120, 300, seed=1).edges:
        tables.add_constraint(u, v, rng.random((12, 12)))
    for solve, problem in ((max_cut, large), (max_bisection, large), (max_2csp, tables)):
        taken = []
        for _ in range(2):  # kernels are compiled as they are first reached, which no limit can end
            began = time.process_time()
            result = solve(problem, rng=0, time_limit=0.4)
            taken.append(time.process_time() - began)
            assert result.value <= result.upper_bound
        assert min(taken) < 0.4 + 0.2  # of processor time: other programs do not count


@pytest.mark.parametrize(("solve", "problem"), SOLVERS[1:])
def test_a_gap_that_is_small_enough_ends_the_search(solve, problem):
    whole = solve(problem, seeds=4, rng=0)
    early = solve(problem, seeds=4, rng=0, gap_tol=0.99)
    assert len(early.trace) == 2 < len(whole.trace)
    assert early.gap <= 0.99
    assert (early.status == "optimal") == (early.gap == 0.0)


def test_a_start_is_never_lost():
    quick = {"local_search": False, "rounds": 1, "seeds": 0, "rng": 1}
    cut, half, colours = max_cut(GRAPH, rng=0), max_bisection(GRAPH, rng=0), max_2csp(COLOURS, rng=0)
    array = np.array([int(v in cut.partition[1]) for v in GRAPH])
    for start in (cut, cut.partition, array):
        assert max_cut(GRAPH, initial=start, **quick).value >= cut.value
    assert max_cut(GRAPH, initial=cut, degree=2, relaxation="admm", **quick).value >= cut.value
    assert max_bisection(GRAPH, initial=half, **quick).value >= half.value
    assert max_2csp(COLOURS, initial=colours, **quick).value >= colours.value > max_2csp(COLOURS, **quick).value
    pairs = TwoCSP.from_networkx(GRAPH, "max-k-cut", 2)
    best = max_2csp(pairs, rng=0)
    assert max_2csp(pairs, initial=best.assignment, **quick).value >= best.value == csp_value(pairs, best)
    unbalanced = max_bisection(GRAPH, initial=cut, **quick)
    assert {len(side) for side in unbalanced.partition} == {20}
    assert cut_value(GRAPH, unbalanced) == unbalanced.value


def test_limits_are_checked():
    for wrong in ({"time_limit": 0}, {"time_limit": math.nan}, {"gap_tol": -1.0}, {"callback": 1}, {"initial": [1]}):
        with pytest.raises(InvalidParameterError):
            max_cut(GRAPH, **wrong)
        with pytest.raises(InvalidParameterError):
            max_bisection(GRAPH, **wrong)
        with pytest.raises(InvalidParameterError):
            max_2csp(COLOURS, **wrong)


def test_bounds_are_floored_to_a_value_that_a_cut_can_have():
    triple = nx.gnm_random_graph(14, 40, seed=2)
    nx.set_edge_attributes(triple, 3, "weight")
    result = max_cut(triple, rng=0, weight="weight")
    assert result.upper_bound % 3 == 0
    assert result.value <= result.upper_bound <= result.trace[-1].upper_bound
    torus = nx.grid_2d_graph(6, 6, periodic=True)  # all degrees are even, hence all cuts
    rng = np.random.default_rng(0)
    nx.set_edge_attributes(torus, {edge: float(rng.choice([-1, 1])) for edge in torus.edges}, "weight")
    result = max_cut(torus, rng=0, weight="weight")
    assert result.upper_bound % 2 == 0
    assert result.value <= result.upper_bound <= result.trace[-1].upper_bound


def test_a_power_of_two_times_the_weights_is_the_same_problem():
    A = np.triu(np.random.default_rng(3).normal(size=(7, 7)), 1)
    A += A.T
    for solve, given in ((max_bisection, {}), (max_cut, {}), (max_cut, {"degree": 4})):
        one, *others = (solve(np.ldexp(A, e), rng=0, seeds=2, **given) for e in (0, -900, 900))
        for other, exponent in zip(others, (-900, 900), strict=True):
            assert other.value == math.ldexp(one.value, exponent)
            assert other.upper_bound == math.ldexp(one.upper_bound, exponent)
            assert (other.partition, other.status) == (one.partition, one.status)
    graphs = (nx.from_numpy_array(np.ldexp(np.abs(A), e)) for e in (0, -900, 900))
    one, *others = (max_2csp(TwoCSP.from_networkx(G, "max-k-cut", 3, weight="weight"), rng=0) for G in graphs)
    for other, exponent in zip(others, (-900, 900), strict=True):
        assert (other.value, other.assignment) == (math.ldexp(one.value, exponent), one.assignment)


@pytest.mark.parametrize(("solve", "problem"), SOLVERS)
def test_a_tolerance_or_a_limit_may_be_the_least_number_there_is(solve, problem):
    assert solve(problem, tol=5e-324, rng=0).gap < 0.2
    assert solve(problem, time_limit=5e-324, rng=0).gap <= 1.0


def test_a_limit_that_is_over_once_the_graph_is_read_cuts_nothing_where_that_may_be_best():
    A = np.triu(np.random.default_rng(0).normal(size=(60, 60)), 1)
    A += A.T
    mixed, plain = (max_cut(M, time_limit=5e-324, rng=0) for M in (A, np.abs(A)))
    assert mixed.value == 0.0 <= cut_value(A, max_cut(A, rng=0)) <= mixed.upper_bound
    assert 0.3 * np.abs(A).sum() / 2 < plain.value == cut_value(np.abs(A), plain) <= plain.upper_bound
