r"""Communities of a released graph whose answers are false with a known probability p: eigenvectors, then moves.

``z_ij = (y_ij - p)/(1 - 2p)`` is an unbiased estimate of edge ij with standard deviation s. The matrix of excesses
``z_ij - gamma d_i d_j/(2m)`` has its noise in eigenvalues below ``2 s sqrt(n)`` (the semicircle law). Larger ones come
from communities, and few from edges drawn at random. Their eigenvectors are clustered by k-means. Then vertices move,
many at a time, to the community with which their excess is largest: the modularity of the unbiased estimates rises. All
answers are used again and again, which costs nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.cluster.vq import kmeans2
from scipy.sparse.linalg import LinearOperator, eigsh

from dpgraph.tuning import COMMUNITIES
from dpgraph.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Excesses:
    """Estimated weight of each pair less what degrees explain.

    ``product(X)`` multiplies the matrix of estimates by X, shape (n, k); `std` is the standard deviation of the noise
    on one of them. Degrees are those of the whole graph, `total` is their sum over all its vertices.
    """

    product: Callable[[FloatArray], FloatArray]
    std: float
    degrees: FloatArray
    total: float
    resolution: float

    def with_groups(self, X: FloatArray) -> FloatArray:
        """Sums over the columns of X, shape (n, k)."""
        return self.product(X) - self.resolution * np.outer(self.degrees, self.degrees @ X / self.total)


def communities_of_answers(excesses: Excesses, rng: np.random.Generator) -> IntArray:
    """Labels 0, 1, ... of the vertices."""
    points = _significant(excesses, rng)
    best, most = np.zeros(len(points), dtype=np.int64), -math.inf
    for _ in range(COMMUNITIES.starts):
        labels = kmeans2(points, points.shape[1] + 1, minit="++", missing="warn", seed=rng)[1]
        labels, sums = _moved(excesses, labels.astype(np.int64), rng)
        quality = float(sums[np.arange(labels.size), labels].sum())
        if quality > most:
            best, most = labels, quality
    return best


def _significant(excesses: Excesses, rng: np.random.Generator) -> FloatArray:
    """Eigenvectors times eigenvalues, of those above the edge of the noise; at least one."""
    n = excesses.degrees.size
    operator = LinearOperator((n, n), matvec=lambda x: excesses.with_groups(x.reshape(-1, 1)).ravel(), dtype=np.float64)
    values, vectors = eigsh(operator, min(COMMUNITIES.most_vectors, n - 2), which="LA", v0=rng.standard_normal(n))
    kept = values > COMMUNITIES.above_noise * 2 * excesses.std * math.sqrt(n)
    kept[np.argmax(values)] = True
    return np.asarray(vectors[:, kept] * values[kept])


def _moved(excesses: Excesses, labels: IntArray, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Labels after rounds in which a random part of the vertices moves, and the excesses with them."""
    for last in range(COMMUNITIES.rounds, -1, -1):
        labels = np.unique(labels, return_inverse=True)[1]
        sums = excesses.with_groups(np.eye(int(labels.max()) + 1)[labels])
        better = np.argmax(sums, axis=1)
        if not last or np.array_equal(better, labels):
            break
        labels = np.where(rng.random(labels.size) < COMMUNITIES.moving_part, better, labels)
    return labels, sums
