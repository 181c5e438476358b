"""Matrices released on a public grid, so that floating point carries no low-order bits of data or noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource

__all__ = ["CORE_BITS", "GRID_BITS", "add_on_grid", "grid_unit", "release_array", "release_scalar"]

FloatArray = NDArray[np.float64]

#: The grid is this much finer than the noise; sums of grid points are exact up to 2**51 steps, 2**21 noise scales.
GRID_BITS = 30
#: Grid of the small core of a low-rank matrix, whose entries may be many noise scales large.
CORE_BITS = 18
_LARGEST_MULTIPLE = 2.0**51
#: Grid of a single number in units of its noise.
_SCALAR_UNIT = 2.0**-20


def grid_unit(scale: float, bits: int = GRID_BITS) -> float:
    """Grid for noise of scale `scale`: a power of two, about ``scale * 2**-bits``.

    Rounding two neighbouring data sets to it moves each entry of their difference by at most one unit.
    """
    return 2.0 ** (math.floor(math.log2(scale)) - bits)


def add_on_grid(values: FloatArray, noise: FloatArray, unit: float) -> FloatArray:
    """Return (`values` rounded to multiples of `unit`) + (`noise` rounded to them), computed exactly.

    Equal to rounding (rounded values + real noise), hence post-processing of the mechanism on the rounded values.
    Values beyond 2**51 units are clipped, which moves no two data sets apart.
    """
    multiples = np.clip(np.rint(values / unit), -_LARGEST_MULTIPLE, _LARGEST_MULTIPLE)
    return (multiples + np.rint(noise / unit)) * unit


def release_array(
    A: FloatArray,
    *,
    name: str,
    sensitivity: float,
    mu: float,
    symmetric: bool,
    ledger: Ledger,
    noise: NoiseSource,
    bits: int = GRID_BITS,
) -> FloatArray:
    """Add Gaussian noise of GDP parameter `mu` to an array, on a public grid.

    Parameters
    ----------
    A : ndarray
        Private.
    name : str
        Name of the ledger line.
    sensitivity : float
        l2-sensitivity of `A`.
    mu : float
        GDP parameter of the release.
    symmetric : bool
        Replace a square `A` by (A + A')/2, which moves no two data sets apart, and use noise (W + W')/2.
    ledger : Ledger
        Records the release.
    noise : NoiseSource
        Source of the noise.
    bits : int
        The grid is 2**-bits times the noise. Entries beyond 2**(51 - bits) noise scales are clipped, so that small
        arrays of large entries want a coarser grid.
    """
    unit = grid_unit(sensitivity / mu, bits)
    # Entries of a difference move by at most one unit by rounding, and by far less than another one by floating-point
    # arithmetic in the computation of A.
    rounded = sensitivity + 2 * unit * math.sqrt(A.size)
    if symmetric:
        scale = ledger.gaussian(name, sensitivity=rounded, mu=mu, mechanism="symmetric Gaussian")
        return add_on_grid(A / 2 + A.T / 2, noise.symmetric_gaussian(len(A), scale), unit)
    scale = ledger.gaussian(name, sensitivity=rounded, mu=mu)
    return add_on_grid(A, noise.gaussian(A.shape, scale), unit)


def release_scalar(name: str, value: float, bound: float, ledger: Ledger, epsilon: float, noise: NoiseSource) -> float:
    """Laplace noise on a number that moves by at most `bound`, rounded to a grid.

    Rounding adds one step of the grid to the bound, and so at most does floating-point arithmetic in its computation.
    """
    unit = 2.0 ** math.floor(math.log2(bound / epsilon)) * _SCALAR_UNIT
    scale = ledger.laplace(name, sensitivity=bound + 2 * unit, epsilon=epsilon)
    return float(noise.laplace_on_grid(np.array([np.rint(value / unit) * unit]), unit, scale)[0])
