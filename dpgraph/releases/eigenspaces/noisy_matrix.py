"""The leading part of a released matrix with noise on all entries (post-processing)."""

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg

from dpgraph.linalg.eigen import all_eigenpairs, canonical_signs
from dpgraph.typing import FloatArray


class LeadingEigenvectors(NamedTuple):
    """Basis, values, one more |eigenvalue|, and an estimate of the sine of the largest angle."""

    basis: FloatArray
    values: FloatArray
    spectrum: FloatArray
    estimated_sine: float


def leading_eigenvectors(matrix: FloatArray, std: float, ranks: range, *, signed: bool = False) -> LeadingEigenvectors:
    """Those of a symmetric matrix: of the eigenvalues of largest size, or if `signed` the algebraically largest."""
    values, vectors = all_eigenpairs(matrix)
    sizes = values if signed else np.abs(values)
    order = np.argsort(-sizes)
    kept = order[: _standing_out(sizes[order], math.sqrt(2 * len(matrix)) * std, ranks)]
    sine = _estimated_sine(values[kept], values[order[len(kept) :]], std**2 / 2)
    spectrum = np.abs(values[order[: ranks[-1] + 1]])
    return LeadingEigenvectors(canonical_signs(vectors[:, kept]), values[kept], spectrum, sine)


def leading_singular_vectors(
    matrix: FloatArray, std: float, ranks: range
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Left and right singular vectors, one more singular value than candidates, and an estimate of the sine."""
    left, values, right = linalg.svd(matrix, full_matrices=False)
    kept = _standing_out(values, sum(math.sqrt(size) for size in matrix.shape) * std, ranks)
    # The embedding has the singular values with both signs, and as many zeros as one side is longer.
    rest = np.concatenate([values[kept:], -values, np.zeros(abs(matrix.shape[0] - matrix.shape[1]))])
    sine = _estimated_sine(values[:kept], rest, std**2)
    return left[:, :kept], right[:kept].T, values[: ranks[-1] + 1], sine


def _estimated_sine(leading: FloatArray, rest: FloatArray, variance: float) -> float:
    """Estimate of the sine by which noise of this variance turns the leading eigenvectors.

    First-order perturbation theory: a leading eigenvector turns towards another one by noise/(difference of their
    values). The noisy spectrum is used, whose values keep their distance as those of noise do.
    """
    if rest.size == 0:
        return 0.0
    gaps = np.maximum(np.abs(leading[:, None] - rest), np.finfo(float).tiny)
    moved = float(np.max(np.sum(variance / np.square(gaps), axis=1)))
    return math.sqrt(moved / (1 + moved)) if math.isfinite(moved) else 1.0


def _standing_out(values: FloatArray, edge: float, ranks: range) -> int:
    """The rank, if only one is asked for; else how many values exceed the spectral norm `edge` of the noise, or 1."""
    return ranks[-1] if len(ranks) == 1 else max(1, int(np.sum(values[: ranks[-1]] > edge)))
