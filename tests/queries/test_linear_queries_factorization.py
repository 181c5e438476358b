"""Optimal factorizations: certificates, cvxpy on small cases, known norms; hereditary discrepancy by brute force."""

import itertools

import numpy as np
import pytest

from dpgraph.problems.records.factorization import factorization_norm, trace_factorization
from dpgraph.problems.records.linear_queries import hereditary_discrepancy_bounds


def random_columns(seed, r=5, N=14):
    return np.random.default_rng(seed).normal(size=(r, N))


@pytest.mark.parametrize("seed", range(3))
def test_the_trace_agrees_with_cvxpy(seed):
    import cvxpy as cp

    columns = random_columns(seed, r=3, N=8)
    X, Y = cp.Variable((8, 8), PSD=True), cp.Variable((3, 3), symmetric=True)
    # tr(A X^{-1} A') over diag X <= 1, as a Schur complement.
    block = cp.bmat([[Y, columns], [columns.T, X]])
    problem = cp.Problem(cp.Minimize(cp.trace(Y)), [block >> 0, cp.diag(X) <= 1])
    expected = problem.solve(solver=cp.CLARABEL)
    found = trace_factorization(columns, tol=1e-5, max_iter=20_000)
    assert found.lower_bound <= expected * (1 + 1e-6)
    assert found.value == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_the_covariance_is_feasible_and_its_gap_is_certified(tol):
    columns = random_columns(7, r=12, N=60)
    found = trace_factorization(columns, tol=tol)
    S = found.root @ found.root
    assert np.einsum("ij,ij->j", columns, np.linalg.solve(S, columns)).max() <= 1 + 1e-9
    assert np.trace(S) == pytest.approx(found.value)
    assert 0 <= found.gap <= tol


def test_factorization_norms_of_known_matrices():
    hadamard = np.array([[1.0]])
    for _ in range(4):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    for matrix, norm in ((np.eye(5), 1.0), (np.ones((4, 7)), 1.0), (hadamard, 4.0)):
        found = factorization_norm(matrix, tol=1e-6)
        assert found.lower <= norm * (1 + 1e-9)
        assert found.upper == pytest.approx(norm, rel=1e-5)


def test_the_factorization_norm_of_prefix_sums_is_below_its_known_bound():
    n = 64
    odd = (2 * np.arange(1, n + 1) - 1) * np.pi / (2 * n)
    mathias = 0.5 + np.sum(1 / np.abs(np.sin(odd))) / (2 * n)
    found = factorization_norm(np.tril(np.ones((n, n))))
    assert found.lower <= found.upper <= 1.01 * found.lower
    assert found.lower <= mathias


def hereditary_discrepancy(A):
    worst = 0.0
    for size in range(1, A.shape[1] + 1):
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=size))).T
        for columns in itertools.combinations(range(A.shape[1]), size):
            worst = max(worst, np.abs(A[:, columns] @ signs).max(axis=0).min())
    return worst


@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_bracket_the_hereditary_discrepancy(seed):
    rng = np.random.default_rng(seed)
    A = (rng.random((5, 6)) < 0.5).astype(float) if seed % 2 else rng.normal(size=(4, 6))
    bounds = hereditary_discrepancy_bounds(A)
    assert bounds.lower <= hereditary_discrepancy(A) <= bounds.upper
