"""Projection onto nK, K the l1-hull of a point set: the convex hull of the points and their mirror images, scaled by n.

The answers of linear queries on n records lie in nK, where the points are the columns of the query matrix (NTZ13). The
nearest point is found by nonnegative least squares: with E the vertices less y, scaled to be of order 1, the minimum of
||E u||^2 + (sum u - 1)^2 over u >= 0 has <E_i, E u> >= 1 - sum u for all i, with equality where u_i > 0. So E u/sum u
is the shortest vector in the convex hull of E. The Frank-Wolfe gap <x - y, x - v> over the best vertex v bounds the
squared error of x.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from dpgraph.arguments import check_nonnegative
from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.projections.base import ConvexSet, as_array, as_matrix
from dpgraph.typing import FloatArray

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class L1Hull(ConvexSet):
    """All ``points @ c`` with ``sum |c_i| <= radius``.

    Parameters
    ----------
    points : array_like, shape (d, N)
        The points are the columns; their mirror images are implied.
    radius : float, default 1.0
        n in nK, nonnegative.
    tol : float, default 1e-7
        Proven bound on the error of a projection, relative to the largest norm among its input and the vertices.
    """

    points: ArrayLike
    radius: float = 1.0
    tol: float = 1e-7

    def project(self, X: ArrayLike) -> FloatArray:
        """Nearest point of the set to a vector of length d."""
        return project_l1_hull(X, self.points, self.radius, tol=self.tol)


def project_l1_hull(y: ArrayLike, points: ArrayLike, radius: float = 1.0, *, tol: float = 1e-7) -> FloatArray:
    """Nearest point of ``{points @ c : sum |c_i| <= radius}`` to `y`.

    Parameters
    ----------
    y : array_like, shape (d,)
        The vector to be projected.
    points, radius, tol
        As for :class:`~dpgraph.projections.L1Hull`.

    Raises
    ------
    InvalidParameterError, NotConvergedError
        Shapes do not fit, or an argument is out of range; `tol` was not reached.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.projections import project_l1_hull
    >>> project_l1_hull([2.0, 1.0], np.eye(2))
    array([1., 0.])
    """
    y, points, radius = as_array(y), as_matrix(points), check_nonnegative("radius", radius)
    if y.shape != (points.shape[0],):
        raise InvalidParameterError(f"expected a vector of length d = {points.shape[0]}; got shape {y.shape}")
    vertices = radius * np.hstack([points, -points])
    scale = max(float(np.linalg.norm(y)), float(np.linalg.norm(vertices, axis=0).max()), _TINY)
    system = np.vstack([(vertices - y[:, None]) / scale, np.ones(vertices.shape[1])])
    try:
        weights = nnls(system, np.append(np.zeros_like(y), 1.0), maxiter=10 * sum(points.shape) + 100)[0]
    except RuntimeError as error:
        raise NotConvergedError(f"the projection onto nK found no solution: {error}; rescale the points") from error
    x = vertices @ (weights / weights.sum())
    if float((x - y) @ x - ((x - y) @ vertices).min()) > (tol * scale) ** 2:
        raise NotConvergedError(f"the projection onto nK did not reach tol={tol:g}; raise it")
    return np.asarray(x)
