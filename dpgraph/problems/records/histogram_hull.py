"""Least squares over all of at most n records: the projection of NTZ13's sparse case.

NTZ13 projects the noisy answers onto nK, K = conv{a_i, -a_i}. A histogram is nonnegative, so its answers lie in the
smaller polytope {A z : z >= 0, sum z <= n} (or sum z = n), and that is what this module projects onto. Projection onto
a convex set that contains the true answers never increases the Euclidean error.
"""

import numpy as np

from dpgraph.projections.l1_hull import shortest_vector
from dpgraph.typing import FloatArray


def project_histogram_answers(y: FloatArray, columns: FloatArray, records: float, *, exactly: bool) -> FloatArray:
    """Nearest point of ``{columns @ z : z >= 0, sum z <= records}`` to `y`, or of sum z = records if `exactly`."""
    vertices = records * columns if exactly else np.hstack([records * columns, np.zeros((y.size, 1))])
    return y + shortest_vector(vertices - y[:, None])


def covering_combination(columns: FloatArray) -> FloatArray | None:
    """Shortest w with ``columns.T @ w >= 1``, shape (r,), or None if there is none.

    For every histogram x, <w, A x> >= sum x: a bound on the number of records that can be read off noisy answers.
    """
    shortest = shortest_vector(columns)
    height = float((columns.T @ shortest).min())
    # The shortest vector v of conv(a_i) has a_i'v >= ||v||^2, so a relative sign test separates the two cases.
    if height <= 1e-6 * float(np.linalg.norm(columns, axis=0).max()) ** 2:
        return None
    return shortest / height
