"""Bounds on rounding errors of sums, and numbers whose sums have none."""

import numpy as np

from dpgraph.typing import FloatArray

__all__ = ["on_binary_grid", "rounding_slack"]


def rounding_slack(roundings: int, magnitude: float) -> float:
    """Bound on the error of a sum of terms of total size `magnitude`, each of which is rounded `roundings` times.

    The error is at most ``gamma magnitude`` with ``gamma = k u/(1 - k u)``, k the number of roundings and u = 2^-53
    (Higham 2002, Lemma 3.1). Sixteen times ``k u`` also covers the rounding of `magnitude` and of the slack itself.
    """
    return 16.0 * roundings * 2.0**-53 * magnitude


def on_binary_grid(numbers: FloatArray) -> bool:
    """Multiples of 2**-12 whose sums, and quarters of sums, are exact in double precision."""
    scaled = numbers * 2.0**12
    return bool(np.all(scaled == np.rint(scaled))) and float(np.abs(scaled).sum()) < 2.0**50
