r"""The nearest consistent parities: least squares in the metric of the tables over all constraints at once.

    minimise (1/2) sum_S w_S (theta_S - y_S)^2   subject to   F_b theta in cone b,   G theta + g >= 0,   theta_0 = 1,

with w the weights of the squared error of all k-way tables, so that the projection never increases that error (the true
parities are feasible). Parities of order above k, which a moment matrix brings in, were not released: w = 0.

The solver is the alternating direction method of multipliers. Its theta-step is a division, because all maps but G have
diagonal Gram matrices (:mod:`dpgraph.projections.moment_constraints`); G, a few hundred rows, enters by the Woodbury
identity. docs/marginals-theory.md compares it with others under "Solver".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from dpgraph.projections.moment_constraints import ConeConstraint, InequalityRows
from dpgraph.typing import FloatArray

#: Penalty in units of the metric, and over-relaxation (measured: 40 to 200 iterations on all benchmark shapes).
_PENALTY, _RELAXATION = 3.0, 1.6


@dataclass(frozen=True, eq=False)
class MomentProjection:
    """Parities theta after projection."""

    theta: FloatArray
    iterations: int
    residual: float  #: the larger of infeasibility and last change, relative to the noise in each constraint
    converged: bool
    degree: int = 0  #: of the moment matrix among the constraints, 0 if there was none


def project_by_admm(
    y: FloatArray,
    weights: FloatArray,
    cones: Sequence[ConeConstraint],
    *,
    rows: scipy.sparse.csr_array | None = None,
    variances: FloatArray,
    tol: float = 2e-3,
    max_iter: int = 300,
) -> MomentProjection:
    """Project released parities onto the constraints: those of the cones, and ``rows @ theta >= 0``.

    `y`, shape (D,), has y[0] = 1; where `weights` are 0, its entries are starting values only. Weights are positive
    where no cone sees the coordinate. The public `variances` of the noise are the unit in which `tol` is measured.
    S. Boyd et al., "Distributed optimization and statistical learning via the alternating direction method of
    multipliers", 2011, sections 3.2, 3.3 and 3.4.3.
    """
    splits = [_Split(cone, y, _PENALTY * matched_penalty(cone, weights), variances) for cone in cones]
    diagonal = weights + sum(split.penalty * split.cone.gram for split in splits)
    inequalities = None if rows is None else InequalityRows(rows, diagonal)
    if inequalities is not None:
        splits.append(_Split(inequalities, y, _PENALTY, variances))
    solve = theta_step(diagonal, inequalities, _PENALTY)
    for iteration in range(1, max_iter + 1):  # noqa: B007 (the count is part of the result)
        theta = solve(weights * y + sum((split.pull() for split in splits), np.zeros_like(y)))
        residual = max(split.update(theta) for split in splits)
        if residual <= tol:
            break
    return MomentProjection(theta, iteration, residual, residual <= tol)


class _Split:
    """Copy z of F theta inside the cone, with the scaled multiplier u."""

    def __init__(self, cone: ConeConstraint, start: FloatArray, penalty: float, variances: FloatArray) -> None:
        self.cone, self.penalty = cone, penalty
        self._size = noise_size(cone, variances)
        self._z = cone.forward(start)
        self._u = np.zeros_like(self._z)

    def pull(self) -> FloatArray:
        return self.penalty * self.cone.adjoint(self._z - self._u)

    def update(self, theta: FloatArray) -> float:
        image = self.cone.forward(theta)
        shifted = _RELAXATION * image + (1 - _RELAXATION) * self._z + self._u
        z = self.cone.project(shifted)
        self._u = shifted - z
        residual = max(float(np.linalg.norm(image - z)), float(np.linalg.norm(z - self._z)))
        self._z = z
        return residual / self._size


def matched_penalty(cone: ConeConstraint, weights: FloatArray) -> float:
    """Factor that makes the Gram matrix of a cone comparable to the weights."""
    seen = (weights > 0) & (cone.gram > 0)
    return float(np.median(weights[seen] / cone.gram[seen]))


def noise_size(cone: ConeConstraint, variances: FloatArray) -> float:
    """Expected length of the noise in the image of a cone's map: the unit of its residual."""
    return max(float(np.sqrt(cone.gram @ variances)), 1e-12)


def theta_step(
    diagonal: FloatArray, inequalities: InequalityRows | None, penalty: float
) -> Callable[[FloatArray], FloatArray]:
    """Solver of (diag + penalty G'G) theta = right-hand side that then sets the constant coordinate to 1."""
    if inequalities is None:
        return lambda right: _with_constant(right / diagonal)
    G = inequalities.matrix
    scaled = scipy.sparse.csr_array(G @ scipy.sparse.diags_array(1.0 / diagonal))
    small = (scaled @ G.T).toarray()
    small[np.diag_indices_from(small)] += 1.0 / penalty
    factor = scipy.linalg.cho_factor(small)

    def solve(right: FloatArray) -> FloatArray:
        theta = right / diagonal
        theta -= scaled.T @ scipy.linalg.cho_solve(factor, G @ theta)
        return _with_constant(theta)

    return solve


def _with_constant(theta: FloatArray) -> FloatArray:
    theta[0] = 1.0
    return theta
