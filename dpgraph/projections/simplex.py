"""Euclidean projections of vectors onto l1 balls and simplices, the core of every nuclear-norm projection."""

import numpy as np

from dpgraph.typing import FloatArray

__all__ = ["l1_threshold", "project_l1_ball", "project_solid_simplex"]


def l1_threshold(magnitudes: FloatArray, radius: float) -> float:
    """Return theta >= 0 with ``sum(max(magnitudes - theta, 0)) = min(radius, sum(magnitudes))``; all are nonnegative.

    References
    ----------
    J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the l1-ball for learning in high
    dimensions", ICML 2008.
    """
    if magnitudes.sum() <= radius:
        return 0.0
    decreasing = np.sort(magnitudes)[::-1]
    candidates = (np.cumsum(decreasing) - radius) / np.arange(1, len(decreasing) + 1)
    # The first entry always qualifies in exact arithmetic (radius 0 makes it a tie).
    support = np.flatnonzero(decreasing > candidates)
    return float(candidates[support[-1]] if len(support) else decreasing[0])


def project_l1_ball(v: FloatArray, radius: float) -> FloatArray:
    """Nearest point of ``{x : sum |x_i| <= radius}``, shape (n,)."""
    magnitudes = np.abs(v)
    return np.sign(v) * np.maximum(magnitudes - l1_threshold(magnitudes, radius), 0.0)


def project_solid_simplex(v: FloatArray, radius: float) -> FloatArray:
    """Nearest point of ``{x : x_i >= 0, sum x_i <= radius}``, shape (n,)."""
    positive = np.maximum(v, 0.0)
    return np.maximum(positive - l1_threshold(positive, radius), 0.0)
