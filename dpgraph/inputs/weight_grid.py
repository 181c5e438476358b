"""The public grid on which weights of private edges live, so that whatever is added up of them is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.typing import FloatArray

__all__ = ["WEIGHT_BITS", "WeightGrid"]

#: Weights of a weighted private graph are at most 2**WEIGHT_BITS steps of their grid.
WEIGHT_BITS = 20


@dataclass(frozen=True)
class WeightGrid:
    """Public grid of the weights of a private graph: integer multiples of `unit`, a power of two, up to `largest`.

    Sums of weights, and of products with multiples of another power of two, are then sums of integers: they are exact
    in double precision below 2**53 units of the product, in any order. A unit that is no power of two, such as
    ``max_weight * 2**-20`` for max_weight = 0.1, is not good enough: multiples of it are rounded, and so are sums.

    Parameters
    ----------
    unit : float
        The smallest power of two that is at least ``max_weight * 2**-WEIGHT_BITS``.
    largest : float
        The largest multiple of it that is at most max_weight.
    """

    unit: float
    largest: float

    @classmethod
    def of(cls, max_weight: float) -> WeightGrid:
        """The grid for a public bound on a weight.

        Examples
        --------
        >>> from dpgraph.inputs.weight_grid import WeightGrid
        >>> WeightGrid.of(1.0).unit == 2.0**-20, WeightGrid.of(0.1).largest
        (True, 0.09999990463256836)
        """
        mantissa, exponent = math.frexp(max_weight)
        unit = math.ldexp(1.0, exponent - (mantissa == 0.5) - WEIGHT_BITS)
        return cls(unit, math.floor(max_weight / unit) * unit)

    def round(self, weights: FloatArray) -> FloatArray:
        """Nearest points of the grid, weights beyond it at its end: new numbers, in [0, `largest`] for weights >= 0.

        So a pair whose weight changes by at most max_weight changes by at most `largest` <= max_weight on the grid:
        rounding is monotone, and no two of its values are further apart than that.
        """
        return np.asarray(np.minimum(np.rint(np.minimum(weights, self.largest) / self.unit) * self.unit, self.largest))
