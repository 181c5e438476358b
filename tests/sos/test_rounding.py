"""Roundings and local search keep what they promise."""

import networkx as nx
import numpy as np

from dpgraph.sos.cut.kernels import _draw_again
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


def test_starts_that_are_drawn_again_take_the_places_of_worse_ones_with_their_fields():
    objective, rng = graph_objective(), np.random.default_rng(3)
    x = rng.choice([-1.0, 1.0], (60, 8))
    values, state = objective.values(x), np.array([1], dtype=np.uint64)
    for change in (0.0, 0.1, 50.0):  # none, some and all but the best are replaced
        y, fields = x.copy(), np.vstack([objective.multiply(x), x.sum(axis=0)])
        _draw_again(y, fields, 0.0, change, state)
        assert np.array_equal(fields, np.vstack([objective.multiply(y), y.sum(axis=0)]))
        weights = np.exp(change * (values - values.max()))
        drawn = np.array([(column == y.T).all(axis=1).sum() for column in x.T])
        assert np.all(np.abs(drawn - 8.0 * weights / weights.sum()) <= 1.0)


def test_recombination_joins_the_good_halves_of_two_cuts():
    left, right = nx.complete_bipartite_graph(4, 4), nx.complete_bipartite_graph(5, 3)
    objective = SparseObjective(nx.to_scipy_sparse_array(nx.disjoint_union(left, right), dtype=float))
    good = np.repeat([1.0, -1.0, 1.0, -1.0], [4, 4, 5, 3])
    bad_left, bad_right = good.copy(), good.copy()
    bad_left[:8] = 1.0
    bad_right[8:] = 1.0
    merged = recombine(objective, np.column_stack([bad_left, bad_right]), np.random.default_rng(0), sweeps=10)
    assert objective.values(merged) == 31.0
