"""The published form of a private normalized adjacency: degrees, an orthonormal basis and a small core."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.edges import to_igraph, to_networkx
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult
from dpgraph.typing import FloatArray

#: Largest n for which the n x n matrix is formed on request (200 MB).
DENSE_LIMIT = 5000


@dataclass(frozen=True, eq=False, repr=False)
class PrivateNormalizedAdjacency(TableResult):
    """Private low-rank approximation Q B Q' of the normalized adjacency C^{-1/2} A C^{-1/2}, C = diag(degrees) + tau I.

    Everything here may be published, and everything computed from it is post-processing.

    Parameters
    ----------
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    degrees : ndarray, shape (n,)
        Noisy weighted degrees (unbiased; some may be negative).
    regularization : float
        tau.
    lower : float
        Lower bound m on min_i (d_i + tau) that the noise scales rely on; only the floor of `scale` with
        "noisy-power", "randomized-response" and "communities".
    basis : ndarray, shape (n, r)
        Q, orthonormal.
    core : ndarray, shape (r, r)
        B, symmetric: an estimate of Q' (normalized adjacency) Q, without bias but for eigenvalues within the noise of
        "randomized-response", of which a hundredth is left.
    spectrum : ndarray
        Noisy leading |eigenvalues|, one more than the largest rank considered; those of the core with
        "noisy-power", "randomized-response" and "communities".
    mechanism : str
        ``"coherence"``, ``"gaussian"``, ``"noisy-power"``, ``"randomized-response"`` or ``"communities"``.
    max_weight : float
        Public bound on a weight.
    privacy : PrivacyReport
        The guarantee.
    """

    nodes: tuple[Hashable, ...]
    degrees: FloatArray
    regularization: float
    lower: float
    basis: FloatArray
    core: FloatArray
    spectrum: FloatArray
    mechanism: str
    max_weight: float
    privacy: PrivacyReport

    def __repr__(self) -> str:
        return (
            f"PrivateNormalizedAdjacency({len(self.nodes)} vertices, rank {self.rank}, mechanism={self.mechanism!r}, "
            f"regularization={self.regularization:.4g}, {self.privacy!r})"
        )

    @property
    def rank(self) -> int:
        """Number of columns of the basis."""
        return int(self.basis.shape[1])

    @property
    def scale(self) -> FloatArray:
        """Private version of c = d + tau, floored at the bound `lower`, shape (n,)."""
        return np.maximum(self.degrees + self.regularization, self.lower)

    def matrix(self) -> FloatArray:
        """Q B Q' as a dense array, shape (n, n), for n up to 5000."""
        n = len(self.nodes)
        if n > DENSE_LIMIT:
            raise InvalidParameterError(
                f"a dense {n} x {n} matrix was asked for, the limit is {DENSE_LIMIT}; use linear_operator(), "
                "or basis and core"
            )
        return self.basis @ self.core @ self.basis.T

    def linear_operator(self) -> LinearOperator:
        """Q B Q' as a scipy LinearOperator, shape (n, n)."""
        return FactoredOperator(self.basis, self.core)

    def adjacency_operator(self) -> LinearOperator:
        """C^{1/2} Q B Q' C^{1/2}, the private low-rank adjacency (not normalised), as a LinearOperator."""
        return FactoredOperator(self.adjacency_factor(), self.core)

    def adjacency_factor(self) -> FloatArray:
        """C^{1/2} Q, shape (n, r): the private adjacency is factor @ core @ factor.T."""
        return np.sqrt(self.scale)[:, None] * self.basis

    def embedding(self, dimensions: int | None = None) -> FloatArray:
        """Spectral embedding: eigenvectors of Q B Q' times the square root of |eigenvalue|, shape (n, dimensions).

        Columns are in decreasing order of |eigenvalue|; ready for scikit-learn clustering.
        """
        values, vectors = np.linalg.eigh(self.core)
        order = np.argsort(-np.abs(values))[: self.rank if dimensions is None else dimensions]
        return np.asarray((self.basis @ vectors[:, order]) * np.sqrt(np.abs(values[order])))

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node``, and ``x1``, ``x2``, ... of :meth:`embedding`."""
        return {"node": self.nodes} | {f"x{j}": column.tolist() for j, column in enumerate(self.embedding().T, 1)}

    def to_networkx(self, *, threshold: float = 0.0) -> Any:
        """Weighted synthetic networkx graph: private adjacency entries above `threshold`, clipped to max_weight."""
        return to_networkx(self._above(threshold), self.nodes, "weight")

    def to_igraph(self, *, threshold: float = 0.0) -> Any:
        """:meth:`to_networkx` for igraph: labels in vertex attribute ``name``, weights in edge attribute ``weight``."""
        return to_igraph(self._above(threshold), self.nodes, "weight")

    def _above(self, threshold: float) -> sparse.csr_array:
        """The clipped private adjacency where it exceeds `threshold`."""
        weights = self._clipped("a synthetic graph")
        return sparse.csr_array(np.where(weights > threshold, weights, 0.0))

    def _clipped(self, what: str) -> FloatArray:
        """Private adjacency with entries in [0, max_weight], its diagonal included, shape (n, n)."""
        if len(self.nodes) > DENSE_LIMIT:
            raise InvalidParameterError(
                f"{what} examines all pairs and is limited to {DENSE_LIMIT} vertices; "
                f"got {len(self.nodes)}. Use adjacency_operator()"
            )
        factor = self.adjacency_factor()
        return np.clip(factor @ self.core @ factor.T, 0.0, self.max_weight)


class FactoredOperator(LinearOperator):
    """U B U' as a scipy LinearOperator, for U of shape (n, r) and a symmetric B of shape (r, r)."""

    def __init__(self, factor: FloatArray, core: FloatArray) -> None:
        super().__init__(np.float64, (len(factor), len(factor)))
        self.factor, self.core = factor, core

    def _matmat(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.factor @ (self.core @ (self.factor.T @ x)))

    _matvec = _matmat

    def _adjoint(self) -> FactoredOperator:
        return self
