"""Sensitivity of the normalised Gram matrix: valid values of `sensitivity` for cosine similarities.

Each function bounds ||VV' - V'V''||_F, rows normalised (a zero row stays zero), for one public notion of neighbours.
tests/queries/test_cosine.py enumerates small cases; docs/cosine-theory.md says how close the bounds come.
"""

import math

from dpgraph.arguments import check_integer

__all__ = ["row_sensitivity", "sign_flip_sensitivity"]


def row_sensitivity(n: int, *, nonnegative: bool = False) -> float:
    """Neighbours differ in one row, replaced by any other row.

    Parameters
    ----------
    n : int
        Number of rows, at least 1.
    nonnegative : bool, default False
        State, as a public fact, that no entry is negative, so that similarities lie in [0, 1].

    Returns
    -------
    float
        2 sqrt(2(n - 1)), or sqrt(2(n - 1) + 1) for nonnegative rows.

    Raises
    ------
    InvalidParameterError
        A count is below 1, here and below.

    Notes
    -----
    *Proof.* Only row and column i of the Gram matrix change. An off-diagonal entry changes by at most 2 (at most 1 if
    similarities lie in [0, 1]); there are 2(n - 1) of them. The diagonal entry changes, by 1, only if one of the two
    rows is zero; off-diagonal entries then change by at most 1.

    Examples
    --------
    >>> row_sensitivity(51)
    20.0
    """
    check_integer("n", n, 1)
    with_zero_row = 2 * (n - 1) + 1
    return math.sqrt(with_zero_row if nonnegative else max(8 * (n - 1), with_zero_row))


def sign_flip_sensitivity(n: int, m: int, flips: int) -> float:
    """Rows in {-1/sqrt(m), 1/sqrt(m)}^m; neighbours differ in the signs of at most `flips` entries, in any rows.

    Parameters
    ----------
    n, m, flips : int
        Numbers of rows, of columns, and of entries that may change, at least 1.

    Returns
    -------
    float
        min(2 flips/m, 2) sqrt(2(n - 1)), and at most 2 sqrt(n(n - 1)): constant for m = n and sqrt(n) flips.

    Notes
    -----
    *Proof.* With k_i flips in row i, entry (i, j) changes by at most 2 (k_i + k_j)/m: a product of coordinates changes
    sign only where exactly one factor does. The sum over i != j of (k_i + k_j)^2 is 2(n - 2) sum k_i^2 + 2 (sum k_i)^2,
    largest, 2(n - 1) flips^2, when all flips share a row. A row has m entries, and m flips in one row move its entries
    by 2 each; `flips` > m would add further rows, for which the bound by 2 on every entry is used.

    References
    ----------
    CDEMZ24, section 2 (the remark that this notion covers O(sqrt(n)) changed entries).

    Examples
    --------
    >>> sign_flip_sensitivity(401, 400, 20)
    2.8284
    """
    for name, count in (("n", n), ("m", m), ("flips", flips)):
        check_integer(name, count, 1)
    one_row = 2.0 * flips / m * math.sqrt(2 * (n - 1))
    return min(one_row, 2.0 * math.sqrt(n * (n - 1)))
