"""Large and degenerate graphs: cuts and halves whose optimum is known are found, and proven, in seconds."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from dpgraph import max_bisection, max_cut
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.definiteness import sparse_semidefinite
from dpgraph.sos.reduction import reduce_low_degree
from tests.sos.brute_force import exact_best_cut

#: Processor seconds; a few times what is needed.
QUICK, SLOW = 10.0, 60.0


def symmetric(row, column, n, weights=1.0):
    upper = sparse.coo_array((np.broadcast_to(weights, np.shape(row)).astype(float), (row, column)), shape=(n, n))
    return sparse.csr_array(upper + upper.T)


def path(n):
    return symmetric(np.arange(n - 1), np.arange(1, n), n)


def cycle(n):
    return symmetric(np.arange(n), np.roll(np.arange(n), -1), n)


def star(n):
    return symmetric(np.zeros(n - 1, dtype=int), np.arange(1, n), n)


def grid(side):
    return sparse.csr_array(sparse.kron(path(side), np.eye(side)) + sparse.kron(sparse.eye_array(side), path(side)))


def complete(n):
    return np.ones((n, n)) - np.eye(n)


def solved(solver, graph, value, seconds):
    """The optimum, proven, in so many processor seconds."""
    start = time.process_time()
    result = solver(graph, rng=0)
    assert (result.value, result.status) == (value, "optimal")
    assert value <= result.upper_bound < value + 1
    assert time.process_time() - start < seconds
    return result


CUTS = {
    "path": lambda n: (path(n), n - 1),
    "star": lambda n: (star(n), n - 1),
    "even cycle": lambda n: (cycle(n), n),
    "odd cycle": lambda n: (cycle(n + 1), n),
    "grid": lambda n: (grid(math.isqrt(n)), 2 * math.isqrt(n) * (math.isqrt(n) - 1)),
}


@pytest.mark.parametrize("family", CUTS.values(), ids=CUTS)
def test_cuts_of_sparse_graphs(family):
    solved(max_cut, *family(90_000), QUICK)


@pytest.mark.parametrize(
    ("solver", "n"),
    [(max_cut, 701), (max_bisection, 702)]
    + [pytest.param(solver, n, marks=pytest.mark.slow) for solver in (max_cut, max_bisection) for n in (3000, 3001)],
)
def test_complete_graphs(solver, n):
    solved(solver, complete(n), n**2 // 4, SLOW if n > 2000 else QUICK)


@pytest.mark.parametrize(
    ("graph", "value"),
    [(path(30_000), 29_999), (star(2001), 1001), (sparse.csr_array((3000, 3000)), 0)],
    ids=["path", "odd star", "empty"],
)
def test_halves(graph, value):
    result = solved(max_bisection, graph, value, QUICK)
    assert abs(len(result.partition[0]) - len(result.partition[1])) <= 1


def test_a_hub_is_not_copied_for_each_of_its_leaves():
    n = 200_000  # copying takes n^2/2 = 2e10 steps
    double = symmetric(np.repeat([0, 1], n), np.tile(np.arange(2, n + 2), 2), n + 2)  # two hubs with the same leaves
    for graph in (star(n), double):
        start = time.process_time()
        assert reduce_low_degree(graph)[1].size <= 2
        assert sparse_semidefinite(graph, 0.26 * graph.sum(axis=1))
        assert sparse_semidefinite(graph, 0.24 * graph.sum(axis=1)) is False
        assert time.process_time() - start < QUICK


def random_graph(rng, n, weights):
    A = np.triu(rng.random((n, n)) < 2.2 / n, 1) * weights((n, n))
    return sparse.csr_array(A + A.T)


WEIGHTS = {
    "ones": lambda rng: np.ones,
    "signs": lambda rng: lambda shape: rng.choice([-1.0, 1.0], shape),
    "reals": lambda rng: rng.standard_normal,
    "scales": lambda rng: lambda shape: rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.integers(-8, 9, shape),
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_bounds_hold_after_elimination(weights):
    rng = np.random.default_rng(0)
    for _ in range(12):
        graph = random_graph(rng, 9, weights(rng))
        best = exact_best_cut(graph.toarray())
        whole = SparseObjective(graph)
        core, kept, lift = whole.reduced(most=2)
        for x in rng.choice([-1.0, 1.0], (4, kept.size)):
            assert core.cut_value(x) == pytest.approx(whole.cut_value(lift(x)), abs=core.slack)
        result = max_cut(graph, rng=0)
        assert Fraction(result.upper_bound) >= best
        assert result.value == pytest.approx(float(best), rel=1e-9, abs=core.slack)
