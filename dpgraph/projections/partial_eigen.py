"""Eigenpairs of a dense symmetric matrix beyond a threshold, without paying for the rest.

All eigenvalues cost a third of a decomposition; so they come first, and then only those eigenvectors that are needed.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal, eigvalsh_tridiagonal, lapack

from dpgraph.exceptions import NotConvergedError
from dpgraph.typing import FloatArray

#: Below this size the full decomposition (divide and conquer) is as fast as a partial one.
_FULL_LIMIT = 200
#: Above this share of wanted eigenvectors divide and conquer wins over MRRR with back-transformation.
_FULL_SHARE = 0.6


class SymmetricSpectrum:
    """All eigenvalues of a symmetric matrix, ascending, and eigenvectors on demand; only one triangle is read."""

    def __init__(self, X: FloatArray) -> None:
        self._matrix = X
        self._vectors: FloatArray | None = None
        n = len(X)
        if n <= _FULL_LIMIT:
            self.values, self._vectors = np.linalg.eigh(X)
            return
        self._reflectors, self._diagonal, self._off, self._tau, info = lapack.dsytrd(
            np.asfortranarray(X), lower=1, lwork=64 * n
        )
        if info != 0:
            raise NotConvergedError(f"the tridiagonal reduction failed (LAPACK dsytrd, info = {info})")
        self.values = eigvalsh_tridiagonal(self._diagonal, self._off, lapack_driver="sterf")

    def low(self, count: int) -> FloatArray:
        """Orthonormal eigenvectors of the `count` smallest eigenvalues, shape (n, count)."""
        return self._range(0, count)

    def high(self, count: int) -> FloatArray:
        """Orthonormal eigenvectors of the `count` largest eigenvalues, shape (n, count)."""
        n = len(self.values)
        return self._range(n - count, n)

    def with_largest(self, kept: FloatArray) -> FloatArray:
        """The matrix with these eigenvalues, ascending and nonnegative, in place of its own, shape (n, n)."""
        count = int(np.count_nonzero(kept))
        return outer(self.high(count), kept[len(kept) - count :])

    def _range(self, start: int, stop: int) -> FloatArray:
        n, count = len(self.values), stop - start
        if self._vectors is None and count > _FULL_SHARE * n:
            self.values, self._vectors = np.linalg.eigh(self._matrix)
        if self._vectors is not None:
            return self._vectors[:, start:stop]
        if count == 0:
            return np.empty((n, 0))
        _, vectors = eigh_tridiagonal(
            self._diagonal, self._off, select="i", select_range=(start, stop - 1), lapack_driver="stemr"
        )
        return self._back_transform(np.asarray(vectors, dtype=np.float64))

    def _back_transform(self, vectors: FloatArray) -> FloatArray:
        """Multiply by the orthogonal factor of the reduction: reflectors that act on coordinates 2, ..., n."""
        n, count = vectors.shape
        moved, _, info = lapack.dormqr(
            "L", "N", self._reflectors[1:, : n - 1], self._tau, np.asfortranarray(vectors[1:]), lwork=64 * count
        )
        if info != 0:
            raise NotConvergedError(f"the back-transformation failed (LAPACK dormqr, info = {info})")
        return np.concatenate([vectors[:1], moved])


def outer(vectors: FloatArray, values: FloatArray) -> FloatArray:
    """Return the exactly symmetric matrix ``sum_k values[k] u_k u_k'``, u_k the columns of `vectors`."""
    product = (vectors * values) @ vectors.T
    return (product + product.T) / 2


def excess(X: FloatArray, radius: float) -> FloatArray:
    """What the eigenvalues of a symmetric matrix have beyond `radius`: X - excess is X with eigenvalues clipped."""
    spectrum = SymmetricSpectrum(X)
    low = int(np.searchsorted(spectrum.values, -radius, side="left"))
    high = len(X) - int(np.searchsorted(spectrum.values, radius, side="right"))
    vectors = np.hstack([spectrum.low(low), spectrum.high(high)])
    values = np.concatenate([spectrum.values[:low], spectrum.values[len(X) - high :]])
    return outer(vectors, values - np.clip(values, -radius, radius))
