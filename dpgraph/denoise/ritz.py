"""What noisy products of a matrix with public bases say about its leading part (post-processing).

Of a matrix A there are pairs (V, Y): V the public bases, Y = A V + noise their released products, and from the other
side pairs (V', Y') with Y' = A' V' + noise; of a symmetric matrix both are the same. With V T orthonormal, column k of
Y T has noise of standard deviation 1/S_k: a direction that was asked for m times has its noise divided by sqrt(m). The
leading singular vectors (g, h) of B, which is A between both spaces, give the answers Y T h and Y' T' g. They are one
product beyond the spaces, which costs nothing.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.tuning import KRYLOV
from dpgraph.typing import FloatArray


class Pairs:
    """Public bases, shape (n, k), with their released products, and the standard deviation of the noise of each."""

    def __init__(self, rows: int, product_rows: int, most: int) -> None:
        self._bases = np.empty((rows, most), order="F")
        self._products = np.empty((product_rows, most), order="F")
        self.stds = np.empty(0)

    @property
    def bases(self) -> FloatArray:
        """All public bases side by side."""
        return self._bases[:, : self.stds.size]

    @property
    def products(self) -> FloatArray:
        """Their products."""
        return self._products[:, : self.stds.size]

    def add(self, basis: FloatArray, product: FloatArray, std: float) -> slice:
        """Keep a product; returns its columns."""
        new = slice(self.stds.size, self.stds.size + basis.shape[1])
        self._bases[:, new], self._products[:, new] = basis, product
        self.stds = np.append(self.stds, np.full(basis.shape[1], std))
        return new


@dataclass(frozen=True)
class Answer:
    """Estimated products of the matrix with its leading vectors of one side: leading vectors of the other, scaled."""

    # Shape (n, r), leading ones first
    vectors: FloatArray
    # Variance of the noise of their entries, and squared norm of what is of other Ritz vectors, for each column
    variance: FloatArray
    others: FloatArray
    # Part of the products with plain Ritz vectors, up to 2 r of them, that is outside all bases of their side: what has
    # not converged, and noise of this variance, in so many dimensions
    outside: FloatArray
    outside_variance: FloatArray
    free: int

    @property
    def noise(self) -> FloatArray:
        """Expected squared norm of the noise of each column."""
        return len(self.vectors) * self.variance

    @property
    def sizes(self) -> FloatArray:
        """Norms of the columns without their noise, at least 0."""
        return np.sqrt(np.maximum(_squares(self.vectors) - self.noise, 0.0))

    def residuals(self, deviations: float) -> FloatArray:
        """Squared norm of what is outside beyond its noise, plus so many standard deviations of that."""
        variance, found = self.outside_variance, _squares(self.outside)
        beyond = np.maximum(found - self.free * variance, 0.0) + deviations * math.sqrt(2.0 * self.free) * variance
        return np.asarray(np.maximum(beyond, 0.0)[: self.vectors.shape[1]])


@dataclass(frozen=True)
class Estimate:
    """Leading Ritz values in order, and the answers: of a symmetric matrix one, else left and right vectors."""

    # All of them, shape (k,); of a symmetric matrix with their signs
    values: FloatArray
    answers: tuple[Answer, ...]
    # Answers are products with A + shift I
    shift: float
    rank: int

    @property
    def sizes(self) -> FloatArray:
        """Sizes of the leading `rank` (shifted) values: of the values, or of an answer if that is more.

        A Ritz value is small where the bases are mostly noise, the product with what they have found is not.
        """
        return np.asarray(np.max([self._ritz_sizes, *(answer.sizes for answer in self.answers)], axis=0))

    @property
    def _ritz_sizes(self) -> FloatArray:
        return np.asarray(np.abs(self.values[: self.rank] + self.shift))

    @property
    def _kept(self) -> FloatArray:
        """What a product leaves of an error of vector j along vector i > rank, in units of the cause, (rank, k - rank).

        The cause, a residual or noise e along vector i, turns vector j by e/|value_j - value_i|.
        """
        inside, beyond = self.values[: self.rank, None], self.values[None, self.rank :]
        gaps = np.maximum(np.abs(inside - beyond), np.finfo(float).tiny)
        return np.asarray(np.abs(beyond + self.shift) / gaps)

    def _anywhere(self, answer: Answer) -> FloatArray:
        """Expected squared norm of what has not converged, if a residual points to values that no basis has seen.

        A residual e turns vector j by e/|value_j - u| along a value u, at most by a right angle. If u is anywhere up to
        value_j in size, that is a squared sine of e/|value_j| on average. What may be noise does not count.
        """
        return np.sqrt(answer.residuals(-1.0)) * self.sizes

    def is_resolved(self) -> bool:
        """Whether what has not converged is expected to be less than the noise, in all leading answers."""
        return all(bool(np.all(self._anywhere(answer) <= answer.noise)) for answer in self.answers)

    def sine(self, *, cautious: bool = False) -> float:
        """Estimate of the sine of the largest angle between the answers and the leading space.

        A sum of squares: noise of the answer, and what it has of other Ritz vectors; the noise of B, which turns Ritz
        vectors towards each other; the residual, as if it pointed to values like those that have been seen, or to half
        of those that are sought, or if `cautious` to values anywhere up to these. Sizes are without the noise of B.
        """
        kept = self._kept**2
        spread = np.maximum(kept.mean(axis=1), 1.0) if kept.size else np.ones(self.rank)
        worst = 0.0
        for answer in self.answers:
            if self.rank == len(answer.vectors):  # the space is all there is
                continue
            variance = answer.outside_variance[: self.rank]
            missing = answer.residuals(1.0) * spread
            missing = np.maximum(missing, self._anywhere(answer)) if cautious else missing
            error = answer.noise + answer.others + kept.sum(axis=1) * variance + missing
            sizes = np.maximum(self._ritz_sizes**2 - 2 * len(self.values) * variance, 0.0)
            known = np.where(np.isfinite(error), error, 1.0)
            worst = max(worst, float(np.max(np.where(np.isfinite(error), known / (known + sizes), 1.0))))
        return math.sqrt(worst)


class Space:
    """All pairs of a matrix of this shape: side 0 products A Q, side 1 products A' Q; `symmetric` has one side."""

    def __init__(self, shape: tuple[int, int], most: int, *, symmetric: bool) -> None:
        n, m = shape
        first = Pairs(m, n, most)
        self.symmetric = symmetric
        self._sides = (first, first) if symmetric else (first, Pairs(n, m, most))
        # Inner products: bases of side 1 with products of side 0, products of side 1 with bases of side 0; bases and
        # products of each side with themselves
        self._across, self._back = np.zeros((most, most)), np.zeros((most, most))
        self._grams = [np.zeros((most, most)) for _ in range(1 if symmetric else 2)]
        self._energies = [np.zeros((most, most)) for _ in self._grams]

    def add(self, side: int, basis: FloatArray, product: FloatArray, std: float) -> None:
        """Keep the product of this side with a public basis."""
        pairs = self._sides[side]
        new = pairs.add(basis, product, std)
        used = slice(0, new.stop)
        for gram, columns, added in (
            (self._grams[side], pairs.bases, basis),
            (self._energies[side], pairs.products, product),
        ):
            gram[used, new] = columns.T @ added
            gram[new, used] = gram[used, new].T
        first, second = self._sides
        if pairs is first:
            self._across[: second.stds.size, new] = second.bases.T @ product
            self._back[: second.stds.size, new] = second.products.T @ basis
        if pairs is second:
            self._across[new, : first.stds.size] = basis.T @ first.products
            self._back[new, : first.stds.size] = product.T @ first.bases

    def estimate(self, rank: int, *, largest: bool = False) -> Estimate:
        """Leading Ritz vectors: `rank` of them, and as many more, as far as there are.

        Leading values are the largest absolute ones, or with `largest` (and symmetric) the algebraically largest.
        """
        first, second = self._sides
        mix, seen = self._whitened(0)
        other, other_seen = (mix, seen) if self.symmetric else self._whitened(1)
        k, j = second.stds.size, first.stds.size
        across, back = other.T @ self._across[:k, :j] @ mix, other.T @ self._back[:k, :j] @ mix
        weight = 1.0 / (1.0 + (other_seen[:, None] / seen) ** 2)  # inverse variances
        B = across * weight + back * (1.0 - weight)
        count = min(2 * rank, *B.shape)
        if not self.symmetric:
            g, values, h = np.linalg.svd(B)
            left = self._answer(0, _Mixture(h.T, self._energy(0, mix), seen, mix), (other, across), (rank, count))
            right = self._answer(
                1, _Mixture(g, self._energy(1, other), other_seen, other), (mix, back.T), (rank, count)
            )
            return Estimate(values, (left, right), 0.0, min(rank, count))
        values, h = np.linalg.eigh(B)
        order = np.argsort(-values if largest else -np.abs(values))
        values, h = values[order], h[:, order]
        shift = _shift(values, rank) if largest else 0.0
        energy = self._energy(0, mix) + shift * (across + across.T) + shift**2 * np.eye(len(mix.T))
        answer = self._answer(0, _Mixture(h, energy, seen, mix), (mix, across), (rank, count), shift)
        return Estimate(values, (answer,), shift, min(rank, count))

    def _answer(
        self,
        side: int,
        mixture: "_Mixture",
        inside: tuple[FloatArray, FloatArray],
        counts: tuple[int, int],
        shift: float = 0.0,
    ) -> Answer:
        """The answer of products of a side; `inside` gives what of a product is in the span of the opposite bases."""
        pairs, opposite, (rank, count) = self._sides[side], self._sides[1 - side], counts
        rows = len(pairs.products)
        weights = mixture.weights(rank, rows)
        vectors = pairs.products @ (mixture.mix @ weights)
        if shift:
            vectors += shift * (pairs.bases @ (mixture.mix @ weights))
        plain = mixture.vectors[:, :count]
        basis, coordinates = inside
        products = pairs.products @ (mixture.mix @ plain)
        return Answer(
            vectors,
            _squares(weights / mixture.seen[:, None]),
            mixture.others(weights, rows),
            products - opposite.bases @ (basis @ (coordinates @ plain)),
            _squares(plain / mixture.seen[:, None]),
            max(rows - len(coordinates), 0),
        )

    def _energy(self, side: int, mix: FloatArray) -> FloatArray:
        """Inner products of the products with the directions `mix`."""
        used = slice(0, self._sides[side].stds.size)
        return np.asarray(mix.T @ self._energies[side][used, used] @ mix)

    def _whitened(self, side: int) -> tuple[FloatArray, FloatArray]:
        """T with orthonormal bases @ T; the noise of column k of products @ T has standard deviation 1/S_k."""
        stds = self._sides[side].stds
        used = slice(0, stds.size)
        loudest = stds.max()
        scales = loudest / stds
        squares, vectors = np.linalg.eigh(self._grams[side][used, used] * np.outer(scales, scales))
        kept = squares > KRYLOV.seen**2
        lengths = np.sqrt(squares[kept])
        return scales[:, None] * vectors[:, kept] / lengths, lengths / loudest


