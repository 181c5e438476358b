"""Maximum matchings and minimum cuts of unweighted graphs, in compressed sparse rows, exactly.

Libraries that the package needs anyway are slow at a hundred thousand vertices: the matchings of networkx are loops in
Python, and the minimum cuts of igraph solve a flow for every vertex.
"""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from dpgraph.compiled import at_once, njit
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import BoolArray, IntArray

Index = NDArray[np.int32]
#: Bases of blossoms, mates, and parents in the trees of the search.
Forest = tuple[Index, Index, Index]
_NONE = -1
#: What a vertex is in the search for an augmenting path: not seen, at even, or at odd distance from the root.
_NEW, _EVEN, _ODD = 0, 1, 2


def matching_number(A: sparse.csr_array) -> int:
    """Size of a maximum matching, by Edmonds' blossoms."""
    search = at_once(maximum_matching, float(A.shape[0]) ** 2)
    mates = on_thread(search, A.indptr.astype(np.int32), A.indices.astype(np.int32))
    return int(np.count_nonzero(mates != _NONE)) // 2


def edge_connectivity(A: sparse.csr_array) -> int:
    """Fewest edges whose removal disconnects the graph; 0 for a single vertex.

    Every degree is a cut. In a maximum-adjacency order, an edge that is scanned as the q-th or later one of its end
    joins vertices that no cut of fewer than q edges separates (H. Nagamochi, T. Ibaraki, "Computing edge-connectivity
    in multigraphs and capacitated graphs", 1992). So edges of at least the best cut so far are contracted, until a
    single vertex is left, or one of degree 0 is. The last vertex of an order is always joined to another one, as its
    last edge has q its degree. The loop is entered whatever the edges are: a terminal is told that it is compiled.
    """
    A = sparse.csr_array(A, dtype=np.int64, copy=True)
    A.data[:] = 1
    best: int = A.shape[0] if A.shape[0] > 1 else 0
    while A.shape[0] > 1 and best > 0:
        best = min(best, int(A.sum(axis=1).min()))
        rows = A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data
        close = on_thread(edges_not_separated, *rows, best)
        ends = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[close], A.indices[close]
        joined = sparse.coo_array((np.ones(ends[0].size), ends), shape=A.shape)
        count, group = csgraph.connected_components(joined.tocsr(), directed=False)
        place = sparse.csr_array((np.ones(group.size, np.int64), (np.arange(group.size), group)), (group.size, count))
        A = sparse.csr_array(place.T @ A @ place)
        A.setdiag(0)
        A.eliminate_zeros()
    return best


@njit(nogil=True)
def edges_not_separated(indptr: Index, indices: Index, weights: IntArray, bound: int, stop: Stop) -> BoolArray:
    """Entries whose ends no cut of less than `bound` separates, in a maximum-adjacency order."""
    n = indptr.size - 1
    scanned = np.zeros(n, np.int64)
    done = np.zeros(n, np.bool_)
    close = np.zeros(indices.size, np.bool_)
    heap = [(np.int64(0), np.int64(0))]
    for _ in range(indices.size + 1):
        if not heap or stop[0]:
            break
        v = heappop(heap)[1]
        if done[v]:
            continue
        done[v] = True
        for k in range(indptr[v], indptr[v + 1]):
            u = indices[k]
            if not done[u]:
                scanned[u] += weights[k]
                close[k] = scanned[u] >= bound
                heappush(heap, (-scanned[u], np.int64(u)))
    return close


@njit(nogil=True)
def maximum_matching(indptr: Index, indices: Index, stop: Stop) -> Index:
    """Mate of each vertex, or -1.

    A search from a vertex without a mate that finds no augmenting path leaves a tree that no later search has to enter,
    so its marks stay.
    """
    n = indptr.size - 1
    mate = np.full(n, _NONE, np.int32)
    mark, root = np.zeros(n, np.int8), np.arange(n).astype(np.int32)
    parent, queue = np.full(n, _NONE, np.int32), np.empty(n, np.int32)
    passed, round_ = np.zeros(n, np.int64), 0
    touched, forest = np.empty(n, np.int32), (root, mate, parent)
    for start in range(n):
        if mate[start] != _NONE or stop[0]:
            continue
        mark[start], queue[0], touched[0] = _EVEN, start, start
        head, tail, seen, found = 0, 1, 1, False
        while head < tail and not found:
            v = queue[head]
            head += 1
            for k in range(indptr[v], indptr[v + 1]):
                u = indices[k]
                if mark[u] == _NEW:
                    parent[u] = v
                    if mate[u] == _NONE:
                        while u != _NONE:  # swap along the path back to the root
                            v = parent[u]
                            following = mate[v]
                            mate[u], mate[v] = v, u
                            u = following
                        found = True
                        break
                    w = mate[u]
                    mark[u], mark[w], queue[tail] = _ODD, _EVEN, w
                    touched[seen], touched[seen + 1] = u, w
                    tail, seen = tail + 1, seen + 2
                elif mark[u] == _EVEN and _find(root, u) != _find(root, v):
                    round_ += 1
                    base = _meeting(forest, passed, round_, u, v)
                    tail = _shrink(forest, mark, queue, tail, (u, v, base))
                    tail = _shrink(forest, mark, queue, tail, (v, u, base))
        if found:
            for k in range(seen):
                mark[touched[k]], root[touched[k]] = _NEW, touched[k]
    return mate


@njit(nogil=True)
def _find(root: Index, v: int) -> int:
    """The base of the blossom of a vertex."""
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    return v


@njit(nogil=True)
def _meeting(forest: Forest, passed: IntArray, number: int, u: int, v: int) -> int:
    """The first base that the ways of two even vertices to the root of their tree have in common."""
    root, mate, parent = forest
    while True:
        if u != _NONE:
            u = _find(root, u)
            if passed[u] == number:
                return u
            passed[u] = number
            u = parent[mate[u]] if mate[u] != _NONE else _NONE
        u, v = v, u


@njit(nogil=True)
def _shrink(forest: Forest, mark: NDArray[np.int8], queue: Index, tail: int, ends: tuple[int, int, int]) -> int:
    """Make the way from v to the base part of its blossom: odd vertices on it become even, and join the queue."""
    (root, mate, parent), (v, u, base) = forest, ends
    while _find(root, v) != base:
        parent[v] = u
        u = mate[v]
        if mark[u] == _ODD:
            mark[u] = _EVEN
            queue[tail] = u
            tail += 1
        if root[v] == v:
            root[v] = base
        if root[u] == u:
            root[u] = base
        v = parent[u]
    return tail
