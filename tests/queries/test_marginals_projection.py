"""The moment projection: optimal against cvxpy and Dykstra, constraints that hold for all data, diagonal Grams."""

import numpy as np
import pytest

from dpgraph.projections import MomentStructure, PSDCone, dykstra
from dpgraph.queries.moment_constraints import (
    MomentMatrix,
    NonnegativeTables,
    conjunction_matrix,
    parity_matrix,
    sparsity_rows,
)
from dpgraph.queries.moment_projection import project_moments
from dpgraph.queries.parities import ParityBasis


def dense(cone, size):
    return np.column_stack([cone.forward(unit).ravel() for unit in np.eye(size)])


def some_data(sizes, N=60, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, N)
    return np.column_stack([np.where(rng.random(N) < 0.6, group % q, rng.integers(0, q, N)) for q in sizes])


@pytest.mark.parametrize(("sizes", "degree"), [([2] * 4, 2), ([2] * 5, 4), ([3, 2, 4], 2)])
def test_moment_matrices_of_data_are_positive_semidefinite_and_have_a_diagonal_gram_matrix(sizes, degree):
    basis = ParityBasis(sizes, degree)
    cone = MomentMatrix.build(basis, degree)
    matrix = cone.forward(basis.sums(some_data(sizes)) / 60)
    assert np.allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-12
    F = dense(cone, basis.size)
    assert np.allclose(F.T @ F, np.diag(cone.gram))
    assert np.allclose(cone.adjoint(matrix), F.T @ matrix.ravel())


def test_second_moments_of_categorical_data_are_what_they_are_called():
    sizes = [3, 2, 4]
    basis, records = ParityBasis(sizes, 2), some_data(sizes)
    from dpgraph.queries.parities import character_table

    columns = [np.ones(60)] + [character_table(q)[records[:, g], a] for g, q in enumerate(sizes) for a in range(1, q)]
    values = np.column_stack(columns)
    scale = 1 / np.sqrt(basis.counts[basis.orders[: values.shape[1]]])
    expected = values.T @ values / 60 * np.outer(scale, scale)
    assert np.allclose(MomentMatrix.build(basis, 2).forward(basis.sums(records) / 60), expected)


def test_conjunctions_and_parities_are_inverse_transforms():
    basis = ParityBasis([2] * 5, 3)
    records = some_data([2] * 5)
    theta = basis.sums(records) / 60
    eta = basis.product_sums(iter([records.astype(float)])) / 60
    assert np.allclose(conjunction_matrix(basis, 3) @ theta, eta)
    assert np.allclose(parity_matrix(basis, 3) @ eta, theta)


@pytest.mark.parametrize("k", [2, 3])
def test_the_sparsity_inequalities_hold_for_sparse_records_and_bite_on_others(k):
    n, t = 6, 2
    basis = ParityBasis([2] * n, k)
    rows = sparsity_rows(basis, k, t)
    sparse = np.zeros((30, n), dtype=int)
    for i, record in enumerate(sparse):
        record[np.random.default_rng(i).choice(n, i % (t + 1), replace=False)] = 1
    assert (rows @ (basis.sums(sparse) / 30)).min() >= -1e-12
    assert (rows @ (basis.sums(np.ones((1, n), dtype=int)))).min() < 0
    # The row of a conjunction S is E x_S (t - sum x).
    values = sparse.prod(axis=1, where=np.isin(np.arange(n), [0, 3])[None, :]) * (t - sparse.sum(axis=1))
    assert np.isclose(rows @ (basis.sums(sparse) / 30), values.mean()).any() or k == 1


def problem(sizes, k, degree, noise, seed=0, t=None):
    basis = ParityBasis(sizes, max(k, degree))
    records = some_data(sizes, seed=seed)
    if t is not None:
        records = records * (np.cumsum(records, axis=1) <= t)
    released = basis.orders <= k
    rng = np.random.default_rng(seed)
    variances = np.where(released & (basis.orders > 0), noise**2, 0.0)
    truth = basis.sums(records) / len(records)
    y = np.where(released, truth + np.sqrt(variances) * rng.normal(size=basis.size), 0.0)
    tables = [NonnegativeTables(g, basis.size) for g in ParityBasis(sizes, k).table_groups(k)]
    weights = np.where(released, sum(table.gram for table in tables), 0.0)
    cones = [*tables, *([MomentMatrix.build(basis, degree)] if degree else [])]
    rows = sparsity_rows(basis, k, t) if t is not None else None
    return basis, y, weights, cones, rows, variances, truth


@pytest.mark.parametrize(
    ("sizes", "k", "degree", "t"),
    [([2] * 5, 2, 2, None), ([2] * 5, 3, 4, None), ([3, 2, 4], 2, 2, None), ([2] * 5, 3, 2, 2), ([2] * 5, 2, 0, None)],
)
def test_the_projection_agrees_with_cvxpy(sizes, k, degree, t):
    import cvxpy as cp

    basis, y, weights, cones, rows, variances, _ = problem(sizes, k, degree, 0.4, t=t)
    found = project_moments(y, weights, cones, rows=rows, variances=variances, tol=1e-7, max_iter=5000)
    assert found.converged
    theta = cp.Variable(basis.size)
    constraints = [theta[0] == 1]
    for cone in cones:
        image = dense(cone, basis.size) @ theta
        if isinstance(cone, MomentMatrix):
            square = cp.reshape(image, (cone.side, cone.side), order="C")
            constraints.append((square + square.T) / 2 >> 0)
        else:
            constraints.append(image >= 0)
    if rows is not None:
        constraints.append(rows.toarray() @ theta >= 0)
    objective = cp.sum_squares(cp.multiply(np.sqrt(weights), theta - y))
    cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)
    released = weights > 0
    assert np.abs(found.theta - theta.value)[released].max() < 1e-4


def test_with_positive_weights_on_all_moments_it_agrees_with_dykstra():
    basis, y, _, cones, _, variances, _ = problem([2] * 6, 2, 2, 0.5)
    side = 7
    codes = basis.codes(slice(0, side))
    labels = basis.lookup(codes[:, None] ^ codes[None, :])
    structure = MomentStructure(labels, fixed={0: 1.0})
    reference = dykstra(y[labels], [PSDCone(), structure], tol=1e-9, max_iter=20_000)
    multiplicities = np.bincount(labels.ravel(), minlength=basis.size).astype(float)
    found = project_moments(y, multiplicities, cones[-1:], variances=variances, tol=1e-8, max_iter=5000)
    assert reference.converged
    assert np.abs(found.theta[labels] - reference.matrix).max() < 1e-6


@pytest.mark.parametrize(
    ("sizes", "k", "degree", "t"), [([2] * 6, 3, 4, None), ([2] * 6, 3, 2, 2), ([3, 3, 2], 2, 2, None)]
)
@pytest.mark.parametrize("noise", [1.0, 0.1, 1e-2])
def test_the_projection_never_increases_the_error_of_the_tables(sizes, k, degree, t, noise):
    for seed in range(3):
        _, y, weights, cones, rows, variances, truth = problem(sizes, k, degree, noise, seed=seed, t=t)
        found = project_moments(y, weights, cones, rows=rows, variances=variances)
        before, after = (np.sqrt(weights @ (v - truth) ** 2) for v in (y, found.theta))
        assert found.converged
        assert after <= before * (1 + 1e-2)
