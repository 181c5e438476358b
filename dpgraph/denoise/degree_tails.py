"""Numbers of vertices of each degree from noisy numbers of those of degree at least 1, 2, ..., all released."""

import numpy as np
from scipy.optimize import isotonic_regression

from dpgraph.tuning import COUNTS, SYNTHESIS
from dpgraph.typing import FloatArray, IntArray

#: Steps of the search for a constant: rounded sums no longer change then.
_HALVINGS = 50


def degree_counts(
    tails: FloatArray, n: int, std: float, total: float | None = None, *, smooth: bool = False
) -> IntArray:
    """The numbers N_k of vertices of degree at least k, made to decrease, as numbers of vertices of each degree.

    The nearest decreasing numbers (isotonic regression) have plateaus, where noise has been averaged, and steps between
    them that no vertex took. So between the middles of plateaus they decrease in a straight line, unless the step is
    clearly larger than noise of standard deviation `std`. With `total`, the sum of all degrees, a constant is
    subtracted, but not below 0, so that they have that sum. `smooth` says that neighbouring degrees are about as
    frequent: what is left of the noise is averaged away (:func:`_smoothed`).
    """
    decreasing = np.clip(isotonic_regression(tails, increasing=False).x if tails.size else tails, 0, n)

    def rounded(shift: float) -> IntArray:
        """Whole numbers, the constant being subtracted."""
        at_least = np.concatenate([[n], np.maximum(decreasing - shift, 0), [0]])
        at_least = _without_plateaus(at_least, std)
        return np.rint(_smoothed(at_least, std) if smooth else at_least).astype(np.int64)

    at_least = rounded(0.0)
    if total is not None and at_least[1:].sum() > total > 0:
        low, high = 0.0, float(decreasing.max())
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if rounded(middle)[1:].sum() > total else (low, middle)
        at_least = rounded(high)
    counts = at_least[:-1] - at_least[1:]
    return counts[: np.flatnonzero(counts)[-1] + 1]


def _without_plateaus(values: FloatArray, std: float) -> FloatArray:
    """Decreasing numbers, joined by lines between the middles of plateaus wherever the step between them is small."""
    starts = np.flatnonzero(np.diff(values, prepend=np.inf))
    ends = np.append(starts[1:] - 1, values.size - 1)
    middle = (starts + ends) / 2
    small = -np.diff(values[starts]) < COUNTS.clear_step * std
    before, after = np.append(False, small), np.append(small, False)
    before[-1] = False  # no vertex has a degree of the last plateau, however long it is
    left = np.where(before, middle, starts)
    right = np.where(after, middle, ends)
    places, levels = np.column_stack([left, right]).ravel(), np.repeat(values[starts], 2)
    return np.interp(np.arange(values.size), places, levels)


def _smoothed(values: FloatArray, std: float) -> FloatArray:
    """Decreasing numbers, each averaged with those around it, twice; the first two stay.

    The average at k reaches the part `smooth_part` of k to both sides. It stops where the numbers fall by
    `smooth_steps` standard deviations, as what is seen there is no noise.
    """
    k = np.arange(values.size)
    reach = SYNTHESIS.smooth_part * k
    below, above = np.maximum(np.floor(k - reach), 0).astype(np.int64), np.ceil(k + reach).astype(np.int64)
    above = np.minimum(above, k[-1])
    for _ in range(2):
        falls = (values[below] - values[above]) / np.maximum(above - below, 1)
        window = np.minimum(reach, SYNTHESIS.smooth_steps * std / np.maximum(falls, 1e-12))
        window = np.minimum(np.rint(window), np.minimum(np.maximum(k - 1, 0), k[-1] - k)).astype(np.int64)
        sums = np.append(0.0, np.cumsum(values))
        values = np.minimum.accumulate((sums[k + window + 1] - sums[k - window]) / (2 * window + 1))
    return values
