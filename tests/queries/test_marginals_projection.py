"""The moment projection: optimal against cvxpy and Dykstra, constraints that hold for all data, diagonal Grams."""

import itertools

import numpy as np
import pytest

from dpgraph.linalg.parities import ParityBasis, character_table
from dpgraph.projections.moment_projection import MomentMatrix, NonnegativeTables, project_by_admm, sparsity_rows


def dense(cone, size):
    return np.column_stack([cone.forward(unit).ravel() for unit in np.eye(size)])


def some_data(sizes, N=60, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, N)
    return np.column_stack([np.where(rng.random(N) < 0.6, group % q, rng.integers(0, q, N)) for q in sizes])


@pytest.mark.parametrize(
    ("sizes", "degree"),
    [([2] * 4, 2), ([2] * 5, 4), ([2] * 7, 6), ([3, 2, 4], 2), ([3, 2, 4], 4), ([4, 3, 2, 3], 4), ([3] * 4, 6)],
)
def test_moment_matrices_hold_the_scaled_moments_of_the_data_and_have_a_diagonal_gram_matrix(sizes, degree):
    basis, records = ParityBasis(sizes, degree), some_data(sizes)
    cone = MomentMatrix(basis, degree)
    theta = sum(basis.sums([records])) / 60
    matrix = cone.forward(theta)
    functions = np.hstack([character_table(q)[records[:, g], 1:] for g, q in enumerate(sizes)])
    sets = [members for rows in basis.members[: degree // 2 + 1] for members in rows]
    monomials = np.array([functions[:, members].prod(axis=1) for members in sets])
    scale = 1 / np.sqrt(basis.counts[basis.orders[: len(monomials)]])
    assert np.allclose(matrix, monomials @ monomials.T / 60 * np.outer(scale, scale))
    assert np.linalg.eigvalsh(matrix).min() > -1e-12
    F = dense(cone, basis.size)
    assert np.allclose(F.T @ F, np.diag(cone.gram))
    assert np.allclose(cone.adjoint(matrix), F.T @ matrix.ravel())


@pytest.mark.parametrize("k", [2, 3])
def test_the_sparsity_inequalities_hold_for_sparse_records_and_bite_on_others(k):
    n, t = 6, 2
    basis = ParityBasis([2] * n, k)
    rows = sparsity_rows(basis, k, t)
    sparse = np.zeros((30, n), dtype=int)
    for i, record in enumerate(sparse):
        record[np.random.default_rng(i).choice(n, i % (t + 1), replace=False)] = 1
    assert (rows @ (sum(basis.sums([sparse])) / 30)).min() >= -1e-12
    assert (rows @ (sum(basis.sums([np.ones((1, n), dtype=int)])))).min() < 0
    # The row of a conjunction S is E x_S (t - sum x).
    values = sparse.prod(axis=1, where=np.isin(np.arange(n), [0, 3])[None, :]) * (t - sparse.sum(axis=1))
    assert np.isclose(rows @ (sum(basis.sums([sparse])) / 30), values.mean()).any() or k == 1


def problem(sizes, k, degree, noise, seed=0, t=None):
    basis = ParityBasis(sizes, max(k, degree))
    records = some_data(sizes, seed=seed)
    if t is not None:
        records = records * (np.cumsum(records, axis=1) <= t)
    released = basis.orders <= k
    rng = np.random.default_rng(seed)
    variances = np.where(released & (basis.orders > 0), noise**2, 0.0)
    truth = sum(basis.sums([records])) / len(records)
    y = np.where(released, truth + np.sqrt(variances) * rng.normal(size=basis.size), 0.0)
    tables = [NonnegativeTables(g, basis.size) for g in ParityBasis(sizes, k).table_groups(k)]
    weights = np.where(released, sum(table.gram for table in tables), 0.0)
    cones = [*tables, *([MomentMatrix(basis, degree)] if degree else [])]
    rows = sparsity_rows(basis, k, t) if t is not None else None
    return basis, y, weights, cones, rows, variances, truth


CASES = [
    ([2] * 5, 2, 2, None),
    ([2] * 5, 3, 4, None),
    ([3, 2, 4], 2, 2, None),
    ([3, 2, 3], 3, 4, None),
    ([2] * 5, 3, 2, 2),
    ([2] * 5, 2, 0, None),
]


@pytest.mark.parametrize(("sizes", "k", "degree", "t"), CASES)
def test_it_finds_the_point_that_an_interior_point_method_finds(sizes, k, degree, t):
    import cvxpy as cp

    basis, y, weights, cones, rows, variances, _ = problem(sizes, k, degree, 0.4, t=t)
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
    found = project_by_admm(y, weights, cones, rows=rows, variances=variances, tol=1e-6, max_iter=5000)
    assert found.converged
    assert found.residual <= 1e-6
    assert np.abs(found.theta - theta.value)[released].max() < 1e-4


@pytest.mark.parametrize("degree", [2, 4])
def test_for_categories_it_is_the_projection_onto_one_hot_moments_with_exactly_one_one_in_each_block(degree):
    import cvxpy as cp

    sizes = [3, 2, 2]
    _, y, weights, cones, _, variances, _ = problem(sizes, 2, degree, 0.4)
    found = project_by_admm(y, weights, cones, variances=variances, tol=1e-7, max_iter=20_000)
    pairs = [(g, v) for g, q in enumerate(sizes) for v in range(q)]
    monomials = [()] + [(p,) for p in pairs]
    if degree == 4:
        monomials += [(p, r) for p in pairs for r in pairs if p[0] < r[0]]
    M = cp.Variable((len(monomials), len(monomials)), PSD=True)
    place = {m: i for i, m in enumerate(monomials)}
    moments, constraints = {}, [M[0, 0] == 1]
    for S in monomials:
        for T in monomials:
            union = tuple(sorted(set(S) | set(T)))
            entry = M[place[S], place[T]]
            if len({g for g, _ in union}) < len(union):
                constraints.append(entry == 0)  # x_gv x_gw = 0
            elif union in moments:
                constraints.append(entry == moments[union])
            else:
                moments[union] = entry
        for T in monomials:
            for g, q in enumerate(sizes):  # exactly one: sum_v x_gv = 1, times everything that fits
                if all(h != g for h, _ in T) and all(tuple(sorted((*T, (g, v)))) in place for v in range(q)):
                    multiples = sum(M[place[S], place[tuple(sorted((*T, (g, v))))]] for v in range(q))
                    constraints.append(multiples == M[place[S], place[T]])
    squares = []
    for group, cone in zip(ParityBasis(sizes, 2).table_groups(2), cones, strict=False):
        tables = cone.forward(y)
        for attributes, table in zip(group.attributes, tables, strict=True):
            cells = itertools.product(*(range(sizes[g]) for g in attributes))
            entries = [moments[tuple(zip(attributes.tolist(), cell, strict=True))] for cell in cells]
            constraints += [entry >= 0 for entry in entries]
            squares += [cp.square(entry - value) for entry, value in zip(entries, table, strict=True)]
    # The one-hot moment matrix is singular by its own constraints: no interior point, so a first-order method.
    one_hot = cp.Problem(cp.Minimize(sum(squares)), constraints)
    expected = one_hot.solve(solver=cp.SCS, eps_abs=1e-8, eps_rel=1e-8, max_iters=100_000)
    assert found.converged
    reached = sum(np.sum((cone.forward(found.theta) - cone.forward(y)) ** 2) for cone in cones[:-1])
    assert reached == pytest.approx(expected, rel=1e-4)
    assert weights @ (found.theta - y) ** 2 == pytest.approx(reached)


@pytest.mark.parametrize(
    ("sizes", "k", "degree", "t"), [([2] * 6, 3, 4, None), ([2] * 6, 3, 2, 2), ([3, 3, 2], 2, 2, None)]
)
@pytest.mark.parametrize("noise", [1.0, 0.1, 1e-2])
def test_the_projection_never_increases_the_error_of_the_tables(sizes, k, degree, t, noise):
    for seed in range(3):
        _, y, weights, cones, rows, variances, truth = problem(sizes, k, degree, noise, seed=seed, t=t)
        found = project_by_admm(y, weights, cones, rows=rows, variances=variances)
        before, after = (np.sqrt(weights @ (v - truth) ** 2) for v in (y, found.theta))
        assert found.converged
        assert after <= before * (1 + 1e-2)
