"""Results of the private subspaces and low-rank approximations of a matrix."""

from dataclasses import dataclass

from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import Result
from dpgraph.tuning import KRYLOV
from dpgraph.typing import FloatArray


class Found(Result):
    """What results for subspaces say about how good they are."""

    estimated_sine: float
    cautious_sine: float

    @property
    def converged(self) -> bool:
        """Whether the space was found: whether `cautious_sine` is at most 0.3."""
        return self.cautious_sine <= KRYLOV.found

    def _quality(self) -> str:
        return f"estimated_sine={self.estimated_sine:.3g}, converged={self.converged}"


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSubspace(Found):
    """A private subspace.

    Parameters
    ----------
    basis : ndarray, shape (n, r)
        Orthonormal basis Q.
    spectrum : ndarray
        Noisy leading |eigenvalues| (of the shifted matrix for :func:`private_eigenspace` by "coherence").
    estimated_sine : float
        Estimate of the sine of the largest angle between this subspace and the exact one, from released values and
        the known noise; 1 where nothing was found. Eigenvalues that no released value shows are taken to be at most
        half of those of the space.
    cautious_sine : float
        The same if they may lie anywhere up to these, which decides on `converged`.
    privacy : PrivacyReport
        The guarantee.
    """

    basis: FloatArray
    spectrum: FloatArray
    estimated_sine: float
    cautious_sine: float
    privacy: PrivacyReport

    def __repr__(self) -> str:
        n, r = self.basis.shape
        return f"{type(self).__name__}(n={n}, rank={r}, {self._quality()}, {self.privacy!r})"

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
class PrivateSingularSubspace(Found):
    """Private leading singular subspaces of a rectangular matrix.

    Parameters
    ----------
    left : ndarray, shape (n, r), or None
        Orthonormal basis of the left subspace. None where rows are private records: each row of it would tell of one.
    right : ndarray, shape (m, r)
        Orthonormal basis of the right subspace.
    spectrum : ndarray
        Noisy leading singular values.
    estimated_sine, cautious_sine : float
        As for :class:`PrivateSubspace`, of the worse of both sides.
    privacy : PrivacyReport
        The guarantee.
    """

    left: FloatArray | None
    right: FloatArray
    spectrum: FloatArray
    estimated_sine: float
    cautious_sine: float
    privacy: PrivacyReport

    def __repr__(self) -> str:
        shape = (self.right.shape[0],) if self.left is None else (self.left.shape[0], self.right.shape[0])
        rank = self.right.shape[1]
        return f"PrivateSingularSubspace(shape={shape}, rank={rank}, {self._quality()}, {self.privacy!r})"
