"""Perturb and project: the noise that the ledger says, the projection that was asked for, the error of the theorem."""

import numpy as np
import pytest
from scipy import stats

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import gdp_mu
from dpgraph.problems.matrices.perturb_and_project import perturb_and_project
from dpgraph.problems.matrices.symmetric import private_symmetric_matrix
from dpgraph.projections import Box, FrobeniusBall, PSDCone, averaged_projections, dykstra

WIDE = Box(-1e9, 1e9)
BUDGET = {"sensitivity": 1.0, "epsilon": 1.0, "delta": 1e-6}


def test_the_noise_has_the_analytic_scale_that_the_ledger_states():
    noisy = perturb_and_project(np.zeros((60, 50)), WIDE, **BUDGET, rng=0)
    scale = noisy.privacy.entries[0].scale
    assert scale == pytest.approx(1.0 / gdp_mu(1.0, 1e-6), rel=1e-5)
    assert stats.kstest(noisy.matrix.ravel(), stats.norm(scale=scale).cdf).pvalue > 1e-3


def test_symmetric_data_get_symmetric_noise_of_half_the_squared_norm():
    n = 80
    noisy = perturb_and_project(np.zeros((n, n)), WIDE, **BUDGET, symmetric=True, rng=0)
    Z, scale = noisy.matrix, noisy.privacy.entries[0].scale
    assert np.array_equal(Z, Z.T)
    assert stats.kstest(np.diagonal(Z), stats.norm(scale=scale).cdf).pvalue > 1e-3
    assert stats.kstest(Z[np.triu_indices(n, 1)], stats.norm(scale=scale / np.sqrt(2)).cdf).pvalue > 1e-3


def test_an_array_declared_symmetric_is_symmetrised_rather_than_refused():
    A = np.array([[0.0, 4.0], [0.0, 0.0]])
    one = perturb_and_project(A, WIDE, **BUDGET, symmetric=True, rng=5).matrix
    other = perturb_and_project(A.T, WIDE, **BUDGET, symmetric=True, rng=5).matrix
    assert np.array_equal(one, other)


@pytest.mark.parametrize("method", ["dykstra", "averaged"])
def test_the_result_is_the_named_projection_of_the_noisy_array(method):
    A, sets = np.eye(12), [PSDCone(), Box(-1.0, 1.0)]
    noisy = perturb_and_project(A, WIDE, **BUDGET, symmetric=True, rng=3).matrix
    private = perturb_and_project(A, sets, **BUDGET, method=method, symmetric=True, max_iter=400, rng=3)
    expected = dykstra(noisy, sets, max_iter=400) if method == "dykstra" else averaged_projections(noisy, sets, 400)
    assert private.converged == expected.converged
    assert np.allclose(private.matrix, expected.matrix)
    assert private.distance == pytest.approx(np.linalg.norm(private.matrix - noisy))


def test_vectors_and_tensors_are_released_too():
    for shape in ((7,), (3, 4, 5)):
        private = perturb_and_project(np.zeros(shape), [FrobeniusBall(2.0), Box(-1, 1)], **BUDGET, rng=0)
        assert private.matrix.shape == shape
        assert np.linalg.norm(private.matrix) <= 2.0 + 1e-9


def test_projecting_onto_a_set_that_holds_the_data_never_adds_error_and_obeys_the_theorem():
    # ||P - A||^2 <= <W, P - A> <= 2 radius ||W|| in the ball: CDEMZ24 Theorem 5.1 with its constant made explicit.
    n, radius = 400, 3.0
    A = np.zeros(n)
    A[0] = radius
    for seed in range(20):
        noisy = perturb_and_project(A, WIDE, **BUDGET, rng=seed)
        private = perturb_and_project(A, FrobeniusBall(radius), **BUDGET, rng=seed)
        W = noisy.matrix - A
        assert np.linalg.norm(private.matrix - A) <= np.linalg.norm(W)
        assert np.sum((private.matrix - A) ** 2) <= 2 * radius * np.linalg.norm(W)


def test_a_symmetric_matrix_can_be_released_with_pure_privacy():
    private = private_symmetric_matrix(np.diag([3.0, 1.0]), sensitivity=0.5, epsilon=2.0, rng=0)
    assert np.array_equal(private.matrix, private.matrix.T)
    (entry,) = private.privacy.entries
    assert private.privacy.delta == 0.0
    assert (entry.epsilon, entry.scale) == (2.0, pytest.approx(0.25, rel=1e-6))
    with pytest.raises(InvalidParameterError, match="square"):
        private_symmetric_matrix(np.zeros((2, 3)), sensitivity=1.0, epsilon=1.0)
