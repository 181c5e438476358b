"""Numbers of vertices of each degree from noisy numbers of those of degree at least 1, 2, ..., all released."""

import numpy as np
from scipy.optimize import brentq, isotonic_regression

from dpgraph.tuning import COUNTS
from dpgraph.typing import FloatArray, IntArray

__all__ = ["degree_counts"]


def degree_counts(tails: FloatArray, n: int, std: float, total: float | None = None) -> IntArray:
    """The numbers N_k of vertices of degree at least k, made to decrease, as numbers of vertices of each degree.

    The nearest decreasing numbers (isotonic regression) have plateaus, where noise has been averaged, and steps between
    them that no vertex took. So between the middles of plateaus they decrease in a straight line, unless the step is
    clearly larger than noise of standard deviation `std`.

    With `total`, the sum of all degrees, the nearest ones of that sum are taken: a constant is subtracted, but not
    below 0.
    """
    decreasing = np.clip(isotonic_regression(tails, increasing=False).x if tails.size else tails, 0, n)
    if total is not None and decreasing.sum() > total > 0:
        shift = brentq(lambda c: np.maximum(decreasing - c, 0).sum() - total, 0, decreasing.max())
        decreasing = np.maximum(decreasing - shift, 0)
    at_least = np.rint(_without_plateaus(np.concatenate([[n], decreasing, [0]]), std)).astype(np.int64)
    counts = at_least[:-1] - at_least[1:]
    return counts[: np.flatnonzero(counts)[-1] + 1]


def _without_plateaus(values: FloatArray, std: float) -> FloatArray:
    """Decreasing numbers, joined by lines between the middles of plateaus wherever the step between them is small."""
    starts = np.flatnonzero(np.diff(values, prepend=np.inf))
    ends = np.append(starts[1:] - 1, values.size - 1)
    middle = (starts + ends) / 2
    small = -np.diff(values[starts]) < COUNTS.clear_step * std
    before, after = np.append(False, small), np.append(small, False)
    left = np.where(before, middle, starts)
    right = np.where(after, middle, ends)
    places, levels = np.column_stack([left, right]).ravel(), np.repeat(values[starts], 2)
    return np.interp(np.arange(values.size), places, levels)
