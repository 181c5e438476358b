"""The leading part of a released matrix with noise on all entries (post-processing)."""

import math

import numpy as np
from scipy import linalg

from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.typing import FloatArray


def leading_eigenvectors(
    matrix: FloatArray, std: float, ranks: range, *, signed: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Basis and values of the leading eigenpairs of a symmetric matrix, and one more |eigenvalue| than candidates.

    Leading eigenvalues are the largest absolute ones, or if `signed` the algebraically largest.
    """
    values, vectors = linalg.eigh(matrix)
    sizes = values if signed else np.abs(values)
    order = np.argsort(-sizes)
    kept = order[: _standing_out(sizes[order], math.sqrt(2 * len(matrix)) * std, ranks)]
    return canonical_signs(vectors[:, kept]), values[kept], np.abs(values[order[: ranks[-1] + 1]])


def leading_singular_vectors(matrix: FloatArray, std: float, ranks: range) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Left and right singular vectors, and one more singular value than candidates."""
    left, values, right = linalg.svd(matrix, full_matrices=False)
    kept = _standing_out(values, sum(math.sqrt(size) for size in matrix.shape) * std, ranks)
    return left[:, :kept], right[:kept].T, values[: ranks[-1] + 1]


def _standing_out(values: FloatArray, edge: float, ranks: range) -> int:
    """The only rank, or how many values are above the `edge`, the spectral norm of the noise, but one at least."""
    return ranks[-1] if len(ranks) == 1 else max(1, int(np.sum(values[: ranks[-1]] > edge)))
