"""Bounds that positive semidefiniteness implies may be dropped: the intersection stays, most of the sweeps go."""

import numpy as np
import pytest
from conic import solved

from dpgraph.projections import Box, PSDCone, dykstra
from dpgraph.projections.splitting import _without_implied_bounds


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
