"""What noisy products of a symmetric matrix with public bases say about its leading part (post-processing).

There are pairs (V, Y): V the public bases, Y = A V + noise their released products. With V T orthonormal, column k of
Y T has noise of standard deviation 1/S_k: a direction that was asked for m times has its noise divided by sqrt(m). The
leading eigenvectors h of B = T' V' Y T give the answers Y T h. They are one product beyond the space, which costs
nothing.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.tuning import KRYLOV
from dpgraph.typing import FloatArray


@dataclass(frozen=True)
class Estimate:
    """Ritz values in order, and the answers: estimated products of the matrix with its leading eigenvectors."""

    # All Ritz values with their signs, shape (k,)
    values: FloatArray
    # Answers, shape (n, r), leading ones first: the released products in this mixture
    vectors: FloatArray
    mixture: FloatArray
    # Part of the products with Ritz vectors, up to 2 r of them, that is outside all bases: what has not converged, and
    # noise of this variance, which entries of the answers have too, in so many dimensions
    outside: FloatArray
    outside_variance: FloatArray
    free: int

    @property
    def rank(self) -> int:
        """Of the leading space."""
        return int(self.vectors.shape[1])

    @property
    def variance(self) -> FloatArray:
        """Variance of the noise of the entries of each answer."""
        return self.outside_variance[: self.rank]

    @property
    def noise(self) -> FloatArray:
        """Expected squared norm of the noise of each answer."""
        return len(self.vectors) * self.variance

    @property
    def sizes(self) -> FloatArray:
        """Sizes of the leading values: Ritz values, or of an answer without its noise if that is more."""
        return np.maximum(self._ritz_sizes, np.sqrt(np.maximum(squares(self.vectors) - self.noise, 0.0)))

    @property
    def _ritz_sizes(self) -> FloatArray:
        return np.asarray(np.abs(self.values[: self.rank]))

    def _residuals(self, deviations: float) -> FloatArray:
        """Squared norm of what is outside beyond its noise, plus so many standard deviations of that."""
        variance, found = self.outside_variance, squares(self.outside)
        beyond = np.maximum(found - self.free * variance, 0.0) + deviations * math.sqrt(2.0 * self.free) * variance
        return np.asarray(np.maximum(beyond, 0.0)[: self.rank])

    @property
    def _kept(self) -> FloatArray:
        """What a product leaves of an error of vector j along vector i > rank, in units of the cause, (rank, k - rank).

        The cause, a residual or noise e along vector i, turns vector j by e/|value_j - value_i|.
        """
        inside, beyond = self.values[: self.rank, None], self.values[None, self.rank :]
        gaps = np.maximum(np.abs(inside - beyond), np.finfo(float).tiny)
        return np.asarray(np.abs(beyond) / gaps)

    @property
    def _anywhere(self) -> FloatArray:
        """Expected squared norm of what has not converged, if a residual points to values that no basis has seen.

        A residual e turns vector j by e/|value_j - u| along a value u, at most by a right angle. If u is anywhere up to
        value_j in size, that is a squared sine of e/|value_j| on average. What may be noise does not count.
        """
        return np.sqrt(self._residuals(-1.0)) * self.sizes

    def is_resolved(self) -> bool:
        """Whether what has not converged is expected to be less than the noise, in all answers."""
        return bool(np.all(self._anywhere <= self.noise))

    def sine(self, *, cautious: bool = False, noise: bool = True) -> float:
        """Estimate of the sine of the largest angle between the answers and the leading space.

        A sum of squares: noise of the answer (unless `noise` is false); the noise of B, which turns Ritz vectors
        towards each other; the residual, as if it pointed to values between the closest and all others that have been
        seen (a geometric mean), or to half of those that are sought, or if `cautious` to values anywhere up to these.
        Sizes are without the noise of B.
        """
        if self.rank == len(self.vectors):  # the space is all there is
            return 0.0
        kept, variance = self._kept**2, self.variance
        spread = np.maximum(np.sqrt(kept.mean(axis=1) * kept.max(axis=1)), 1.0) if kept.size else np.ones(self.rank)
        missing = self._residuals(1.0) * spread
        missing = np.maximum(missing, self._anywhere) if cautious else missing
        error = self.noise * noise + kept.sum(axis=1) * variance + missing
        sizes = np.maximum(self._ritz_sizes**2 - 2 * len(self.values) * variance, 0.0)
        known = np.where(np.isfinite(error), error, 1.0)
        return math.sqrt(float(np.max(np.where(np.isfinite(error), known / (known + sizes), 1.0))))


class Space:
    """Public bases of a symmetric n x n matrix, with their released products; at most so many columns."""

    def __init__(self, n: int, most: int) -> None:
        self._bases, self._products = (np.empty((n, most), order="F") for _ in range(2))
        self._stds = np.empty(0)
        self._size = 0.0  # of the least value that is sought, as far as it is known
        # Inner products: of bases, and of bases with products
        self._gram, self._across = (np.zeros((most, most)) for _ in range(2))

    def add(self, basis: FloatArray, product: FloatArray, std: float) -> None:
        """Keep the product with a public basis, whose noise has this standard deviation."""
        used = self._stds.size
        new, all_ = slice(used, used + basis.shape[1]), slice(0, used + basis.shape[1])
        self._bases[:, new], self._products[:, new] = basis, product
        self._stds = np.append(self._stds, np.full(basis.shape[1], std))
        bases, products = self._bases[:, all_], self._products[:, all_]
        self._gram[all_, new] = bases.T @ basis
        self._gram[new, all_] = self._gram[all_, new].T
        self._across[all_, new], self._across[new, all_] = bases.T @ product, basis.T @ products

    def estimate(self, rank: int, *, largest: bool = False) -> Estimate:
        """Leading Ritz vectors, by size or with `largest` algebraically: `rank`, and as many more as there are."""
        mix, seen = self._whitened()
        used = slice(0, self._stds.size)
        across = mix.T @ self._across[used, used] @ mix
        weight = 1.0 / (1.0 + (seen[:, None] / seen) ** 2)  # inverse variances
        values, h = np.linalg.eigh(across * weight + across.T * (1.0 - weight))
        order = np.argsort(-values if largest else -np.abs(values))
        values, h = values[order], h[:, order]
        leading = h[:, : 2 * rank]
        mixture, bases = mix @ leading, self._bases[:, used]
        answers, rank = self._products[:, used] @ mixture, min(rank, len(h))
        found = Estimate(
            values=values,
            vectors=answers[:, :rank],
            mixture=mixture[:, :rank],
            outside=answers - bases @ (mix @ (across @ leading)),
            outside_variance=squares(leading / seen[:, None]),
            free=max(len(bases) - len(h), 0),
        )
        self._size = float(found.sizes.min())
        return found

    def _whitened(self) -> tuple[FloatArray, FloatArray]:
        """T with orthonormal bases @ T; the noise of column k of products @ T has standard deviation 1/S_k.

        A direction that was asked for loudly goes, unless it is needed: with little noise it belongs to what was found.
        """
        used, loudest = slice(0, self._stds.size), self._stds.max()
        scales = loudest / self._stds
        squares, vectors = np.linalg.eigh(self._gram[used, used] * np.outer(scales, scales))
        kept = squares > KRYLOV.seen**2 * float(np.quantile(scales, 0.5, method="lower")) ** 2
        rounded = squares.size * np.finfo(float).eps * squares[-1]  # smaller ones are errors of rounding
        noise = loudest * np.sqrt(np.cumsum(1.0 / np.maximum(squares, rounded)[::-1])[::-1])
        kept |= (squares > rounded) & (noise <= KRYLOV.harmless * self._size)
        lengths = np.sqrt(squares[kept])
        return scales[:, None] * vectors[:, kept] / lengths, lengths / loudest


def squares(columns: FloatArray) -> FloatArray:
    """Squared length of each column."""
    return np.asarray(np.einsum("ij,ij->j", columns, columns))
