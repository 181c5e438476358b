r"""Random graphs with given degrees, communities, edges between these, and triangles. All of it is public.

Two steps, as in BTER (Seshadhri, Kolda, Pinar 2012), here inside communities:

1. *Groups.* Vertices of one community are sorted by degree and cut into groups, each with as many vertices as its least
   degree allows. In a group each pair is an edge with probability rho. That makes about rho^3 s^3/6 triangles in a
   group of s vertices, and uses up rho (s - 1) of each degree.
2. *Stubs.* What is left of each degree is as many stubs. A stub of a vertex in community a goes to community b with
   probability proportional to the edges between a and b that are still missing. Stubs are joined at random; pairs that
   are loops or are edges already are broken up, and in the end exchanged with edges of other vertices.

References
----------
C. Seshadhri, T. G. Kolda, A. Pinar, "Community structure and scale-free collections of Erdos-Renyi graphs", Physical
Review E 85 (2012).
"""

import numpy as np
from scipy import sparse

from dpgraph.compiled import njit
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.typing import FloatArray, IntArray

__all__ = ["draw_graph", "fit_density"]

#: How often what is left of the stubs is joined anew, and how many exchanges a pair that is left over tries.
_ROUNDS, _TRIES = 4, 50
#: Steps of the search for the density of groups, and the relative error of the triangles at which it ends.
_STEPS, _CLOSE = 7, 0.01


def draw_graph(
    degrees: IntArray, labels: IntArray, edges: FloatArray, density: float, rng: np.random.Generator
) -> sparse.csr_array:
    """A random simple graph, as a symmetric 0/1 matrix.

    Parameters
    ----------
    degrees, labels : ndarray of int, shape (n,)
        Wanted degree, and community 0, ..., K - 1, of each vertex.
    edges : ndarray, shape (K, K)
        Wanted edges between communities, symmetric, and inside them on the diagonal.
    density : float
        Probability rho of a pair inside a group, in [0, 1].
    rng : numpy.random.Generator
        Public randomness.
    """
    n = degrees.size
    order = np.lexsort((-degrees, labels))
    tails, heads = (order[ends] for ends in _pairs_in_groups(degrees[order], labels[order], density, rng))
    taken = np.sort(_codes(tails, heads, n))
    missing = np.array(edges, dtype=np.float64)
    np.subtract.at(missing, (labels[tails], labels[heads]), 1.0)
    left = degrees - np.bincount(tails, minlength=n) - np.bincount(heads, minlength=n)
    for _ in range(_ROUNDS):
        first, second = _join(np.repeat(np.arange(n), np.maximum(left, 0)), labels, missing, rng)
        new = np.setdiff1d(_codes(first, second, n)[first != second], taken)
        taken = np.union1d(taken, new)
        left = left - np.bincount(new // n, minlength=n) - np.bincount(new % n, minlength=n)
    taken = _exchange(taken, np.repeat(np.arange(n), np.maximum(left, 0)), n, rng)
    half = sparse.coo_array((np.ones(taken.size), (taken // n, taken % n)), shape=(n, n)).tocsr()
    return sparse.csr_array(half + half.T)


def fit_density(
    degrees: IntArray, labels: IntArray, edges: FloatArray, triangles: float, rng: np.random.Generator
) -> float:
    """The density of groups at which a drawn graph has about so many triangles.

    Triangles grow about linearly with rho^3: the search interpolates between two densities, one with too few triangles
    and one with too many, by drawing a graph at each.
    """

    def excess(cube: float) -> float:
        A = draw_graph(degrees, labels, edges, cube ** (1 / 3), rng)
        return float(Subgraphs(A.indptr, A.indices).count("triangle")) - triangles

    low, high = 0.0, 1.0
    few, many = excess(low), excess(high)
    if few >= 0 or many <= 0:
        return 0.0 if few >= 0 else 1.0
    for _ in range(_STEPS):
        middle = low + (high - low) * min(max(-few / (many - few), 0.1), 0.9)
        found = excess(middle)
        if abs(found) <= _CLOSE * triangles:
            return float(middle ** (1 / 3))
        low, high, few, many = (middle, high, found, many) if found < 0 else (low, middle, few, found)
    return float((low + (high - low) * -few / (many - few)) ** (1 / 3))


def _codes(tails: IntArray, heads: IntArray, n: int) -> IntArray:
    """One number for each pair: n times the smaller end plus the larger one."""
    return np.minimum(tails, heads) * n + np.maximum(tails, heads)


@njit()
def _pairs_in_groups(
    degrees: IntArray, labels: IntArray, density: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Edges inside groups, by place in the order: communities one after another, degrees decreasing in each."""
    n = degrees.size
    room = 16
    tails, heads = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    size = start = 0
    while start < n:
        end = start + 1
        while end < n and labels[end] == labels[start] and degrees[end] >= end - start:
            end += 1
        if end - start > 2:
            for i in range(start, end):
                for j in range(i + 1, end):
                    if rng.random() < density:
                        if size == room:
                            room *= 2
                            more = np.empty((2, room), dtype=np.int64)
                            more[0, :size], more[1, :size] = tails, heads
                            tails, heads = more[0].copy(), more[1].copy()
                        tails[size], heads[size] = i, j
                        size += 1
        start = end
    return tails[:size], heads[:size]


def _join(
    stubs: IntArray, labels: IntArray, missing: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Pairs of stubs: each chooses a community by the missing edges, and stubs that chose each other's are joined."""
    K = len(missing)
    weights = np.maximum(missing + missing.T, 0.0) + 1e-12
    own = labels[stubs]
    cumulative = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True) + np.arange(K)[:, None]
    wanted = np.searchsorted(cumulative.ravel(), rng.random(stubs.size) + own, side="right") - K * own
    wanted = np.clip(wanted, 0, K - 1)
    side = np.where(own == wanted, rng.integers(0, 2, stubs.size), own > wanted)
    between = _codes(own, wanted, K)
    order = np.lexsort((rng.random(stubs.size), side, between))
    kind = (2 * between + side)[order]
    place = np.arange(stubs.size) - np.searchsorted(kind, kind)  # among the stubs of one kind
    match = (between[order] << 40) + place
    lower, upper = kind % 2 == 0, kind % 2 == 1
    _, first, second = np.intersect1d(match[lower], match[upper], assume_unique=True, return_indices=True)
    return stubs[order][lower][first], stubs[order][upper][second]


def _exchange(taken: IntArray, stubs: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Place the stubs u, v that are left: an edge x-y becomes u-x and v-y, where neither is an edge yet."""
    edges, known = taken.tolist(), set(taken.tolist())
    stubs = rng.permutation(stubs)
    if not edges:
        return taken
    for u, v in zip(stubs[0::2].tolist(), stubs[1::2].tolist(), strict=False):
        for place in rng.integers(0, len(edges), _TRIES).tolist():
            x, y = divmod(edges[place], n)
            first, second = min(u, x) * n + max(u, x), min(v, y) * n + max(v, y)
            if u != x and v != y and first != second and first not in known and second not in known:
                known -= {edges[place]}
                known |= {first, second}
                edges[place] = first
                edges.append(second)
                break
    return np.array(sorted(known), dtype=np.int64)
