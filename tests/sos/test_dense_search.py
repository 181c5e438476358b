"""Searches of dense graphs with a time limit: who goes on, and what is kept."""

import itertools
import time
from collections import Counter

import numpy as np
import pytest
from scipy import sparse

from dpgraph import max_bisection, max_cut
from dpgraph.sos.cut import search as searching
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.watch import Watch


@pytest.fixture
def weights():
    A = np.triu(np.random.default_rng(3).standard_normal((130, 130)), 1)
    return A + A.T


@pytest.mark.parametrize("better", ["annealed", "past_losses"])
def test_the_method_that_finds_better_cuts_goes_on_and_the_other_gets_as_much_time_once_it_does_not(
    better, weights, monkeypatch
):
    clock, calls = [0.0], list[str]()
    ladder = [np.where(np.arange(130) < k, 1.0, -1.0) for k in range(1, 60)]
    objective = SparseObjective(sparse.csr_array(weights))
    ladder.sort(key=objective.cut_value)

    def scripted(name):
        def method(_self):
            calls.append(name)
            clock[0] += 1.0
            gains = name == better and len(calls) < 40
            return ladder[len(calls) if gains else 0][:, None]

        return method

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    for name in ("annealed", "past_losses"):
        monkeypatch.setattr(searching.DenseSearch, f"_{name}", scripted(name))
    watch = Watch(objective, SolverOptions(time_limit=100.0), "test")
    searching.DenseSearch(objective, watch, np.random.default_rng(0)).run(np.empty((130, 0)), 80.0)
    gaining, after = Counter(calls[:39]), Counter(calls[41:])
    assert gaining[better] >= 37
    assert abs(after["annealed"] - after["past_losses"]) <= 2


def test_a_search_of_few_sweeps_goes_on_with_as_many(weights, monkeypatch):
    clock, made = [0.0], list[int]()
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    objective = SparseObjective(sparse.csr_array(weights))
    search = searching.DenseSearch(
        objective, Watch(objective, SolverOptions(sweeps=7, time_limit=1e9), "test"), np.random.default_rng(0)
    )

    def anneal(signs, sweeps):
        made.append(sweeps)
        clock[0] += 1e-3
        return signs

    monkeypatch.setattr(search, "_anneal", anneal)
    for _ in range(1500):
        search._annealed()
    assert made == [7] * 1500


def test_without_a_time_limit_the_clock_says_nothing(monkeypatch):
    A = np.triu(np.random.default_rng(0).standard_normal((320, 320)), 1)
    anneal, made = searching.anneal_balanced, list[list[dict]]()
    monkeypatch.setattr(searching, "anneal_balanced", lambda *a, **how: made[-1].append(how) or anneal(*a, **how))
    for step in (0.0, 1e-4, 10.0):
        clock = itertools.count(0.0, step)
        monkeypatch.setattr(time, "monotonic", lambda clock=clock: next(clock))
        made.append([])
        max_bisection(A + A.T, rng=0)
    assert len(made[0]) > 5
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("solve", [max_cut, max_bisection])
def test_no_cut_that_was_given_or_found_is_lost_at_any_limit(solve, weights):
    best = solve(weights, time_limit=0.5, rng=0)
    sizes = sorted(map(len, best.partition))
    assert solve is max_cut or sizes == [65, 65]
    for limit in (1e-6, 0.01, 0.1):
        found = list[float]()
        again = solve(
            weights, time_limit=limit, rng=1, initial=best.partition, callback=lambda _, v, __, f=found: f.append(v)
        )
        assert again.value >= max([best.value, *found]) - 1e-9 * abs(best.value)
