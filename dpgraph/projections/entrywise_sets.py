"""Convex sets described entry by entry, sets of entries that are equal, and the Frobenius ball."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.exceptions import InvalidParameterError
from dpgraph.projections.base import Ball, ConvexSet, as_array, as_square
from dpgraph.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "BoundedDiagonal",
    "Box",
    "FrobeniusBall",
    "MomentStructure",
    "Nonnegative",
    "UnitDiagonal",
    "ZeroDiagonal",
    "project_box",
    "project_nonnegative",
]


@dataclass(frozen=True)
class Nonnegative(ConvexSet):
    """Arrays without negative entries."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Set negative entries to 0."""
        return project_nonnegative(X)


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


@dataclass(frozen=True)
class ZeroDiagonal(ConvexSet):
    """Square matrices with zero diagonal."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Set the diagonal to 0."""
        return _with_diagonal(X, np.zeros_like)


@dataclass(frozen=True)
class UnitDiagonal(ConvexSet):
    """Square matrices with every diagonal entry equal to 1."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Set the diagonal to 1."""
        return _with_diagonal(X, np.ones_like)


@dataclass(frozen=True)
class BoundedDiagonal(ConvexSet):
    """Square matrices with every diagonal entry at most `upper`."""

    upper: float = 1.0

    def project(self, X: ArrayLike) -> FloatArray:
        """Clip the diagonal from above."""
        return _with_diagonal(X, lambda diagonal: np.minimum(diagonal, self.upper))


def _with_diagonal(X: ArrayLike, change: Callable[[FloatArray], FloatArray]) -> FloatArray:
    result = as_square(X).copy()
    np.fill_diagonal(result, change(np.diagonal(result)))
    return result


class FrobeniusBall(Ball):
    """Arrays of Euclidean (Frobenius) norm at most `radius`."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Scale down to the radius where necessary."""
        X = as_array(X)
        norm = float(np.linalg.norm(X.ravel()))
        return X * (self.radius / norm) if norm > self.radius else X.copy()


@dataclass(frozen=True, eq=False)
class MomentStructure(ConvexSet):
    """Arrays whose entries agree within each group, some groups having a known value.

    In the moment matrix of a (pseudo-)distribution the entry (S, T) is the moment of the monomial x_S x_T: label it by
    that monomial, and fix the group of the empty monomial at 1.

    Parameters
    ----------
    labels : array_like of int
        Group of every entry, in the shape of the arrays to be projected; a negative label leaves the entry free.
    fixed : mapping from int to float, optional
        Known values of groups.

    Raises
    ------
    InvalidParameterError
        Labels are not integers, or a fixed label does not occur.

    Examples
    --------
    Second moments of three +-1 variables with equal pairwise correlations:

    >>> import numpy as np
    >>> from dpgraph.projections import MomentStructure
    >>> structure = MomentStructure(1 - np.eye(3, dtype=int), fixed={0: 1.0})
    >>> structure.project([[0.9, 0.1, 0.2], [0.1, 1.3, 0.3], [0.2, 0.3, 1.0]])
    array([[1. , 0.2, 0.2],
           [0.2, 1. , 0.2],
           [0.2, 0.2, 1. ]])
    """

    labels: ArrayLike
    fixed: Mapping[int, float] = field(default_factory=lambda: MappingProxyType({}))
    _grouped: BoolArray = field(init=False, repr=False)
    _groups: IntArray = field(init=False, repr=False)
    _fixed_at: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        if labels.dtype.kind not in "iu" or labels.size == 0:
            raise InvalidParameterError(
                f"labels must be a nonempty array of integers; got entries of type {labels.dtype}"
            )
        grouped = labels >= 0
        names, groups = np.unique(labels[grouped], return_inverse=True)
        missing = sorted(set(self.fixed) - set(names.tolist()))
        if missing:
            raise InvalidParameterError(f"fixed values for labels that do not occur: {missing[:5]}")
        at = np.searchsorted(names, np.fromiter(self.fixed, dtype=np.int64, count=len(self.fixed)))
        for name, value in (("_grouped", grouped), ("_groups", groups), ("_fixed_at", at)):
            object.__setattr__(self, name, value)

    def project(self, X: ArrayLike) -> FloatArray:
        """Average over every group, then set the known values."""
        X = as_array(X)
        if X.shape != self._grouped.shape:
            raise InvalidParameterError(f"expected an array of shape {self._grouped.shape}; got {X.shape}")
        means = np.bincount(self._groups, weights=X[self._grouped]) / np.bincount(self._groups)
        means[self._fixed_at] = list(self.fixed.values())
        result = X.copy()
        result[self._grouped] = means[self._groups]
        return result


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
