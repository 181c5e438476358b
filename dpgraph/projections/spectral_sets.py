"""Convex sets described by eigenvalues or singular values."""

from dataclasses import dataclass

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from dpgraph.arguments import check_nonnegative, check_positive
from dpgraph.projections.convex_set import Ball, ConvexSet, as_matrix, as_symmetric, is_symmetric
from dpgraph.typing import FloatArray

#: Gaps below this many standard deviations count less, so that none is divided by: pooling cancels them anyway.
_SMALLEST_GAP = 0.02
#: Noise below this share of the largest eigenvalue is less than rounding: nothing is to be shrunk.
_ROUNDING = 1e-20
#: Gaps of so many eigenvalues to all others are kept at a time.
_BLOCK = 256


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


class PSDTraceBall(Ball):
    """Positive semidefinite matrices of trace at most `radius`: what a covariance matrix of short vectors is."""

    def project(self, X: ArrayLike) -> FloatArray:
        """Drop negative eigenvalues and shrink the others by one threshold."""
        return project_psd_trace(X, self.radius)


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
        Any finite real square matrix, or else :class:`~dpgraph.InvalidParameterError`; its symmetric part decides.

    Returns
    -------
    ndarray, shape (n, n)
        Symmetric; its negative eigenvalues are rounding errors (Higham 1988, Theorem 2.1).

    Examples
    --------
    >>> from dpgraph.projections import project_psd
    >>> project_psd([[1.0, 0.0], [0.0, -2.0]])
    array([[1., 0.],
           [0., 0.]])
    """
    S = as_symmetric(X)
    values, vectors = np.linalg.eigh(S)
    negative = int(np.searchsorted(values, 0.0))
    if negative > len(S) // 2:
        return outer(vectors[:, negative:], values[negative:])
    return S - outer(vectors[:, :negative], values[:negative])


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
    values, vectors = np.linalg.eigh(as_symmetric(X))
    return outer(vectors, project_solid_simplex(values, trace))


def shrink_psd_trace(X: ArrayLike, trace: float, *, std: float) -> FloatArray:
    """Estimate of a positive semidefinite matrix under isotropic noise of known size, with the eigenvectors of `X`.

    Parameters
    ----------
    X, trace
        As for :func:`~dpgraph.projections.project_psd_trace`, like the errors; `X` is the noisy matrix, shape (d, d).
    std : float
        Standard deviation of a diagonal entry of the noise, positive; off the diagonal it is smaller by sqrt(2).

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.projections import shrink_psd_trace
    >>> shrink_psd_trace(np.diag([3.0, 0.5, -0.5]), 4.0, std=0.5).diagonal().round(2)
    array([2.83, 0.35, 0.  ])
    """
    trace, std = check_nonnegative("trace", trace), check_positive("std", std)
    values, vectors = np.linalg.eigh(as_symmetric(X))
    return outer(vectors, project_solid_simplex(shrunken_eigenvalues(values, std), trace))


def shrunken_eigenvalues(values: FloatArray, std: float) -> FloatArray:
    r"""Eigenvalues that minimise Stein's estimate of the squared error, ascending, with the sum of the noisy ones.

    `values` are the eigenvalues l_i of C + W, ascending, and `std` > 0 is the standard deviation of a diagonal entry of
    the Gaussian W; off the diagonal it is smaller by sqrt(2). For an estimate with the eigenvectors of C + W and
    eigenvalues f_i, Stein's unbiased estimate of the squared Frobenius error is a constant plus

        sum_i (f_i - l_i)^2 + 2 std^2 (sum_i df_i/dl_i + sum_{i<j} (f_i - f_j)/(l_i - l_j)).

    Without the derivatives it is least at f_i = l_i - std^2 sum_{j != i} 1/(l_i - l_j); pooling neighbours that are out
    of order (isotonic regression) tames the small gaps (docs/covariance-theory.md, "Shrinkage and projection"). For
    many rows the rule is the best of all that keep the eigenvectors (J. Bun, R. Allez, J.-P. Bouchaud, M. Potters, IEEE
    Trans. Inf. Theory 62 (2016), section IV.A).
    """
    if std < _ROUNDING * np.abs(values).max():
        return values
    scaled = values / std
    pushed = np.empty_like(scaled)
    for start in range(0, scaled.size, _BLOCK):
        gaps = scaled[start : start + _BLOCK, None] - scaled
        pushed[start : start + _BLOCK] = (gaps / (gaps**2 + _SMALLEST_GAP**2)).sum(axis=1)
    return np.asarray(scipy.optimize.isotonic_regression(scaled - pushed).x * std)


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
    values, vectors = np.linalg.eigh(as_symmetric(X))
    theta = _l1_threshold(np.abs(values), radius)
    return outer(vectors, values - np.clip(values, -theta, theta))


def outer(vectors: FloatArray, values: FloatArray) -> FloatArray:
    """The exactly symmetric matrix ``sum_k values[k] u_k u_k'``, u_k the columns of `vectors`."""
    kept = values != 0.0
    product: FloatArray = (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
    return (product + product.T) / 2


def excess(X: FloatArray, radius: float) -> FloatArray:
    """What the eigenvalues of a symmetric matrix have beyond `radius`: X - excess is X with eigenvalues clipped."""
    values, vectors = np.linalg.eigh(X)
    return outer(vectors, values - np.clip(values, -radius, radius))


def project_solid_simplex(v: FloatArray, radius: float) -> FloatArray:
    """Nearest point of ``{x : x_i >= 0, sum x_i <= radius}``, shape (n,)."""
    positive = np.maximum(v, 0.0)
    return np.maximum(positive - _l1_threshold(positive, radius), 0.0)


def _l1_threshold(magnitudes: FloatArray, radius: float) -> float:
    """Return theta >= 0 with ``sum(max(magnitudes - theta, 0)) = min(radius, sum(magnitudes))`` (Duchi et al. 2008)."""
    if magnitudes.sum() <= radius:
        return 0.0
    decreasing = np.sort(magnitudes)[::-1]
    candidates = (np.cumsum(decreasing) - radius) / np.arange(1, len(decreasing) + 1)
    # The first entry always qualifies in exact arithmetic (radius 0 makes it a tie).
    support = np.flatnonzero(decreasing > candidates)
    return float(candidates[support[-1]] if len(support) else decreasing[0])
