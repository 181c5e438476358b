r"""C x without rounding, for a public matrix C and a private histogram x.

A product in floating point is off by up to N roundoffs of the number of records, and that is more than one record adds
to it once there are enough of them. Here C and x are cut into integers ("digits") that are so short that all products
of them are exact in double precision.

Let 2**e be the power of two above the longest column of C. With b = floor((50 - ceil(log2 N))/2) bits to a digit,

    C = 2**e  sum_{i = 1..k} 2**(-i b) C_i + dropped,  abs(dropped) < 2**(e - 60),   x = sum_j 2**(j b) x_j + dropped,

where k b >= 60, and x is rounded down to multiples of at most 2**-60. The entries of all C_i and x_j are integers of
absolute value below 2**b. So each entry of C_i x_j is a sum of N integers below 2**(2 b), that is below 2**50, and up
to k <= 8 such products have one and the same power of two: their sum stays below 2**53. Doubles add such integers
exactly, in whatever order (N <= 2**34: more would not fit in memory).

What is dropped of C is a function of C alone. So the product is C~ x~ exactly, with a public matrix C~ and the rounded
histogram x~. :func:`~dpgraph.bounds.histogram.encoded_sensitivity` charges for both.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.typing import FloatArray

#: Bits that are kept of entries of C below the longest column, and of numbers of records below one record.
KEPT_BITS = 60
#: Bits of a double.
_BITS = 53
#: Up to 2**3 sums of products are added.
_SUM_BITS = 3


def exact_product(matrix: QueryMatrix, histogram: FloatArray) -> tuple[FloatArray, ...]:
    """Vectors of d numbers each, whose exact sum is C~ x~ (see the head of this module), for x between 0 and 2**52."""
    d, N = matrix.shape
    bits = (_BITS - _SUM_BITS - (N - 1).bit_length()) // 2
    digits, powers = _digits_of_records(histogram, bits)
    products = np.zeros((math.ceil(KEPT_BITS / bits), d, len(powers)))
    for columns, block in matrix.column_blocks():
        left = (block.data if scipy.sparse.issparse(block) else block) * 2.0 ** (bits - matrix.exponent)
        for product in products:
            whole = np.trunc(left)
            product += _with_entries(block, whole) @ digits[columns]
            left -= whole
            if not left.any():
                break
            left *= 2.0**bits
    levels: dict[int, FloatArray] = {}
    for i, product in enumerate(products, start=1):
        for j, part in zip(powers, product.T, strict=True):
            levels[j - i] = levels.get(j - i, 0.0) + part
    return tuple(levels[level] * 2.0 ** (matrix.exponent + level * bits) for level in sorted(levels, reverse=True))


def _digits_of_records(histogram: FloatArray, bits: int) -> tuple[FloatArray, list[int]]:
    """Digits x_j as the columns of an array, and the j; digits that are all zero are left out if others are not."""
    powers = range(math.ceil(_BITS / bits) - 1, -math.ceil(KEPT_BITS / bits) - 1, -1)
    left = histogram * 2.0 ** (-powers[0] * bits)
    found: dict[int, FloatArray] = {}
    for power in powers:
        whole = np.floor(left)
        left = (left - whole) * 2.0**bits
        if whole.any():
            found[power] = whole
        if not left.any():
            break
    found = found or {0: np.zeros_like(histogram)}
    return np.column_stack(list(found.values())), list(found)


def _with_entries(block: Any, entries: FloatArray) -> Any:
    """The block with other entries: itself an array, or a sparse one."""
    if not scipy.sparse.issparse(block):
        return entries
    return scipy.sparse.csr_array((entries, block.indices, block.indptr), shape=block.shape)
