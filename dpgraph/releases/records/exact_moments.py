"""Second moments of records, computed exactly, so that one record moves them by what the proof says, whatever n is.

A matrix product in floating point is off by up to n units of rounding, and that is more than a record's share once n is
large. Here records are rounded to a grid, towards 0 so that none gets longer, and products and sums are those of
integers.
"""

import numpy as np
from numpy.typing import NDArray

from dpgraph.typing import FloatArray

__all__ = ["grid_records", "integer_gram", "quotient"]

#: Python integers of any size.
IntegerArray = NDArray[np.object_]

#: Entries of records are multiples of 2**-(2 * _DIGIT_BITS); sums of products of digits over a block stay below 2**53,
#: where doubles are exact, and over a chunk below 2**63.
_DIGIT_BITS, _BLOCK, _CHUNK = 20, 2**13, 2**22


def grid_records(rows: FloatArray) -> FloatArray:
    """Records of norm at most 1, up to rounding, as vectors of integers in units of 2**-40, of norm at most 2**40.

    A computed norm of d numbers, and what is divided by it, is off by less than d + 16 units of rounding.
    """
    shrink = 1 - (rows.shape[1] + 16) * float(np.finfo(np.float64).eps)
    return np.trunc(rows * (shrink * 4.0**_DIGIT_BITS))


def integer_gram(records: FloatArray) -> IntegerArray:
    """Exact sum of x x' over the rows x of :func:`grid_records`, in units of 2**-80."""
    d = records.shape[1]
    total = np.zeros((d, d), dtype=np.object_)
    for chunk in range(0, len(records), _CHUNK):
        sums = np.zeros((3, d, d), dtype=np.int64)
        end = min(chunk + _CHUNK, len(records))
        for start in range(chunk, end, _BLOCK):
            block = records[start : min(start + _BLOCK, end)]
            high = np.rint(block * 2.0**-_DIGIT_BITS)
            low = block - high * 2.0**_DIGIT_BITS
            cross = high.T @ low
            sums += np.array([high.T @ high, cross + cross.T, low.T @ low]).astype(np.int64)
        first, second, third = sums.astype(np.object_)
        total = total + (first * 4**_DIGIT_BITS + second * 2**_DIGIT_BITS + third)
    return total


def quotient(gram: IntegerArray, n: int) -> tuple[FloatArray, FloatArray]:
    """``gram * 2**-80 / n`` as the sum of two doubles, exact to 2**-106 of its size."""
    whole = n << (4 * _DIGIT_BITS)
    first, second = np.empty(gram.shape), np.empty(gram.shape)
    for place, entry in np.ndenumerate(gram):
        first[place] = entry / whole  # a quotient of Python integers is rounded once
        numerator, denominator = float(first[place]).as_integer_ratio()
        second[place] = (entry * denominator - numerator * whole) / (denominator * whole)
    return first, second
