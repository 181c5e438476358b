"""A bound that a later noise scale relies on fails at most as often as its ledger line says."""

import networkx as nx
import numpy as np
import pytest
from scipy import stats

import dpgraph
from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.releases.eigenspaces import gap_test as separate_tests
from dpgraph.releases.eigenspaces import stability_test
from dpgraph.tuning import EMBEDDING

RUNS = 400
#: So large that a failure rate can be seen; nobody would publish with it.
DELTA = 0.4


def run(call):
    """Reports of RUNS seeded calls, halted or not, and the delta share of each good event."""
    shares = {}
    for seed in range(RUNS):
        try:
            report = call(seed).privacy
        except MechanismHalted as halt:
            report = halt.privacy
        shares |= {line.name: line.delta_share for line in report.entries if line.delta_share}
    return shares


def at_most(count, share):
    """Whether `count` failures in RUNS runs are compatible with the promised share (one in 10**5 false alarms)."""
    return stats.binom.sf(count - 1, RUNS, share) > 1e-5


@pytest.fixture
def planted():
    rng = np.random.default_rng(0)
    n = 30
    U = np.linalg.qr(np.hstack([np.ones((n, 1)), rng.normal(size=(n, 2))]))[0]
    return (U * [60.0, 52.0, 45.0]) @ U.T, np.array([8.0, 7.0, 45.0])


def run_projector(planted, rank, certificate):
    A, _ = planted
    options = {"sensitivity": 1.0, "epsilon": 2.0, "delta": DELTA, "max_rank": 3}
    mechanism = dpgraph.strategies.Projector(certificate=certificate)
    return run(lambda seed: dpgraph.private_projector(A, rank, mechanism=mechanism, rng=seed, **options))


def separate_failures(planted, monkeypatch, rank):
    """Count: how often is the private gap bound above the gap, the coherence bound below the coherence?"""
    seen, gaps = [], planted[1]
    release = separate_tests._release_coherence

    def spy(U, gap, call, mu):
        bound, left = release(U, gap, call, mu)
        seen.append((gap > gaps[U.shape[1] - 1], bound < call.neighbours.coherence(U)))
        return bound, left

    monkeypatch.setattr(separate_tests, "_release_coherence", spy)
    shares = run_projector(planted, rank, "gap-and-coherence")
    return np.sum(seen, axis=0), shares


@pytest.mark.parametrize("rank", [3, "auto"])
def test_the_gap_and_the_coherence_are_overestimated_no_oftener_than_their_delta_shares(planted, monkeypatch, rank):
    (gap, coherence), shares = separate_failures(planted, monkeypatch, rank)
    assert at_most(gap, shares["gap lower bound"])
    assert at_most(coherence, shares["log-coherence upper bound"])
    assert sum(shares.values()) <= DELTA


def undeserved_passes(planted, monkeypatch, rank):
    """Count passes of the stability test when every state is one step away from leaving the safe set."""
    passed, quantiles = [], []
    measure, good_event = stability_test._measure, Call.good_event

    def remember(*arguments, **options):
        quantiles.append(good_event(*arguments, **options))
        return quantiles[-1]

    def spy(private, *arguments):
        measured, std = measure(private, *arguments)
        passed.append(measured - quantiles[-1] * std - stability_test._shift(private.n) > 1)
        return measured, std

    monkeypatch.setattr(Call, "good_event", remember)

    monkeypatch.setattr(stability_test, "_measure", spy)
    monkeypatch.setattr(stability_test, "steps_to_exit", lambda *_, **__: 1.0)
    shares = run_projector(planted, rank, "stability")
    assert sum(shares.values()) <= DELTA
    return passed, max(shares.values())


@pytest.mark.parametrize("rank", [3, "auto"])
def test_the_stability_test_passes_without_reason_no_oftener_than_its_delta_share(planted, monkeypatch, rank):
    passed, share = undeserved_passes(planted, monkeypatch, rank)
    assert len(passed) >= RUNS
    assert stats.binom.sf(sum(passed) - 1, len(passed), share) > 1e-5


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
    (gap, _), shares = separate_failures(planted, monkeypatch, 3)
    assert not at_most(gap, shares["gap lower bound"])


def test_mutant_slack_dropped_is_caught_by_the_count_of_undeserved_passes(planted, monkeypatch, no_slack):
    passed, share = undeserved_passes(planted, monkeypatch, 3)
    assert not stats.binom.sf(sum(passed) - 1, len(passed), share) > 1e-5


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
    assert EMBEDDING.regularization > 0
