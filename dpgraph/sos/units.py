"""The unit of the values of a problem: a power of two, so that no number is rounded."""

import math
from collections.abc import Iterable, Iterator

import numpy as np
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.typing import FloatArray

_AT_ONCE = 2**14  # numbers that a processor's cache holds
_BITS = 38  # sums of whole numbers of so many are exact, and so are their 2**-12th parts


def rounded_once(numbers: FloatArray | Iterable[FloatArray]) -> float:
    """The sum of numbers, or of all parts, correctly rounded as by :func:`math.fsum`, in a tenth of the time.

    High parts of all numbers are multiples of one power of two, so that they add up exactly; what is left is exact too,
    and has high parts of its own (S. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", 2008). Numbers are
    finite, and so far below the largest one that nothing overflows.
    """
    sums = []
    for part in parts_of(numbers) if isinstance(numbers, np.ndarray) else numbers:
        left = part
        most = max(float(left.max(initial=0.0)), -float(left.min(initial=0.0)))
        while most:
            grid = 2.0 ** (math.frexp(most)[1] + math.frexp(left.size)[1] + 1)
            high = left + grid
            high -= grid
            sums.append(float(high.sum()))
            left = left - high
            most = grid * 2.0**-53 * left.any()  # half of what two numbers as large as the grid differ by
    return math.fsum(sums)


def in_binary_units(numbers: FloatArray, *, in_place: bool = False) -> tuple[FloatArray, int]:
    """The numbers in their unit ``2**e``, and the exponent e.

    They become whole numbers, the odd ones included, if these are small enough for exact sums. Otherwise the largest
    is in [1/2, 1), and no square of the others that matters under- or overflows.
    """
    some, count = distinct(numbers)
    with np.errstate(over="ignore"):
        total = count * size_of(some)
    if not math.isfinite(total):
        raise InvalidParameterError("the weights add up to more than the largest number; divide them by a constant")
    exponent = math.frexp(max(float(some.max()), -float(some.min())))[1] if total else 0
    bits = _common_bits(some, _BITS - exponent)
    if bits:
        lowest = (bits & -bits).bit_length() - 1 + exponent - _BITS
        exponent = lowest if math.ldexp(total, -lowest) < 2.0**_BITS else exponent
    if not exponent:
        return numbers, 0
    scaled = numbers if in_place else np.empty(numbers.shape)
    for part, own in zip(parts_of(numbers), parts_of(scaled), strict=True):
        small = np.ldexp(part, -exponent)
        if np.any(np.ldexp(small, exponent) != part):
            raise InvalidParameterError(
                "the weights span more orders of magnitude than a number can; leave out the least"
            )
        own[:] = small
    return scaled, exponent


def _common_bits(numbers: FloatArray, exponent: int) -> int:
    """The bits that any of the numbers has, in units of ``2**-exponent``; 0 if one of them is no multiple of it."""
    bits = 0
    for part in parts_of(numbers):
        scaled = np.ldexp(part, exponent)
        if not are_whole(scaled) or np.count_nonzero(scaled) < np.count_nonzero(part):
            return 0
        bits |= int(np.bitwise_or.reduce(scaled.astype(np.int64)))
    return bits


def parts_of(numbers: FloatArray) -> Iterator[FloatArray]:
    """Numbers of a contiguous array in their order, so many at a time as a cache holds."""
    flat = numbers.reshape(-1)
    return (flat[first : first + _AT_ONCE] for first in range(0, flat.size, _AT_ONCE))


def size_of(numbers: FloatArray) -> float:
    """The sum of the absolute numbers of a contiguous array."""
    return sum((float(np.abs(part).sum()) for part in parts_of(numbers)), 0.0)


def distinct(numbers: FloatArray) -> tuple[FloatArray, int]:
    """Numbers among whose sizes those of all are, and how often each: one where all are alike, as without weights."""
    first = np.abs(numbers.ravel()[:1])
    alike = first.size > 0 and all(bool(np.all(np.abs(part) == first)) for part in parts_of(numbers))
    return (first, numbers.size) if alike else (numbers, 1)


def are_whole(numbers: FloatArray, factor: float = 1.0) -> bool:
    """Whether all are whole numbers times a factor."""
    parts = (factor * part for part in parts_of(numbers))
    return all(bool(np.all(part == np.rint(part))) for part in parts)


def graph_in_binary_units(matrix: sparse.csr_array, *, in_place: bool = False) -> tuple[sparse.csr_array, int]:
    """The matrix in the unit of its entries, and the exponent of that."""
    scaled, exponent = in_binary_units(matrix.data, in_place=in_place)
    return sparse.csr_array((scaled, matrix.indices, matrix.indptr), shape=matrix.shape), exponent


def csp_in_binary_units(instance: TwoCSP) -> tuple[TwoCSP, int]:
    """The instance in the unit of its entries, and the exponent of that."""
    scaled, exponent = in_binary_units(instance.tables)
    if exponent == 0:
        return instance, 0
    same = TwoCSP(instance.variables, instance.alphabet)
    same.add_constraints(instance.pairs, scaled)
    return same, exponent
