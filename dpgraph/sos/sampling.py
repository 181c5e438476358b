"""Independent draws from pseudo-marginals."""

import numpy as np

from dpgraph.typing import FloatArray, IntArray

__all__ = ["draw_labels"]


def draw_labels(marginals: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of labels drawn independently from the rows of `marginals` (n, q), clipped and scaled to sum 1."""
    p = np.cumsum(np.maximum(marginals, 0.0), axis=1)
    threshold = rng.random(len(p)) * p[:, -1]
    return np.asarray(np.minimum((threshold[:, None] >= p).sum(axis=1), p.shape[1] - 1))
