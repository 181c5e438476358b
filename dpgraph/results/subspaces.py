"""Results of the private subspaces and low-rank approximations of a matrix."""

from dataclasses import dataclass

from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import Result
from dpgraph.typing import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSubspace(Result):
    """A private subspace.

    Parameters
    ----------
    basis : ndarray, shape (n, r)
        Orthonormal basis Q.
    spectrum : ndarray
        Noisy leading |eigenvalues| (of the shifted matrix for :func:`private_eigenspace`).
    privacy : PrivacyReport
        The guarantee.
    """

    basis: FloatArray
    spectrum: FloatArray
    privacy: PrivacyReport

    def __repr__(self) -> str:
        n, r = self.basis.shape
        return f"{type(self).__name__}(n={n}, rank={r}, {self.privacy!r})"

    @property
    def rank(self) -> int:
        """Dimension of the subspace."""
        return int(self.basis.shape[1])

    def projector(self) -> FloatArray:
        """Q Q', shape (n, n)."""
        return self.basis @ self.basis.T


@dataclass(frozen=True, eq=False, repr=False)
class PrivateLowRank(PrivateSubspace):
    """A private low-rank approximation Q B Q'.

    Parameters
    ----------
    core : ndarray, shape (r, r)
        B, symmetric.
    """

    core: FloatArray

    def matrix(self) -> FloatArray:
        """Q B Q', shape (n, n)."""
        return self.basis @ self.core @ self.basis.T


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSingularSubspace(Result):
    """Private leading singular subspaces of a rectangular matrix.

    Parameters
    ----------
    left : ndarray, shape (n, r)
        Orthonormal basis of the left subspace.
    right : ndarray, shape (m, r)
        Orthonormal basis of the right subspace.
    spectrum : ndarray
        Noisy leading singular values.
    privacy : PrivacyReport
        The guarantee.
    """

    left: FloatArray
    right: FloatArray
    spectrum: FloatArray
    privacy: PrivacyReport

    def __repr__(self) -> str:
        shape = (self.left.shape[0], self.right.shape[0])
        return f"PrivateSingularSubspace(shape={shape}, rank={self.left.shape[1]}, {self.privacy!r})"
