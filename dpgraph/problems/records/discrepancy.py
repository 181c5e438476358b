"""Bounds on the hereditary discrepancy of a matrix, each with its theorem and explicit constants.

disc(A) = min over x in {-1, 1}^N of max_j |(A x)_j|; herdisc(A) is its maximum over all sets of columns. It governs the
error of every private mechanism for the queries A up to logarithms (NTZ13; Muthukrishnan and Nikolov 2012).
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.factorization import factorization_norm
from dpgraph.typing import FloatArray, SparseMatrix

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
