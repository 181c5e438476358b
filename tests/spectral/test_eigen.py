"""The eigensolver meets its public tolerance or fails, and does not miss a leading eigenvalue."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import dpgraph
from dpgraph.datasets.planted import planted_cut_sparse
from dpgraph.spectral import eigen
from dpgraph.spectral.eigen import Eigenpairs, leading_eigenpairs


def generator():
    return np.random.default_rng(0)


@pytest.mark.parametrize("n", [5, 300, 1200])
@pytest.mark.parametrize("count", [1, 4])
def test_pairs_agree_with_lapack(n, count):
    A, _ = planted_cut_sparse(n, min(40.0, n / 2.5), -0.5, rng=1)
    pairs = leading_eigenpairs(A, count, tolerance=1e-6, generator=generator())
    values = np.linalg.eigvalsh(A.toarray())
    expected = np.sort(np.abs(values))[::-1][:count]
    assert np.allclose(np.abs(pairs.values), expected, atol=1e-6)
    residuals = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert residuals.max() <= 1e-6
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-8)


def test_all_eigenpairs_of_a_small_matrix_can_be_asked_for():
    pairs = leading_eigenpairs(np.diag([1.0, -3.0, 2.0]), 3, tolerance=1e-9, generator=generator())
    assert np.allclose(pairs.values, [-3.0, 2.0, 1.0])


@pytest.mark.parametrize("count", [0, 4, -1])
def test_the_count_must_fit(count):
    with pytest.raises(dpgraph.InvalidParameterError, match="eigenpairs"):
        leading_eigenpairs(np.eye(3), count, tolerance=1e-9, generator=generator())


def test_a_solver_that_misses_a_leading_eigenvalue_is_caught(monkeypatch):
    n = 2000
    diagonal = np.linspace(0.1, 0.5, n)
    diagonal[:3] = [1.0, 0.9, 0.8]
    A = sparse.diags_array(diagonal, format="csr")

    def misses_the_second(operator, count, width, tolerance, generator):
        chosen = [0, 2, n - 1][:count]
        return Eigenpairs(diagonal[chosen], np.eye(n)[:, chosen])

    monkeypatch.setattr(eigen, "_krylov", misses_the_second)
    with pytest.raises(dpgraph.NotConvergedError):
        leading_eigenpairs(A, 2, tolerance=1e-6, generator=generator())


def test_an_unreachable_tolerance_fails_instead_of_pretending():
    n = 1500
    rng = np.random.default_rng(1)
    noisy = LinearOperator(
        (n, n), matvec=lambda x: np.ones(n) * x.sum() / n + 1e-3 * rng.standard_normal(n), dtype=float
    )
    with pytest.raises(dpgraph.NotConvergedError, match="tolerance"):
        leading_eigenpairs(noisy, 1, tolerance=1e-9, generator=generator())


def test_lanczos_never_overestimates_the_norm():
    A, _ = planted_cut_sparse(1500, 20, -0.5, rng=1)
    norm = np.abs(np.linalg.eigvalsh(A.toarray())).max()
    estimates = [eigen._lanczos_norm(A, steps, generator()) for steps in (2, 10, 60)]
    assert max(estimates) <= norm * (1 + 1e-9)
    assert estimates[-1] == pytest.approx(norm, rel=1e-6)
