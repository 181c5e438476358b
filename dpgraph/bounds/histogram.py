"""Sensitivity of C x for a histogram x and a public matrix C with columns c_1, ..., c_N.

One record of type i adds c_i. So a record more or less changes C x by a column, and a record of type i that is replaced
by one of type j changes it by the *difference* c_j - c_i: all changes lie in the hull of the differences, which is
smaller than twice the hull of the columns and their mirror images. A vector added to all columns does not change it.

tests/queries/test_linear_queries_replaced.py enumerates neighbours, and docs/sensitivity.md says how close they come.
"""

import math

import numpy as np

from dpgraph.linalg.exact_product import KEPT_BITS
from dpgraph.linalg.query_matrix import QueryMatrix

#: All pairs of columns are compared up to this many multiplications (some seconds).
_PAIRWISE_LIMIT = 2**35
#: In l1, where a comparison is no matrix product, up to this many additions.
_L1_PAIRWISE_LIMIT = 2**27
#: Columns are compared with all others this many at a time.
_BLOCK = 512
#: Unit roundoff of double precision.
_ROUNDOFF = 2.0**-53
#: Equal columns leave nothing to protect. The sensitivity is at least this share of the longest column nevertheless, so
#: that a noise scale is never zero.
_LEAST_SHARE = 2.0**-40


def encoded_sensitivity(matrix: QueryMatrix, adjacency: str, *, order: int = 2) -> float:
    """Sensitivity of C x in l1 or l2, as :func:`~dpgraph.linalg.exact_product.exact_product` computes it.

    For one record more or less the longest column in that norm, for one record replaced the largest distance of two
    columns; and 2**-60 (N + 4 sqrt(d)) of the longest column, with d in place of sqrt(d) in l1.

    *Proof.* The product is C~ x~ exactly. x~ is the histogram, capped at 2**52 in each entry for "add-remove" and
    rounded down to multiples of at most g = 2**-60; C~ is C with entries rounded towards 0 by less than 2**(e - 60),
    which is at most 2**-59 of the longest column.

    Neighbours x and x' differ by a unit vector e_i or by e_j - e_i, or, where numbers of records are not whole, by a
    signed mixture of unit vectors at l1 distance 1, or of such differences at l1 distance 2 with equal sums. A norm of
    a mixture is at most the largest of the norms. The cap takes no entry of x and x' further apart. Rounding down moves
    each entry of x - x' by less than g, so that C~ (x~ - x~') changes by less than N g max |c~_i|.

    Rounding towards 0 makes no column longer. It moves each entry of a difference of two columns by less than
    2 2**-59 of the longest column, and the difference by sqrt(d) times that, in l1 by d times that.
    """
    d, N = matrix.shape
    entries = math.sqrt(d) if order == 2 else d
    longest = matrix.longest if order == 2 else matrix.longest_l1
    rounding = 2.0**-KEPT_BITS * (N + 4 * entries) * longest
    if adjacency != "replace":
        return longest + rounding
    return (column_diameter(matrix) if order == 2 else column_l1_diameter(matrix)) + rounding


def column_l1_diameter(matrix: QueryMatrix) -> float:
    """Upper bound on the largest l1 distance of two columns, tight to rounding up to some hundred columns.

    *Proof.* All pairs, where there are few enough; a sum of d terms has an error of at most d roundoffs of itself.
    Otherwise the triangle inequality with the mean of the columns in the middle, or the sum of the two longest ones.
    """
    d, N = matrix.shape
    lengths = matrix.column_l1_norms
    if matrix.fits_in_memory and d * N * N <= _L1_PAIRWISE_LIMIT:
        columns = matrix.dense
        largest = max(float(np.abs(columns - columns[:, [i]]).sum(axis=0).max()) for i in range(N))
    else:
        largest = float(np.sort(lengths)[-2:].sum()) if N > 1 else 0.0
        if matrix.fits_in_memory:
            mean = matrix.apply(np.full(N, 1.0 / N))
            largest = min(largest, 2 * float(np.abs(matrix.dense - mean[:, None]).sum(axis=0).max()))
    return max(largest * (1 + 4 * (d + 8) * _ROUNDOFF), _LEAST_SHARE * matrix.longest_l1)


def column_diameter(matrix: QueryMatrix) -> float:
    """Upper bound on the largest distance |c_i - c_j| of two columns, tight to rounding up to some thousand columns.

    *Proof.* All pairs, where there are few enough: |u - v|^2 = |u|^2 + |v|^2 - 2 <u, v> for the columns minus their
    mean m. Its floating-point error is at most (d + 2) roundoffs times (|u| + |v|)^2 <= 4 R^2, R the longest, and
    subtracting m moves a column by a roundoff times R; both together are below the term that is added.

    Otherwise the smaller of 2 max_i |c_i - p| for p = 0 and p = m (triangle inequality), and, if no entry is negative,
    of sqrt(|c_i|^2 + |c_j|^2) for the two longest columns, as <c_i, c_j> >= 0 then.
    """
    d, N = matrix.shape
    norms = matrix.column_norms
    least = _LEAST_SHARE * float(norms.max())
    mean = matrix.apply(np.full(N, 1.0 / N))
    if matrix.fits_in_memory and d * N * N <= _PAIRWISE_LIMIT:
        columns = matrix.dense - mean[:, None]
        squares = np.einsum("ij,ij->j", columns, columns)
        largest = 0.0
        for start in range(0, N, _BLOCK):
            block = slice(start, start + _BLOCK)
            products = columns[:, block].T @ columns
            largest = max(largest, float((squares[block, None] + squares - 2 * products).max()))
        return max(float(np.sqrt(largest + 8 * (d + 8) * _ROUNDOFF * squares.max())), least)
    bounds = [2 * float(norms.max()), 2 * float(matrix.distances(mean).max())]
    if matrix.nonnegative:
        bounds.append(float(np.linalg.norm(np.sort(norms)[-2:])))
    # Lengths of d entries carry relative errors of about d roundoffs.
    return max(min(bounds) * (1 + 4 * (d + 8) * _ROUNDOFF), least)
