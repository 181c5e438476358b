"""The probability that a certificate of eigenvalues is wrong is a line of the ledger, and of the delta of the call."""

import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.linalg import eigen
from dpgraph.privacy.accounting import gdp_delta
from dpgraph.problems.options import Coherence

n = 750  # more than LAPACK decomposes
SPREAD = np.full((n, n), 500.0 / n)
GRAPH = dpgraph.datasets.planted_cut(n, 200, -0.8, rng=0)
MATRIX = {"sensitivity": 1.0, "epsilon": 20.0}
PROJECTOR = MATRIX | {"mechanism": "coherence"}

CALLS = {
    "spectrum of a matrix": lambda delta, **o: dpgraph.private_spectrum(SPREAD, 2, delta=delta, **MATRIX, **o),
    "spectrum of a graph": lambda delta, **o: dpgraph.private_spectrum(GRAPH, 2, epsilon=20.0, delta=delta, **o),
    "spectrum, given tau": lambda delta, **o: dpgraph.private_spectrum(
        GRAPH, 2, epsilon=20.0, delta=delta, regularization=300.0, **o
    ),
    "coherence": lambda delta, **o: dpgraph.private_coherence(SPREAD, 1, delta=delta, **MATRIX, **o),
    "projector": lambda delta, **o: dpgraph.private_projector(SPREAD, 1, delta=delta, **PROJECTOR, **o),
    "eigenspace": lambda delta, **o: dpgraph.private_eigenspace(SPREAD, 1, delta=delta, **PROJECTOR, **o),
    "normalized adjacency": lambda delta, **o: dpgraph.private_normalized_adjacency(
        GRAPH, epsilon=20.0, delta=delta, rank=2, mechanism="coherence", regularization=300.0, **o
    ),
    "two tests": lambda delta, **o: dpgraph.private_normalized_adjacency(
        GRAPH, epsilon=20.0, delta=delta, rank=2, mechanism=Coherence(certificate="gap-and-coherence"), **o
    ),
}


def report_of(call, delta, **options):
    try:
        return call(delta, rng=0, **options).privacy
    except MechanismHalted as halt:
        return halt.privacy


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("delta", [1e-3, 1e-300])
def test_the_certificates_of_a_call_fail_no_oftener_than_its_ledger_says(call, delta, monkeypatch):
    allowed, search = [], eigen._largest_value

    def spy(*arguments, failure, **options):
        allowed.append(failure)
        return search(*arguments, failure=failure, **options)

    monkeypatch.setattr(eigen, "_largest_value", spy)
    report = report_of(call, delta)
    shares = [line.delta_share for line in report.entries if line.name.startswith("eigenvalues, ")]
    assert allowed, "no certificate was needed"
    assert len(shares) == len(allowed)
    for share, failure in zip(shares, allowed, strict=True):
        assert eigen._ATTEMPTS * failure <= share <= min(1e-9, 1e-3 * delta) * (1 + 1e-12)
    events = sum(line.delta_share for line in report.entries)
    assert events <= report.delta_slack * (1 + 1e-9)
    assert gdp_delta(report.mu, report.epsilon) + report.delta_slack <= delta * (1 + 1e-6)


def test_what_lapack_decomposes_needs_no_certificate():
    small = np.full((60, 60), 500.0 / 60)
    report = dpgraph.private_spectrum(small, 2, delta=1e-6, rng=0, **MATRIX).privacy
    assert report.delta_slack == 0
    assert not any(line.delta_share for line in report.entries)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_delta_too_small_to_be_shared_is_refused_before_the_debit(call):
    accountant = dpgraph.PrivacyAccountant(epsilon=100.0, delta=0.5)
    with pytest.raises(InvalidParameterError, match="1e-300"):
        call(1e-301, accountant=accountant)
    assert (accountant.spent.epsilon, accountant.spent.delta) == (0, 0)


def test_pure_calls_use_no_certificate(monkeypatch):
    def never(*_arguments, **_options):
        raise AssertionError("a pure call relies on a random start")

    monkeypatch.setattr(eigen, "_largest_value", never)
    pure = dpgraph.private_normalized_adjacency(GRAPH, epsilon=2.0, delta=1e-6, rank=1, mechanism="noisy-power", rng=0)
    assert pure.privacy.delta == 0
    answers = dpgraph.private_normalized_adjacency(
        GRAPH, epsilon=2.0, delta=1e-6, rank=2, mechanism="randomized-response", rng=0
    )
    assert answers.privacy.delta == 0
    assert dpgraph.private_max_cut(GRAPH, epsilon=2.0, rng=0).privacy.epsilon == 2.0


@pytest.mark.parametrize("mutant", ["failure forgotten", "one try charged"])
def test_mutant_certificates_that_are_not_charged_are_caught(mutant, monkeypatch):
    from dpgraph.releases.eigenspaces import spectrum

    values = spectrum.leading_values
    factor = 1e9 if mutant == "failure forgotten" else eigen._ATTEMPTS

    def generous(*arguments, failure, **options):
        return values(*arguments, failure=factor * failure, **options)

    monkeypatch.setattr(spectrum, "leading_values", generous)
    with pytest.raises(AssertionError):
        test_the_certificates_of_a_call_fail_no_oftener_than_its_ledger_says(
            CALLS["spectrum of a graph"], 1e-15, monkeypatch
        )
