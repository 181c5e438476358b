"""Matrices released on a public grid, so that floating point carries no low-order bits of data or noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["add_on_grid", "grid_unit"]

FloatArray = NDArray[np.float64]

#: The grid is this much finer than the noise; sums of grid points are exact up to 2**51 steps, 2**21 noise scales.
_GRID_BITS = 30
_LARGEST_MULTIPLE = 2.0**51


def grid_unit(scale: float) -> float:
    """Grid for noise of scale `scale`: a power of two, about ``scale * 2**-30``.

    Rounding two neighbouring data sets to it moves each entry of their difference by at most one unit.
    """
    return 2.0 ** (math.floor(math.log2(scale)) - _GRID_BITS)


def add_on_grid(values: FloatArray, noise: FloatArray, unit: float) -> FloatArray:
    """Return (`values` rounded to multiples of `unit`) + (`noise` rounded to them), computed exactly.

    Equal to rounding (rounded values + real noise), hence post-processing of the mechanism on the rounded values.
    Values beyond 2**51 units are clipped, which moves no two data sets apart.
    """
    multiples = np.clip(np.rint(values / unit), -_LARGEST_MULTIPLE, _LARGEST_MULTIPLE)
    return (multiples + np.rint(noise / unit)) * unit
