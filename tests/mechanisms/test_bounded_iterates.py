"""The loop of bounded iterates: what it costs, what it publishes, and that it stays on its grid."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.denoise.iterates import (
    ITERATE_UNIT,
    FieldTracker,
    Signs,
    shrunken_degrees,
)
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.call import open_call as open_any_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.privacy.report import Pairs
from dpgraph.releases.sweeps.core import release_repeated_sweeps
from dpgraph.releases.sweeps.iteration import Core, FieldOracle, Iteration, large_first, repeated_core
from dpgraph.releases.sweeps.one_sided import release_one_sided_sweep
from tests.cut_labels import release_cut_labels


def open_call(epsilon=1.0, rng=0):
    return open_any_call(epsilon=epsilon, accountant=None, relation=Edge(), noise=noise_source(rng))


def test_core_and_other_rows_are_disjoint_and_spend_the_same_budget():
    call = open_call(4.0)
    G = open_graph(nx.barabasi_albert_graph(300, 5, seed=0)).read()
    release_cut_labels(G, call.part(0.9), mean_degree=10.0)
    degrees, sweeps, look = call.ledger.entries
    assert (degrees.name, look.name) == ("degrees", "fields, other rows")
    assert (sweeps.pairs, look.pairs) == (Pairs.INSIDE_CORE, Pairs.OUTSIDE_CORE)
    assert degrees.share + sweeps.share == pytest.approx(0.9)
    assert [line.pairs.disjoint for line in call.ledger.entries] == [False, False, True]
    assert (degrees.mechanism, look.epsilon) == ("Laplace", pytest.approx(0.9 * 4.0 - degrees.epsilon))


def test_rows_outside_the_core_are_looked_at_once_after_all_sweeps_and_never_seen_by_the_core():
    looks = []

    def fields(block, X):
        looks.append((set(block.tolist()), set(np.flatnonzero(X[:, 0]).tolist())))
        return np.ones((len(block), 1))

    oracle = FieldOracle(30, 1, fields, unit=ITERATE_UNIT, row_bound=1.0, envelope=1.0)
    call, core = open_call(), Core(np.arange(30), 10)
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


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_core_holds_the_large_degrees_and_most_of_the_sum_of_squares(epsilon):
    degrees = 20 * (np.random.default_rng(0).pareto(2.0, size=1000) + 1)
    core = repeated_core(degrees, epsilon, np.random.default_rng(1))
    assert sorted(core.order.tolist()) == list(range(1000))
    assert degrees[core.rows].min() >= degrees[core.others].max(initial=0)
    assert (degrees[core.rows] ** 2).sum() >= (1 - min(0.1 / epsilon, 0.5)) * (degrees**2).sum()
    assert (np.sort(degrees[core.rows])[1:] ** 2).sum() < (1 - min(0.1 / epsilon, 0.5)) * (degrees**2).sum()


def test_rows_of_many_edges_mostly_come_first():
    degrees = np.repeat([1.0, 10.0, 100.0], 1000)
    place = np.empty(3000)
    place[large_first(degrees, np.random.default_rng(0))] = np.arange(3000)
    means = place.reshape(3, 1000).mean(axis=1)
    assert means[2] < 600 < 1200 < means[1] < 1800 < 2300 < means[0]


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

    release_cut_labels(Spy(), open_call(), mean_degree=18.0)
    X = np.stack(seen)
    assert np.abs(X).max() <= 1.0
    assert np.array_equal(X, np.rint(X / ITERATE_UNIT) * ITERATE_UNIT)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("balanced", [False, True])
def test_labels_are_zero_or_one_and_balanced_on_request(n, balanced):
    G = open_graph(nx.gnp_random_graph(n, 0.5, seed=1)).read()
    labels = release_cut_labels(G, open_call(), mean_degree=n / 2, balanced=balanced)
    assert labels.shape == (n,)
    assert set(labels.tolist()) <= {0, 1}
    if balanced:
        assert abs(2 * int(labels.sum()) - n) <= 1


def test_field_tracker_is_the_posterior_mean_of_repeated_looks_at_a_fixed_field():
    rng = np.random.default_rng(0)
    tracker = FieldTracker(np.full(1, 4.0), 1)
    looks = rng.normal(3.0, 2.0, size=10)
    for look in looks:
        tracker.observe(np.array([0]), np.array([[look]]), 4.0)
    precision = 1 / 4.0 + 10 / 4.0
    assert tracker.mean[0, 0] == pytest.approx(looks.sum() / 4.0 / precision)
    assert tracker.variance[0] == pytest.approx(1 / precision)


def test_field_tracker_forgets_when_the_iterate_moves():
    tracker = FieldTracker(np.full(2, 4.0), 1)
    tracker.observe(np.array([0]), np.array([[5.0]]), 1.0)
    before = tracker.variance[0]
    tracker.moved(np.array([1]), np.array([[2.0]]))
    tracker.observe(np.array([0]), np.array([[-5.0]]), 1.0)
    assert tracker.mean[0, 0] < 0
    assert tracker.variance[0] > 0.5 * before


def test_noisy_degrees_are_shrunk_to_their_mean_when_they_are_all_noise():
    rng = np.random.default_rng(0)
    noise_only = 20 + rng.normal(0, 30, size=5000)
    assert np.std(shrunken_degrees(noise_only, 20.0, 30.0, 1.0)) < 5
    signal = rng.exponential(100, size=5000)
    assert np.corrcoef(shrunken_degrees(signal, 100.0, 1.0, 1.0), signal)[0, 1] > 0.95
    assert shrunken_degrees(noise_only, -5.0, 30.0, 1.0).min() > 0
