r"""The moment projection by Dykstra's method: between the cones and the moment structure.

Stack the images of all maps, x = (rho_b^{1/2} F_b theta)_b. Feasible parities are the points of two sets that both have
closed-form projections: the product of the cones, and the *moment structure* {F theta : theta_0 = 1}, onto which one
projects by a division in theta because F'F = sum_b rho_b F_b'F_b is diagonal (up to the sparsity rows, see
:mod:`dpgraph.projections.moment_projection`). Dykstra's method finds the nearest feasible point in the metric D = F'F.

The metric that is wanted is w, with weight 0 on the moments that were not released. The rho_b are such that D >= w, so
that

    (1/2)||theta - y||_w^2 <= (the same at t) + <grad, theta - t> + (1/2)||theta - t||_D^2,

and the minimum of the right-hand side over the feasible parities is the D-projection of t - D^{-1} w (t - y). Repeating
that is the projected gradient method in the metric D (a proximal-point step on the coordinates of weight 0), with
Nesterov's momentum; for tables alone D = w, and the first step is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from dpgraph.projections import dykstra
from dpgraph.projections.convex_set import ConvexSet
from dpgraph.projections.moment_projection import (
    ConeConstraint,
    InequalityRows,
    MomentProjection,
    matched_penalty,
    noise_size,
    theta_step,
)

__all__ = ["project_by_dykstra"]

FloatArray = NDArray[np.float64]

#: Each inner projection is this many times as accurate as the outer iteration has to be.
_INNER = 0.3


def project_by_dykstra(
    y: FloatArray,
    weights: FloatArray,
    cones: Sequence[ConeConstraint],
    *,
    rows: scipy.sparse.csr_array | None = None,
    variances: FloatArray,
    tol: float = 2e-3,
    max_iter: int = 300,
) -> MomentProjection:
    """Project released parities onto the constraints; arguments as for ``project_by_admm``.

    `max_iter` bounds the sweeps of Dykstra's method over all steps together; the result's residual is the larger of the
    last step and the infeasibility, relative to the noise.

    References
    ----------
    J. P. Boyle, R. L. Dykstra, 1986, Theorem 2. A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding
    algorithm", 2009.
    """
    lift = _Lift(cones, weights, rows)
    size = max(noise_size(cone, variances) * math.sqrt(rho) for cone, rho in lift.blocks)
    theta = extrapolated = np.where(np.arange(y.size) == 0, 1.0, y)
    momentum, sweeps, residual, settled = 1.0, 0, math.inf, False
    while not settled and sweeps < max_iter:
        target = lift.solve(weights * (y - extrapolated) + lift.adjoint(lift.forward(extrapolated)))
        found = dykstra(
            lift.forward(target), [_Cones(lift), _Structure(lift)], tol=_INNER * tol * size, max_iter=max_iter - sweeps
        )
        sweeps += found.iterations
        previous, theta = theta, lift.solve(lift.adjoint(found.matrix))
        step = theta - previous
        moved = 0.0 if lift.exact else float(np.linalg.norm(lift.forward(theta) - lift.forward(extrapolated)))
        residual = max(moved, found.residual) / size
        settled = found.converged and residual <= tol
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        # Restart when the step points uphill (O'Donoghue and Candes, 2015).
        uphill = float((extrapolated - theta) @ (lift.diagonal * step)) > 0
        momentum, share = (1.0, 0.0) if uphill else (following, (momentum - 1) / following)
        extrapolated = theta + share * step
    return MomentProjection(theta, sweeps, residual, settled)


class _Lift:
    """theta -> the scaled images of all maps, one after the other."""

    def __init__(
        self, cones: Sequence[ConeConstraint], weights: FloatArray, rows: scipy.sparse.csr_array | None
    ) -> None:
        rhos = [matched_penalty(cone, weights) for cone in cones]
        diagonal = sum((rho * cone.gram for rho, cone in zip(rhos, cones, strict=True)), np.zeros_like(weights))
        # D >= w, up to coordinates that no cone sees.
        seen = diagonal > 0
        enlarged = max(1.0, float((weights[seen] / diagonal[seen]).max()))
        self.diagonal = np.where(seen, enlarged * diagonal, np.maximum(weights, 1.0))
        inequalities = None if rows is None else InequalityRows(rows, self.diagonal)
        self.blocks: list[tuple[ConeConstraint, float]] = [
            (cone, enlarged * rho) for cone, rho in zip(cones, rhos, strict=True)
        ]
        if inequalities is not None:
            self.blocks.append((inequalities, 1.0))
        #: D = w: one projection is the answer.
        self.exact = inequalities is None and bool(np.allclose(self.diagonal[seen], weights[seen], rtol=1e-9))
        self.solve = theta_step(self.diagonal, inequalities, 1.0)
        self._shapes = [cone.forward(np.zeros_like(weights)).shape for cone, _ in self.blocks]
        self._ends = np.cumsum([math.prod(shape) for shape in self._shapes])

    def forward(self, theta: FloatArray) -> FloatArray:
        """Scaled images, shape (M,)."""
        return np.concatenate([math.sqrt(rho) * cone.forward(theta).ravel() for cone, rho in self.blocks])

    def adjoint(self, x: FloatArray) -> FloatArray:
        """Transpose of `forward`."""
        pieces = zip(self.blocks, self.split(x), strict=True)
        return sum((rho * cone.adjoint(piece) for (cone, rho), piece in pieces), np.zeros_like(self.diagonal))

    def split(self, x: FloatArray) -> list[FloatArray]:
        """Images without their scale, each in its own shape."""
        pieces = np.split(x, self._ends[:-1])
        scaled = zip(pieces, self._shapes, self.blocks, strict=True)
        return [piece.reshape(shape) / math.sqrt(rho) for piece, shape, (_, rho) in scaled]


class _Cones(ConvexSet):
    def __init__(self, lift: _Lift) -> None:
        self._lift = lift

    def project(self, X: ArrayLike) -> FloatArray:
        """Project every image onto its cone."""
        pieces = zip(self._lift.blocks, self._lift.split(np.asarray(X)), strict=True)
        return np.concatenate([math.sqrt(rho) * cone.project(piece).ravel() for (cone, rho), piece in pieces])


class _Structure(ConvexSet):
    def __init__(self, lift: _Lift) -> None:
        self._lift = lift

    def project(self, X: ArrayLike) -> FloatArray:
        """Images of the parities that fit best."""
        return self._lift.forward(self._lift.solve(self._lift.adjoint(np.asarray(X))))
