"""The loop of bounded iterates: what it costs, what it publishes, and that it stays on its grid."""

import math

import networkx as nx
import numpy as np
import pytest

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import open_graph
from dpgraph.mechanisms import bounded_iterates
from dpgraph.mechanisms.bounded_iterates import (
    ITERATE_UNIT,
    FieldOracle,
    Schedule,
    is_pure,
    laplace_schedule,
    release_cut_labels,
    release_iterates,
    shrunken_degrees,
)
from dpgraph.mechanisms.field_tracker import FieldTracker
from dpgraph.privacy.ledger import EDGE_ADJACENCY, open_ledger
from dpgraph.privacy.noise import noise_source


def open_call(epsilon=1.0, rng=0):
    noise = noise_source(rng)
    ledger = open_ledger(epsilon=epsilon, delta=1e-6, accountant=None, adjacency=EDGE_ADJACENCY, noise=noise)
    return ledger, noise


@pytest.mark.parametrize("schedule", [Schedule(), Schedule(sweeps=1), Schedule(sweeps=7, growth=2.0)])
def test_the_shares_of_the_sweeps_add_up_to_one(schedule):
    shares = schedule.shares()
    assert len(shares) == schedule.sweeps
    assert np.sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("mean_degree", [-3.0, 0.0, 5.0, 1e4])
def test_laplace_noise_gets_two_to_four_sweeps(epsilon, mean_degree):
    assert 2 <= laplace_schedule(epsilon, mean_degree).sweeps <= 4


def test_noise_is_chosen_by_public_epsilon_alone():
    assert is_pure("auto", 1.0)
    assert not is_pure("auto", 4.0)
    assert is_pure("laplace", 4.0)
    assert not is_pure("gaussian", 1.0)
    with pytest.raises(InvalidParameterError, match="cauchy"):
        is_pure("cauchy", 1.0)


def test_pure_sweeps_spend_epsilon_in_the_l1_norm():
    noise = noise_source(0)
    ledger = open_ledger(epsilon=2.0, delta=None, accountant=None, adjacency=EDGE_ADJACENCY, noise=noise)
    G = open_graph(nx.gnp_random_graph(60, 0.3, seed=0)).read()
    release_cut_labels(G, mean_degree=18.0, ledger=ledger, share=1.0, noise=noise)
    assert [entry.mechanism for entry in ledger.entries] == ["Laplace"] * len(ledger.entries)
    assert [entry.sensitivity for entry in ledger.entries] == [1.0] + [2.0] * (len(ledger.entries) - 1)
    assert sum(entry.epsilon for entry in ledger.entries) == pytest.approx(2.0)


def test_each_sweep_releases_every_row_once_and_the_first_skips_its_first_block():
    looks = []
    oracle = FieldOracle(
        rows=50,
        columns=1,
        fields=lambda block, X: looks.append(block.copy()) or np.zeros((len(block), 1)),
        unit=ITERATE_UNIT,
        row_bound=1.0,
        row_bound_l1=1.0,
    )
    ledger, noise = open_call()
    schedule = Schedule(sweeps=3, blocks=5)
    release_iterates(
        oracle, bounded_iterates._Signs(), np.ones(50), ledger=ledger, share=1.0, noise=noise, schedule=schedule
    )
    assert sorted(np.concatenate(looks[:4])) == sorted(set(np.concatenate(looks[:4])))
    for sweep in range(2):
        rows = np.concatenate(looks[4 + 5 * sweep : 9 + 5 * sweep])
        assert sorted(rows) == list(range(50))
    assert [entry.sensitivity for entry in ledger.entries] == [1.0, math.sqrt(2.0), math.sqrt(2.0)]


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

    ledger, noise = open_call()
    release_cut_labels(Spy(), mean_degree=18.0, ledger=ledger, share=1.0, noise=noise)
    X = np.stack(seen)
    assert np.abs(X).max() <= 1.0
    assert np.array_equal(X, np.rint(X / ITERATE_UNIT) * ITERATE_UNIT)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101])
@pytest.mark.parametrize("balanced", [False, True])
def test_labels_are_zero_or_one_and_balanced_on_request(n, balanced):
    G = open_graph(nx.gnp_random_graph(n, 0.5, seed=1)).read()
    ledger, noise = open_call()
    labels = release_cut_labels(G, mean_degree=n / 2, ledger=ledger, share=1.0, noise=noise, balanced=balanced)
    assert labels.shape == (n,)
    assert set(labels.tolist()) <= {0, 1}
    if balanced:
        assert abs(2 * int(labels.sum()) - n) <= 1


def test_field_tracker_is_the_posterior_mean_of_repeated_looks_at_a_fixed_field():
    rng = np.random.default_rng(0)
    tracker = FieldTracker(np.full(1, 4.0), 1, prior=1.0, drift=1.0)
    looks = rng.normal(3.0, 2.0, size=10)
    for look in looks:
        tracker.observe(np.array([0]), np.array([[look]]), 4.0)
    precision = 1 / 4.0 + 10 / 4.0
    assert tracker.mean[0, 0] == pytest.approx(looks.sum() / 4.0 / precision)
    assert tracker.variance[0] == pytest.approx(1 / precision)


def test_field_tracker_forgets_when_the_iterate_moves():
    tracker = FieldTracker(np.full(2, 4.0), 1, prior=1.0, drift=1.0)
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
