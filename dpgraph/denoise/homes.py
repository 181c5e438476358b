r"""Swaps of edges after which each vertex has most of its edges in its own community. All of it is public.

Communities that were found have every vertex where most of its edges lead, as far as they can. A random graph with the
same edges between communities does not: half of the vertices of one edge would be at the wrong end of it, and whoever
looks for communities in that graph finds others. Here edges u-x and v-y, u, v and y in one community and x in another,
become u-y and v-x where v can do without. All degrees, and all numbers of edges between communities, stay as they are.
"""

from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.compiled import at_once, njit
from dpgraph.denoise.swaps import drawn_place, matrix_of, rows_of
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: Edges are counted beyond what degrees explain. At home there are more by half of one, so that nothing is a tie.
_LEAD = 0.5
#: How many edges a vertex tries for one that it wants; how often each neighbour is read at most, on average. Where
#: labels say something, 2 to 7 times are enough; where they do not, many more are in vain.
_TRIES, _READ = 50, 8


def at_home(A: sparse.csr_array, labels: IntArray, free: BoolArray, rng: np.random.Generator) -> sparse.csr_array:
    """A graph with the same degrees and edges between communities, in which fewer vertices belong elsewhere.

    Only entries that are `free`, as both of an edge are, are exchanged.
    """
    rows = rows_of(A)
    communities = labels.astype(np.min_scalar_type(int(labels.max(initial=0))))  # few labels are sorted by radix
    homes = np.repeat(communities, np.diff(A.indptr))
    inside = np.flatnonzero(free & (homes == communities[rows[1]]))
    inside = inside[np.argsort(homes[inside], kind="stable")]
    ends = np.bincount(labels, weights=np.diff(A.indptr))
    starts = np.concatenate([[0], np.cumsum(np.bincount(homes[inside], minlength=ends.size))])
    by = free, inside, starts, ends / max(A.nnz, 1)
    kernel, seen = at_once(_brought_home, 4.0 * A.nnz), np.zeros(ends.size, dtype=np.int64)
    on_thread(kernel, rows, labels, by, rng.permutation(labels.size), seen, rng)
    return matrix_of(A, rows[1])


@njit(nogil=True)
def _brought_home(graph: Any, labels: IntArray, by: Any, order: IntArray, seen: IntArray, rng: Any, stop: Stop) -> None:
    """Swap edges, in place.

    `by` has what is free, such places inside communities in order, where these begin, and their parts of all ends.
    """
    indptr, neighbours, owners = graph
    free, inside, starts, shares = by
    unread = _READ * neighbours.size
    for u in order:
        if stop[0] or unread <= 0:
            break
        home, degree, tries = labels[u], indptr[u + 1] - indptr[u], _TRIES
        first, many = starts[home], starts[home + 1] - starts[home]
        unread -= degree
        lead, other = _lead(u, -1, graph, labels, shares, seen)
        while lead < _LEAD and tries > 0 and many > 0:
            tries -= 1
            ux, looks = drawn_place(u, indptr, rng), degree
            while looks > 0 and (labels[neighbours[ux]] != other or not free[ux]):
                ux, looks = ux + 1 if ux + 1 < indptr[u + 1] else indptr[u], looks - 1
            vy = inside[first + int(rng.random() * many)]
            x, v, y = neighbours[ux], owners[vy], neighbours[vy]
            if looks == 0:
                break
            if labels[y] != home or v in (u, x) or y == u or _joined(u, y, graph) or _joined(v, x, graph):
                continue
            unread -= degree + indptr[v + 1] - indptr[v]
            if _lead(v, other, graph, labels, shares, seen)[0] < _LEAD:
                continue
            xu, yv = _found(u, x, graph), _found(v, y, graph)
            neighbours[ux], neighbours[yv], neighbours[vy], neighbours[xu] = y, u, x, v
            lead, other = _lead(u, -1, graph, labels, shares, seen)
            tries = _TRIES


@njit()
def _lead(v: int, given: int, graph: Any, labels: IntArray, shares: FloatArray, seen: IntArray) -> tuple[float, int]:
    """By how much v has more edges at home than in another community, beyond what degrees explain, and in which.

    Once an edge at home is `given` for one to that community, if it is not -1.
    """
    indptr, neighbours = graph[0], graph[1]
    degree, home, most, other = indptr[v + 1] - indptr[v], labels[v], -np.inf, -1
    for k in range(indptr[v], indptr[v + 1]):
        seen[labels[neighbours[k]]] += 1
    if given >= 0:
        seen[given] += 1
        seen[home] -= 1
    mine = seen[home] - degree * shares[home]
    for k in range(indptr[v], indptr[v + 1]):
        label = labels[neighbours[k]]
        if label != home and seen[label] - degree * shares[label] > most:
            most, other = seen[label] - degree * shares[label], label
    if given >= 0 and seen[given] - degree * shares[given] > most:
        most = seen[given] - degree * shares[given]
        seen[given] = 0
    for k in range(indptr[v], indptr[v + 1]):
        seen[labels[neighbours[k]]] = 0
    seen[home] = 0
    return mine - most, other


@njit()
def _joined(u: int, v: int, graph: Any) -> bool:
    """Whether two vertices have an edge."""
    indptr = graph[0]
    return (_found(v, u, graph) if indptr[u + 1] - indptr[u] < indptr[v + 1] - indptr[v] else _found(u, v, graph)) >= 0


@njit()
def _found(v: int, u: int, graph: Any) -> int:
    """The place of v in row u, -1 if it is not there."""
    indptr, neighbours = graph[0], graph[1]
    for k in range(indptr[u], indptr[u + 1]):
        if neighbours[k] == v:
            return int(k)
    return -1
