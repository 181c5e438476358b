"""Released products Y_t = A Q_t + noise of a private matrix with public bases: the next basis, the average at the end.

The next basis comes from the weighted sum sum_t a_t Y_t (Q_t' Q), in which noise averages out, while products with
bases that had not yet found the leading space count for little. (The published method keeps the last product only.)
"""

import math
from collections.abc import Callable

import numpy as np

from dpgraph.denoise.empirical_bayes import posterior_basis, posterior_means_and_response, unless_vanished
from dpgraph.tuning import VECTOR
from dpgraph.typing import FloatArray


class Products:
    """Released products Y_t of the matrix with public bases Q_t.

    Every basis is a linear combination of the first one and of products. Only these columns, their Gram matrix and the
    coefficients of the bases are kept.
    """

    def __init__(self, first: FloatArray, iterations: int) -> None:
        n, k = first.shape
        self._columns = np.empty((n, k * (2 * iterations + 1)), order="F")
        self._gram = np.zeros((self._columns.shape[1],) * 2)
        self._used = 0
        self._steps: list[tuple[FloatArray, slice, float]] = []
        self.replace_basis(first)

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

    def drop_idle_columns(self, rank: int, noise: float) -> float:
        """Drop the extra columns, which cost noise, once the leading Ritz pairs of Q' Y are found.

        A space whose residual is at most half of the gap has a sine of at most a half (C. Davis, W. Kahan 1970); of
        the residual, `noise` is what the noise in a column of Y makes. Returns the last of their values, 0 before.
        """
        product = self._steps[-1][1]
        sizes, vectors = _ritz_pairs(self.coefficients.T @ self._gram[:, product], rank)
        if len(sizes) > rank:
            gap = sizes[rank - 1] - sizes[rank]
            if self._residual(product, vectors) > math.hypot(noise, gap / 2):
                return 0.0
            self.coefficients = self.coefficients @ vectors
        return float(sizes[rank - 1])

    def _residual(self, product: slice, vectors: FloatArray) -> float:
        """Norm of the longest column of Y V - Q V (Q V)' Y V, V = `vectors`."""
        images = np.zeros((len(self._gram), vectors.shape[1]))
        images[product] = vectors
        basis = self.coefficients @ vectors
        images -= basis @ (basis.T @ self._gram @ images)
        return math.sqrt(max(float(np.einsum("ij,ij->j", images, self._gram @ images).max()), 0.0))

    def improve(self, decay: float) -> None:
        """Turn the basis Q into an orthonormal one of sum_t decay^age/variance_t Y_t (Q_t' Q)."""
        total = np.zeros_like(self.coefficients)
        for age, (basis, product, weight) in enumerate(reversed(self._steps)):
            overlap = weight * decay**age * (basis.T @ self._gram @ self.coefficients)
            total[product] += overlap
        values, vectors = np.linalg.eigh(total.T @ self._gram @ total)
        self.coefficients = total @ (vectors / np.sqrt(np.maximum(values, 1e-15 * values[-1])))

    def keep_leading(self, rank: int) -> None:
        """Keep the columns of the basis that the matrix, estimated from all products, stretches most."""
        total, known = np.zeros_like(self.coefficients), np.zeros((self.coefficients.shape[1],) * 2)
        for basis, product, weight in self._steps:
            overlap = basis.T @ self._gram @ self.coefficients
            total[product] += weight * overlap
            known += weight * overlap.T @ overlap
        _, vectors = _ritz_pairs(self.coefficients.T @ self._gram @ total @ np.linalg.pinv(known), rank)
        self.coefficients = self.coefficients @ vectors

    def covariance(self) -> FloatArray:
        """Covariance of the noise in a row of the basis, for products whose noise has one variance in all rows."""
        parts = [self.coefficients[product] / math.sqrt(weight) for _, product, weight in self._steps]
        return sum((part.T @ part for part in parts), start=np.zeros((self.coefficients.shape[1],) * 2))


def _ritz_pairs(ritz: FloatArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Decreasing absolute eigenvalues of the symmetric part, and the eigenvectors of the first `rank`."""
    values, vectors = np.linalg.eigh((ritz + ritz.T) / 2)
    order = np.argsort(-np.abs(values))
    return np.abs(values[order]), vectors[:, order[:rank]]


#: ``steer(seen, rows, variance)``: the next iterate, shape (n, 1), of which `seen` takes note.
Steer = Callable[[Products, FloatArray, float], FloatArray]


def posterior(seen: Products, rows: FloatArray, _variance: float) -> FloatArray:
    """Go on from the posterior means of the rows: what lives on a small group loses all noise elsewhere."""
    return seen.replace_basis(posterior_basis(seen.basis(), seen.covariance(), rows))


def capped_posterior(seen: Products, rows: FloatArray, variance: float) -> FloatArray:
    """Go on from posterior means whose largest entries are cut off where that promises the best next product.

    The noise of a product with x is proportional to the largest entry of x. Let c be the cosine of x with the means,
    which stand for the eigenvector. The next estimate then has a squared error, in units of the eigenvalue, of

        (left (largest entry of rows * x)^2 + (1 - c^2)/2) / c^2,

    where left = (response of the means to their noise) variance: the product brings back about half of what is cut off,
    squared. The cap that makes it smallest is taken. The `variance` is of the noise at a
    row of scale 1, of a product with an iterate of largest entry 1, over the squared eigenvalue.
    """
    Q = seen.basis()
    means, response = posterior_means_and_response(Q, seen.covariance(), rows)
    means = unless_vanished(means, Q)
    means = means / np.linalg.norm(means)
    left = min(max(float(response[0, 0]), 0.0), float(np.sum(rows**2))) * variance

    def error(x: FloatArray) -> float:
        kept = min(float(np.sum(x * means)) ** 2, 1.0)
        return (left * float(np.abs(rows[:, None] * x).max()) ** 2 + (1 - kept) / 2) / kept

    return seen.replace_basis(min((_capped(means, cap) for cap in VECTOR.caps), key=error))


def _capped(x: FloatArray, cap: float) -> FloatArray:
    """A unit vector along `x`, shape (n, 1), entries cut off at about `cap`/sqrt(n): a cut makes the others grow."""
    largest = cap / math.sqrt(len(x))
    for _ in range(3):
        x = np.clip(x, -largest, largest)
        x = x / np.linalg.norm(x)
    return np.asarray(x)


def average(seen: Products, rows: FloatArray) -> None:
    """Average the products, as far as that takes away more noise than it brings back of earlier iterates.

    An average with noise a beside the last product with noise b, in parts of the squared norm, differs from it by b - a
    through noise; what it differs by in excess is what earlier iterates had not found yet.
    """
    last, noise = seen.coefficients, seen.noise_share(rows)
    Q = seen.basis()
    best, least = last, noise
    for decay in VECTOR.last_decays:
        seen.coefficients = last
        seen.improve(decay)
        less, other = seen.noise_share(rows), seen.basis()
        apart = 2 - 2 * abs(float(np.sum(Q * other)) / float(np.linalg.norm(Q) * np.linalg.norm(other)))
        error = less + max(apart - (noise - less), 0.0)
        if error < least:
            best, least = seen.coefficients, error
    seen.coefficients = best
