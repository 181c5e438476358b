"""Minimum-volume ellipsoids: containment, optimality against cvxpy and by certificate, bad input."""

import numpy as np
import pytest

from dpgraph.exceptions import NotConvergedError
from dpgraph.problems.records.linear_queries import minimum_volume_ellipsoid


def contains(ellipsoid, points):
    shifted = points - ellipsoid.center
    return np.all(np.einsum("ij,ij->i", shifted @ ellipsoid.matrix, shifted) <= 1 + 1e-12)


def reference_log_volume(points, *, symmetric):
    """Convex programme: largest log det of B with |B x - b| <= 1 for all points."""
    import cvxpy as cp

    d = points.shape[1]
    B, b = cp.Variable((d, d), PSD=True), np.zeros(d) if symmetric else cp.Variable(d)
    constraints = [cp.norm(B @ x - b) <= 1 for x in points]
    problem = cp.Problem(cp.Maximize(cp.log_det(B)), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    ball = 0.5 * d * np.log(np.pi) - float(np.sum(np.log(np.arange(d / 2, 0, -1)))) if d % 2 == 0 else None
    return ball - problem.value, B.value


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("d", "N", "seed"), [(2, 7, 0), (4, 12, 1), (4, 30, 2)])
def test_the_volume_agrees_with_cvxpy_to_one_part_in_a_million(d, N, seed, symmetric):
    points = np.random.default_rng(seed).normal(size=(N, d)) + (0 if symmetric else 3)
    ellipsoid = minimum_volume_ellipsoid(points, symmetric=symmetric)
    expected, B = reference_log_volume(points, symmetric=symmetric)
    assert contains(ellipsoid, points)
    assert abs(ellipsoid.log_volume - expected) < 1e-6
    assert np.abs(ellipsoid.matrix - B @ B).max() < 1e-3 * np.abs(B @ B).max()


def test_the_ellipsoid_of_the_cross_polytope_and_of_the_cube_are_balls():
    cube = np.array(np.meshgrid(*[[-1.0, 1.0]] * 5)).reshape(5, -1).T
    assert np.allclose(minimum_volume_ellipsoid(np.eye(5)).semi_axes, 1.0)
    assert np.allclose(minimum_volume_ellipsoid(cube).semi_axes, np.sqrt(5))


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_even_a_rough_ellipsoid_contains_every_point_and_keeps_its_volume_promise(tol):
    points = np.random.default_rng(4).normal(size=(300, 10))
    rough, exact = minimum_volume_ellipsoid(points, tol=tol), minimum_volume_ellipsoid(points, tol=1e-9)
    assert contains(rough, points)
    assert rough.gap <= tol
    assert exact.log_volume - 1e-8 <= rough.log_volume <= exact.log_volume + 5 * np.log1p(rough.gap)


def test_too_few_steps_are_reported():
    with pytest.raises(NotConvergedError, match="reached gap"):
        minimum_volume_ellipsoid(np.random.default_rng(0).normal(size=(50, 5)), tol=1e-9, max_iter=3)
