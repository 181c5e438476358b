"""Sweeps that read rows repeatedly: who sees whom, their grid, what they cost, and when they are taken."""

import math

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.denoise.iterates import ITERATE_UNIT, Signs
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.report import Pairs
from dpgraph.privacy.row_norm import NUMBER
from dpgraph.releases.sweeps.core import release_one_sided_sweep, release_repeated_sweeps
from dpgraph.releases.sweeps.iteration import Core, FieldOracle, Iteration, RowSensitivity
from tests.about import each
from tests.calls import edge_call, release_cut_labels


def watched_sweeps(sweeps, core, n=30):
    """Release on a complete graph; return what each query saw, the outcome and the ledger."""
    looks = []

    def fields(block, X):
        looks.append((block.copy(), X.copy()))
        return X.sum() - X[block]

    oracle = FieldOracle(n, 1, fields, unit=ITERATE_UNIT, row_bound=1.0, sensitivity=RowSensitivity(NUMBER, 1.0))
    call = edge_call(2.0)
    iteration = Iteration(oracle, Signs())
    X, last = release_repeated_sweeps(iteration, np.full(n, n - 1.0), core, call.part(0.5), sweeps=sweeps)
    return looks, X, last, call.ledger


@each("sweeps", [2, 6], parts=2)
def test_a_pair_shows_at_one_end_on_the_ways_there_and_at_the_other_on_the_ways_back_or_at_both_there(sweeps):
    core = Core(np.random.default_rng(1).permutation(30), 20)
    looks, X, last, _ = watched_sweeps(sweeps, core)
    place = {int(row): k for k, row in enumerate(core.rows)}
    shown = np.zeros((2, 30, 30), dtype=int)  # on the ways there and back: how often a row saw another
    asked = np.zeros((2, 30), dtype=int)
    back, latest = 1, place[int(looks[0][0][0])]
    for block, seen in looks:
        assert np.abs(seen).max() <= 1.0
        assert not seen[core.others].any()
        back = back if place[int(block[0])] != latest and (place[int(block[0])] < latest) == bool(back) else 1 - back
        latest = place[int(block[0])]
        others = np.setdiff1d(np.flatnonzero(seen[:, 0]), block)
        for row in block:
            assert all((place[int(other)] > place[int(row)]) == bool(back) for other in others)
            shown[back, row] += seen[:, 0] != 0
            asked[back, row] += 1
    shown[:, np.arange(30), np.arange(30)] = 0
    assert asked.max() <= sweeps // 2
    seen_at = (shown > 0).sum(axis=0)
    at_rows = (seen_at + seen_at.T)[np.ix_(core.rows, core.rows)][np.triu_indices(20, 1)]
    assert at_rows.max() == 2
    assert at_rows.mean() > 1.9  # rows of a block of the first sweep do not see each other in it
    assert set(np.unique(X[core.rows])) <= {-1.0, 1.0}
    assert not X[core.others].any()
    assert not last[core.others].any()


@each("size, pairs", [(30, Pairs.ANY), (20, Pairs.INSIDE_CORE)], parts=2)
def test_one_line_pays_for_all_readings(size, pairs):
    *_, ledger = watched_sweeps(4, Core(np.arange(30), size))
    (line,) = ledger.entries
    assert (line.name, line.mechanism, line.pairs) == ("fields, 4 sweeps", "K-norm", pairs)
    assert (line.sensitivity, line.epsilon, line.scale) == (2.0, 1.0, 2.0)


def test_core_and_other_rows_are_disjoint_and_spend_the_same_pure_budget():
    call = edge_call(3.0)
    G = open_graph(nx.barabasi_albert_graph(600, 10, seed=0)).read()
    release_cut_labels(G, call.part(0.9), mean_degree=20.0)
    degrees, sweeps, look = call.ledger.entries
    assert (degrees.name, sweeps.name, look.name) == ("degrees", "fields, 8 sweeps", "fields, other rows")
    assert (sweeps.pairs, look.pairs) == (Pairs.INSIDE_CORE, Pairs.OUTSIDE_CORE)
    assert (look.mechanism, look.pairs.disjoint, sweeps.pairs.disjoint) == ("Laplace", True, False)
    assert degrees.epsilon + sweeps.epsilon == pytest.approx(0.9 * 3.0)
    assert look.epsilon == pytest.approx(sweeps.epsilon)


def test_without_noise_the_sweeps_find_a_local_optimum():
    G = nx.random_regular_graph(8, 600, seed=3)
    labels = dpgraph.private_max_cut(G, epsilon=1e6, delta=1e-6, mechanism="bounded-iterates", rng=0).labels
    fields = nx.to_numpy_array(G) @ (1.0 - 2.0 * labels)
    assert np.mean(fields * (1.0 - 2.0 * labels) <= 0) > 0.97


