"""Convex sets described by eigenvalues or singular values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_nonnegative
from dpgraph.projections.base import Ball, ConvexSet, as_matrix, as_symmetric, is_symmetric
from dpgraph.projections.partial_eigen import SymmetricSpectrum, excess, outer
from dpgraph.typing import FloatArray

__all__ = [
    "NuclearBall",
    "PSDCone",
    "PSDFrobeniusBall",
    "PSDTraceBall",
    "SpectralBall",
    "project_nuclear_ball",
    "project_psd",
    "project_psd_trace",
    "project_solid_simplex",
    "project_spectral_ball",
]


@dataclass(frozen=True)
class PSDCone(ConvexSet):
    """Positive semidefinite matrices.

    Examples
    --------
    >>> from dpgraph.projections import PSDCone
    >>> PSDCone().distance([[0.0, 1.0], [1.0, 0.0]])
    1.0
    """

    def project(self, X: ArrayLike) -> FloatArray:
        """Drop the negative eigenvalues of the symmetric part of `X`."""
        return project_psd(X)


class SpectralBall(Ball):
    """Matrices of spectral norm at most `radius`."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Clip the singular values of `X` at the radius."""
        return project_spectral_ball(X, self.radius)


class NuclearBall(Ball):
    """Matrices whose singular values sum to at most `radius`."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Shrink the singular values of `X` by one threshold."""
        return project_nuclear_ball(X, self.radius)


@dataclass(frozen=True)
class PSDTraceBall(ConvexSet):
    """Positive semidefinite matrices of trace at most `trace`: what a covariance matrix of short vectors is."""

    trace: float = 1.0

    def __post_init__(self) -> None:
        check_nonnegative("trace", self.trace)

    def project(self, X: ArrayLike) -> FloatArray:
        """Drop negative eigenvalues and shrink the others by one threshold."""
        return project_psd_trace(X, self.trace)


class PSDFrobeniusBall(Ball):
    """Positive semidefinite matrices of Frobenius norm at most `radius` (the first set of CDEMZ24, Algorithm 4)."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Project onto the cone, then scale: exact for a cone and a ball around its apex."""
        positive = project_psd(X)
        norm = float(np.linalg.norm(positive))
        return positive * (self.radius / norm) if norm > self.radius else positive


def project_psd(X: ArrayLike) -> FloatArray:
    """Nearest positive semidefinite matrix in the Frobenius norm.

    Parameters
    ----------
    X : array_like, shape (n, n)
        Any square matrix; its symmetric part decides.

    Returns
    -------
    ndarray, shape (n, n)
        Symmetric; its negative eigenvalues are rounding errors.

    Raises
    ------
    InvalidParameterError
        `X` is not a finite real square matrix.

    References
    ----------
    N. J. Higham, "Computing a nearest symmetric positive semidefinite matrix", Linear Algebra Appl. 103 (1988),
    Theorem 2.1.

    Examples
    --------
    >>> from dpgraph.projections import project_psd
    >>> project_psd([[1.0, 0.0], [0.0, -2.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    S = as_symmetric(X)
    spectrum = SymmetricSpectrum(S)
    # Only the eigenvectors of the smaller side of the spectrum are computed.
    negative = int(np.searchsorted(spectrum.values, 0.0))
    if negative > len(S) // 2:
        vectors = spectrum.high(len(S) - negative)
        return outer(vectors, np.maximum(spectrum.values[negative:], 0.0))
    vectors = spectrum.low(negative)
    return S - outer(vectors, np.minimum(spectrum.values[:negative], 0.0))


def project_psd_trace(X: ArrayLike, trace: float) -> FloatArray:
    """Nearest positive semidefinite matrix of trace at most `trace`, in the Frobenius norm.

    Parameters
    ----------
    X : array_like, shape (n, n)
        As for :func:`~dpgraph.projections.project_psd`, like the result and the errors.
    trace : float
        Nonnegative, or else :class:`~dpgraph.InvalidParameterError`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.projections import project_psd_trace
    >>> project_psd_trace(np.diag([3.0, 2.0, -1.0]), 2.0)
    array([[1.5, 0. , 0. ],
           [0. , 0.5, 0. ],
           [0. , 0. , 0. ]])
    """
    trace = check_nonnegative("trace", trace)
    spectrum = SymmetricSpectrum(as_symmetric(X))
    return spectrum.with_largest(project_solid_simplex(spectrum.values, trace))


def project_spectral_ball(X: ArrayLike, radius: float = 1.0) -> FloatArray:
    """Nearest matrix of spectral norm at most `radius`, in the Frobenius norm and in the spectral norm.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Any finite real matrix, or else :class:`~dpgraph.InvalidParameterError`. The result has its shape.
    radius : float, default 1.0
        Nonnegative, or else :class:`~dpgraph.InvalidParameterError`.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.projections import project_spectral_ball
    >>> project_spectral_ball(np.diag([3.0, -0.5]))
    array([[ 1. ,  0. ],
           [ 0. , -0.5]])
    """
    X, radius = as_matrix(X), check_nonnegative("radius", radius)
    if not is_symmetric(X):
        left, values, right = np.linalg.svd(X, full_matrices=False)
        return np.asarray((left * np.minimum(values, radius)) @ right)
    S = as_symmetric(X)
    return S - excess(S, radius)


def project_nuclear_ball(X: ArrayLike, radius: float = 1.0) -> FloatArray:
    """Nearest matrix of nuclear norm at most `radius`, in the Frobenius norm.

    Parameters
    ----------
    X, radius
        As for :func:`~dpgraph.projections.project_spectral_ball`, like the result and the errors.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.projections import project_nuclear_ball
    >>> project_nuclear_ball(np.diag([3.0, -1.0]), 3.0)
    array([[ 2.5,  0. ],
           [ 0. , -0.5]])
    """
    X, radius = as_matrix(X), check_nonnegative("radius", radius)
    if not is_symmetric(X):
        left, values, right = np.linalg.svd(X, full_matrices=False)
        return np.asarray((left * project_solid_simplex(values, radius)) @ right)
    spectrum = SymmetricSpectrum(as_symmetric(X))
    values = spectrum.values
    theta = _l1_threshold(np.abs(values), radius)
    low, high = int(np.count_nonzero(values < -theta)), int(np.count_nonzero(values > theta))
    kept = np.concatenate([values[:low] + theta, values[len(values) - high :] - theta])
    return outer(np.hstack([spectrum.low(low), spectrum.high(high)]), kept)


def project_solid_simplex(v: FloatArray, radius: float) -> FloatArray:
    """Nearest point of ``{x : x_i >= 0, sum x_i <= radius}``, shape (n,)."""
    positive = np.maximum(v, 0.0)
    return np.maximum(positive - _l1_threshold(positive, radius), 0.0)


def _l1_threshold(magnitudes: FloatArray, radius: float) -> float:
    """Return theta >= 0 with ``sum(max(magnitudes - theta, 0)) = min(radius, sum(magnitudes))``; all are nonnegative.

    Duchi, Shalev-Shwartz, Singer, Chandra, "Efficient projections onto the l1-ball for learning in high dimensions",
    ICML 2008.
    """
    if magnitudes.sum() <= radius:
        return 0.0
    decreasing = np.sort(magnitudes)[::-1]
    candidates = (np.cumsum(decreasing) - radius) / np.arange(1, len(decreasing) + 1)
    # The first entry always qualifies in exact arithmetic (radius 0 makes it a tie).
    support = np.flatnonzero(decreasing > candidates)
    return float(candidates[support[-1]] if len(support) else decreasing[0])
