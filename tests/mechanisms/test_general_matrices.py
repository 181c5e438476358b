"""Mechanisms on general symmetric and rectangular matrices."""

import numpy as np
import pytest

import dpgraph

RNG = np.random.default_rng(0)
n = 300
U = np.linalg.qr(RNG.choice([-1.0, 1.0], size=(n, 2)))[0]


def test_projector_and_low_rank_recover_two_flat_spikes():
    A = U @ np.diag([900.0, -700.0]) @ U.T
    projector = dpgraph.private_projector(A, 2, sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0)
    assert np.linalg.norm(projector.projector() - U @ U.T, 2) < 0.2
    low_rank = dpgraph.private_low_rank(A, sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0)
    assert low_rank.rank == 2
    assert np.linalg.norm(low_rank.matrix() - A, 2) < 0.2 * 900


def test_noisy_power_recovers_spikes_of_both_signs_and_answers_without_a_gap():
    A = U @ np.diag([900.0, -700.0]) @ U.T
    options = {"sensitivity": 1.0, "epsilon": 2.0, "delta": 1e-6, "mechanism": "noisy-power", "rng": 0}
    low_rank = dpgraph.private_low_rank(A, 2, **options)
    assert np.linalg.norm(low_rank.matrix() - A, 2) < 0.05 * 900
    assert np.allclose(np.sort(low_rank.spectrum), [700, 900], rtol=0.02)
    assert dpgraph.private_projector(np.eye(50), 2, **options).rank == 2


def test_eigenspace_follows_the_order_of_eigenvalues_not_of_sizes():
    A = U @ np.diag([600.0, -900.0]) @ U.T
    for mechanism in ("coherence", "noisy-power", "gaussian"):
        budget = {"sensitivity": 1.0, "epsilon": 4.0, "delta": 1e-6, "rng": 0, "mechanism": mechanism}
        largest = dpgraph.private_eigenspace(A, 1, **budget)
        smallest = dpgraph.private_eigenspace(A, 1, which="smallest", **budget)
        assert abs(U[:, 0] @ largest.basis[:, 0]) > 0.95, mechanism
        assert abs(U[:, 1] @ smallest.basis[:, 0]) > 0.95, mechanism


def test_rectangular_spectrum_lists_each_singular_value_once():
    A = 500 * np.outer(np.ones(40), np.ones(20)) / np.sqrt(800)
    result = dpgraph.private_spectrum(A, 2, sensitivity=1.0, epsilon=8.0, delta=1e-6, rng=0)
    assert result.values.shape == (2,)
    assert result.values[0] == pytest.approx(500, abs=8 * result.std)
    assert result.values[1] == pytest.approx(0, abs=8 * result.std)


BUDGET = {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6, "rng": 0}
FUNCTIONS = ("private_projector", "private_low_rank", "private_eigenspace", "private_singular_subspace")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_matrix_without_gap_halts_the_projector_and_not_what_auto_takes(function):
    call = getattr(dpgraph, function)
    with pytest.raises(dpgraph.MechanismHalted) as halt:
        call(np.eye(50), 2, mechanism="coherence", **BUDGET)
    assert halt.value.stage == "gap"
    assert call(np.eye(50), 2, **BUDGET).privacy.epsilon == 1.0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_auto_takes_products_for_a_given_rank_and_a_projector_where_a_rank_or_a_certificate_is_asked_for(function):
    A = U @ np.diag([900.0, 700.0]) @ U.T
    call = getattr(dpgraph, function)

    def lines(rank, **options):
        return {entry.name for entry in call(A, rank, **BUDGET | {"epsilon": 8.0} | options).privacy.entries}

    assert lines(2) & {"product 1", "left product 1"}
    assert lines(2) == lines(2, certificate="gap-and-coherence") == lines(2, mechanism=dpgraph.strategies.NoisyPower())
    assert {"spectrum", "projector"} <= lines("auto") == lines("auto", mechanism="coherence")
    stable = lines(2, certificate="stability")
    assert stable == lines(2, mechanism=dpgraph.strategies.Projector(certificate="stability"))
    assert "steps to instability 1" in stable
    assert {line.partition(" ")[0] for line in lines("auto", mechanism="gaussian")} == {"matrix"}


@pytest.mark.parametrize("mechanism", ["auto", "coherence", "noisy-power", "gaussian"])
def test_every_strategy_finds_flat_singular_vectors_of_a_wide_matrix(mechanism):
    left, right = np.ones(40) / np.sqrt(40), np.repeat([1.0, -1.0], 150) / np.sqrt(300)
    budget = BUDGET | {"epsilon": 4.0, "mechanism": mechanism}
    found = dpgraph.private_singular_subspace(600 * np.outer(left, right), 1, **budget)
    assert abs(left @ found.left[:, 0]) > 0.99
    assert abs(right @ found.right[:, 0]) > 0.99
    assert found.spectrum[0] == pytest.approx(600, rel=0.05)


def test_exact_coherences_of_known_matrices():
    assert dpgraph.spectral.coherence(np.eye(4)[:, :1]) == pytest.approx(4.0)
    assert dpgraph.spectral.basic_coherence(np.diag([2.0, 1.0])) == pytest.approx(2.0)
    assert dpgraph.spectral.threshold_rank(np.diag([1.0, -0.8, 0.1]), 0.5) == 2
    assert dpgraph.spectral.threshold_rank(np.diag([1.0, -0.8, 0.1]), 0.5, order="largest") == 1
    with pytest.raises(dpgraph.InvalidParameterError, match="orthonormal"):
        dpgraph.spectral.coherence(np.ones((4, 2)))