@each("weights", [(0.001, 1.0), (0.5, 3.0)], parts=2)
def test_weighted_graphs_are_rounded_to_the_grid_of_the_noise_and_pay_for_it(weights):
    rng = np.random.default_rng(0)
    G = nx.gnp_random_graph(200, 0.4, seed=2)
    for _, _, edge in G.edges(data=True):
        edge["weight"] = float(rng.uniform(*weights))
    cut = dpgraph.private_max_cut(G, epsilon=4.0, delta=1e-6, weight="weight", max_weight=weights[1], rng=0)
    line = next(line for line in cut.privacy.entries if line.mechanism == "K-norm")
    assert 2 * weights[1] < line.sensitivity < 2 * weights[1] * (1 + 1e-4)
    assert line.scale == pytest.approx(line.sensitivity / line.epsilon)
    assert math.isfinite(cut.estimated_value)


def lines_of(result):
    return [(line.name, line.mechanism) for line in result.privacy.entries]


@pytest.mark.parametrize(
    ("k", "epsilon", "law"),
    [(3, 4.0, "K-norm"), (2, 2.0, "K-norm"), (3, 0.5, "noisy maximum"), (8, 1.0, "noisy maximum")],
)
def test_labels_under_a_public_relation_are_read_repeatedly_where_that_is_quiet_enough(k, epsilon, law):
    G = nx.complete_multipartite_graph(40, 40, 40)
    cut = dpgraph.private_max_k_cut(G, k, epsilon=epsilon, mechanism="bounded-iterates", rng=0)
    assert law in {mechanism for _, mechanism in lines_of(cut)}
    together = [line for line in cut.privacy.entries if line.mechanism == "K-norm"]
    assert all(line.sensitivity == pytest.approx(2.0, rel=1e-4) for line in together)  # both ends, whatever k


def test_a_whole_table_pays_for_the_range_of_its_rows_and_finds_hidden_labels_more_often():
    found = []
    for seed in range(4):
        instance = dpgraph.datasets.planted_csp(400, 100, 3, 0.9, rng=seed)
        result = dpgraph.private_max_2csp(instance, epsilon=1.5, adjacency="constraint", rng=seed)
        (line,) = [line for line in result.privacy.entries if line.mechanism == "K-norm"]
        assert line.sensitivity == pytest.approx(4.0, rel=1e-3)
        found.append(dpgraph.evaluate.csp_value(instance, result.labels) / instance.total_weight)
    assert np.mean(found) > 0.8


def test_rows_outside_the_core_are_looked_at_once_after_all_sweeps_and_never_seen_by_the_core():
    looks = []

    def fields(block, X):
        looks.append((set(block.tolist()), set(np.flatnonzero(X[:, 0]).tolist())))
        return np.ones((len(block), 1))

    oracle = FieldOracle(30, 1, fields, unit=ITERATE_UNIT, row_bound=1.0, sensitivity=RowSensitivity(NUMBER, 1.0))
    call, core = edge_call(1.0), Core(np.arange(30), 10)
    arguments = Iteration(oracle, Signs()), np.ones(30), core
    X, _ = release_repeated_sweeps(*arguments, call.part(0.5), sweeps=4)
    assert not X[core.others].any()
    X, _ = release_one_sided_sweep(*arguments, X, call.part(0.5))
    assert X.all()
    inside, outside = set(range(10)), set(range(10, 30))
    sweeps = [(rows, seen) for rows, seen in looks if rows <= inside]
    last = [(rows, seen) for rows, seen in looks if rows <= outside]
    assert len(sweeps) + len(last) == len(looks)
    assert all(seen <= inside for _, seen in sweeps)
    assert looks[len(sweeps) :] == last
    assert sorted(row for rows, _ in last for row in rows) == sorted(outside)
    assert all(not seen & rows for rows, seen in last)


def test_iterates_seen_by_the_data_are_bounded_and_on_the_public_grid():
    seen = []
    G = open_graph(nx.gnp_random_graph(60, 0.3, seed=0)).read()
    multiply = type(G).multiply_rows

    class Spy:
        def __getattr__(self, name):
            return getattr(G, name)

        def multiply_rows(self, rows, block):
            seen.append(block.copy())
            return multiply(G, rows, block)

    release_cut_labels(Spy(), edge_call(1.0), mean_degree=18.0)
    X = np.stack(seen)
    assert np.abs(X).max() <= 1.0
    assert np.array_equal(X, np.rint(X / ITERATE_UNIT) * ITERATE_UNIT)
