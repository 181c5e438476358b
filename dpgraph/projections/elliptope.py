r"""Projection onto the elliptope {X psd, X_ii <= 1} (CDEMZ24, Algorithm 3) and onto the correlation matrices.

The nearest point solves a smooth dual problem in n variables instead of n^2: with multipliers y of the diagonal,

    minimise f(y) = ||(S - Diag y)_+||_F^2 / 2 + sum(y),   grad f(y) = 1 - diag (S - Diag y)_+,   X = (S - Diag y)_+,

over y >= 0 (X_ii <= 1) or over all y (X_ii = 1), where the diagonal of X is repaired by scaling. It needs about two
dozen positive parts, as many as accelerated Dykstra; the point found is feasible and has a proven bound on its error.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from dpgraph.exceptions import InvalidParameterError, NotConvergedError
from dpgraph.progress import tqdm
from dpgraph.projections.convex_set import ConvexSet, ProjectionResult, as_symmetric
from dpgraph.projections.spectral_sets import project_psd
from dpgraph.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Elliptope(ConvexSet):
    """Positive semidefinite matrices with diagonal at most 1, or equal to 1: Gram matrices of short, or unit, vectors.

    Parameters
    ----------
    unit_diagonal : bool, default False
        Ask for X_ii = 1 (correlation matrices; the max-cut relaxation) instead of X_ii <= 1.
    tol : float, default 1e-7
        Proven accuracy of the point found, in the Frobenius norm and relative to max(1, ||X||_F).
    max_iter : int, default 1000
        Largest number of positive parts to be computed.
    progress : bool, default False
        Show on stderr how many have been computed.
    """

    unit_diagonal: bool = False
    tol: float = 1e-7
    max_iter: int = 1000
    progress: bool = False

    def __post_init__(self) -> None:
        if not self.tol > 0 or self.max_iter < 1:
            raise InvalidParameterError(f"expected tol > 0 and max_iter >= 1; got {self.tol!r} and {self.max_iter!r}")

    def project(self, X: ArrayLike) -> FloatArray:
        """Nearest point to the symmetric part of `X`; :class:`NotConvergedError` if `tol` is not reached."""
        result = self.solve(X)
        if not result.converged:
            raise NotConvergedError(
                f"the elliptope projection did not reach tol={self.tol:g} within max_iter={self.max_iter}; "
                "raise max_iter, or tol, or use Elliptope(...).solve for the point found so far"
            )
        return result.matrix

    def solve(self, X: ArrayLike) -> ProjectionResult:
        """As :meth:`project`, with the certificate, and with the point found so far if `tol` is not reached."""
        S, bar = as_symmetric(X), tqdm(desc="positive parts", disable=not self.progress)

        def dual(y: FloatArray) -> tuple[float, FloatArray]:
            bar.update()
            positive = project_psd(S - np.diag(y))
            return 0.5 * float(np.sum(positive**2)) + float(y.sum()), 1.0 - np.diagonal(positive)

        start = np.diagonal(S) - 1.0
        bounds: Any = None
        if not self.unit_diagonal:
            start, bounds = np.maximum(start, 0.0), [(0.0, None)] * len(S)
        limits = {"maxfun": self.max_iter, "maxiter": self.max_iter}
        options: Any = limits | {"ftol": 1e-15, "gtol": 0.1 * self.tol, "maxcor": 20}
        with bar:
            found = scipy.optimize.minimize(dual, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return self._certified(S, found.x, int(found.nfev))

    def _certified(self, S: FloatArray, y: FloatArray, evaluations: int) -> ProjectionResult:
        """Repair the diagonal of the dual point's matrix and bound its distance to the projection."""
        positive = project_psd(S - np.diag(y))
        matrix = _with_unit_diagonal(positive, pinned=np.ones(len(y), bool) if self.unit_diagonal else y > 0)
        negative = positive - S + np.diag(y)
        # Weak duality and strong convexity: the halved square of the error is at most the duality gap of `matrix`,
        # written here without differences of large numbers.
        gap = 0.5 * float(np.sum((matrix - positive) ** 2)) + float(np.vdot(matrix, negative))
        gap += float(y @ (1.0 - np.diagonal(matrix)))
        error = np.sqrt(2.0 * max(gap, 0.0))
        distance = float(np.linalg.norm(matrix - S))
        lower = float(np.sqrt(max(distance**2 - error**2, 0.0)))
        tol = self.tol * max(1.0, float(np.linalg.norm(S)))
        return ProjectionResult(matrix, distance, 0.0, evaluations, bool(error <= tol), lower, tol, self.max_iter)


def _with_unit_diagonal(X: FloatArray, *, pinned: BoolArray) -> FloatArray:
    """Congruence that sets pinned diagonal entries to 1, the others to at most 1, and keeps X positive semidefinite."""
    diagonal = np.diagonal(X)
    if np.any(diagonal[pinned] <= 0.0):
        X = X + np.finfo(float).eps * np.eye(len(X))  # a zero row cannot be scaled: move inside the cone first
        diagonal = np.diagonal(X)
    scale = 1.0 / np.sqrt(np.where(pinned, diagonal, np.maximum(diagonal, 1.0)))
    scaled = X * np.outer(scale, scale)
    scaled[pinned, pinned] = 1.0
    np.fill_diagonal(scaled, np.minimum(np.diagonal(scaled), 1.0))
    return scaled


def project_elliptope(
    X: ArrayLike, *, unit_diagonal: bool = False, tol: float = 1e-7, progress: bool = False
) -> FloatArray:
    """Nearest point of the elliptope {X psd, X_ii <= 1} in the Frobenius norm.

    Parameters
    ----------
    X : array_like, shape (n, n)
        Any square matrix; its symmetric part decides.
    unit_diagonal, tol, progress
        As for :class:`~dpgraph.projections.Elliptope`. With X_ii = 1 it finds the nearest correlation matrix, and
        repairs an infeasible point of the max-cut relaxation.

    Returns
    -------
    ndarray, shape (n, n)
        The diagonal constraint holds exactly, positive semidefiniteness up to rounding.

    Raises
    ------
    InvalidParameterError, NotConvergedError
        `X` is not a finite real square matrix; `tol` was not reached.

    References
    ----------
    CDEMZ24, Algorithm 3. H. Qi, D. Sun, "A quadratically convergent Newton method for computing the nearest correlation
    matrix", SIAM J. Matrix Anal. Appl. 28 (2006) (the dual problem).

    Examples
    --------
    >>> from dpgraph.projections import project_elliptope
    >>> project_elliptope([[1.0, 2.0], [2.0, 0.5]]).round(3)
    array([[1., 1.],
           [1., 1.]])
    """
    return Elliptope(unit_diagonal=unit_diagonal, tol=tol, progress=progress).project(X)
