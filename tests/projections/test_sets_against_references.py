"""Every closed-form projection agrees with a conic solver and has the defining properties of a projection."""

import numpy as np
import pytest
from conic import diagonal_box, solved
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpgraph.projections import (
    Box,
    Elliptope,
    FrobeniusBall,
    NuclearBall,
    PSDCone,
    PSDFrobeniusBall,
    PSDTraceBall,
    SpectralBall,
    project_elliptope,
    project_l1_hull,
    project_nonnegative,
    project_nuclear_ball,
    project_psd,
    project_psd_trace,
    project_spectral_ball,
)
from tests.about import each

MATRIX_SETS = {
    "psd": PSDCone(),
    "spectral ball": SpectralBall(1.3),
    "nuclear ball": NuclearBall(2.0),
    "psd with trace": PSDTraceBall(2.0),
    "psd with norm": PSDFrobeniusBall(1.5),
    "frobenius ball": FrobeniusBall(1.5),
    "box": Box(-0.5, 1.0),
    "nonnegative": Box(0.0),
    "unit diagonal": diagonal_box(4, 1.0, 1.0),
    "bounded diagonal": diagonal_box(4, -np.inf, 0.5),
    "elliptope": Elliptope(),
    "correlations": Elliptope(unit_diagonal=True),
}

each_set = pytest.mark.parametrize("convex", MATRIX_SETS.values(), ids=MATRIX_SETS.keys())
matrices = arrays(np.float64, (4, 4), elements=st.floats(-3, 3, allow_subnormal=False))

few = settings(max_examples=20, deadline=None)


@each_set
@few
@given(X=matrices, Y=matrices)
def test_the_step_to_the_projection_makes_an_obtuse_angle_with_every_point_of_the_set(convex, X, Y):
    """That makes it the nearest point: a second projection leaves it, and no two points move apart."""
    nearest, other = convex.project(X), convex.project(Y)
    assert convex.distance(nearest) <= 5e-6
    assert np.vdot(X - nearest, other - nearest) <= 1e-5


def _conic_reference(Y, constraints, near, *, symmetric=True):
    cp = pytest.importorskip("cvxpy")
    X = cp.Variable(Y.shape, symmetric=symmetric)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - Y)), constraints(cp, X))
    return solved(problem, X, near)


def _norm_at_most(cp, X, radius):
    """||X|| <= radius as a linear matrix inequality: Clarabel solves it more accurately than sigma_max(X) <= radius."""
    n, m = X.shape
    if X.is_symmetric():
        return cp.bmat([[radius * np.eye(n) - X, np.zeros((n, n))], [np.zeros((n, n)), radius * np.eye(n) + X]]) >> 0
    return cp.bmat([[radius * np.eye(n), X], [X.T, radius * np.eye(m)]]) >> 0


REFERENCES = {
    "psd": (project_psd, lambda cp, X: [X >> 0]),
    "psd trace": (lambda Y: project_psd_trace(Y, 2.0), lambda cp, X: [X >> 0, cp.trace(X) <= 2]),
    "spectral": (lambda Y: project_spectral_ball(Y, 1.5), lambda cp, X: [_norm_at_most(cp, X, 1.5)]),
    "nuclear": (lambda Y: project_nuclear_ball(Y, 2.5), lambda cp, X: [cp.normNuc(X) <= 2.5]),
    "elliptope": (project_elliptope, lambda cp, X: [X >> 0, cp.diag(X) <= 1]),
    "correlations": (lambda Y: project_elliptope(Y, unit_diagonal=True), lambda cp, X: [X >> 0, cp.diag(X) == 1]),
    "psd norm": (PSDFrobeniusBall(1.5).project, lambda cp, X: [X >> 0, cp.norm(X, "fro") <= 1.5]),
    "frobenius": (FrobeniusBall(1.5).project, lambda cp, X: [cp.norm(X, "fro") <= 1.5]),
    "box": (Box(-0.5, 1.0).project, lambda cp, X: [X >= -0.5, X <= 1]),
    "nonnegative": (project_nonnegative, lambda cp, X: [X >= 0]),
}


@pytest.mark.parametrize("n", [3, 14])
@pytest.mark.parametrize("name", REFERENCES)
def test_projections_agree_with_a_conic_solver(name, n):
    project, constraints = REFERENCES[name]
    Y = np.random.default_rng(n).normal(size=(n, n))
    Y = Y + Y.T
    assert np.abs(project(Y) - _conic_reference(Y, constraints, project(Y))).max() < 1e-6


@each(
    "project, constraints",
    [
        (lambda Y: project_spectral_ball(Y, 1.2), lambda cp, X: [_norm_at_most(cp, X, 1.2)]),
        (lambda Y: project_nuclear_ball(Y, 2.0), lambda cp, X: [cp.normNuc(X) <= 2.0]),
    ],
    parts=2,
)
def test_rectangular_matrices_are_projected_by_singular_values(project, constraints):
    Y = np.random.default_rng(1).normal(size=(4, 7))
    assert np.abs(project(Y) - _conic_reference(Y, constraints, project(Y), symmetric=False)).max() < 1e-6


@each("d, n_points, size", [(2, 3, 0.3), (6, 20, 1.0), (10, 4, 3.0), (12, 30, 0.5)], parts=2)
def test_the_nearest_point_of_nK_agrees_with_a_conic_solver(d, n_points, size):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(d)
    points, y = rng.normal(size=(d, n_points)), size * rng.normal(size=d)
    c = cp.Variable(n_points)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(points @ c - y)), [cp.norm1(c) <= 1.5])
    nearest = project_l1_hull(y, points, 1.5)
    assert np.abs(nearest - solved(problem, points @ c, nearest)).max() < 1e-6
