"""What every convex set offers, what a projection reports, checks that all share; boxes and the Frobenius ball."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_nonnegative
from dpgraph.exceptions import InvalidParameterError
from dpgraph.result import Result
from dpgraph.typing import FloatArray

#: Entries of a symmetric matrix may differ from their mirror image by this much, relative to the largest entry.
_SYMMETRY = 1e-12


class ConvexSet(ABC):
    """A closed convex set of arrays with a closed-form, or certified, Euclidean projection."""

    @abstractmethod
    def project(self, X: ArrayLike) -> FloatArray:
        """Return the point of the set that is nearest to `X` in the Frobenius norm; `X` is not changed."""

    def distance(self, X: ArrayLike) -> float:
        """Frobenius distance from `X` to the set."""
        X = as_array(X)
        return float(np.linalg.norm((X - self.project(X)).ravel()))


@dataclass(frozen=True)
class Ball(ConvexSet):
    """Arrays of some norm at most `radius`, nonnegative."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        check_nonnegative("radius", self.radius)


@dataclass(frozen=True, eq=False, repr=False)
class ProjectionResult(Result):
    """A point of a convex set near a given point, with what is known about its quality.

    Parameters
    ----------
    matrix : ndarray
        The point found, in the shape of the input.
    distance : float
        Its distance to the input, in the norm of the projection.
    residual : float
        Infeasibility of `matrix`: an upper bound on its largest Frobenius distance to one of the sets.
    iterations : int
        Sweeps over the sets that were made.
    converged : bool
        Whether `tol` was reached. If not, `max_iter` came first: `matrix` is as good as `residual` and `gap` say.
    lower_bound : float
        No point of the intersection is nearer to the input than this (0 where nothing is known).
    tol : float
        Absolute accuracy that was asked for; what it is measured by is said where the projection is documented.
    max_iter : int
        Number of iterations that was allowed.
    """

    matrix: FloatArray
    distance: float
    residual: float
    iterations: int
    converged: bool
    lower_bound: float = 0.0
    tol: float = 0.0
    max_iter: int = 1

    @property
    def gap(self) -> float:
        """Certified accuracy of :attr:`distance` when the residual is 0: ``distance - lower_bound``."""
        return self.distance - self.lower_bound

    def __repr__(self) -> str:
        return (
            f"ProjectionResult(shape={self.matrix.shape}, distance={self.distance:.6g}, residual={self.residual:.2g}, "
            f"iterations={self.iterations} of {self.max_iter}, tol={self.tol:.2g}, converged={self.converged})"
        )


def as_array(X: ArrayLike) -> FloatArray:
    """Return `X` as float64, or raise :class:`InvalidParameterError` unless it is real and finite."""
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        raise InvalidParameterError(f"expected an array of real numbers; got entries of type {array.dtype}")
    array = array.astype(np.float64, copy=False)
    if not np.isfinite(array).all():
        raise InvalidParameterError("expected finite entries; at least one entry is NaN or infinite")
    return array


def as_matrix(X: ArrayLike) -> FloatArray:
    """Return `X` as a float64 matrix with at least one row and one column."""
    matrix = as_array(X)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidParameterError(f"expected a matrix with rows and columns; got shape {matrix.shape}")
    return matrix


def is_symmetric(X: FloatArray) -> bool:
    """Whether a matrix equals its transpose up to rounding."""
    return X.shape[0] == X.shape[1] and bool(np.abs(X - X.T).max() <= _SYMMETRY * np.abs(X).max())


def as_symmetric(X: ArrayLike) -> FloatArray:
    """Return the symmetric part (X + X')/2 of a square matrix, whose projection onto symmetric sets is that of `X`."""
    matrix = as_matrix(X)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidParameterError(f"expected a square matrix; got shape {matrix.shape}")
    return matrix / 2 + matrix.T / 2


@dataclass(frozen=True, eq=False)
class Box(ConvexSet):
    """Arrays with every entry between `lower` and `upper`, numbers or arrays that broadcast.

    Examples
    --------
    >>> from dpgraph.projections import Box
    >>> Box(-1, 1).project([[2.0, 0.5], [-3.0, 0.0]])
    array([[ 1. ,  0.5],
           [-1. ,  0. ]])
    """

    lower: float | FloatArray = -np.inf
    upper: float | FloatArray = np.inf

    def __post_init__(self) -> None:
        if not np.all(np.asarray(self.lower) <= np.asarray(self.upper)):
            raise InvalidParameterError(
                "expected lower <= upper in every entry; at least one pair of bounds is reversed"
            )

    def project(self, X: ArrayLike) -> FloatArray:
        """Clip every entry."""
        return np.clip(as_array(X), self.lower, self.upper)


class FrobeniusBall(Ball):
    """Arrays of Euclidean (Frobenius) norm at most `radius`."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Scale down to the radius where necessary."""
        X = as_array(X)
        norm = float(np.linalg.norm(X.ravel()))
        return X * (self.radius / norm) if norm > self.radius else X.copy()


def project_nonnegative(X: ArrayLike) -> FloatArray:
    """Nearest array without negative entries.

    Parameters
    ----------
    X : array_like
        Any shape, real and finite, or else :class:`~dpgraph.InvalidParameterError`.

    Examples
    --------
    >>> from dpgraph.projections import project_nonnegative
    >>> project_nonnegative([1.0, -2.0])
    array([1., 0.])
    """
    return np.maximum(as_array(X), 0.0)


def project_box(X: ArrayLike, lower: ArrayLike = -1.0, upper: ArrayLike = 1.0) -> FloatArray:
    """Nearest array with every entry between `lower` and `upper`.

    Parameters
    ----------
    X : array_like
        As for :func:`~dpgraph.projections.project_nonnegative`.
    lower, upper : float or array_like, default -1 and 1
        Bounds, broadcast against `X`; infinite ones are allowed.

    Raises
    ------
    InvalidParameterError
        A lower bound exceeds its upper bound.

    Examples
    --------
    >>> from dpgraph.projections import project_box
    >>> project_box([3.0, -0.5])
    array([ 1. , -0.5])
    """
    return Box(np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)).project(X)
