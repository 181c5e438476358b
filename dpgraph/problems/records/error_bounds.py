"""What no private mechanism for linear queries can do better than, with explicit constants.

Lower bounds on the error, and bounds on the hereditary discrepancy. disc(A) = min over x in {-1, 1}^N of max_j
|(A x)_j|; herdisc(A) is its maximum over all sets of columns. It governs the error of every private mechanism for the
queries A up to logarithms (NTZ13; Muthukrishnan and Nikolov 2012).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.special import gammaln, ndtri

from dpgraph.arguments import check_epsilon, check_integer, check_optional_delta
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.factorization import factorization_norm, trace_factorization
from dpgraph.typing import FloatArray, SparseMatrix


class ErrorLowerBounds(NamedTuple):
    """Root-mean-square errors of an answer that no private mechanism goes below on all histograms."""

    reconstruction: float
    volume: float


def error_lower_bounds(
    A: ArrayLike | SparseMatrix, *, epsilon: float, delta: float = 0.0, records: int | None = None
) -> ErrorLowerBounds:
    r"""Bound the error of *every* private mechanism for the queries A on its worst histogram from below.

    Parameters
    ----------
    A : array_like or scipy.sparse array, shape (d, N)
        Finite, not zero.
    epsilon, delta : float
        The guarantee, for one record more or less; delta = 0 stands for pure privacy.
    records : int, optional
        Only histograms of at most so many records count (the sparse case of NTZ13); all of them by default.

    Returns
    -------
    ErrorLowerBounds
        ``reconstruction``, for all epsilon and delta, and ``volume``, for pure privacy (otherwise 0).

    Notes
    -----
    *Reconstruction.* Let the entries of x be 0 or k, k a whole number, independent and with equal probabilities, and e
    the error of a mechanism. Who knows all of x but x_i has the estimate x_i + <g, e>/<g, a_i> of it, for every g.
    Groups of k records are (k epsilon, delta_k)-private, so that the total variation between both cases is at most
    T_k = (exp(k epsilon) - 1 + 2 delta_k)/(exp(k epsilon) + 1), and no estimate of x_i has a squared error below
    v = k^2 (1 - T_k)/4. Hence E e e' >= v a_i a_i' for every i, which is a_i' (E e e')^{-1} a_i <= 1/v: E|e|^2 is at
    least v times the least trace of :mod:`dpgraph.problems.records.factorization`, of which the dual proves a lower
    bound. So noise of the optimal factorization is within a constant, for fixed epsilon and delta, of the best.

    *Volume* (Hardt and Talwar 2010). Take k of the columns, R the triangle of their QR decomposition, and x uniform
    among the histograms of these types with at most m records; records may be fractions. A x is uniform in a simplex of
    volume m^k |det R|/k!. By group privacy, an answer within t of A x has probability at most exp(epsilon m) times the
    share of that volume which a ball of radius t has. With t_0 the radius at which this is 1, E|e|^2 is at least
    t_0^2 k/(k + 2). The best m is about k/epsilon. Columns are chosen by pivoting.

    *Few records.* With n = `records`, groups of k records are in at most n/k entries of x, the others are 0, and m is
    at most n. Both proofs hold for any choice of columns; the first n/k that pivoting chooses are taken.

    References
    ----------
    NTZ13. M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC 2010. A. Edmonds, A. Nikolov, J. Ullman,
    "The power of factorization mechanisms in local and central differential privacy", STOC 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.linear_queries import error_lower_bounds, expected_error
    >>> A = np.tril(np.ones((64, 64)))
    >>> max(error_lower_bounds(A, epsilon=1.0)) < expected_error(A, epsilon=1.0)
    True
    """
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    if records is not None:
        check_integer("records", records, 1)
    matrix = QueryMatrix(A)
    d, columns = matrix.shape[0], matrix.row_space.columns
    triangle, order = scipy.linalg.qr(columns, mode="r", pivoting=True)
    first = columns if records is None else columns[:, order]
    reconstruction = _reconstruction_bound(first, epsilon, delta, records) / math.sqrt(d)
    pivots = np.abs(np.diagonal(triangle))
    return ErrorLowerBounds(
        reconstruction, 0.0 if delta > 0 else _volume_bound(pivots, epsilon, records) / math.sqrt(d)
    )


def _reconstruction_bound(columns: FloatArray, epsilon: float, delta: float, records: int | None) -> float:
    """Root of the largest v times a trace over the sizes of groups; with few records, of the first columns."""
    errors: dict[int, float] = {}  # the largest v for each number of columns
    for k, error in _bit_errors(epsilon, delta):
        size = columns.shape[1] if records is None else min(columns.shape[1], records // k)
        errors[size] = max(errors.get(size, 0.0), error)
    spaces = ((v, QueryMatrix(columns[:, :size]).row_space) for size, v in errors.items() if size and v)
    return math.sqrt(max((v * trace_factorization(space.columns).lower_bound for v, space in spaces), default=0.0))


def _bit_errors(epsilon: float, delta: float) -> Iterator[tuple[int, float]]:
    """Sizes k of groups, and k^2 (1 - T_k)/4 where it is positive."""
    for k in range(1, 3 + math.ceil(4 / epsilon)):
        growth = math.exp(min(k * epsilon, 700.0))
        group = delta * (growth - 1) / math.expm1(min(epsilon, 700.0))
        yield k, max(k**2 * (2 - 2 * group) / (growth + 1) / 4, 0.0)


def _volume_bound(pivots: FloatArray, epsilon: float, most: int | None) -> float:
    """Root of the largest lower bound on E|e|^2 over the columns that pivoting has chosen first."""
    k = np.arange(1, pivots.size + 1)
    records = np.minimum(np.maximum(np.rint(k / epsilon), 1.0), math.inf if most is None else most)
    log_ball = k / 2 * math.log(math.pi) - gammaln(k / 2 + 1)
    log_radius = np.log(records) - epsilon * records / k + (np.cumsum(np.log(pivots)) - gammaln(k + 1) - log_ball) / k
    return float((np.exp(log_radius) * np.sqrt(k / (k + 2))).max())


#: Constant of Banaszczyk's theorem: vectors of length at most 1 have a signed sum in 5 K if K has Gaussian measure 1/2.
_BANASZCZYK = 5.0


class HereditaryDiscrepancyBounds(NamedTuple):
    """lower <= herdisc(A) <= upper.

    ``factorization_norm`` is an upper bound on gamma_2(A), within 1 % of it unless the iteration limit was met; both
    bounds equal it up to a factor that is logarithmic in the shape of A.
    """

    lower: float
    upper: float
    factorization_norm: float


def hereditary_discrepancy_bounds(A: ArrayLike | SparseMatrix) -> HereditaryDiscrepancyBounds:
    r"""Bracket the hereditary discrepancy of a matrix.

    Parameters
    ----------
    A : array_like or scipy.sparse array, shape (d, N)
        Finite, not zero.

    Returns
    -------
    HereditaryDiscrepancyBounds
        ``lower`` is the larger of max |A_ij| (one column alone) and half the determinant bound
        max_k |det B|^{1/k} / 2 over the k x k submatrices B that pivoting selects. ``upper`` is the least of

        - 5 z gamma_2(A), z the standard normal quantile at 1 - 1/(4d);
        - sqrt(2 ln 2d) (longest row): random signs;
        - 2 (largest l1 norm of a column): Beck and Fiala;
        - the largest l1 norm of a row.

    Raises
    ------
    InvalidParameterError
        `A` is not a finite nonzero matrix that fits in memory.

    Notes
    -----
    *The first upper bound.* Let A = B C, the rows of B at most gamma long and the columns of C at most 1. The body
    {y : |<b_j, y>| <= z ||b_j||} has Gaussian measure at least 1 - 2 d P[N > z] = 1/2, so that Banaszczyk's theorem
    signs any set of columns of C into 5 times it, and then |(A x)_j| <= 5 z gamma.

    References
    ----------
    L. Lovasz, J. Spencer, K. Vesztergombi, "Discrepancy of set-systems and matrices", 1986 (determinant bound).
    W. Banaszczyk, "Balancing vectors and Gaussian measures of n-dimensional convex bodies", 1998, Theorem 1.
    J. Matousek, A. Nikolov, K. Talwar, "Factorization norms and hereditary discrepancy", IMRN 2020, Theorem 1.
    J. Beck, T. Fiala, "Integer-making theorems", 1981. NTZ13.

    Examples
    --------
    Prefix sums can be balanced up to 1 (alternate the signs):

    >>> import numpy as np
    >>> from dpgraph.problems.records.linear_queries import hereditary_discrepancy_bounds
    >>> bounds = hereditary_discrepancy_bounds(np.tril(np.ones((64, 64))))
    >>> bounds.lower <= 1 <= bounds.upper
    True
    """
    matrix = QueryMatrix(A).dense
    d = matrix.shape[0]
    gamma = factorization_norm(matrix)
    magnitudes = np.abs(matrix)
    upper = min(
        _BANASZCZYK * float(ndtri(1 - 1 / (4 * d))) * gamma.upper,
        math.sqrt(2 * math.log(2 * d)) * float(np.linalg.norm(matrix, axis=1).max()),
        2 * float(magnitudes.sum(axis=0).max()),
        float(magnitudes.sum(axis=1).max()),
    )
    lower = max(float(magnitudes.max()), 0.5 * _determinant_bound(matrix, gamma.column_weights))
    return HereditaryDiscrepancyBounds(lower, upper, gamma.upper)


def _determinant_bound(A: FloatArray, weights: FloatArray) -> float:
    """Largest |det B|^{1/k} over submatrices chosen by pivoting, for sizes k on a geometric grid.

    The weights that prove the factorization norm point at the columns among which large determinants are found
    (Matousek, Nikolov and Talwar, proof of Theorem 1); rows are chosen by pivoting on the selected columns.
    """
    best = 0.0
    for weighted in (A * np.sqrt(weights), A):
        R, order = scipy.linalg.qr(weighted, mode="r", pivoting=True)
        diagonal = np.abs(np.diagonal(R))
        rank = int(np.count_nonzero(diagonal > 1e-10 * diagonal[0]))
        for k in sorted({round(float(size)) for size in np.geomspace(1, rank, 16)}):
            rows = scipy.linalg.qr(A[:, order[:k]].T, mode="r", pivoting=True)[0]
            pivots = np.abs(np.diagonal(rows)[:k])
            if pivots.size == k and pivots.min() > 0:
                best = max(best, float(np.exp(np.log(pivots).mean())))
    return best
