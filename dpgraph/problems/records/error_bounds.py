"""Lower bounds on the error of every private mechanism for linear queries, with explicit constants."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import gammaln

from dpgraph.arguments import check_epsilon, check_optional_delta
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.factorization import trace_factorization
from dpgraph.typing import FloatArray


class ErrorLowerBounds(NamedTuple):
    """Root-mean-square errors of an answer that no private mechanism goes below on all histograms."""

    reconstruction: float
    volume: float


def error_lower_bounds(A: Any, *, epsilon: float, delta: float = 0.0) -> ErrorLowerBounds:
    r"""Bound the error of *every* private mechanism for the queries A on its worst histogram from below.

    Parameters
    ----------
    A : array_like or scipy.sparse array, shape (d, N)
        Finite, not zero.
    epsilon, delta : float
        The guarantee, for one record more or less; delta = 0 stands for pure privacy.

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
    matrix = QueryMatrix(A)
    d, columns = matrix.shape[0], matrix.row_space.columns
    trace = trace_factorization(columns).lower_bound
    reconstruction = math.sqrt(_bit_error(epsilon, delta) * trace / d)
    return ErrorLowerBounds(reconstruction, 0.0 if delta > 0 else _volume_bound(columns, epsilon) / math.sqrt(d))


def _bit_error(epsilon: float, delta: float) -> float:
    """Largest k^2 (1 - T_k)/4."""
    best = 0.0
    for k in range(1, 3 + math.ceil(4 / epsilon)):
        growth = math.exp(min(k * epsilon, 700.0))
        group = delta * (growth - 1) / math.expm1(min(epsilon, 700.0))
        best = max(best, k**2 * (2 - 2 * group) / (growth + 1) / 4)
    return best


def _volume_bound(columns: FloatArray, epsilon: float) -> float:
    """Root of the largest lower bound on E|e|^2 over the columns that pivoting has chosen first."""
    pivots = np.abs(np.diagonal(scipy.linalg.qr(columns, mode="r", pivoting=True)[0]))
    k = np.arange(1, pivots.size + 1)
    records = np.maximum(np.rint(k / epsilon), 1.0)
    log_ball = k / 2 * math.log(math.pi) - gammaln(k / 2 + 1)
    log_radius = np.log(records) - epsilon * records / k + (np.cumsum(np.log(pivots)) - gammaln(k + 1) - log_ball) / k
    return float((np.exp(log_radius) * np.sqrt(k / (k + 2))).max())
