"""Roundings and local search keep what they promise."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective
from dpgraph.sos.cut.rounding import (
    anneal,
    best_columns,
    hyperplane_rounding,
    improve,
    independent_signs,
    one_opt,
    recombine,
)


def graph_objective(n=60, p=0.2, seed=0):
    return SparseObjective(nx.to_scipy_sparse_array(nx.gnp_random_graph(n, p, seed=seed), dtype=float))


def objectives():
    sparse_one = graph_objective()
    rng = np.random.default_rng(1)
    low_rank = FactoredObjective(rng.standard_normal((60, 4)), np.diag([1.0, -2.0, 0.5, -1.0]))
    return [sparse_one, DenseObjective(sparse_one.matrix.toarray()), low_rank]


def test_mean_hyperplane_cut_is_above_878_thousandths_of_the_relaxation():
    objective = graph_objective()
    rng = np.random.default_rng(0)
    solution = solve_low_rank(objective, rng)
    cuts = hyperplane_rounding(objective, solution.vectors, 400, rng, keep=400)
    values = objective.values(cuts)
    assert cuts.shape == (60, 400)
    assert np.all(np.diff(values) <= 0.0)
    assert values.mean() >= 0.87856 * solution.value


def test_rounding_in_chunks_keeps_the_best(monkeypatch):
    objective = graph_objective()
    vectors = solve_low_rank(objective, np.random.default_rng(0)).vectors
    whole = hyperplane_rounding(objective, vectors, 50, np.random.default_rng(5), keep=1)
    monkeypatch.setattr("dpgraph.sos.cut.rounding._CHUNK_ENTRIES", 60)
    chunked = hyperplane_rounding(objective, vectors, 50, np.random.default_rng(5), keep=3)
    assert chunked.shape == (60, 3)
    assert objective.values(chunked[:, 0]) >= 0.9 * objective.values(whole[:, 0])


def test_independent_signs_have_the_given_means():
    means = np.array([-1.0, -0.5, 0.0, 0.8, 1.0])
    signs = independent_signs(means, 20_000, np.random.default_rng(0))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    np.testing.assert_allclose(signs.mean(axis=1), means, atol=0.03)  # 4 standard errors
    assert np.all(signs[0] == -1.0)
    assert np.all(signs[4] == 1.0)


def test_no_single_flip_improves_the_result_of_any_local_search():
    rng = np.random.default_rng(2)
    for objective in objectives():
        x = rng.choice([-1.0, 1.0], (60, 3))
        for cuts in (one_opt(objective, x), anneal(objective, x, rng, sweeps=30)):
            gains = cuts * objective.multiply(cuts)
            assert gains.max() <= 1e-8
            assert np.all(objective.values(cuts) >= objective.values(one_opt(objective, x)) - 1e-9)


def test_recombination_is_never_worse_than_its_best_input():
    rng = np.random.default_rng(3)
    for objective in objectives():
        cuts = one_opt(objective, rng.choice([-1.0, 1.0], (60, 5)))
        merged = recombine(objective, cuts, rng, sweeps=20)
        assert objective.values(merged) >= objective.values(cuts).max() - 1e-9


def test_recombination_of_equal_cuts_is_that_cut():
    objective = graph_objective()
    x = np.random.default_rng(0).choice([-1.0, 1.0], 60)
    merged = recombine(objective, np.column_stack([x, x, -x]), np.random.default_rng(0), sweeps=20)
    assert objective.values(merged) >= objective.values(x)


def test_recombination_joins_the_good_halves_of_two_cuts():
    left, right = nx.complete_bipartite_graph(4, 4), nx.complete_bipartite_graph(5, 3)
    objective = SparseObjective(nx.to_scipy_sparse_array(nx.disjoint_union(left, right), dtype=float))
    good = np.repeat([1.0, -1.0, 1.0, -1.0], [4, 4, 5, 3])
    bad_left, bad_right = good.copy(), good.copy()
    bad_left[:8] = 1.0
    bad_right[8:] = 1.0
    merged = recombine(objective, np.column_stack([bad_left, bad_right]), np.random.default_rng(0), sweeps=10)
    assert objective.values(merged) == 31.0


def test_improvement_is_a_function_of_the_seed():
    objective = graph_objective()
    start = np.random.default_rng(0).choice([-1.0, 1.0], (60, 4))
    runs = [improve(objective, start, np.random.default_rng(9), sweeps=50) for _ in range(2)]
    np.testing.assert_array_equal(*runs)


def test_best_columns_are_sorted_by_value():
    objective = graph_objective()
    cuts = np.random.default_rng(0).choice([-1.0, 1.0], (60, 9))
    top = best_columns(objective, cuts, 2)
    assert list(objective.values(top)) == sorted(objective.values(cuts), reverse=True)[:2]


def test_a_graph_without_edges_is_left_alone():
    objective = DenseObjective(np.zeros((3, 3)))
    x = np.array([[1.0], [-1.0], [1.0]])
    np.testing.assert_array_equal(anneal(objective, x, np.random.default_rng(0), sweeps=20), x)
    assert objective.values(x[:, 0]) == pytest.approx(0.0)
