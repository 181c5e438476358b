r"""Communities of a released graph whose answers are false with a known probability p: eigenvectors, then moves.

``z_ij = (y_ij - p)/(1 - 2p)`` is an unbiased estimate of edge ij with standard deviation s. The matrix of excesses
``z_ij - gamma d_i d_j/(2m)`` has its noise in eigenvalues below ``2 s sqrt(n)`` (the semicircle law). Larger ones come
from communities, and few from edges drawn at random. Their eigenvectors are clustered by k-means. Then vertices move,
many at a time, to the community with which their excess is largest: the modularity of the unbiased estimates rises. All
answers are used again and again, which costs nothing.

Among the n_c rows of a community the edge is at ``2 s_c sqrt(n_c)``, much lower. So a community too small to be seen
among all rows may be seen inside the one it was put into. Each is divided by its own eigenvectors, and vertices move
again, as long as the modularity rises.
"""

import math
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.cluster.vq import kmeans2
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from dpgraph.typing import FloatArray, IntArray

#: At most so many eigenvectors, starts of k-means and rounds of moves.
_VECTORS, _STARTS, _ROUNDS = 24, 4, 20
#: Fewer rows are not divided again.
_LEAST_DIVIDED = 8
#: Eigenvectors of so many rows are computed from a dense matrix.
_DENSE = 200


@dataclass(frozen=True)
class Excesses:
    """Estimated weight of each pair less what degrees explain.

    An estimate is an entry of `answers` less `shift`; `std` is the standard deviation of its noise. Weights are at most
    `max_weight`. Degrees are those of the whole graph, `total` is their sum over all its vertices.
    """

    answers: sparse.csr_array
    shift: float
    std: float
    max_weight: float
    degrees: FloatArray
    total: float
    resolution: float

    def times(self, X: FloatArray) -> FloatArray:
        """The matrix of excesses, whose estimates have no diagonal, times X, shape (n, k)."""
        return self._less_explained(self.answers @ X, X)

    def of_groups(self, labels: IntArray, count: int) -> FloatArray:
        """Sums over the vertices of each label, shape (n, count); the matrix of labels is sparse."""
        member = np.eye(count)[labels]
        return self._less_explained((self.answers @ sparse.csr_array(member)).toarray(), member)

    def _less_explained(self, answers: FloatArray, X: FloatArray) -> FloatArray:
        estimates = answers - self.shift * (X.sum(axis=0) - X)
        return np.asarray(estimates - self.resolution * np.outer(self.degrees, self.degrees @ X / self.total))

    def within(self, labels: IntArray) -> float:
        """The sum over pairs of the same label, each twice."""
        return float(self.of_groups(labels, int(labels.max()) + 1)[np.arange(labels.size), labels].sum())

    def inside(self, rows: IntArray) -> "Excesses":
        """Of these rows among themselves, less what their degrees inside explain, which are estimates too.

        Whether there is an edge is also a matter of chance, so that the weight of a pair has a variance beside noise.
        """
        part = replace(self, answers=self.answers[rows][:, rows], resolution=1.0)
        degrees = np.maximum(part.answers.sum(axis=1) - self.shift * (rows.size - 1), 0.0)
        total = max(float(degrees.sum()), np.finfo(np.float64).tiny)
        mean = min(total / rows.size / (rows.size - 1), self.max_weight)
        std = math.hypot(self.std, math.sqrt(mean * (self.max_weight - mean)))
        return replace(part, degrees=degrees, total=total, std=std)


def communities_of_answers(excesses: Excesses, rng: np.random.Generator) -> IntArray:
    """Labels 0, 1, ... of the vertices."""
    points = _significant(excesses, rng, least=1)
    best, most = np.zeros(len(points), dtype=np.int64), -math.inf
    for _ in range(_STARTS):
        labels, quality = _moved(excesses, _clusters(points, rng), rng)
        if quality > most:
            best, most = labels, quality
    while True:
        labels, quality = _moved(excesses, _divided(excesses, best, rng), rng)
        if quality <= most:
            return best
        best, most = labels, quality


def _divided(excesses: Excesses, labels: IntArray, rng: np.random.Generator) -> IntArray:
    """Labels of the parts of each group that stand out of the noise inside it, which is less than that of all rows."""
    parts = np.zeros_like(labels)
    for label in range(int(labels.max()) + 1):
        rows = np.flatnonzero(labels == label)
        points = _significant(excesses.inside(rows), rng) if rows.size >= _LEAST_DIVIDED else np.zeros((rows.size, 0))
        if points.shape[1]:
            parts[rows] = _clusters(points, rng)
    return labels * labels.size + parts


def _significant(excesses: Excesses, rng: np.random.Generator, *, least: int = 0) -> FloatArray:
    """Eigenvectors times eigenvalues, of those above the edge of the noise; at least so many."""
    n = excesses.degrees.size
    values, vectors = _leading(excesses, min(_VECTORS, max(n - 2, 1)), rng.standard_normal(n))
    kept = values > 2 * excesses.std * math.sqrt(n)
    kept[values.size - least :] = True  # eigenvalues increase
    return np.asarray(vectors[:, kept] * values[kept])


def _leading(excesses: Excesses, count: int, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The algebraically largest eigenvalues, increasing, and their eigenvectors."""
    n = start.size
    operator = LinearOperator((n, n), matvec=lambda x: excesses.times(x.reshape(-1, 1)).ravel(), dtype=np.float64)
    if n > _DENSE:
        with suppress(ArpackError):  # of a matrix with few distinct eigenvalues: rows without any answer
            values, vectors = eigsh(operator, count, which="LA", v0=start)
            return values, vectors
    values, vectors = np.linalg.eigh(excesses.times(np.eye(n)))  # LAPACK's search for some pairs fails on ties
    return values[-count:], vectors[:, -count:]


def _clusters(points: FloatArray, rng: np.random.Generator) -> IntArray:
    """One cluster more than there are coordinates, or as many as there are points apart from one another."""
    points = np.ldexp(points, -math.frexp(float(np.abs(points).max()))[1])  # so that no square vanishes
    count = min(points.shape[1] + 1, len(np.unique(points.astype(np.float32), axis=0)))
    labels = kmeans2(points, count, minit="++", missing="warn", seed=rng)[1]  # one may stay empty
    return np.asarray(labels, dtype=np.int64)


def _moved(excesses: Excesses, labels: IntArray, rng: np.random.Generator) -> tuple[IntArray, float]:
    """Labels after rounds in which a random part of the vertices moves, and the excess of weight inside groups."""
    for last in range(_ROUNDS, -1, -1):
        labels = np.unique(labels, return_inverse=True)[1]
        sums = excesses.of_groups(labels, int(labels.max()) + 1)
        better = np.argmax(sums, axis=1)
        if not last or np.array_equal(better, labels):
            break
        labels = np.where(rng.random(labels.size) < 0.5, better, labels)
    return labels, float(sums[np.arange(labels.size), labels].sum())
