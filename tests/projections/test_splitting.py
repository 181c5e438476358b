"""Dykstra reaches the projection, averaging some point; bounds that semidefiniteness implies may be dropped."""

import numpy as np
import pytest
from conic import diagonal_box, solved

from dpgraph.projections import (
    Box,
    ConvexSet,
    Elliptope,
    PSDCone,
    averaged_projections,
    dykstra,
    project_nonnegative_spectral_ball,
)
from dpgraph.projections.splitting import _without_implied_bounds


class HalfPlane(ConvexSet):
    """{x : <normal, x> <= 0} with a unit normal."""

    def __init__(self, *normal):
        self.normal = np.array(normal) / np.linalg.norm(normal)

    def project(self, X):
        X = np.asarray(X, dtype=float)
        return X - max(float(self.normal @ X), 0.0) * self.normal


def noisy_gram(n, noise, seed=0, *, rank=4):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n, rank))
    V /= np.linalg.norm(V, axis=1)[:, None]
    W = noise * rng.normal(size=(n, n))
    return V @ V.T + (W + W.T) / 2


def test_averaging_misses_the_nearest_point_that_dykstra_finds():
    # A wedge with apex 0: the nearest point to (2, 1) is the apex, where both sides are active.
    wedge = [HalfPlane(1.0, 0.3), HalfPlane(-0.3, 1.0)]
    Y = np.array([2.0, 1.0])
    projected = dykstra(Y, wedge)
    averaged = averaged_projections(Y, wedge, iterations=500, tol=1e-9)
    assert projected.converged
    assert np.linalg.norm(projected.matrix) < 1e-6
    assert averaged.converged
    assert all(side.distance(averaged.matrix) <= 1e-9 for side in wedge)

    # On cosine similarities: both end in the intersection, and averaging ends further from the data.
    Y, sets = noisy_gram(30, 0.5), [PSDCone(), Box(-1.0, 1.0)]
    projected = dykstra(Y, sets, tol=1e-8)
    averaged = averaged_projections(Y, sets, iterations=3000, tol=1e-8)
    assert projected.converged
    assert averaged.converged
    assert averaged.distance > 1.001 * projected.distance
    assert np.linalg.norm(averaged.matrix - projected.matrix) > 0.01


def test_the_lower_bound_holds_at_every_moment_and_meets_the_distance_at_the_end():
    Y, sets = noisy_gram(25, 0.7), [PSDCone(), Box(-1.0, 1.0)]
    best = dykstra(Y, sets, tol=1e-9, max_iter=3000)
    assert best.gap < 1e-9
    for sweeps in (1, 2, 5, 20):
        early = dykstra(Y, sets, tol=1e-9, max_iter=sweeps)
        assert not early.converged
        assert early.iterations == sweeps
        assert early.lower_bound <= best.distance + 1e-9


def test_sets_that_do_not_meet_are_reported_as_not_converged():
    # Unit diagonal and zero diagonal.
    apart = [diagonal_box(3, 1.0, 1.0), diagonal_box(3, 0.0, 0.0)]
    for result in (dykstra(np.eye(3), apart, max_iter=50), averaged_projections(np.eye(3), apart, iterations=50)):
        assert not result.converged
        assert result.residual > 0.4


def test_a_result_reports_the_tolerance_and_the_limit_that_were_asked_for():
    Y, sets = noisy_gram(6, 0.7), [PSDCone(), Box(-1.0, 1.0)]
    for result in (
        dykstra(Y, sets, tol=1e-3, max_iter=70),
        dykstra(Y, PSDCone(), tol=1e-3, max_iter=70),
        averaged_projections(Y, sets, 70, tol=1e-3),
        project_nonnegative_spectral_ball(Y, tol=1e-3, max_iter=70),
        project_nonnegative_spectral_ball(Y, norm="frobenius", tol=1e-3, max_iter=70),
    ):
        assert (result.tol, result.max_iter) == (1e-3, 70)
        assert "of 70, tol=0.001" in repr(result)
    assert Elliptope(tol=1e-3, max_iter=70).solve(Y).tol == pytest.approx(1e-3 * np.linalg.norm(Y))


