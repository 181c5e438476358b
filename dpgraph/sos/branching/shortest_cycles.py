"""Separation of odd-cycle inequalities by shortest paths (Barahona, Mahjoub 1986), compiled."""

import heapq

import numpy as np

from dpgraph.compiled import Rows, njit
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray, IntArray

_LONGEST = 1.0 - 1e-6  # of a walk whose inequality is violated


@njit(nogil=True)
def violated_cycles(
    rows: Rows, edge: IntArray, crossing: FloatArray, stop: Stop
) -> tuple[IntArray, IntArray, IntArray]:
    """For every vertex a shortest odd closed walk through it, if violated: edges, signs, and where each walk begins.

    ``rows.data`` is not read; ``edge[p]`` is the number of the edge of entry p, `crossing` its share across the cut.
    An edge costs its share where the walk stays in a copy of the graph, and what is missing to 1 where it changes to
    the other copy. A walk from a vertex to its twin changes an odd number of times; no cut lets it be shorter than 1.
    By symmetry its second half is a walk from the vertex too, to the twins: no search goes further than one half.
    """
    n = rows.indptr.size - 1
    distance = np.full(2 * n, np.inf)
    entry = np.full(2 * n, -1, dtype=np.int64)  # by which a vertex was reached
    before = np.full(2 * n, -1, dtype=np.int64)
    edges, signs, begins = [np.int64(0)], [np.int64(0)], [np.int64(0)]  # of a known type; the first items are dropped
    for source in range(n):
        if stop[0]:
            break
        touched = [source]
        distance[source], before[source] = 0.0, -1
        heap = [(0.0, source)]
        best, first, middle, second = _LONGEST, -1, -1, -1
        while heap:
            d, v = heapq.heappop(heap)
            if 2.0 * d >= best:
                break
            if d > distance[v]:
                continue
            side = v // n
            for p in range(rows.indptr[v - side * n], rows.indptr[v - side * n + 1]):
                share = crossing[edge[p]]
                for change in range(2):
                    w = rows.indices[p]
                    u, twin = w + n * (side ^ change), w + n * (1 - (side ^ change))
                    length = d + (1.0 - share if change else share)
                    if length + distance[twin] < best:
                        best, first, middle, second = length + distance[twin], v, p, twin
                    if length < distance[u] and 2.0 * length < best:
                        if distance[u] == np.inf:
                            touched.append(u)
                        distance[u], entry[u], before[u] = length, p, v
                        heapq.heappush(heap, (length, u))
        if first >= 0:
            edges.append(edge[middle])
            signs.append(np.int64(1 if first // n == second // n else -1))
            ways = [first, second]
            while ways[0] != ways[1]:  # back to where they parted
                way = 0 if _further(distance, before, ways[0], ways[1]) else 1
                v = ways[way]
                edges.append(edge[entry[v]])
                signs.append(np.int64(1 if before[v] // n != v // n else -1))
                ways[way] = before[v]
            begins.append(np.int64(len(edges) - 1))
        for v in touched:
            distance[v] = np.inf
    return np.array(edges[1:]), np.array(signs[1:]), np.array(begins)


@njit()
def _depth(before: IntArray, v: int) -> int:
    depth = 0
    while before[v] >= 0:
        v = before[v]
        depth += 1
    return depth


@njit()
def _further(distance: FloatArray, before: IntArray, v: int, u: int) -> bool:
    """Whether v is later than u in the tree of shortest paths."""
    if distance[v] != distance[u]:
        return bool(distance[v] > distance[u])
    return _depth(before, v) >= _depth(before, u)
