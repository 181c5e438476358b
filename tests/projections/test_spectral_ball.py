"""The nonnegative spectral ball: nearest points in both norms, certified."""

import numpy as np
import pytest

from dpgraph.projections import project_nonnegative_spectral_ball


def symmetric(n, seed, scale=1.0):
    G = scale * np.random.default_rng(seed).normal(size=(n, n))
    return (G + G.T) / 2


def regularized_adjacency(n, degree, seed):
    rng = np.random.default_rng(seed)
    side = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    A = np.triu(rng.random((n, n)) < (1 - 0.75 * np.outer(side, side)) * degree / n, 1).astype(float)
    A += A.T
    c = A.sum(axis=1) + degree
    return A / np.sqrt(np.outer(c, c))


def conic_distance(Y, norm, radius=1.0, upper=None, zero_diagonal=False):
    cp = pytest.importorskip("cvxpy")
    n = len(Y)
    X = cp.Variable((n, n), symmetric=True)
    eye = np.eye(n)
    constraints = [X >= 0, X << radius * eye, X >> -radius * eye]
    if upper is not None:
        constraints.append(upper >= X)
    if zero_diagonal:
        constraints.append(cp.diag(X) == 0)
    if norm == "spectral":
        t = cp.Variable()
        objective, constraints = t, [*constraints, X - Y << t * eye, X - Y >> -t * eye]
    else:
        objective = cp.norm(X - Y, "fro")
    return cp.Problem(cp.Minimize(objective), constraints).solve(
        solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
    )


def assert_in_set(X, radius=1.0, upper=np.inf):
    assert np.array_equal(X, X.T)
    assert X.min() >= 0.0
    assert np.all(upper >= X)
    assert np.linalg.norm(X, 2) <= radius * (1 + 1e-12)


@pytest.mark.parametrize("norm", ["spectral", "frobenius"])
@pytest.mark.parametrize(
    ("n", "options"),
    [(3, {}), (8, {"zero_diagonal": True}), (8, {"radius": 2.5}), (8, {"upper": 0.1, "zero_diagonal": True}), (20, {})],
)
def test_the_distance_agrees_with_a_conic_solver(n, options, norm):
    Y = symmetric(n, seed=n)
    result = project_nonnegative_spectral_ball(Y, norm=norm, **options)
    assert result.converged
    assert result.distance == pytest.approx(np.linalg.norm(result.matrix - Y, 2 if norm == "spectral" else "fro"))
    assert result.distance == pytest.approx(conic_distance(Y, norm, **options), abs=2e-6 * options.get("radius", 1.0))
    assert_in_set(result.matrix, options.get("radius", 1.0), options.get("upper", np.inf))
    if options.get("zero_diagonal"):
        assert not np.diagonal(result.matrix).any()


def test_entrywise_bounds_may_differ_from_entry_to_entry():
    n = 10
    upper = np.random.default_rng(1).uniform(0, 0.4, size=(n, n))
    upper = np.minimum(upper, upper.T)
    upper[:3, :3] = np.inf
    Y = symmetric(n, seed=2)
    result = project_nonnegative_spectral_ball(Y, upper=upper)
    assert result.converged
    assert_in_set(result.matrix, upper=upper)
    finite = np.where(np.isfinite(upper), upper, 10.0)
    assert result.distance == pytest.approx(conic_distance(Y, "spectral", upper=finite), abs=2e-6)


@pytest.mark.parametrize("norm", ["spectral", "frobenius"])
@pytest.mark.parametrize("seed", range(3))
def test_the_lower_bound_never_exceeds_the_distance_of_any_point_of_the_set(norm, seed):
    # The certificate of an unfinished run must hold against a finished one.
    Y = regularized_adjacency(40, 8, seed) + symmetric(40, seed, 0.1)
    finished = project_nonnegative_spectral_ball(Y, norm=norm, zero_diagonal=True, tol=1e-5)
    assert finished.converged
    for steps in (1, 10, 30):
        early = project_nonnegative_spectral_ball(Y, norm=norm, zero_diagonal=True, max_iter=steps)
        assert early.lower_bound <= finished.distance + 1e-9
        assert early.distance >= finished.lower_bound - 1e-9
        assert_in_set(early.matrix)


def test_the_spectral_projection_is_within_twice_the_error_of_the_true_matrix():
    # DN25a, Fact 7.16: the true matrix is in the set, so the nearest point is at most as far from Y as it is.
    A = regularized_adjacency(80, 10, seed=1)
    Y = A + symmetric(80, 7, 0.08)
    error = np.linalg.norm(A - Y, 2)
    result = project_nonnegative_spectral_ball(Y, zero_diagonal=True, tol=1e-3)
    assert result.converged
    assert result.distance <= error + 1e-3
    assert np.linalg.norm(result.matrix - A, 2) <= 2 * error + 1e-3
