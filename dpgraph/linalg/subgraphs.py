"""Counts of small subgraphs, and the most that one pair of vertices adds to each, in compressed sparse rows.

Loops over the neighbours of neighbours of one vertex at a time: memory in proportion to the number of vertices.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import at_once, njit
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: Patterns, and their orders J: how many steps it takes from what one pair adds to a constant (:class:`Subgraphs`).
ORDERS = {"edge": 0, "wedge": 1, "triangle": 1, "3-star": 2, "4-cycle": 2, "4-clique": 2, "edge-degrees": 2}
#: Those that are subgraphs.
PATTERNS = tuple(ORDERS)[:-1]
#: a, b: a (c_1 - 1)(c_1 - 2) <= c_0 <= b c_1 (c_1 - 1), by stars at one and at two vertices of the largest degree, or
#: by three times the edges among A vertices: cliques have these, and intervals are too short near the largest width.
OF_SQUARE = {"3-star": (0.5, 1.0), "4-clique": (0.0, 1.5)}
#: One over the unit of clustering coefficients.
_CLUSTERING_UNIT = 2**30
#: No kernel counts triangles of so few vertices.
_FEW = 400
#: Entries that a row is taken to have.
_ENTRIES = 16

Index = NDArray[np.int32]


class Ranked(NamedTuple):
    """Vertices in the decreasing order of degrees, which are called places."""

    rank: Index  # the place of each vertex
    indptr: IntArray  # the rows by place, of increasing places
    indices: Index
    start: IntArray  # the same of those places alone that come before: no more than sqrt(2 m) of them, m edges in all
    higher: Index


class Subgraphs:
    r"""What one graph holds of each pattern (copies, not necessarily induced), and what one pair adds at most.

    The graph is given by compressed sparse rows, with each edge in both directions.

    A pair {u, v} adds to the count, by the presence of its edge: a number that does not depend on whether it is there.
    c_0 is the largest over all pairs. Another edge e changes what {u, v} adds by at most c_1, of the graph with or
    without e, and c_1 changes by at most c_2 = 1:

    ========  ===============================================  ====================================================
    pattern   {u, v} adds                                      e changes that by at most
    ========  ===============================================  ====================================================
    edge      1                                                0
    wedge     d_u + d_v, without their own edge                1: e meets one of u, v
    triangle  the common neighbours of u and v                 1
    3-star    C(d_u, 2) + C(d_v, 2), without their own edge    the largest degree D: C(d + 1, 2) - C(d, 2) = d
    4-cycle   the paths u-a-b-v                                max(A, 2), A the most common neighbours of two
                                                               vertices: if e = {u, a}, then b is a common neighbour
                                                               of a and v; if e = {a, b}, there are two paths
    4-clique  the edges between common neighbours of u and v   max(A, 1): if e = {u, a}, the other end of a new edge
                                                               at a is a common neighbour of u and v
    ========  ===============================================  ====================================================

    D and A change by at most 1.

    Beside them there is a quarter of the sum over edges of (d_u - 1)(d_v - 1), rounded up: "edge-degrees". With s_u the
    sum of d_a - 1 over the neighbours a of u, an edge {u, v} more adds q = d_u d_v + s_u + s_v to that sum. So q is at
    most D1 D2 + S1 + S2, by the two largest d and the two largest s, which only grow with edges. An edge raises D1 and
    D2 by at most 1, and s_u by d_v, s_v by d_u, s_x of another x by the number of u and v among its neighbours: of two
    vertices, by at most D1 + D2 together. So it raises that bound by at most 2 (D1 + D2) + 1, and this one by at most
    4. For whole numbers x and y, rounded up, x/4 and y/4 differ by no more than a quarter of x - y, rounded up.
    """

    def __init__(self, indptr: Index, indices: Index) -> None:
        self._read: Callable[[], tuple[Index, Index]] = lambda: (indptr, indices)
        self._degrees: IntArray = np.diff(indptr)

    @cached_property
    def _rows(self) -> tuple[Index, Index]:
        return self._read()

    @cached_property
    def _by_degree(self) -> IntArray:
        order = -self._degrees
        short = order.min(initial=0) > -(2**15)  # numbers of 16 bits are sorted by counting
        return np.argsort(order.astype(np.int16) if short else order, kind="stable")

    @cached_property
    def _ranked(self) -> Ranked:
        return Ranked(*at_once(ranked, _ENTRIES * self._degrees.size)(*self._rows, self._by_degree))

    @cached_property
    def _oriented(self) -> tuple[IntArray, Index]:
        return self._ranked.start, self._ranked.higher

    @cached_property
    def _dense(self) -> tuple[FloatArray, FloatArray] | None:
        """Of few vertices: the matrix, and the common neighbours of every two. Products take less than compiling."""
        n = self._degrees.size
        if n > _FEW:
            return None
        A, (indptr, indices) = np.zeros((n, n)), self._rows
        A[np.repeat(np.arange(n), np.diff(indptr)), indices] = 1.0
        common = A @ A
        np.fill_diagonal(common, 0.0)
        return A, common

    @cached_property
    def _triangles(self) -> int:
        if self._dense is not None:
            return int(np.vdot(*self._dense)) // 6
        return self._number(triangle_count, *self._oriented)

    @cached_property
    def _codegree(self) -> int:
        if self._dense is not None:
            return int(self._dense[1].max(initial=0))
        return self._number(largest_codegree, self._ranked.indptr, self._ranked.indices)

    def _number(self, kernel: Callable[..., int], *arguments: object) -> int:
        """What a kernel counts; the work is told by the number of vertices alone, for edges are private."""
        return int(on_thread(at_once(kernel, self._degrees.size**3 / 6), *arguments))

    def _stars(self, leaves: int) -> int:
        degrees, vertices = np.unique(self._degrees, return_counts=True)
        return sum(int(k) * math.comb(int(d), leaves) for d, k in zip(degrees, vertices, strict=True))

    @cached_property
    def _beyond(self) -> IntArray:
        """The sum of d_a - 1 over the neighbours a of each vertex."""
        indptr, indices = self._rows
        sums: IntArray = np.concatenate([[0], np.cumsum(self._degrees[indices] - 1, dtype=np.int64)])
        return np.diff(sums[indptr])

    def _edge_degree_widths(self) -> tuple[int, ...]:
        """Quarters of D1 D2 + S1 + S2 and of 2 (D1 + D2) + 1, rounded up."""
        (second, first), beyond = (np.sort(np.append(x, [0, 0]))[-2:].tolist() for x in (self._degrees, self._beyond))
        return -(-(first * second + sum(beyond)) // 4), (first + second + 2) // 2

    def count(self, pattern: str) -> int:
        """How many copies of the pattern there are."""
        counts: dict[str, Callable[[], int]] = {
            "edge": lambda: int(self._degrees.sum()) // 2,
            "wedge": lambda: self._stars(2),
            "triangle": lambda: self._triangles,
            "3-star": lambda: self._stars(3),
            "4-cycle": lambda: self._number(cycle_count, *self._rows, -self._ranked.rank),
            "4-clique": lambda: self._number(clique_count, *self._oriented),
            "edge-degrees": lambda: -(-int((self._degrees - 1) @ self._beyond) // 8),
        }
        return int(counts[pattern]())

    def clustering(self, limit: float = math.inf) -> float:
        """The sum over vertices of their local clustering coefficients; no edge counts more than `limit` in it.

        A vertex w of degree d adds 1/C(d, 2) to each edge between two of its neighbours, rounded down to a multiple of
        2^-30, so that sums are exact.
        """
        degrees = self._degrees.astype(np.int64)
        weights = _CLUSTERING_UNIT // np.maximum(degrees * (degrees - 1) // 2, 1)
        most = min(int(limit * _CLUSTERING_UNIT) if limit < math.inf else 2**62, 2**62)
        if self._dense is not None:
            A = self._dense[0]
            return float(np.vdot(A, np.minimum((A * weights) @ A, most))) / 2 / _CLUSTERING_UNIT
        sums = np.zeros(self._oriented[1].size, dtype=np.int64)
        self._number(add_closing, *self._oriented, weights[self._by_degree], sums)
        return int(np.minimum(sums, most).sum()) / _CLUSTERING_UNIT

    def widths(self, pattern: str) -> tuple[int, ...]:
        """c_0, ..., c_J, the last of which is 1."""

        def growth(kernel: Callable[..., int], option: int) -> int:
            return self._number(kernel, *self._rows, self._by_degree, option)

        widths: dict[str, Callable[[], tuple[int, ...]]] = {
            "edge": lambda: (),
            "wedge": lambda: (growth(largest_star_growth, 2),),
            "triangle": lambda: (self._codegree,),
            "3-star": lambda: (growth(largest_star_growth, 3), self._degrees.max(initial=0)),
            "4-cycle": lambda: (growth(largest_cycle_growth, self._codegree), max(self._codegree, 2)),
            "4-clique": lambda: (growth(largest_clique_growth, self._codegree), max(self._codegree, 1)),
            "edge-degrees": self._edge_degree_widths,
        }
        return (*(int(width) for width in widths[pattern]()), 1)


@njit()
def ranked(indptr: Index, indices: Index, by_degree: IntArray) -> tuple[Index, IntArray, Index, IntArray, Index]:
    """The fields of :class:`Ranked`. Each place is entered into the rows of its neighbours, one after the other."""
    n = by_degree.size
    rank, ends = np.empty(n, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    for place in range(n):
        u = by_degree[place]
        rank[u] = place
        ends[place + 1] = ends[place] + indptr[u + 1] - indptr[u]
    places, last = np.empty(indices.size, dtype=np.int32), ends[:-1].copy()
    start, higher = np.zeros(n + 1, dtype=np.int64), np.empty(indices.size // 2, dtype=np.int32)
    for place in range(n):
        start[place + 1] = start[place] + last[place] - ends[place]
        for k in range(last[place] - ends[place]):  # a copy of a slice takes numba four seconds more to compile
            higher[start[place] + k] = places[ends[place] + k]
        for k in range(indptr[by_degree[place]], indptr[by_degree[place] + 1]):
            other = rank[indices[k]]
            places[last[other]] = place
            last[other] += 1
    return rank, ends, places, start, higher


@njit(nogil=True)
def triangle_count(start: IntArray, higher: IntArray, stop: Stop) -> int:
    """Triangles of an oriented graph, each at its vertex of least degree."""
    n = start.size - 1
    marked = np.zeros(n, dtype=np.bool_)
    total = 0
    for u in range(n):
        if stop[0]:
            break
        marked[higher[start[u] : start[u + 1]]] = True
        for v in higher[start[u] : start[u + 1]]:
            for w in higher[start[v] : start[v + 1]]:
                total += marked[w]
        marked[higher[start[u] : start[u + 1]]] = False
    return total


@njit(nogil=True)
def add_closing(start: IntArray, higher: IntArray, weights: IntArray, sums: IntArray, stop: Stop) -> int:
    """Add to the sum of each edge what the common neighbours of its ends weigh."""
    n = start.size - 1
    place = np.zeros(n, dtype=np.int64)
    for u in range(n):
        if stop[0]:
            break
        for uw in range(start[u], start[u + 1]):
            place[higher[uw]] = uw + 1
        for uv in range(start[u], start[u + 1]):
            v = higher[uv]
            for vw in range(start[v], start[v + 1]):
                w = higher[vw]
                if place[w]:
                    sums[uv] += weights[w]
                    sums[vw] += weights[u]
                    sums[place[w] - 1] += weights[v]
        for uw in range(start[u], start[u + 1]):
            place[higher[uw]] = 0
    return n


@njit(nogil=True)
def clique_count(start: IntArray, higher: IntArray, stop: Stop) -> int:
    """Sets of four mutually adjacent vertices of an oriented graph, each at its lowest edge."""
    n = start.size - 1
    above, common = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    members = np.empty(n, dtype=np.int64)
    total = 0
    for u in range(n):
        above[higher[start[u] : start[u + 1]]] = True
        for v in higher[start[u] : start[u + 1]]:
            if stop[0]:
                return 0
            size = 0
            for w in higher[start[v] : start[v + 1]]:
                if above[w]:
                    common[w], members[size] = True, w
                    size += 1
            for w in members[:size]:
                for x in higher[start[w] : start[w + 1]]:
                    total += common[x]
            common[members[:size]] = False
        above[higher[start[u] : start[u + 1]]] = False
    return total


@njit(nogil=True)
def cycle_count(indptr: Index, indices: Index, rank: IntArray, stop: Stop) -> int:
    """Cycles of four vertices, each at its vertex of highest rank and the one opposite."""
    n = indptr.size - 1
    paths = np.zeros(n, dtype=np.int64)
    total = 0
    for u in range(n):
        if stop[0]:
            break
        for again in range(2):  # count the paths to each opposite vertex, then forget them
            for v in indices[indptr[u] : indptr[u + 1]]:
                if rank[v] < rank[u]:
                    for w in indices[indptr[v] : indptr[v + 1]]:
                        if rank[w] < rank[u]:
                            if again:
                                paths[w] = 0
                            else:
                                total += paths[w]
                                paths[w] += 1
    return total


@njit()
def _codegrees(u: int, indptr: Index, indices: Index, codegrees: IntArray, found: IntArray) -> int:
    """Write the numbers of common neighbours of u and each vertex; return how many are `found` to have some."""
    size = 0
    for v in indices[indptr[u] : indptr[u + 1]]:
        for w in indices[indptr[v] : indptr[v + 1]]:
            if w != u:
                if codegrees[w] == 0:
                    found[size] = w
                    size += 1
                codegrees[w] += 1
    return size


@njit(nogil=True)
def largest_codegree(indptr: Index, indices: Index, stop: Stop) -> int:
    """The most common neighbours of two vertices; rows come by decreasing degree, their places increase.

    Each pair is counted at its first vertex u, in numbers above `nothing`: what earlier vertices have left there counts
    nothing. Two vertices have no more common neighbours than the smaller of their degrees, and no more than those of u
    that have been looked at, the ones of least degree first, and are left.
    """
    n = indptr.size - 1
    codegrees, later = np.zeros(n, dtype=np.int32), indptr[:-1].copy()
    best = nothing = 0
    for u in range(n):
        left = indptr[u + 1] - indptr[u]
        if left <= best or stop[0]:
            break
        for k in range(indptr[u], indptr[u + 1]):
            later[indices[k]] += 1  # beyond u
        if nothing + left >= 2**31:
            codegrees[:] = nothing = 0
        most = nothing
        while left > 0 and most - nothing + left > best:
            left -= 1
            v = np.uint64(indices[indptr[u] + left])
            for q in range(later[v], indptr[v + np.uint64(1)]):
                w = np.uint64(indices[np.uint64(q)])  # unsigned: a negative place would be looked for
                found = max(codegrees[w], nothing) + 1
                codegrees[w] = found
                most = max(most, found)
        best, nothing = max(best, most - nothing), most
    return best


@njit(nogil=True)
def largest_cycle_growth(indptr: Index, indices: Index, by_degree: IntArray, codegree: int, stop: Stop) -> int:
    """The most paths u-a-b-v of three edges between two vertices; no more than `codegree`, the largest, a neighbour."""
    n = indptr.size - 1
    codegrees, paths = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    found = np.empty(n, dtype=np.int64)
    best = 0
    for u in by_degree:
        degree = indptr[u + 1] - indptr[u]
        if degree * codegree <= best or stop[0]:
            break
        size = _codegrees(u, indptr, indices, codegrees, found)
        for b in found[:size]:
            for v in indices[indptr[b] : indptr[b + 1]]:
                paths[v] += codegrees[b]
            codegrees[b] = 0
        for v in indices[indptr[u] : indptr[u + 1]]:  # u-v-b-v is no path
            paths[v] -= indptr[v + 1] - indptr[v] - 1
        paths[u] = 0
        best = max(best, paths.max())
        paths[:] = 0
    return best


@njit(nogil=True)
def largest_clique_growth(indptr: Index, indices: Index, by_degree: IntArray, codegree: int, stop: Stop) -> int:
    """The most edges between common neighbours of two vertices; of k of these, at most k (k - 1)/2."""
    n = indptr.size - 1
    codegrees, found = np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    near, common = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    best = 0
    for u in by_degree:
        most = min(indptr[u + 1] - indptr[u], codegree)
        if most * (most - 1) // 2 <= best:
            break
        size = _codegrees(u, indptr, indices, codegrees, found)
        near[indices[indptr[u] : indptr[u + 1]]] = True
        for v in found[:size]:
            if stop[0]:
                return 0
            if codegrees[v] * (codegrees[v] - 1) // 2 > best:
                best = max(best, _edges_between(v, indptr, indices, near, common))
            codegrees[v] = 0
        near[indices[indptr[u] : indptr[u + 1]]] = False
    return best


@njit()
def _edges_between(v: int, indptr: Index, indices: Index, near: BoolArray, common: BoolArray) -> int:
    """Edges between the neighbours of v that are `near`."""
    for w in indices[indptr[v] : indptr[v + 1]]:
        common[w] = near[w]
    ends = 0
    for w in indices[indptr[v] : indptr[v + 1]]:
        if common[w]:
            for x in indices[indptr[w] : indptr[w + 1]]:
                ends += common[x]
    for w in indices[indptr[v] : indptr[v + 1]]:
        common[w] = False
    return ends // 2


@njit(nogil=True)
def largest_star_growth(indptr: Index, indices: Index, by_degree: IntArray, leaves: int, stop: Stop) -> int:
    """The most stars of 2 or 3 `leaves` that the edge of a pair is part of, were the pair adjacent.

    A pair u, v of degrees a, b without its own edge is part of a + b, or C(a, 2) + C(b, 2), stars. The best partner of
    u is its neighbour of largest degree, or the vertex of largest degree that is no neighbour.
    """
    n = indptr.size - 1
    near = np.zeros(n, dtype=np.bool_)
    best = 0
    for position in range(n):
        u = by_degree[position]
        degree = indptr[u + 1] - indptr[u]
        if 2 * _part(degree, leaves) <= best or stop[0]:  # no partner further on has a larger degree
            break
        near[indices[indptr[u] : indptr[u + 1]]] = True
        neighbour_seen = False
        for v in by_degree[position + 1 :]:
            other = indptr[v + 1] - indptr[v]
            if not near[v]:
                best = max(best, _part(degree, leaves) + _part(other, leaves))
                break
            if not neighbour_seen:
                best = max(best, _part(degree - 1, leaves) + _part(other - 1, leaves))
                neighbour_seen = True
        near[indices[indptr[u] : indptr[u + 1]]] = False
    return best


@njit()
def _part(degree: int, leaves: int) -> int:
    return degree if leaves == 2 else degree * (degree - 1) // 2
