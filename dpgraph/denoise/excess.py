"""Where a public graph has more edges than its degrees and communities explain."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.denoise.modularity import sums_between
from dpgraph.typing import FloatArray, IntArray

#: Products from which leading eigenvectors are found, beginning with those of a similar graph.
_PRODUCTS = 2


class Expected(NamedTuple):
    """Edges that degrees and communities explain, by vertices: `ends` `between` `ends`^T.

    `ends` has in row v, at the community of v, its part of the degrees of that; `between` are numbers of ends of edges.
    """

    ends: sparse.csr_array
    between: FloatArray

    @classmethod
    def of(cls, A: sparse.csr_array, labels: IntArray) -> "Expected":
        """In a 0/1 matrix: the same for all graphs with these degrees, and edges between these communities."""
        degrees, between = np.diff(A.indptr), sums_between(A, labels).toarray()
        parts = degrees / np.maximum(between.sum(axis=1), 1.0)[labels]
        return cls(
            sparse.csr_array((parts, labels, np.arange(labels.size + 1)), shape=(labels.size, len(between))), between
        )

    def leading(self, A: sparse.csr_array, begin: FloatArray) -> tuple[FloatArray, FloatArray]:
        """About the leading eigenvectors of what A has beyond this, in columns, and their eigenvalues, all positive.

        By a block Krylov method from as many columns `begin`.
        """
        basis = [begin]
        for _ in range(_PRODUCTS):
            basis.append(self._beyond(A, np.linalg.qr(basis[-1])[0]))
        every = np.linalg.qr(np.hstack(basis))[0]
        values, vectors = np.linalg.eigh(every.T @ self._beyond(A, every))
        largest = slice(None, -begin.shape[1] - 1, -1)
        return np.ascontiguousarray(every @ vectors[:, largest]), np.maximum(values[largest], np.finfo(float).tiny)

    def _beyond(self, A: sparse.csr_array, X: FloatArray) -> FloatArray:
        product: FloatArray = A @ X - self.ends @ (self.between @ (self.ends.T @ X))
        return product
