"""Mechanisms on general symmetric and rectangular matrices."""

import numpy as np
import pytest
from scipy import sparse

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
    with pytest.raises(dpgraph.InvalidParameterError, match="mechanism must be one of"):
        dpgraph.private_projector(A, 2, sensitivity=1.0, epsilon=2.0, delta=1e-6, mechanism="power")


def test_eigenspace_follows_the_order_of_eigenvalues_not_of_sizes():
    A = U @ np.diag([600.0, -900.0]) @ U.T
    largest = dpgraph.private_eigenspace(A, 1, sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0)
    smallest = dpgraph.private_eigenspace(A, 1, which="smallest", sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0)
    assert abs(U[:, 0] @ largest.basis[:, 0]) > 0.95
    assert abs(U[:, 1] @ smallest.basis[:, 0]) > 0.95


def test_sparse_and_dense_input_give_the_same_release():
    A = np.zeros((n, n))
    A[: n // 2, n // 2 :] = A[n // 2 :, : n // 2] = 3.0
    kwargs = {"sensitivity": 1.0, "epsilon": 2.0, "delta": 1e-6}
    dense = dpgraph.private_spectrum(A, 3, rng=1, **kwargs)
    csr = dpgraph.private_spectrum(sparse.csr_array(A), 3, rng=1, **kwargs)
    assert np.array_equal(dense.values, csr.values)


def test_rectangular_spectrum_lists_each_singular_value_once():
    A = 500 * np.outer(np.ones(40), np.ones(20)) / np.sqrt(800)
    result = dpgraph.private_spectrum(A, 2, sensitivity=1.0, epsilon=8.0, delta=1e-6, rng=0)
    assert result.values.shape == (2,)
    assert result.values[0] == pytest.approx(500, abs=8 * result.std)
    assert result.values[1] == pytest.approx(0, abs=8 * result.std)


def test_coherence_bound_covers_the_exact_value():
    A = 900 * np.outer(U[:, 0], U[:, 0])
    result = dpgraph.private_coherence(A, 1, sensitivity=1.0, epsilon=2.0, delta=1e-6, rng=0)
    assert result.upper_bound >= dpgraph.spectral.coherence(U[:, :1]) - 1e-9
    assert result.value <= result.upper_bound


@pytest.mark.parametrize("function", ["private_projector", "private_low_rank", "private_eigenspace"])
def test_a_matrix_without_gap_halts(function):
    with pytest.raises(dpgraph.MechanismHalted) as halt:
        getattr(dpgraph, function)(np.eye(50), 2, sensitivity=1.0, epsilon=1.0, delta=1e-6, rng=0)
    assert halt.value.stage == "gap"


@pytest.mark.parametrize(
    ("matrix", "error"),
    [
        (np.ones((3, 4)), dpgraph.InvalidParameterError),
        (np.array([[0.0, 1.0], [2.0, 0.0]]), dpgraph.InvalidGraphError),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), dpgraph.InvalidGraphError),
        (np.zeros((0, 0)), dpgraph.InvalidParameterError),
        ([[0.0]], dpgraph.InvalidParameterError),
    ],
)
def test_bad_matrices_get_clear_errors(matrix, error):
    with pytest.raises(error):
        dpgraph.private_low_rank(matrix, 1, sensitivity=1.0, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize("sensitivity", [0.0, -1.0, float("nan"), float("inf")])
def test_sensitivity_must_be_positive_and_finite(sensitivity):
    with pytest.raises(dpgraph.InvalidParameterError, match="sensitivity"):
        dpgraph.private_projector(np.eye(4), 1, sensitivity=sensitivity, epsilon=1.0, delta=1e-6)


def test_exact_coherences_of_known_matrices():
    assert dpgraph.spectral.coherence(np.eye(4)[:, :1]) == pytest.approx(4.0)
    assert dpgraph.spectral.basic_coherence(np.diag([2.0, 1.0])) == pytest.approx(2.0)
    assert dpgraph.spectral.threshold_rank(np.diag([1.0, -0.8, 0.1]), 0.5) == 2
    assert dpgraph.spectral.threshold_rank(np.diag([1.0, -0.8, 0.1]), 0.5, order="largest") == 1
    with pytest.raises(dpgraph.InvalidParameterError, match="orthonormal"):
        dpgraph.spectral.coherence(np.ones((4, 2)))
