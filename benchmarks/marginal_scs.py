"""The moment projection by cvxpy and SCS: small problems, and the reference for the other solvers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from dpgraph.projections.moment_projection import ConeConstraint, MomentMatrix, MomentProjection, noise_size

__all__ = ["project_by_scs"]

FloatArray = NDArray[np.float64]

#: SCS's stopping tolerances, relative to the tolerance asked for: they are per entry and on the primal-dual residuals.
_SCS_SHARE = 1e-2
_SCS_FINEST = 1e-9
#: Iterations of SCS for each sweep that `max_iter` allows: they cost less, and more of them are needed.
_SCS_ITERATIONS = 100


def project_by_scs(
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

    The result's residual is the infeasibility of the parities that SCS returned, relative to the noise.

    References
    ----------
    B. O'Donoghue, "Operator splitting for a homogeneous embedding of the linear complementarity problem", SIAM J.
    Optim. 31 (2021), the method of SCS 3.
    """
    import cvxpy as cp

    theta = cp.Variable(y.size)
    constraints = [theta[0] == 1]
    for cone in cones:
        image = _matrix(cone, y.size) @ theta
        if isinstance(cone, MomentMatrix):
            square = cp.reshape(image, (cone.side, cone.side), order="C")
            constraints.append(square >> 0)
        else:
            constraints.append(image >= 0)
    if rows is not None:
        constraints.append(rows @ theta >= 0)
    seen = np.flatnonzero(weights)
    # In units of the noise, so that SCS's tolerances mean the same at every epsilon.
    unit = math.sqrt(max(float(weights @ variances), 1e-24))
    distance = cp.multiply(np.sqrt(weights[seen]) / unit, theta[seen] - y[seen])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(distance)), constraints)
    eps = max(_SCS_SHARE * tol * min(1.0, unit), _SCS_FINEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "solution may be inaccurate": the result says so itself
            problem.solve(solver=cp.SCS, eps_abs=eps, eps_rel=eps, max_iters=_SCS_ITERATIONS * max_iter)
    except cp.SolverError:
        return MomentProjection(y, 0, math.inf, False)
    if theta.value is None:
        return MomentProjection(y, 0, math.inf, False)
    value = np.asarray(theta.value, dtype=np.float64)
    value[0] = 1.0
    residual = max(
        float(np.linalg.norm(cone.project(image) - image)) / noise_size(cone, variances)
        for cone, image in ((cone, cone.forward(value)) for cone in cones)
    )
    iterations = int(problem.solver_stats.num_iters or 0)
    return MomentProjection(value, iterations, residual, problem.status == cp.OPTIMAL and residual <= tol)


def _matrix(cone: ConeConstraint, size: int) -> scipy.sparse.csr_array:
    """The map of a cone, its image flattened, shape (M, D)."""
    columns = [scipy.sparse.csc_array(cone.forward(unit).reshape(-1, 1)) for unit in np.eye(size)]
    return scipy.sparse.csr_array(scipy.sparse.hstack(columns))
