"""Local searches of cuts: who goes on, and what is kept."""

import itertools
import time
from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dpgraph import max_bisection, max_cut
from dpgraph.sos.cut import search as searching
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.watch import Watch
from dpgraph.threads import within


@pytest.fixture
def weights():
    A = np.triu(np.random.default_rng(3).standard_normal((130, 130)), 1)
    return A + A.T


@pytest.mark.parametrize(
    ("better", "other", "degree", "largest"),
    [
        ("annealed", "past_losses", 129, None),
        ("past_losses", "annealed", 129, None),
        ("warmed", "annealed", 129, 0),
        ("evolved", "annealed", 2, 0),
        ("annealed", "evolved", 2, 0),
    ],
)
def test_the_method_that_finds_better_cuts_goes_on_and_the_other_gets_as_much_time_once_it_does_not(
    better, other, degree, largest, monkeypatch
):
    clock, calls = [0.0], list[str]()
    n = 130 if degree > 2 else 400
    objective = SparseObjective(nx.to_scipy_sparse_array(nx.random_regular_graph(degree, n, seed=0), dtype=float))
    ladder = [np.where(np.arange(n) < k, 1.0, -1.0) for k in range(1, 60)]
    ladder.sort(key=objective.cut_value)
    ladder = [ladder[0], *(cut for a, cut in pairwise(ladder) if objective.cut_value(cut) > objective.cut_value(a))]

    def scripted(name):
        def method(_self):
            calls.append(name)
            clock[0] += 1.0
            gains = name == better and len(calls) < 20
            return ladder[len(calls) if gains else 0][:, None]

        return method

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    for name in (better, other):
        monkeypatch.setattr(searching.LocalSearch, f"_{name}", scripted(name))
    watch = Watch(objective, SolverOptions(time_limit=100.0), "test")
    searching.local_search(objective, watch, np.random.default_rng(0), largest).run(np.empty((n, 0)), 60.0)
    gaining, after = Counter(calls[:19]), Counter(calls[21:])
    assert gaining[better] >= 17
    assert abs(after[better] - after[other]) <= 2


def test_a_search_of_few_sweeps_goes_on_with_as_many(weights, monkeypatch):
    clock, made = [0.0], list[int]()
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    objective = SparseObjective(sparse.csr_array(weights))
    search = searching.LocalSearch(
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


def test_without_time_to_find_out_no_cut_is_known_to_satisfy_every_edge():
    objective = SparseObjective(nx.to_scipy_sparse_array(nx.grid_2d_graph(30, 30), dtype=float))
    assert objective.unfrustrated() is not None
    with within(1e-6):
        assert objective.unfrustrated() is None
