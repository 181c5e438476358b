"""Projection onto nK, K the l1-hull of a point set: the convex hull of the points and their mirror images, scaled by n.

The answers of linear queries on n records lie in nK, where the points are the columns of the query matrix (NTZ13). The
nearest point is found by the active-set method of P. Wolfe, "Finding the nearest point in a polytope", Math.
Programming 11 (1976), which is exact after finitely many steps and carries the Frank-Wolfe certificate: gap =
<x - y, x - v> over the best vertex v bounds the squared error of x.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_nonnegative
from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.projections.base import ConvexSet, as_array, as_matrix
from dpgraph.typing import FloatArray

__all__ = ["L1Hull", "project_l1_hull"]

#: Weights below this are removed from the active set.
_ZERO_WEIGHT = 1e-12


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


def project_l1_hull(
    y: ArrayLike, points: ArrayLike, radius: float = 1.0, *, tol: float = 1e-7, max_iter: int | None = None
) -> FloatArray:
    """Nearest point of ``{points @ c : sum |c_i| <= radius}`` to `y`.

    Parameters
    ----------
    y : array_like, shape (d,)
        The vector to be projected.
    points, radius, tol
        As for :class:`~dpgraph.projections.L1Hull`.
    max_iter : int, optional
        Largest number of vertices that may enter; ``10 (d + N) + 100`` if omitted.

    Raises
    ------
    InvalidParameterError, NotConvergedError
        Shapes do not fit, or an argument is out of range; `max_iter` came first.

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
    limit = 10 * sum(points.shape) + 100 if max_iter is None else max_iter
    scale = max(float(np.linalg.norm(y)), radius * float(np.linalg.norm(points, axis=0).max()))
    corral = _Corral(y, _best_vertex(points, radius, -y))
    for _ in range(limit):
        x = corral.point()
        vertex = _best_vertex(points, radius, x - y)
        if float((x - y) @ (x - vertex)) <= (tol * scale) ** 2:
            return x
        if not corral.improve(vertex):
            break
    raise NotConvergedError(
        f"the projection onto nK did not reach tol={tol:g} within {limit} steps; raise max_iter or tol"
    )


def _best_vertex(points: FloatArray, radius: float, gradient: FloatArray) -> FloatArray:
    """Vertex of nK with the smallest inner product with `gradient`."""
    products = points.T @ gradient
    i = int(np.argmax(np.abs(products)))
    return points[:, i] * (-radius if products[i] > 0 else radius)


class _Corral:
    """Affinely independent vertices whose convex hull has the current point in its relative interior."""

    def __init__(self, target: FloatArray, vertex: FloatArray) -> None:
        self._target = target
        self._vertices = vertex[:, None].copy()
        self._weights = np.ones(1)

    def point(self) -> FloatArray:
        """Current point, shape (d,)."""
        return self._vertices @ self._weights

    def improve(self, vertex: FloatArray) -> bool:
        """Let a vertex enter and move to the nearest point of the enlarged corral; False if nothing can be gained."""
        if np.any(np.all(self._vertices == vertex[:, None], axis=0)):
            return False
        self._vertices = np.column_stack([self._vertices, vertex])
        self._weights = np.append(self._weights, 0.0)
        while True:
            affine = self._affine_minimiser()
            if affine.min() > _ZERO_WEIGHT:
                self._weights = affine
                return True
            falling = affine <= _ZERO_WEIGHT
            step = self._weights[falling] / np.maximum(self._weights[falling] - affine[falling], _ZERO_WEIGHT)
            self._weights = self._weights + min(1.0, float(step.min())) * (affine - self._weights)
            keep = self._weights > _ZERO_WEIGHT
            keep[int(np.argmax(self._weights))] = True
            self._vertices, self._weights = self._vertices[:, keep], self._weights[keep] / self._weights[keep].sum()

    def _affine_minimiser(self) -> FloatArray:
        """Weights (of any sign, sum 1) of the nearest point in the affine hull."""
        shifted = self._vertices - self._target[:, None]
        unit = max(float(np.linalg.norm(shifted, axis=0).max()), 1e-300)
        stacked = np.vstack([shifted / unit, np.ones(shifted.shape[1])])
        R = np.asarray(np.linalg.qr(stacked, mode="r"))
        # (B'B)^{-1} 1 with B = QR; least squares covers a corral that has become affinely dependent.
        weights = np.linalg.lstsq(R, np.linalg.lstsq(R.T, np.ones(shifted.shape[1]))[0])[0]
        return np.asarray(weights / weights.sum())
