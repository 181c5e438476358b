"""Numbers of edges, and of vertices of each degree, where neighbours differ in all edges of one vertex.

A private limit D on the degrees is chosen first; then edges beyond D at a vertex do not count. What is left, as a
number of edges and as degrees, changes little with all edges of a vertex: :mod:`dpgraph.bounds.nodes`.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import maximum_flow

from dpgraph.bounds import nodes
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Measurement
from dpgraph.tuning import COMMON, NODES
from dpgraph.typing import FloatArray, IntArray

#: Scores are multiples of this, or of a larger power of two if a double cannot hold them.
_SCORE_BITS = 20
#: Multipliers of the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014), a bijection of 64 bits.
_MIX = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


class BoundedCount(NamedTuple):
    """Released number of edges, if at most `limit` count at a vertex, and the scale of its Laplace noise."""

    value: int
    limit: int
    scale: float


class BlockTails(NamedTuple):
    """Released means over blocks of degrees k of the number of vertices with at least k edges.

    The last degree of each block, the last of them being the limit, and the standard deviation of the noise of a sum.
    """

    means: FloatArray
    ends: IntArray
    std: float


def release_edge_count(graph: Graph, call: Call) -> BoundedCount:
    """Release the number of edges for all of a pure call, as the integral part of a maximum flow.

    The price of a limit D, in edges, is the noise of its choice and of the answer, of scale 2 D over either epsilon.
    """
    choice, rest = call.split(0.5, 0.5)
    limits = _limits(graph.n_vertices)
    flows = [twice_the_flow(graph.edge_counts(), graph.within, limit) for limit in limits]
    best = _chosen(flows, limits, [(2 / choice.epsilon + 2 / rest.epsilon) * limit for limit in limits], choice)
    limit, exact = limits[best], np.array([float(flows[best] // 2)])
    found = rest.release(Measurement("edges within the limit", exact, l1=nodes.flow(limit), unit=1.0))
    return BoundedCount(round(found.number), limit, nodes.flow(limit) / rest.epsilon)


def release_truncated_tails(graph: Graph, call: Call) -> BlockTails:
    """Release how many vertices keep at least k edges, in the mean over blocks of k, for all of a pure call.

    Sums over blocks change by no more in l1 than all the numbers do. Each gets the noise that each number would get, so
    that the mean of a block gets noise that is less by its width. The price D^2/(2 epsilon) of a limit D is least, with
    the edges left out, where as many vertices are beyond D as this noise is in blocks of two degrees.
    """
    choice, rest = call.split(COMMON.share, 1 - COMMON.share)
    n, limits = graph.n_vertices, _limits(graph.n_vertices)
    flows = [twice_the_flow(graph.edge_counts(), graph.within, limit) for limit in limits]
    limit = limits[_chosen(flows, limits, [limit**2 / (2 * rest.epsilon) for limit in limits], choice)]
    kept = truncated_degrees(graph.adjacency, limit, int(call.generator.integers(2**63)))
    tails = np.cumsum(np.bincount(kept, minlength=limit + 1)[::-1], dtype=np.float64)[::-1][1:]
    bound = nodes.truncated_tails(limit)
    ends = blocks(limit, bound / rest.epsilon / (NODES.precise * n))
    sums = np.add.reduceat(tails, np.append(0, ends[:-1]))
    found = rest.release(Measurement("vertices that keep at least k edges, by blocks of k", sums, l1=bound, unit=1.0))
    return BlockTails(found.value / np.diff(ends, prepend=0), ends, found.std)


def blocks(limit: int, least: float) -> IntArray:
    """The last degree of each block of 1, ..., `limit`: 1 alone, then `least` degrees, or more where they are large."""
    ends = [0, 1]
    while ends[-1] < limit:
        width = max(min(least, limit), min(NODES.wider * ends[-1], NODES.widest * limit), 1.0)
        ends.append(min(ends[-1] + round(width), limit))
    return np.array(ends[1:], dtype=np.int64)


def _limits(n: int) -> list[int]:
    """Powers of two below the largest degree that a vertex can have, and that degree."""
    largest = max(n - 1, 1)
    return [2**k for k in range((largest - 1).bit_length())] + [largest]


def _chosen(flows: Sequence[int], limits: Sequence[int], prices: Sequence[float], call: Call) -> int:
    """Place of the limit that is chosen for all of this part: where edges left out plus price are noisily least.

    `flows` are private, twice f_D, the edges that count at the limit D. Scores are quotients of integers, rounded down
    to a grid without any other rounding.
    """
    most = (limits[-1] + 1) ** 2  # prices beyond all edges decide anyway, and stay numbers that a double holds
    part = most / max(most, *prices)
    charged = [2 * math.ceil(price * part) for price in prices]
    bits = min(_SCORE_BITS, 52 - (4 * most).bit_length())
    cost = [price - flow for flow, price in zip(flows, charged, strict=True)]
    scores = [
        max(_floor(mine - other, 2 * (D + E), bits) for other, E in zip(cost, limits, strict=True))
        for mine, D in zip(cost, limits, strict=True)
    ]
    unit = 2.0**-bits
    maximum = call.noisy_maximum("limit on the edges of a vertex", max(nodes.choice(), 2 * unit), unit)
    private = -np.array([scores], dtype=np.float64) * unit
    return int(maximum.choose(private)[0])


def _floor(numerator: int, denominator: int, bits: int) -> int:
    """The quotient in units of 2**-bits, rounded down."""
    return (numerator << bits) // denominator if bits >= 0 else numerator // (denominator << -bits)


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
