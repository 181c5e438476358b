"""Metric inequalities and branch and bound: no false bound, and proofs of optimality."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from dpgraph import max_cut
from dpgraph.sos.branching import metric_bound, prove
from dpgraph.sos.branching.search import Incumbent, best_first
from dpgraph.sos.cut.objective import DenseObjective
from tests.sos.brute_force import all_cuts, exact_values, random_weights


def dense_weights(seed, n=None):
    """Half of the pairs, with weights of one scale or of many."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8)) if n is None else n
    weights = random_weights(rng, n, seed)
    W = np.triu(np.where(rng.random((n, n)) < 0.6, weights, 0.0), 1)
    return W + W.T


def agrees(signs, group):
    """Whether the signs of every group are equal."""
    return len(set(zip(group, signs, strict=True))) == len(set(group))


def test_no_bound_of_any_multipliers_or_branch_is_false():
    """Against rationals: after few rounds, in parts of the cuts, and with random multipliers of any size."""
    for seed in range(40):
        W, rng = dense_weights(seed), np.random.default_rng(seed)
        cuts = all_cuts(len(W))
        values = exact_values(W, cuts)
        node = metric_bound.tightened(metric_bound.start(DenseObjective(W)), -np.inf, rounds=int(rng.integers(1, 5)))
        assert Fraction(node.bound) >= max(values)
        t = rng.exponential(size=len(node.members)) * 10.0 ** rng.integers(-9, 9)
        assert metric_bound.certified_bound(node.objective, node.members, t, node.diagonal)[0] >= max(values)
        for _ in range(2):
            i, j = np.sort(rng.choice(node.objective.n_vertices, 2, replace=False))
            node = metric_bound.merged(node, int(i), int(j), float(rng.choice([-1.0, 1.0])))
            left = values[[agrees(cut * node.signs, node.group) for cut in cuts]]
            bound, cut = metric_bound.enumerated(node)
            assert Fraction(bound) >= max(left)
            assert exact_values(W, [node.lift(cut)])[0] in left
            node = metric_bound.tightened(node, -np.inf, rounds=2)
            assert Fraction(node.bound) >= max(left)


def test_branch_and_bound_finds_the_optimum_from_a_bad_cut(monkeypatch):
    """With few vertices listed, bounded loosely, parts are branched on many times."""
    monkeypatch.setattr(prove, "_FEW", 3)
    monkeypatch.setattr(prove, "_ROUNDS_OF_METRIC", 2)
    for seed in range(0, 40, 4):
        W = dense_weights(seed, n=9)
        objective = DenseObjective(W)
        best = Incumbent(objective, np.ones(9))
        tree = prove._by_metric_inequalities(objective, best)
        bound = best_first(tree.root(), tree.branch, best)
        assert best.value == max(exact_values(W, all_cuts(9))) <= bound
        assert best.closes(bound)


def test_a_search_that_is_stopped_bounds_what_it_left_open():
    class Part:
        def __init__(self, low, high):
            self.low, self.high, self.bound, self.part = low, high, float(high) + 3.0, None

    objective = DenseObjective(np.array([[0.0, 1.0], [1.0, 0.0]]))
    best, seen = Incumbent(objective, np.array([1.0, -1.0])), []

    def branch(part):
        seen.append(part)
        middle = (part.low + part.high) / 2
        return [] if len(seen) > 5 else [Part(part.low, middle), Part(middle, part.high)]

    assert best_first(Part(0, 8), branch, best) >= 8.0


@pytest.mark.parametrize(("n", "degree", "largest"), [(50, 10, None), (60, 30, 524)])
def test_dense_graphs_are_proven(n, degree, largest):
    """The relaxation alone bounds the second by 534."""
    result = max_cut(nx.gnp_random_graph(n, degree / n, seed=1), rng=0, search="optimal")
    assert (result.status, result.bound_kind) == ("optimal", "proven")
    assert largest in (None, result.value)