def _shift(values: FloatArray, rank: int) -> float:
    """The shift that is best for the `rank` algebraically largest of these (decreasing) Ritz values, at least 0.

    Products enlarge what is wrong with a vector along the most negative value -b, beside the smallest value a > 0 that
    is sought, by |s - b|/(a + b), and along values close to 0, which no basis may have seen, by s/a.
    """
    a, b = float(values[min(rank, len(values)) - 1]), -float(values[-1])
    if b <= 0.0:
        return 0.0
    return b * (a / (2 * a + b)) if a > 0.0 else (b - float(values[min(rank, len(values) - 1)])) / 2


@dataclass(frozen=True)
class _Mixture:
    """How products are combined to an answer."""

    # All Ritz vectors of one side, shape (k, k)
    vectors: FloatArray
    # Inner products of the products with each direction, their noise among them
    energy: FloatArray
    # Noise of direction k of the space has standard deviation 1/seen_k
    seen: FloatArray
    # Directions in terms of products
    mix: FloatArray

    def weights(self, rank: int, rows: int) -> FloatArray:
        """Combinations g_j that stand for the leading Ritz vectors h_j, with <h_j, g_j> = 1, shape (k, rank).

        A product with g has noise of the squared norm rows sum_k g_k^2/seen_k^2, and brings in that of the part of g
        that is orthogonal to the leading Ritz vectors, Pg. The sum of both is least for g = M^-1 h_j, up to its length,
        where M is the diagonal of rows/seen^2 plus P energy P: a direction that was asked for rarely has little weight
        where it can be done without.
        """
        quiet = self.seen / math.sqrt(rows)
        others = quiet[:, None] * self._others(rank)
        solved = quiet[:, None] * self.vectors[:, :rank] / quiet.max()
        if others.size:  # times the inverse of the identity and others others'
            axes, sizes, _ = np.linalg.svd(others, full_matrices=False)
            solved -= axes @ ((1.0 - (1.0 / np.hypot(1.0, sizes)[:, None]) ** 2) * (axes.T @ solved))
        weights = quiet[:, None] / quiet.max() * solved
        return np.asarray(weights / np.einsum("ij,ij->j", self.vectors[:, :rank], weights))

    def others(self, weights: FloatArray, rows: int) -> FloatArray:
        """Squared norm of what an answer has of products with other vectors than those sought, and not their noise."""
        rest = self.vectors[:, weights.shape[1] :]
        noise = rows * _squares((rest @ (rest.T @ weights)) / self.seen[:, None])
        return np.maximum(_squares(self._others(weights.shape[1]).T @ weights) - noise, 0.0)

    def _others(self, rank: int) -> FloatArray:
        """A root of P energy P, shape (k, k - rank)."""
        rest = self.vectors[:, rank:]
        squares, axes = np.linalg.eigh(rest.T @ self.energy @ rest)
        return np.asarray(rest @ (axes * np.sqrt(np.maximum(squares, 0.0))))


def _squares(columns: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ij,ij->j", columns, columns))
