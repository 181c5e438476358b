"""The r x r core of a private adjacency, released with pure privacy."""

import numpy as np
import pytest
from scipy import stats

import dpgraph
from dpgraph.bounds.neighbours import EdgeNeighbours, MatrixNeighbours
from dpgraph.exceptions import DPGraphError, InvalidParameterError
from dpgraph.privacy.accounting import pure_dp_epsilon, pure_dp_mu
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.matrix_noise import MatrixLaw
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.options import Coherence
from dpgraph.releases.eigenspaces.projector import release_core

G = dpgraph.datasets.planted_cut(200, 100, -0.8, rng=0)
CALL = {"epsilon": 60.0, "delta": 1e-6, "rank": 2}


def gaussian_call(epsilon=1.0, delta=1e-6):
    return open_call(epsilon=epsilon, delta=delta, accountant=None, relation=Edge(), noise=noise_source(0)).ledger


def released(neighbours, Q, law, mu, seeds):
    cores, ledger = [], None
    for seed in seeds:
        ledger = gaussian_call(epsilon=20.0)
        part = Call(ledger, noise_source(seed), mu=mu)
        cores.append(release_core(np.zeros((len(Q),) * 2), Q, neighbours, part, law=law))
    return np.array(cores), ledger.entries[-1]


def test_the_ledger_states_the_pure_epsilon_of_the_core_and_what_it_costs():
    private = dpgraph.private_normalized_adjacency(
        G, **CALL, mechanism=Coherence(core_noise="wishart-difference"), rng=0
    )
    line = private.privacy.entries[-1]
    assert (line.name, line.mechanism) == ("core", "wishart-difference")
    assert line.epsilon > 0
    assert line.mu >= pure_dp_mu(line.epsilon) * (1 - 1e-9)
    assert line.scale == pytest.approx(line.sensitivity / line.epsilon)
    assert sum(entry.mu**2 for entry in private.privacy.entries) <= private.privacy.mu**2 * (1 + 1e-9)


def test_only_the_core_depends_on_the_law_of_its_noise():
    gaussian, wishart = (
        dpgraph.private_normalized_adjacency(G, **CALL, mechanism=Coherence(core_noise=law), rng=0)
        for law in ("gaussian", "wishart-difference")
    )
    assert np.array_equal(gaussian.basis, wishart.basis)
    assert np.array_equal(gaussian.degrees, wishart.degrees)
    assert not np.array_equal(gaussian.core, wishart.core)
    assert np.abs(gaussian.core - wishart.core).max() < 0.02


def test_the_core_gets_wishart_noise_of_the_stated_scale():
    # One dimension: Laplace. The basis is public, the matrix 0, so that only noise is released.
    Q = np.full((50, 1), 50**-0.5)
    neighbours = EdgeNeighbours(1.0, 30.0, 20.0, np.full(50, 20.0))
    cores, line = released(neighbours, Q, "wishart-difference", 0.1, range(600))
    assert line.sensitivity == pytest.approx(neighbours.core_nuclear(Q), rel=1e-3)
    assert stats.kstest(cores[:, 0, 0], stats.laplace(scale=line.scale).cdf).pvalue > 1e-3


@pytest.mark.parametrize("r", [2, 8])
def test_at_small_epsilon_pure_noise_is_larger_by_the_documented_factor(r):
    Q = np.linalg.qr(np.random.default_rng(r).normal(size=(60, r)))[0]
    neighbours = EdgeNeighbours(1.0, 30.0, 20.0, np.full(60, 20.0))
    size = [
        np.sqrt(np.mean(np.sum(released(neighbours, Q, law, 0.05, range(300))[0] ** 2, axis=(1, 2))))
        for law in ("wishart-difference", "gaussian")
    ]
    assert size[0] / size[1] == pytest.approx(1.25 * np.sqrt(r + 1), rel=0.08)


def test_a_general_matrix_moves_its_core_by_sqrt_r_times_more_in_nuclear_norm():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 4)))[0]
    neighbours = MatrixNeighbours(1.0)
    assert neighbours.core_nuclear(Q) == pytest.approx(2 * neighbours.core(Q))
    _, line = released(neighbours, Q, "wishart-difference", 0.1, [0])
    assert line.sensitivity == pytest.approx(neighbours.core_nuclear(Q), rel=1e-3)


def test_half_the_noise_on_the_core_is_found_by_an_audit(monkeypatch):
    Q = np.full((50, 1), 50**-0.5)
    neighbours = EdgeNeighbours(1.0, 30.0, 20.0, np.full(50, 20.0))
    mu, runs = pure_dp_mu(1.0), 1500

    def certified():
        """Lower confidence bound (99.9 %) on epsilon of cores 0 and 1 sensitivity apart, from one fixed event."""
        cores, line = released(neighbours, Q, "wishart-difference", mu, range(2 * runs))
        shift = line.sensitivity
        hits = [int(np.sum(cores[:runs, 0, 0] > shift)), int(np.sum(cores[runs:, 0, 0] + shift > shift))]
        low = stats.beta.ppf(5e-4, hits[1], runs - hits[1] + 1)
        high = stats.beta.ppf(1 - 5e-4, hits[0] + 1, runs - hits[0])
        return np.log(low / high)

    assert 0.6 < certified() <= 1.0
    honest = MatrixLaw.difference
    monkeypatch.setattr(MatrixLaw, "difference", lambda laws, noise, d, scale: honest(laws, noise, d, scale / 2))
    assert certified() > 1.0


@pytest.mark.parametrize("mu", [1e-3, 0.2, 1.0, 8.0, 60.0])
def test_epsilon_and_mu_of_a_pure_release_are_inverse_to_each_other(mu):
    assert pure_dp_mu(pure_dp_epsilon(mu)) == pytest.approx(mu, rel=1e-9)


@pytest.mark.parametrize("mu", [0.0, -1.0, float("inf"), float("nan")])
def test_a_release_without_budget_has_no_epsilon(mu):
    with pytest.raises(InvalidParameterError, match="mu"):
        pure_dp_epsilon(mu)


def test_a_pure_release_in_a_gaussian_call_is_charged_in_full():
    ledger = gaussian_call()
    with pytest.raises(DPGraphError, match="less than it costs"):
        ledger.pure("core", mechanism="wishart-difference", sensitivity=1.0, epsilon=1.0, mu=0.1)
    with pytest.raises(DPGraphError, match="exceeds the budget"):
        ledger.pure("core", mechanism="wishart-difference", sensitivity=1.0, epsilon=1.0, mu=pure_dp_mu(1.0))
    with pytest.raises(DPGraphError, match="exceeds the budget"):
        ledger.pure("core", mechanism="wishart-difference", sensitivity=1.0, epsilon=0.01)


def test_a_core_noise_that_does_not_exist_costs_no_budget():
    accountant = dpgraph.PrivacyAccountant(epsilon=100.0, delta=1e-6)
    with pytest.raises(InvalidParameterError, match="core_noise"):
        dpgraph.private_normalized_adjacency(
            G, epsilon=1.0, delta=1e-6, mechanism=Coherence(core_noise="laplace"), accountant=accountant
        )
    assert accountant.spent.epsilon == 0.0
