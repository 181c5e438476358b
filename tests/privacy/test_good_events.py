"""A bound that a later noise scale relies on fails at most as often as its ledger line says."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

import dpgraph
from dpgraph.exceptions import MechanismHalted
from dpgraph.mechanisms import normalized_adjacency, subspace
from dpgraph.privacy.ledger import Ledger

RUNS = 400
#: So large that a failure rate can be seen; nobody would publish with it.
DELTA = 0.4


def failures(call, monkeypatch, exact_gap):
    """Run and count: how often is the private gap bound above the gap, the coherence bound below the coherence?"""
    seen = []
    release = subspace._release_coherence

    def spy(U, neighbours, gap, *arguments):
        bound, left = release(U, neighbours, gap, *arguments)
        seen.append((gap > exact_gap(U.shape[1]), bound < neighbours.coherence(U)))
        return bound, left

    monkeypatch.setattr(subspace, "_release_coherence", spy)
    shares = {}
    for seed in range(RUNS):
        try:
            report = call(seed).privacy
        except MechanismHalted as halt:
            report = halt.privacy
        shares |= {line.name: line.delta_share for line in report.entries if line.delta_share}
    return np.sum(seen, axis=0), shares


def at_most(count, share):
    """Whether `count` failures in RUNS runs are compatible with the promised share (one in 10**5 false alarms)."""
    return stats.binom.sf(count - 1, RUNS, share) > 1e-5


@pytest.fixture
def planted():
    rng = np.random.default_rng(0)
    n = 30
    U = np.linalg.qr(np.hstack([np.ones((n, 1)), rng.normal(size=(n, 2))]))[0]
    return (U * [60.0, 52.0, 45.0]) @ U.T, np.array([8.0, 7.0, 45.0])


def run_projector(planted, monkeypatch, rank):
    A, gaps = planted
    options = {"sensitivity": 1.0, "epsilon": 2.0, "delta": DELTA, "max_rank": 3}
    return failures(
        lambda seed: dpgraph.private_projector(A, rank, rng=seed, **options), monkeypatch, lambda r: gaps[r - 1]
    )


@pytest.mark.parametrize("rank", [3, "auto"])
def test_the_gap_and_the_coherence_are_overestimated_no_oftener_than_their_delta_shares(planted, monkeypatch, rank):
    (gap, coherence), shares = run_projector(planted, monkeypatch, rank)
    assert at_most(gap, shares["gap lower bound"])
    assert at_most(coherence, shares["log-coherence upper bound"])
    assert sum(shares.values()) <= DELTA


def minimum_degree_failures():
    """How often is the private lower bound m above the smallest c of some neighbour?"""
    G = nx.random_regular_graph(8, 30, seed=0)
    high, shares = 0, {}
    for seed in range(RUNS):
        try:
            private = dpgraph.private_normalized_adjacency(
                G, epsilon=4.0, delta=DELTA, rank=1, regularization=2.0, mechanism="gaussian", rng=seed
            )
        except MechanismHalted:
            continue
        high += private.lower > 8 + 2.0 - 1.0
        shares = {line.name: line.delta_share for line in private.privacy.entries if line.delta_share}
    return high, shares


def test_the_minimum_degree_is_overestimated_no_oftener_than_its_delta_share():
    high, shares = minimum_degree_failures()
    assert at_most(high, shares["minimum degree lower bound"])


# --- the mutants: without the slack the same counts accuse ------------------------------------------------------


@pytest.fixture
def no_slack(monkeypatch):
    record = Ledger.good_event

    def good_event(self, *arguments, **options):
        record(self, *arguments, **options)
        return 0.0

    monkeypatch.setattr(Ledger, "good_event", good_event)


def test_mutant_slack_dropped_is_caught_by_the_gap_count(planted, monkeypatch, no_slack):
    (gap, _), shares = run_projector(planted, monkeypatch, 3)
    assert not at_most(gap, shares["gap lower bound"])


def test_mutant_slack_dropped_is_caught_by_the_degree_count(no_slack):
    high, shares = minimum_degree_failures()
    assert not at_most(high, shares["minimum degree lower bound"])


def test_the_lower_bound_of_an_automatic_regularisation_needs_no_luck():
    G = nx.star_graph(20)
    for seed in range(50):
        private = dpgraph.private_normalized_adjacency(
            G, epsilon=1.0, delta=0.5, mechanism="gaussian", rank=1, rng=seed
        )
        assert private.lower <= private.regularization
    assert normalized_adjacency.REGULARIZATION_MULTIPLE > 0
