"""A bound that a later noise scale relies on fails at most as often as its ledger line says.

Every place that enters an event is found in the source, and has its count here (:data:`COUNTED`).
"""

import ast
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import stats

import dpgraph
from dpgraph.compiled import Rows
from dpgraph.exceptions import DPGraphError, MechanismHalted
from dpgraph.privacy import ledger
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.problems.matrices import subspace_strategies
from dpgraph.releases import subgraphs
from dpgraph.releases.eigenspaces import gap_test as separate_tests
from dpgraph.releases.eigenspaces import stability_test
from dpgraph.spectral import coherence
from dpgraph.tuning import EMBEDDING

PACKAGE = Path(dpgraph.__file__).parent
RUNS = 250
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


#: Twenty vertices that all know each other, but for a few pairs.
DENSE = nx.complement(nx.path_graph(20))


def local_bound_failures(pattern):
    """Runs in which a bound on a width was too low: it is the sensitivity of the line that comes next in the ledger."""
    A = nx.to_scipy_sparse_array(DENSE, format="csr")
    widths = subgraphs.Subgraphs(*Rows.of(A)[:2]).widths(pattern)[:-1]
    low, shares = {f"{pattern}, width {j} below its bound": 0 for j in range(len(widths))}, {}
    for seed in range(RUNS):
        report = dpgraph.private_subgraph_counts(
            DENSE, pattern, epsilon=1.0, delta=DELTA, mechanism="local-sensitivity", rng=seed
        ).privacy
        bounds = [line.sensitivity for line in report.entries if not line.delta_share][1:]
        for j, bound in zip(reversed(range(len(widths))), bounds, strict=True):
            low[f"{pattern}, width {j} below its bound"] += bound < widths[j]
        shares = {line.name: line.delta_share for line in report.entries if line.delta_share}
        assert sum(shares.values()) <= report.delta_slack * (1 + 1e-9) <= DELTA * (1 + 1e-9)
    return low, shares


@pytest.mark.parametrize("pattern", ["triangle", "3-star", "4-cycle"])
def test_a_bound_on_a_width_is_too_low_no_oftener_than_its_delta_share(pattern):
    low, shares = local_bound_failures(pattern)
    assert low.keys() == shares.keys()
    assert all(at_most(low[name], shares[name]) for name in low)


def test_all_patterns_of_a_call_share_its_delta():
    patterns = ("triangle", "4-cycle", "wedge")
    report = dpgraph.private_subgraph_counts(
        DENSE, patterns, epsilon=1.0, delta=DELTA, mechanism="local-sensitivity", rng=0
    ).privacy
    shares = [line.delta_share for line in report.entries if line.delta_share]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(DELTA)


def coherence_failures(planted):
    """From the published bounds alone: how often is the gap too large, or the bound on the coherence too small?"""
    A, gaps = planted
    exact, high, low, shares = coherence(A, 3), 0, 0, {}
    for seed in range(RUNS):
        found = dpgraph.private_coherence(A, 3, sensitivity=1.0, epsilon=2.0, delta=DELTA, rng=seed)
        high, low = high + (found.gap > gaps[2]), low + (found.upper_bound < exact)
        shares = {line.name: line.delta_share for line in found.privacy.entries if line.delta_share}
    return {"gap lower bound": high, "log-coherence upper bound": low}, shares


def spectral_norm_failures(planted, monkeypatch):
    """How often is a matrix, shifted by its noisy spectral norm, not positive, or that of a neighbour not?"""
    A, low = planted[0], []
    shifted = subspace_strategies._shifted

    def spy(matrix, norm, call):
        result = shifted(matrix, norm, call)
        low.append((result - matrix)[0, 0] < np.linalg.norm(A, 2) + norm)
        return result

    monkeypatch.setattr(subspace_strategies, "_shifted", spy)
    options = {"sensitivity": 1.0, "epsilon": 2.0, "delta": DELTA, "mechanism": "coherence", "which": "smallest"}
    shares = run(lambda seed: dpgraph.private_eigenspace(-A, 1, rng=seed, **options))
    assert len(low) == RUNS
    return {"spectral norm upper bound": sum(low)}, shares


