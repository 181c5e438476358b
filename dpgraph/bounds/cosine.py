"""How far the normalised Gram matrix moves between neighbours: valid `sensitivity` values for cosine similarities.

Each function bounds ||VV' - V'V''||_F, rows normalised (a zero row stays zero), for one public notion of neighbours.
tests/queries/test_cosine.py enumerates small cases; docs/cosine.md says how close the bounds come.
"""

import math

from dpgraph.arguments import check_integer

__all__ = ["edge_sensitivity", "row_sensitivity", "sign_flip_sensitivity"]


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
    *Proof.* Only row and column i of the Gram matrix change. An off-diagonal entry moves by at most 2 (at most 1 if
    similarities lie in [0, 1]); there are 2(n - 1) of them. The diagonal entry moves, by 1, only if one of the two rows
    is zero; off-diagonal entries then move by at most 1.

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
    *Proof.* With k_i flips in row i, entry (i, j) moves by at most 2 (k_i + k_j)/m: a product of coordinates changes
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


def edge_sensitivity(max_degree: int, *, min_degree: int = 0) -> float:
    """Rows are the neighbourhoods of an unweighted graph; neighbours differ in one edge.

    Parameters
    ----------
    max_degree, min_degree : int
        Public bounds on every degree, in both graphs: 0 <= min_degree < max_degree.

    Returns
    -------
    float
        The square root of the largest value, over degrees d and d' in [min_degree, max_degree - 1] of the two ends
        before the edge is added, of 2 R(d, d') + 2 R(d', d) + 2/(m + 1)^2 [d, d' > 0] + [d = 0] + [d' = 0], where
        m = max(min_degree, 1) and R(d, d') = d'/((d + 1) m) + (D - 1) / ((d + 1)(sqrt(d + 1) + sqrt(d))^2) [d > 0].

    Notes
    -----
    *Proof.* Let the edge {i, j} be added; d and d' are the degrees of i and j before. For l other than i, j let s_l
    be the number of common neighbours of i and l before, and e_l = 1 if l is a neighbour of j. The similarity of i and
    l moves by (b e_l - a s_l)/sqrt(d_l) with b = 1/sqrt(d + 1), a = 1/sqrt(d) - b, hence its square by at most
    (b^2 e_l + a^2 s_l^2)/d_l. There are d' vertices l with e_l = 1, each with d_l >= m, and
    sum_l s_l^2/d_l <= sum_l s_l <= d (D - 1): together R(d, d'). Rows and columns i and j give 2 R each. The entry
    (i, j) and its mirror image move by at most 1 - sqrt(dd'/((d + 1)(d' + 1))) <= 1/(m + 1), and not at all if i or j
    was isolated; a diagonal entry moves only at an isolated vertex, by 1. R is convex in each degree on [1, D - 1], so
    the largest value is at the ends of that interval or at 0.

    Examples
    --------
    >>> round(edge_sensitivity(20), 2), round(edge_sensitivity(20, min_degree=10), 2)
    (6.25, 0.75)
    """
    check_integer("max_degree", max_degree, 1)
    check_integer("min_degree", min_degree, 0, max_degree - 1)
    m = max(min_degree, 1)

    def row(d: int, other: int) -> float:
        shrinking = (max_degree - 1) / ((d + 1) * (math.sqrt(d + 1) + math.sqrt(d)) ** 2) if d else 0.0
        return other / ((d + 1) * m) + shrinking

    def change(d: int, other: int) -> float:
        common = 2 / (m + 1) ** 2 if d and other else 0.0
        return 2 * row(d, other) + 2 * row(other, d) + common + (d == 0) + (other == 0)

    degrees = {min_degree, min(m, max_degree - 1), max_degree - 1}
    return math.sqrt(max(change(d, other) for d in degrees for other in degrees))