def count_eigendecompositions(monkeypatch):
    """How many symmetric matrices are decomposed from now on."""
    reduce, count = np.linalg.eigh, []

    def counted(X):
        count.append(len(X))
        return reduce(X)

    monkeypatch.setattr(np.linalg, "eigh", counted)
    return count


@pytest.mark.parametrize(
    "n", [400, pytest.param(2000, marks=pytest.mark.slow, id="two thousand rows")], ids="{} rows".format
)
@pytest.mark.parametrize(("rank", "noise"), [(4, 0.3), (4, 1.0), (20, 0.3)])
def test_psd_and_box_need_at_most_sixty_eigendecompositions(n, rank, noise, monkeypatch):
    Y = noisy_gram(n, noise, rank=rank)
    count = count_eigendecompositions(monkeypatch)
    result = dykstra(Y, [PSDCone(), Box(-1.0, 1.0)], tol=1e-6 * np.linalg.norm(Y), max_iter=60)
    print(f"n = {n}, rank {rank}, noise {noise}: {len(count)} eigendecompositions, {result!r}, gap {result.gap:.2g}")
    assert result.converged
    assert result.iterations == len(count) <= 60


def symmetric(n, seed, scale=1.0):
    W = scale * np.random.default_rng(seed).normal(size=(n, n))
    return (W + W.T) / 2


def uneven_box(n, seed):
    """Bounds that differ from entry to entry; the cone implies some of them."""
    rng = np.random.default_rng(seed)
    upper, lower = rng.uniform(0.2, 4.0, size=(2, n, n))
    np.fill_diagonal(upper, rng.uniform(0.5, 1.5, size=n))
    return Box(-np.minimum(lower, lower.T), np.minimum(upper, upper.T))


def widened(box, n):
    return _without_implied_bounds((PSDCone(), box), (n, n))[1]


@pytest.mark.parametrize("seed", range(5))
def test_a_positive_semidefinite_matrix_in_the_wider_box_is_in_the_box(seed):
    n, box = 4, uneven_box(4, seed)
    wide = widened(box, n)
    assert 0 < np.isinf(wide.upper).sum() < n * n
    rng = np.random.default_rng(seed)
    for _ in range(400):
        G = rng.normal(size=(n, rng.integers(1, n + 1)))
        X = G @ G.T
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(X > 0, wide.upper / X, np.where(X < 0, wide.lower / X, np.inf))
        X *= room.min()  # the boundary of the wider box
        assert box.distance(X) < 1e-12


def test_bounds_that_the_cone_does_not_imply_are_kept():
    unequal = Box(0.0, np.array([[4.0, 1.9], [1.9, 1.0]]))
    wide = widened(unequal, 2)
    assert wide.upper.tolist() == [[4.0, 1.9], [1.9, 1.0]]
    assert wide.lower.tolist() == [[-np.inf, 0.0], [0.0, -np.inf]]
    assert widened(Box(0.25, np.inf), 2).lower.tolist() == [[0.25, 0.25], [0.25, 0.25]]
    impossible = Box(-2.0, -1.0)
    assert widened(impossible, 2) is impossible


@pytest.mark.parametrize("order", [1, -1])
def test_the_projection_onto_the_cone_and_an_uneven_box_agrees_with_a_conic_solver(order):
    cp = pytest.importorskip("cvxpy")
    n, Y, box = 8, symmetric(8, 3, 2.0), uneven_box(8, 1)
    X = cp.Variable((n, n), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - Y)), [X >> 0, box.upper >= X, box.lower <= X])
    result = dykstra(Y, [PSDCone(), box][::order], tol=1e-9, max_iter=5000)
    assert result.converged
    assert np.abs(result.matrix - solved(problem, X, result.matrix)).max() < 1e-6


def test_the_point_and_its_residual_are_about_the_sets_that_were_asked_for():
    # Unfinished: the iterate leaves the box by a lot, the result does not.
    Y, box = symmetric(30, 0, 3.0), Box(-1.0, 1.0)
    result = dykstra(Y, [PSDCone(), box], max_iter=2)
    assert np.abs(result.matrix).max() <= 1.0
    assert 0 < PSDCone().distance(result.matrix) <= result.residual + 1e-12
    swapped = dykstra(Y, [box, PSDCone()], max_iter=2)
    assert 0 < box.distance(swapped.matrix) <= swapped.residual + 1e-12
