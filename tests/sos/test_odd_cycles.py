"""Odd-cycle inequalities: the bounds hold for all cuts, and prove that cuts of sparse graphs are the largest."""

from fractions import Fraction

import networkx as nx
import numpy as np
from scipy import sparse

from dpgraph import max_cut
from dpgraph.sos.branching import odd_cycles
from dpgraph.sos.cut.objective import SparseObjective
from tests.sos.brute_force import all_cuts, exact_values, random_weights


def torus(side, seed):
    """Ising spin glass: a grid on a torus, weights of either sign."""
    A = sparse.triu(nx.adjacency_matrix(nx.grid_2d_graph(side, side, periodic=True)), 1).tocsr().astype(float)
    A.data = np.random.default_rng(seed).choice([-1.0, 1.0], A.data.size)
    return (A + A.T).tocsr()


def sparse_weights(seed):
    """A Hamilton cycle and chords, with weights of one scale or of many."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 10))
    present = rng.random((n, n)) < 1.5 / n
    present[np.arange(n), (np.arange(n) + 1) % n] = True
    weights = random_weights(rng, n, seed)
    W = np.triu(np.where(present | present.T, weights, 0.0), 1)
    return W + W.T


def test_no_bound_of_any_multipliers_or_branch_is_false():
    """Against rationals: the whole, and parts with edges fixed, with multipliers of HiGHS and random ones."""
    for seed in range(40):
        W, rng = sparse_weights(seed), np.random.default_rng(seed)
        cuts = all_cuts(len(W))
        values = exact_values(W, cuts)
        edges = odd_cycles.CutEdges.of(SparseObjective(sparse.csr_array(W)))
        node = odd_cycles.tightened(edges, odd_cycles.root(edges), -np.inf, rounds=int(rng.integers(1, 6)))
        assert Fraction(node.bound) >= max(values)
        for _ in range(2):
            if np.all(node.least == node.most):
                break
            edge = int(rng.choice(np.flatnonzero(node.least < node.most)))
            node = odd_cycles.tightened(edges, odd_cycles.fixed(edges, node, edge, int(rng.integers(2))), 0.0, rounds=3)
            crossing = [[cut[u] != cut[v] for u, v in edges.ends] for cut in cuts]
            left = [
                value for value, z in zip(values, crossing, strict=True) if np.all((node.least <= z) & (z <= node.most))
            ]
            assert Fraction(node.bound) >= max(left)
        t = rng.exponential(size=node.limits.size)
        assert Fraction(odd_cycles._dual_bound(edges, odd_cycles.root(edges), np.zeros(0))) >= max(values)
        whole = odd_cycles.CycleBound(
            np.inf, node.crossing, np.zeros_like(t, shape=len(edges.weights)),
            np.ones(len(edges.weights)), node.matrix, node.limits,
        )  # fmt: skip
        assert Fraction(odd_cycles._dual_bound(edges, whole, t)) >= max(values)


def test_sparse_graphs_are_proven_by_default():
    """The relaxation alone bounds them by 85, 142, 86 and 298."""
    for n, largest in ((60, 83), (100, 137)):
        result = max_cut(nx.random_regular_graph(3, n, seed=0), rng=0)
        assert (result.value, result.status, result.bound_kind) == (largest, "optimal", "proven")
    for side, seed in ((10, 0), (20, 1)):
        result = max_cut(torus(side, seed), rng=0)
        assert (result.status, result.bound_kind) == ("optimal", "proven")
        assert result.value == result.upper_bound


def test_the_linear_programme_finds_a_cut_that_the_local_search_missed():
    before = max_cut(torus(20, 2), rng=0, local_search=False, seeds=0, rounds=1, search="optimal")
    assert before.status == "optimal"
