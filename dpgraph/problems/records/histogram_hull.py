"""Least squares over all of at most n records: the projection of NTZ13's sparse case.

NTZ13 projects the noisy answers onto nK, K = conv{a_i, -a_i}. A histogram is nonnegative, so its answers lie in the
smaller polytope {A z : z >= 0, sum z <= n} (or sum z = n), and that is what this module projects onto. Projection onto
a convex set that contains the true answers never increases the Euclidean error.

A nearest point of a polytope is the shortest vector in the hull of the differences v - y, and the shortest vector in
conv(b_1, ..., b_m) is found exactly by nonnegative least squares (Lawson and Hanson's active-set method): with one row
of ones appended, the problem min ||B l||^2 + (sum l - 1)^2 over l >= 0 has, for each direction l/sum l, the optimal
value s/(1 + s), s = ||B l||^2/(sum l)^2, which increases with s.
"""

import numpy as np
from scipy.optimize import nnls

from dpgraph.exceptions import NotConvergedError
from dpgraph.typing import FloatArray


def project_histogram_answers(y: FloatArray, columns: FloatArray, records: float, *, exactly: bool) -> FloatArray:
    """Nearest point of ``{columns @ z : z >= 0, sum z <= records}`` to `y`, or of sum z = records if `exactly`."""
    vertices = records * columns if exactly else np.hstack([records * columns, np.zeros((y.size, 1))])
    return y + _shortest_vector(vertices - y[:, None])


def covering_combination(columns: FloatArray) -> FloatArray | None:
    """Shortest w with ``columns.T @ w >= 1``, shape (r,), or None if there is none.

    For every histogram x, <w, A x> >= sum x: a bound on the number of records that can be read off noisy answers.
    """
    shortest = _shortest_vector(columns)
    height = float((columns.T @ shortest).min())
    # The shortest vector v of conv(a_i) has a_i'v >= ||v||^2, so a relative sign test separates the two cases.
    if height <= 1e-6 * float(np.linalg.norm(columns, axis=0).max()) ** 2:
        return None
    return shortest / height


def _shortest_vector(points: FloatArray) -> FloatArray:
    """Vector of least length in the convex hull of the columns."""
    r, m = points.shape
    size = float(np.linalg.norm(points, axis=0).max())
    if size == 0:
        return np.zeros(r)
    stacked = np.vstack([points / size, np.ones(m)])
    try:
        weights, _ = nnls(stacked, np.append(np.zeros(r), 1.0), maxiter=20 * (m + r))
    except RuntimeError as error:
        raise NotConvergedError(
            "the projection onto the answers of all data sets did not finish; use sparse=False, or fewer queries"
        ) from error
    shortest: FloatArray = points @ (weights / weights.sum())
    return shortest
