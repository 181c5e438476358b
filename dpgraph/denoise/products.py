"""Released products of a private matrix with public bases: what is computed from all of them together.

The products Y_t = A Q_t + noise are public, and so are the bases Q_t. The next basis comes from the weighted sum
sum_t a_t Y_t (Q_t' Q), in which noise averages out, while products with bases that had not yet found the leading space
count for little. (The published power method throws all but the last product away.)
"""

import math

import numpy as np

from dpgraph.tuning import POWER
from dpgraph.typing import FloatArray

__all__ = ["Products"]


class Products:
    """Released products Y_t of the matrix with public bases Q_t.

    Every basis is a linear combination of the first one and of products, so that these columns are all that is kept;
    what is done with the bases is done with their coefficients and the Gram matrix of the columns.
    """

    def __init__(self, first: FloatArray, iterations: int) -> None:
        n, k = first.shape
        self._columns = np.empty((n, k * (2 * iterations + 1)), order="F")
        self._gram = np.zeros((self._columns.shape[1],) * 2)
        self._used = 0
        self._steps: list[tuple[FloatArray, slice, float]] = []
        self.coefficients = np.zeros((self._columns.shape[1], k))
        self.coefficients[self._append(first)] = np.eye(k)

    def _append(self, columns: FloatArray) -> slice:
        new = slice(self._used, self._used + columns.shape[1])
        self._columns[:, new] = columns
        self._used = new.stop
        inner = self._columns[:, : self._used].T @ columns
        self._gram[: self._used, new], self._gram[new, : self._used] = inner, inner.T
        return new

    def basis(self) -> FloatArray:
        """Return the present orthonormal basis, shape (n, k)."""
        return np.asarray(self._columns[:, : self._used] @ self.coefficients[: self._used])

    def replace_basis(self, basis: FloatArray) -> FloatArray:
        """Go on from another basis."""
        self.coefficients = np.zeros((self._columns.shape[1], basis.shape[1]))
        self.coefficients[self._append(basis)] = np.eye(basis.shape[1])
        return basis

    def noise_share(self, rows: FloatArray) -> float:
        """Share of the squared norm of the basis that is noise."""
        return float(np.sum(rows**2) * np.trace(self.covariance()) / self.coefficients.shape[1])

    def add(self, product: FloatArray, variance: float) -> None:
        """Keep the product with the present basis."""
        self._steps.append((self.coefficients, self._append(product), 1 / variance))

    def drop_idle_columns(self, rank: int) -> None:
        """Drop the extra columns, which cost noise, where the Ritz values Q' Y show a gap after the rank."""
        if self.coefficients.shape[1] == rank:
            return
        ritz = self.coefficients.T @ self._gram[:, self._steps[-1][1]]
        values, vectors = np.linalg.eigh((ritz + ritz.T) / 2)
        order = np.argsort(-np.abs(values))
        if abs(values[order[rank]]) <= POWER.no_gap * abs(values[order[rank - 1]]):
            self.coefficients = self.coefficients @ vectors[:, order[:rank]]

    def improve(self, decay: float) -> None:
        """Turn the basis Q into an orthonormal one of sum_t decay^age/variance_t Y_t (Q_t' Q)."""
        total = np.zeros_like(self.coefficients)
        for age, (basis, product, weight) in enumerate(reversed(self._steps)):
            total[product] += weight * decay**age * (basis.T @ self._gram @ self.coefficients)
        values, vectors = np.linalg.eigh(total.T @ self._gram @ total)
        self.coefficients = total @ (vectors / np.sqrt(np.maximum(values, 1e-15 * values[-1])))

    def keep_leading(self, rank: int) -> None:
        """Keep the columns of the basis that the matrix, estimated from all products, stretches most."""
        total, known = np.zeros_like(self.coefficients), np.zeros((self.coefficients.shape[1],) * 2)
        for basis, product, weight in self._steps:
            overlap = basis.T @ self._gram @ self.coefficients
            total[product] += weight * overlap
            known += weight * overlap.T @ overlap
        ritz = self.coefficients.T @ self._gram @ total @ np.linalg.pinv(known)
        values, vectors = np.linalg.eigh((ritz + ritz.T) / 2)
        self.coefficients = self.coefficients @ vectors[:, np.argsort(-np.abs(values))[:rank]]

    def covariance(self) -> FloatArray:
        """Covariance of the noise in a row of the basis, for products whose noise has one variance in all rows."""
        parts = [self.coefficients[product] / math.sqrt(weight) for _, product, weight in self._steps]
        return sum((part.T @ part for part in parts), start=np.zeros((self.coefficients.shape[1],) * 2))