def test_the_published_gap_and_coherence_are_wrong_no_oftener_than_their_delta_shares(planted):
    wrong, shares = coherence_failures(planted)
    assert all(at_most(wrong[name], shares[name]) for name in wrong)


def test_the_spectral_norm_is_underestimated_no_oftener_than_its_delta_share(planted, monkeypatch):
    wrong, shares = spectral_norm_failures(planted, monkeypatch)
    assert all(at_most(wrong[name], shares[name]) for name in wrong)


#: (module, name of an event) -> where its failures are counted.
COUNTED = {
    ("releases/subgraphs.py", "{}, width {} below its bound"): local_bound_failures,
    ("releases/eigenspaces/gap_test.py", "gap lower bound"): separate_failures,
    ("releases/eigenspaces/gap_test.py", "log-coherence upper bound"): separate_failures,
    ("releases/eigenspaces/stability_test.py", "stability test {}"): undeserved_passes,
    ("releases/eigenspaces/spectrum.py", "eigenvalues, {}"): "test_eigenvalue_certificates.py",
    ("releases/normalized.py", "minimum degree lower bound"): minimum_degree_failures,
    ("problems/matrices/diagnostics.py", "gap lower bound"): coherence_failures,
    ("problems/matrices/diagnostics.py", "log-coherence upper bound"): coherence_failures,
    ("problems/matrices/subspace_strategies.py", "spectral norm upper bound"): spectral_norm_failures,
}


def name_of(node):
    """A string of the source, with {} for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) else None


def test_every_event_that_the_package_enters_is_counted():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "_event" in text else ():
            entered = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if (
                entered
                and node.func.attr in ("good_event", "laplace_event", "rare_event")
                and path.parent.name != "privacy"
            ):
                found.add((path.relative_to(PACKAGE).as_posix(), name_of(node.args[0])))
    assert found == COUNTED.keys()


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


def test_mutant_slack_dropped_is_caught_by_the_counts_of_published_bounds(planted, no_slack):
    wrong, shares = coherence_failures(planted)
    assert not any(at_most(wrong[name], shares[name]) for name in wrong)


def test_mutant_slack_dropped_is_caught_by_the_count_of_spectral_norms(planted, monkeypatch, no_slack):
    wrong, shares = spectral_norm_failures(planted, monkeypatch)
    assert not any(at_most(wrong[name], shares[name]) for name in wrong)


@pytest.mark.parametrize("pattern", ["3-star", "4-cycle"])
def test_mutant_every_width_fails_with_all_of_delta_is_caught_by_the_count(pattern, monkeypatch):
    quantile = ledger.laplace_quantile
    monkeypatch.setattr(ledger, "laplace_quantile", lambda scale, failure: quantile(scale, 2 * failure))
    low, shares = local_bound_failures(pattern)
    assert not all(at_most(low[name], shares[name]) for name in low)


def test_mutant_every_width_enters_all_of_delta_is_refused(monkeypatch):
    release = subgraphs.release_by_local_bounds
    monkeypatch.setattr(
        "dpgraph.problems.counts.subgraphs.release_by_local_bounds",
        lambda graph, pattern, call, delta: release(graph, pattern, call, 2 * delta),
    )
    with pytest.raises(DPGraphError, match="exceeds the budget"):
        local_bound_failures("4-cycle")


def test_the_lower_bound_of_an_automatic_regularisation_needs_no_luck():
    G = nx.star_graph(20)
    for seed in range(50):
        private = dpgraph.private_normalized_adjacency(
            G, epsilon=1.0, delta=0.5, mechanism="gaussian", rank=1, rng=seed
        )
        assert private.lower <= private.regularization
    assert EMBEDDING.regularization > 0
