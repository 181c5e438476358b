"""Projection onto nK, K the l1-hull of a point set: the convex hull of the points and their mirror images, scaled by n.

The answers of linear queries on n records lie in nK, where the points are the columns of the query matrix (NTZ13). A
histogram is nonnegative, so that they also lie in the smaller polytope of :func:`project_histogram_answers`.

The nearest point of a polytope to y is y plus the shortest vector in the hull of its vertices less y
(:func:`shortest_vector`). The Frank-Wolfe gap <x - y, x - v> over the best vertex v bounds the squared error of x.
"""

from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from dpgraph.arguments import check_nonnegative
from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.projections.convex_set import ConvexSet, as_array, as_matrix
from dpgraph.typing import FloatArray


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
    scale = max(float(np.linalg.norm(y)), float(np.linalg.norm(vertices, axis=0).max()))
    x = y + shortest_vector(vertices - y[:, None])
    if float((x - y) @ x - ((x - y) @ vertices).min()) > (tol * scale) ** 2:
        raise NotConvergedError(f"the projection onto nK did not reach tol={tol:g}; raise it")
    return x


def project_histogram_answers(y: FloatArray, columns: FloatArray, records: float, *, exactly: bool) -> FloatArray:
    """Nearest point of ``{columns @ z : z >= 0, sum z <= records}`` to `y`, or of sum z = records if `exactly`."""
    vertices = records * columns if exactly else np.hstack([records * columns, np.zeros((y.size, 1))])
    return y + shortest_vector(vertices - y[:, None])


def covering_combination(columns: FloatArray) -> FloatArray | None:
    """Shortest w with ``columns.T @ w >= 1``, so that <w, A x> >= sum x for histograms x; or None."""
    shortest = shortest_vector(columns)
    height = float((columns.T @ shortest).min())
    # The shortest vector v of conv(a_i) has a_i'v >= ||v||^2, so a relative sign test separates the two cases.
    if height <= 1e-6 * float(np.linalg.norm(columns, axis=0).max()) ** 2:
        return None
    return shortest / height


def shortest_vector(points: FloatArray) -> FloatArray:
    """Vector of least length in the convex hull of the columns b_i, by nonnegative least squares (an exact method).

    With points of order 1 and a row of ones below them, min ||B l||^2 + (sum l - 1)^2 over l >= 0 has, for each
    direction l/sum l, the optimal value s/(1 + s), s = ||B l||^2/(sum l)^2, which increases with s.
    """
    r, m = points.shape
    size = float(np.linalg.norm(points, axis=0).max())
    if size == 0:
        return np.zeros(r)
    stacked = np.vstack([points / size, np.ones(m)])
    try:
        weights, _ = scipy.optimize.nnls(stacked, np.append(np.zeros(r), 1.0), maxiter=20 * (m + r))
    except RuntimeError as error:
        raise NotConvergedError(
            f"the nearest point of a polytope was not found: {error}; rescale the points or take fewer "
            "(private_linear_queries: sparse=False needs none)"
        ) from error
    shortest: FloatArray = points @ (weights / weights.sum())
    return shortest
