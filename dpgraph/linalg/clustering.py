"""How clustered a graph is: a sum over the corners of its triangles, and the most that one pair of vertices adds."""

import math

import numpy as np

from dpgraph.compiled import njit
from dpgraph.linalg.subgraphs import Index, Subgraphs
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray, IntArray

#: Weights are this much less than 1, so that rounding of sums takes no width up by 2.
_BELOW_ONE = 1 - 2.0**-10


def corner_weights(degrees: IntArray, least: int) -> FloatArray:
    """C(m, 2)/C(max(d, m), 2) for vertices of degree d, m = `least` >= 3: times C(m, 2), clustering sums up so."""
    raised = np.maximum(degrees, least).astype(np.float64)
    return _BELOW_ONE * least * (least - 1) / (raised * (raised - 1))


def clustering(subgraphs: Subgraphs, least: int) -> int:
    r"""The integer next to F = sum_v t_v phi(d_v), t_v the triangles at v, phi as :func:`corner_weights`.

    For m = 2 that would be the sum of the local clustering coefficients. A larger m makes vertices of small degree
    weigh less, whose coefficients one edge moves most.
    """
    return round(float(subgraphs.corners @ corner_weights(subgraphs.degrees, least)))


def clustering_width(subgraphs: Subgraphs, least: int) -> int:
    r"""At least what one edge adds to :func:`clustering`, for a ladder whose last width is 1.

    Notes
    -----
    *Theorem.* c_0 = ceil(max_{u,v} sum_w phi(d_w)) + 2 (m - 1) + 2, w the common neighbours of u and v, satisfies
    |F - F'| <= min(c_0, c_0') and |c_0 - c_0'| <= 1 for graphs that differ in one edge.

    *Proof.* A pair u, v adds phi(d_w) at each common neighbour w, whose degree does not depend on it: the same in both
    graphs. It moves u's own term from t phi(d) to (t + h) phi(d + 1), h <= d of the pairs of its new edge being closed
    and t <= C(d, 2). If d < m, phi stays, and the term grows by h <= m - 1. If d >= m, it grows by
    h phi(d + 1) <= m (m - 1)/(d + 1) at most, and falls by t (phi(d) - phi(d + 1)) <= m (m - 1)/(d + 1) at most: less
    than m - 1. The same holds for v. One more is for rounding F, and one for sums in floating point.

    Another edge e moves sum_w phi(d_w) by less than 1. If e joins u (or v) to a, then only a comes or goes as a common
    neighbour, with phi < 1. If it joins a to b, then both degrees change by 1, and the sum by at most
    2 (phi(m) - phi(m + 1)) < 4/(m + 1) <= 1. So the rounded-up maximum moves by at most 1.
    """
    weights = corner_weights(subgraphs.degrees, least)
    indptr, indices = subgraphs.rows
    reach = np.add.reduceat(np.append(weights[indices], 0.0), indptr[:-1]) * (subgraphs.degrees > 0)
    most = float(subgraphs.at_once(_largest_shared, indptr, indices, weights, reach, np.argsort(-reach, kind="stable")))
    return math.ceil(most) + 2 * (least - 1) + 2


@njit(nogil=True)
def _largest_shared(
    indptr: Index, indices: Index, weights: FloatArray, reach: FloatArray, order: IntArray, stop: Stop
) -> float:
    """The largest weight of the common neighbours of two vertices: no more than their `reach`, in decreasing order."""
    n = indptr.size - 1
    shared, found = np.zeros(n), np.empty(n, dtype=np.int64)
    best = 0.0
    for u in order:
        if reach[u] <= best or stop[0]:
            break
        size = 0
        for v in indices[indptr[u] : indptr[u + 1]]:
            for w in indices[indptr[v] : indptr[v + 1]]:
                if w != u:
                    if shared[w] == 0.0:
                        found[size] = w
                        size += 1
                    shared[w] += weights[v]
        for w in found[:size]:
            best = max(best, shared[w])
            shared[w] = 0.0
    return best
