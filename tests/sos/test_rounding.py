"""Roundings and local search keep what they promise."""

import networkx as nx
import numpy as np

from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective
from dpgraph.sos.cut.rounding import anneal, hyperplane_rounding, one_opt, recombine


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


def test_no_single_flip_improves_the_result_of_any_local_search():
    rng = np.random.default_rng(2)
    for objective in objectives():
        x = rng.choice([-1.0, 1.0], (60, 3))
        for cuts in (one_opt(objective, x), anneal(objective, x, rng, sweeps=30)):
            gains = cuts * objective.multiply(cuts)
            assert gains.max() <= 1e-8
            assert np.all(objective.values(cuts) >= objective.values(one_opt(objective, x)) - 1e-9)


def test_starts_that_are_annealed_together_are_better_than_alone():
    objective, rng = graph_objective(400, 0.03), np.random.default_rng(3)
    x = rng.choice([-1.0, 1.0], (400, 16))
    together = objective.values(anneal(objective, x, rng, sweeps=400))
    alone = [objective.values(anneal(objective, column, rng, sweeps=400)) for column in x.T]
    assert np.mean(together) > np.mean(alone)


def test_recombination_joins_the_good_halves_of_two_cuts():
    left, right = nx.complete_bipartite_graph(4, 4), nx.complete_bipartite_graph(5, 3)
    objective = SparseObjective(nx.to_scipy_sparse_array(nx.disjoint_union(left, right), dtype=float))
    good = np.repeat([1.0, -1.0, 1.0, -1.0], [4, 4, 5, 3])
    bad_left, bad_right = good.copy(), good.copy()
    bad_left[:8] = 1.0
    bad_right[8:] = 1.0
    merged = recombine(objective, np.column_stack([bad_left, bad_right]), np.random.default_rng(0), sweeps=10)
    assert objective.values(merged) == 31.0
