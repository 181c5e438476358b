"""What is left of a graph whose vertices have at most D edges: as a number of edges, and as degrees.

Both change little when all edges of one vertex are replaced: :mod:`dpgraph.bounds.nodes`.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from dpgraph.typing import IntArray

#: Multipliers of the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014), a bijection of 64 bits.
_MIX = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


def twice_the_flow(counts: IntArray, within: Callable[[IntArray], sparse.csr_array], limit: int) -> int:
    """Twice the maximum fractional flow f_D: the largest sum of numbers in [0, 1] on the edges, at most D at a vertex.

    `counts` are the numbers of edges of the vertices, and ``within(rows)`` is the matrix of the edges between some.

    *Which edges matter.* Call a vertex heavy if it has more than D edges. Edges between light vertices count 1. An edge
    from a heavy to a light vertex uses one unit of a heavy one, an edge between heavy ones uses two: what such an edge
    has can be moved to an edge to a light vertex that is not full, and the sum stays. So the a edges of a heavy vertex
    to light ones count min(a, D), and D - min(a, D) is left for edges between heavy ones.

    *Those.* A solution is the mean of x and its transpose for a flow from a copy of the vertices to another one, with
    capacities 1 on both directions of an edge: half the maximum of that flow, whose capacities are integers.
    """
    heavy = np.flatnonzero(counts > limit)
    inner = within(heavy)
    to_light = counts[heavy] - np.diff(inner.indptr)
    kept = np.minimum(to_light, limit)
    light = int(counts.sum()) - 2 * int(to_light.sum()) - inner.nnz
    return int(light + 2 * kept.sum()) + _flow(inner, limit - kept)


def _flow(inner: sparse.csr_array, room: IntArray) -> int:
    """Maximum flow from each vertex with its room, over every edge at most 1, to a copy of each with the same room."""
    n = room.size
    rows, columns = inner.nonzero()
    source, sink, each = np.full(n, 2 * n), np.full(n, 2 * n + 1), np.arange(n)
    tails, heads = np.concatenate([source, rows, n + each]), np.concatenate([each, n + columns, sink])
    sizes = np.concatenate([room, np.ones(rows.size, dtype=np.int64), room]).astype(np.int32)
    network = sparse.csr_array((sizes, (tails, heads)), shape=(2 * n + 2, 2 * n + 2))
    network.eliminate_zeros()
    return int(maximum_flow(sparse.csr_matrix(network), 2 * n, 2 * n + 1).flow_value) if n and rows.size else 0


def truncated_degrees(adjacency: sparse.csr_array, limit: int, order: int) -> IntArray:
    """Degrees after edges were kept one by one, in a public order of all pairs, if both ends had fewer than `limit`.

    The order is that of a hash of the pair and of the number `order`: no vertex comes first with all its edges.
    """
    n = adjacency.shape[0]
    upper = sparse.coo_array(sparse.triu(adjacency))
    pairs = upper.row.astype(np.uint64) * np.uint64(n) + upper.col.astype(np.uint64)
    mixed = pairs + np.uint64(order)
    for multiplier, shift in zip(_MIX, (30, 27), strict=True):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * multiplier
    first = np.argsort(mixed ^ (mixed >> np.uint64(31)))
    kept = [0] * n
    for i, j in zip(upper.row[first].tolist(), upper.col[first].tolist(), strict=True):
        if kept[i] < limit and kept[j] < limit:
            kept[i] += 1
            kept[j] += 1
    return np.array(kept, dtype=np.int64)
