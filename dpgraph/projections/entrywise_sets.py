"""Convex sets described entry by entry, and the Frobenius ball."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.exceptions import InvalidParameterError
from dpgraph.projections.convex_set import Ball, ConvexSet, as_array
from dpgraph.typing import FloatArray


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
