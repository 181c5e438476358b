"""From a relaxation to cuts: random hyperplanes, and independent rounding of pseudo-marginals.

References
----------
M. X. Goemans, D. P. Williamson, Improved approximation algorithms for maximum cut and satisfiability problems using
semidefinite programming, J. ACM 42 (1995).
B. Barak, P. Raghavendra, D. Steurer, Rounding semidefinite programming hierarchies via global correlation, FOCS 2011.
"""

import numpy as np

from dpgraph.sos.cut.base import CutObjective
from dpgraph.typing import FloatArray

__all__ = ["best_columns", "hyperplane_rounding", "independent_signs"]

_CHUNK_ENTRIES = 2_000_000


def hyperplane_rounding(
    objective: CutObjective, vectors: FloatArray, rounds: int, rng: np.random.Generator, *, keep: int = 1
) -> FloatArray:
    """The `keep` best of many random hyperplane cuts of unit rows, best first, shape (n, min(keep, rounds)).

    For nonnegative weights each has expected value at least 0.878 times that of the relaxation at
    ``vectors @ vectors.T`` (Goemans, Williamson 1995).
    """
    n, k = vectors.shape
    best = np.empty((n, 0))
    chunk = max(1, _CHUNK_ENTRIES // n)
    for first in range(0, rounds, chunk):
        normals = rng.standard_normal((k, min(chunk, rounds - first)))
        signs = np.where(vectors @ normals >= 0.0, 1.0, -1.0)
        best = best_columns(objective, np.hstack([best, signs]), keep)
    return best


def independent_signs(means: FloatArray, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Independent signs with the given means E x_i, shape (n, rounds).

    A sample has expected value ``relaxation value - local correlation``.
    """
    return np.where(rng.random((means.size, rounds)) < 0.5 * (1.0 + means[:, None]), 1.0, -1.0)


def best_columns(objective: CutObjective, signs: FloatArray, keep: int) -> FloatArray:
    """The `keep` columns of largest cut value, best first (ties by position)."""
    order = np.argsort(-objective.values(signs), kind="stable")[:keep]
    return signs[:, order]
