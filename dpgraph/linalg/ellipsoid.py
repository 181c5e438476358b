"""Minimum-volume (Loewner) ellipsoids by the Wolfe-Atwood method: Khachiyan's ascent with away steps."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from dpgraph.arguments import as_reals
from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.typing import FloatArray

#: The inverse that rank-one updates carry along is recomputed after this many of them.
_REFRESH = 500
#: Weights below this are dropped: their points no longer carry the ellipsoid.
_NEGLIGIBLE = 1e-15


@dataclass(frozen=True)
class Ellipsoid:
    """The set of points x with (x - center)' matrix (x - center) <= 1.

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
        Symmetric positive definite H.
    center : ndarray, shape (d,)
        The origin for a symmetric ellipsoid.
    weights : ndarray, shape (N,)
        Optimal design: nonnegative, sum 1, supported on the contact points.
    gap : float
        eta >= 0: the volume is at most (1 + eta)**(d/2) times the minimum.
    iterations : int
        Rank-one steps taken.
    """

    matrix: FloatArray
    center: FloatArray
    weights: FloatArray
    gap: float
    iterations: int

    def __repr__(self) -> str:
        return f"Ellipsoid(d={self.center.size}, log_volume={self.log_volume:.6g}, gap={self.gap:.1e})"

    @property
    def semi_axes(self) -> FloatArray:
        """Lengths of the semi-axes in decreasing order, shape (d,)."""
        return np.asarray(1.0 / np.sqrt(np.linalg.eigvalsh(self.matrix)))

    @property
    def log_volume(self) -> float:
        """Natural logarithm of the volume."""
        d = self.center.size
        ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)
        return ball - 0.5 * float(np.linalg.slogdet(self.matrix)[1])


def minimum_volume_ellipsoid(
    points: Any, *, symmetric: bool = True, tol: float = 1e-7, max_iter: int = 1_000_000
) -> Ellipsoid:
    """Ellipsoid of least volume that contains all points, and by default their mirror images.

    Parameters
    ----------
    points : array_like, shape (N, d)
        One point a row; they must span the space (for ``symmetric=False``: span it affinely).
    symmetric : bool, default True
        Ellipsoid centred at the origin, that is of conv{x_i, -x_i} (the Loewner ellipsoid of NTZ13's K when the
        points are the columns of the query matrix). With False the centre is free.
    tol : float, default 1e-7
        Largest accepted `gap`, 0 < tol < 1.
    max_iter : int, default 1000000
        Largest number of rank-one steps, at least 1.

    Returns
    -------
    Ellipsoid
        It contains every point exactly as computed: it is scaled by the largest x' M^{-1} x.

    Raises
    ------
    InvalidParameterError, NotConvergedError
        `points` is not a finite N x d array or does not span the space, or `tol` or `max_iter` is out of range;
        `max_iter` steps did not reach `tol`.

    References
    ----------
    L. Khachiyan, "Rounding of polytopes in the real number model of computation", Math. Oper. Res. 21 (1996).
    M. J. Todd, E. A. Yildirim, "On Khachiyan's algorithm for the computation of minimum-volume enclosing ellipsoids",
    Discrete Appl. Math. 155 (2007), the algorithm with away steps (linear convergence: Ahipasaoglu, Sun, Todd 2008).
    NTZ13, section "The Loewner ellipsoid".

    Examples
    --------
    >>> from dpgraph.problems.records.linear_queries import minimum_volume_ellipsoid
    >>> ellipsoid = minimum_volume_ellipsoid([[2.0, 0.0], [0.0, 1.0], [1.0, 0.5]])
    >>> ellipsoid.semi_axes.round(4)
    array([2., 1.])
    """
    X = _check_points(points)
    if not (0 < tol < 1 and max_iter >= 1):
        raise InvalidParameterError(f"need 0 < tol < 1 and max_iter >= 1; got tol={tol!r}, max_iter={max_iter!r}")
    lifted = X if symmetric else np.hstack([X, np.ones((X.shape[0], 1))])
    if np.linalg.matrix_rank(lifted) < lifted.shape[1]:
        verb = "span" if symmetric else "affinely span"
        raise InvalidParameterError(
            f"the {X.shape[0]} points do not {verb} the space, so the least volume is 0; points are rows: pass A.T "
            "for the columns of a query matrix, or project onto their span first"
        )
    weights, gap, iterations = _optimal_design(lifted, tol, max_iter)
    if gap > tol:
        raise NotConvergedError(
            f"the ellipsoid reached gap {gap:.2e} after {iterations} steps, needed {tol:.2e}; raise max_iter or tol"
        )
    center = np.zeros(X.shape[1]) if symmetric else weights @ X
    shifted = X - center
    Q, R = np.linalg.qr(shifted)  # as in _optimal_design
    half = scipy.linalg.solve_triangular(R, scipy.linalg.inv((Q.T * weights) @ Q))
    H = scipy.linalg.solve_triangular(R, half.T)
    H = (H + H.T) / 2
    H /= np.einsum("ij,ij->i", shifted @ H, shifted).max()
    return Ellipsoid(H, center, weights, gap, iterations)


def _check_points(points: Any) -> FloatArray:
    try:
        X = as_reals(points)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"points must be a numeric N x d array of real numbers; got {type(points).__name__}"
        ) from error
    if X.ndim != 2 or X.size == 0:
        raise InvalidParameterError(f"points must be an N x d array with one point a row; got shape {X.shape}")
    largest = np.abs(X).max()  # whose square, and that of its inverse, are no overflow
    if largest != 0 and not 1e-120 <= largest <= 1e120:
        raise InvalidParameterError(
            "points must be finite, the largest coordinate between 1e-120 and 1e120 in size; they contain NaN or "
            f"infinity, or have the largest {largest:.3g}. Measure them in other units"
        )
    return X


def _optimal_design(X: FloatArray, tol: float, max_iter: int) -> tuple[FloatArray, float, int]:
    """Weights p of the dual problem: log det M is largest, M = sum p_i x_i x_i'. The gap and the number of steps, too.

    Exact line searches go towards the point with the largest x' M^{-1} x, and away from the support point with the
    smallest one. The gap is max_i x_i' M^{-1} x_i / d - 1.
    """
    N, d = X.shape
    if d == 1:  # the longest point decides, and a step towards it would divide by zero
        return (np.arange(N) == np.abs(X[:, 0]).argmax()).astype(np.float64), 0.0, 0
    # The weights are the same in any basis. In an orthonormal one the trace of M^{-1} is a sum of N heights, and at the
    # optimum none is above d: the condition number of M is at most N d, however long some columns of X are.
    X = np.linalg.qr(X)[0]
    p, done = np.full(N, 1.0 / N), 0
    inverse, heights = _refresh(X, p)
    while True:
        done += _ascend(X, p, inverse, heights, tol, min(_REFRESH, max_iter - done))
        inverse, heights = _refresh(X, p)
        gap = max(float(heights.max()) / d - 1, 0.0)
        if gap <= tol or done >= max_iter:
            return p, gap, done


def _refresh(X: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    p[p < _NEGLIGIBLE] = 0.0
    p /= p.sum()
    inverse = scipy.linalg.inv((X.T * p) @ X)
    return inverse, np.einsum("ij,ij->i", X @ inverse, X)


def _ascend(X: FloatArray, p: FloatArray, inverse: FloatArray, heights: FloatArray, tol: float, steps: int) -> int:
    """Up to `steps` exact line searches, in place; returns how many were needed before the gap fell to `tol`.

    Moving to (1 - s) p + s e_j changes log det by (d - 1) log(1 - s) + log(1 - s + s h), h = x_j' M^{-1} x_j, which is
    largest at s = (h - d) / ((h - 1) d); a negative s (away step) stops where p_j reaches 0.
    """
    d = X.shape[1]
    for step in range(steps):
        top = int(heights.argmax())
        low = int(np.where(p > 0, heights, np.inf).argmin())
        above, below = heights[top] / d - 1, 1 - heights[low] / d
        if above <= tol:
            return step
        j = top if above > below else low
        h, limit = heights[j], -p[j] / (1 - p[j])
        s = max((h - d) / ((h - 1) * d), limit) if h > 1 else limit
        direction = inverse @ X[j]
        share = s / (1 - s)
        factor = share / (1 + share * h)
        heights -= factor * (X @ direction) ** 2
        heights /= 1 - s
        inverse -= np.outer(factor * direction, direction)
        inverse /= 1 - s
        p *= 1 - s
        p[j] = p[j] + s if s > limit else 0.0
    return steps
