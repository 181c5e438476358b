"""Arrays and numbers released on a public grid, with their ledger lines; :mod:`dpgraph.privacy.grid` has the proofs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.grid import Terms, add_on_grid, grid_step, symmetric_part
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource

__all__ = ["release_array", "release_scalar"]

FloatArray = NDArray[np.float64]

#: What floating-point arithmetic may do to an entry of a released array, in noise scales.
_ALLOWANCE = 2.0**-30
#: The grid of a single number is this many bits finer than its noise.
_SCALAR_BITS = 20


def release_array(
    A: Terms,
    *,
    name: str,
    sensitivity: float,
    mu: float,
    symmetric: bool,
    ledger: Ledger,
    noise: NoiseSource,
    error: float | None = None,
) -> FloatArray:
    """Add Gaussian noise of GDP parameter `mu` to an array, rounded to a public grid.

    Parameters
    ----------
    A : ndarray, or tuple of ndarray
        Private; several arrays stand for their exact sum.
    name : str
        Name of the ledger line.
    sensitivity : float
        l2-sensitivity of `A`, were it computed exactly.
    mu : float
        GDP parameter of the release.
    symmetric : bool
        Replace a square `A` by (A + A')/2, which moves no two data sets apart, and use noise (W + W')/2.
    ledger : Ledger
        Records the release.
    noise : NoiseSource
        Source of the noise.
    error : float, optional
        Public bound on the l2 distance of `A` from what an exact computation would give; it counts twice, once for
        each of two neighbours. 0 for what was not computed. By default an allowance of 2**-30 noise scales an entry is
        made, which covers rounding unless sums in it are 2**22 over their number of terms noise scales large.
    """
    shape = np.shape(A[0] if isinstance(A, tuple) else A)
    if error is None:
        error = sensitivity / mu * _ALLOWANCE * math.sqrt(math.prod(shape))
    moved = sensitivity + 2 * error
    if symmetric:
        scale = ledger.gaussian(name, sensitivity=moved, mu=mu, mechanism="symmetric Gaussian")
        return add_on_grid(symmetric_part(A), noise.symmetric_gaussian(shape[0], scale), grid_step(scale))
    scale = ledger.gaussian(name, sensitivity=moved, mu=mu)
    return add_on_grid(A, noise.gaussian(shape, scale), grid_step(scale))


def release_scalar(name: str, value: float, bound: float, ledger: Ledger, epsilon: float, noise: NoiseSource) -> float:
    """Laplace noise on a number that moves by at most `bound`, were it computed exactly, on a grid.

    Rounding adds one step of the grid, 2**-20 of the noise, to the bound, and one more is an allowance: on either of
    two neighbours floating-point arithmetic may miss the number by half a step. That is so unless the sum that it is
    made of has more than some 2**30 noise scales, and is not proven beyond: with hundreds of millions of edges and an
    epsilon in the thousands, the bound may be exceeded by about a billionth of itself.
    """
    unit = grid_step(bound / epsilon, bits=_SCALAR_BITS)
    scale = ledger.laplace(name, sensitivity=bound + 2 * unit, epsilon=epsilon)
    return float(noise.laplace_on_grid(np.array([value]), unit, scale)[0])
