"""The unit of the values of a problem: a power of two, so that no number is rounded."""

import math

import numpy as np
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.typing import FloatArray

_AT_ONCE = 2**14  # numbers that a processor's cache holds
_WHOLE = 2.0**38  # sums of whole numbers up to this are exact, and so are their 2**-12th parts


def binary_exponent(numbers: FloatArray) -> int:
    """Exponent e of the unit ``2**e`` of `numbers`.

    They become whole numbers, the odd ones included, if these are small enough for exact sums. Otherwise the largest
    is in [1/2, 1), and no square of the others that matters under- or overflows.
    """
    with np.errstate(over="ignore"):
        total = float(np.abs(numbers).sum())
    if not math.isfinite(total):
        raise InvalidParameterError("the weights add up to more than the largest number; divide them by a constant")
    mantissa, exponent = np.frexp(numbers[numbers != 0.0])
    if not mantissa.size:
        return 0
    bits = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = int(np.min(exponent - 53 + np.log2(bits & -bits).astype(np.int64)))
    largest = int(exponent.max())
    whole = largest - lowest < 62 and float(np.abs(np.ldexp(numbers, -lowest)).sum()) < _WHOLE
    return lowest if whole else largest


def rounded_once(numbers: FloatArray) -> float:
    """The sum of numbers, correctly rounded as by :func:`math.fsum`, a tenth of whose time it takes.

    High parts of all numbers are multiples of one power of two, so that they add up exactly; what is left is exact too,
    and has high parts of its own (S. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", 2008). Numbers are
    finite, and so far below the largest one that nothing overflows.
    """
    sums, numbers = [], numbers.ravel()
    for first in range(0, numbers.size, _AT_ONCE):
        left = numbers[first : first + _AT_ONCE]
        while largest := max(float(left.max()), -float(left.min())):
            grid = 2.0 ** (math.frexp(largest)[1] + math.frexp(left.size)[1] + 1)
            high = (left + grid) - grid
            sums.append(float(high.sum()))
            left = left - high
    return math.fsum(sums)


def in_binary_units(numbers: FloatArray) -> tuple[FloatArray, int]:
    """The numbers in their unit, and its exponent."""
    exponent = binary_exponent(numbers)
    scaled = np.ldexp(numbers, -exponent)
    if np.any(np.ldexp(scaled, exponent) != numbers):
        raise InvalidParameterError("the weights span more orders of magnitude than a number can; leave out the least")
    return scaled, exponent


def graph_in_binary_units(matrix: sparse.csr_array) -> tuple[sparse.csr_array, int]:
    """The matrix in the unit of its entries, and the exponent of that."""
    scaled, exponent = in_binary_units(matrix.data)
    return sparse.csr_array((scaled, matrix.indices, matrix.indptr), shape=matrix.shape), exponent


def csp_in_binary_units(instance: TwoCSP) -> tuple[TwoCSP, int]:
    """The instance in the unit of its entries, and the exponent of that."""
    scaled, exponent = in_binary_units(instance.tables)
    same = TwoCSP(instance.variables, instance.alphabet)
    same.add_constraints(instance.pairs, scaled)
    return (same, exponent) if exponent else (instance, 0)
