"""Numbers of edges, and of vertices of each degree, where neighbours differ in all edges of one vertex.

A private limit D on the degrees is chosen first; then edges beyond D at a vertex do not count. The theorems:
:mod:`dpgraph.bounds.nodes`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpgraph.bounds import nodes
from dpgraph.graph import Graph
from dpgraph.linalg.bounded_degrees import truncated_degrees, twice_the_flow
from dpgraph.privacy.call import Call, Measurement, Released

#: Share of epsilon that chooses how many edges of a vertex count; the rest is for what is released.
_CHOICE_SHARE = 0.5
#: Scores are multiples of this, or of a larger power of two if a double cannot hold them.
_SCORE_BITS = 20


class BoundedCount(NamedTuple):
    """Released number of edges, if at most `limit` count at a vertex, and the scale of its Laplace noise."""

    value: int
    limit: int
    scale: float


def release_edge_count(graph: Graph, call: Call) -> BoundedCount:
    """Release the number of edges for all of a pure call, as the integral part of a maximum flow.

    The price of a limit D, in edges, is the noise of its choice and of the answer, of scale 2 D over either epsilon.
    """
    choice, rest = call.split(_CHOICE_SHARE, 1 - _CHOICE_SHARE)
    limits = _limits(graph.n_vertices)
    flows = [twice_the_flow(graph.edge_counts(), graph.within, limit) for limit in limits]
    best = _chosen(flows, limits, [(2 / choice.epsilon + 2 / rest.epsilon) * limit for limit in limits], choice)
    limit, exact = limits[best], np.array([float(flows[best] // 2)])
    found = rest.release(Measurement("edges within the limit", exact, l1=nodes.flow(limit), unit=1.0))
    return BoundedCount(round(found.number), limit, nodes.flow(limit) / rest.epsilon)


def release_truncated_tails(graph: Graph, call: Call) -> Released:
    """Release how many vertices keep at least 1, ..., D edges each, for all of a pure call.

    The price of a limit D, in edges, is what noise of scale 2 D/epsilon on each of D numbers does to their sum.
    """
    choice, rest = call.split(_CHOICE_SHARE, 1 - _CHOICE_SHARE)
    limits = _limits(graph.n_vertices)
    flows = [twice_the_flow(graph.edge_counts(), graph.within, limit) for limit in limits]
    prices = [nodes.truncated_tails(limit) / rest.epsilon * math.sqrt(limit) for limit in limits]
    limit = limits[_chosen(flows, limits, prices, choice)]
    kept = truncated_degrees(graph.adjacency, limit, int(call.generator.integers(2**63)))
    tails = np.cumsum(np.bincount(kept, minlength=limit + 1)[::-1], dtype=np.float64)[::-1][1:]
    bound = nodes.truncated_tails(limit)
    return rest.release(Measurement("vertices that keep at least k edges", tails, l1=bound, unit=1.0))


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
    return int(maximum.choose(private, public=np.zeros_like(private))[0])


def _floor(numerator: int, denominator: int, bits: int) -> int:
    """The quotient in units of 2**-bits, rounded down."""
    return (numerator << bits) // denominator if bits >= 0 else numerator // (denominator << -bits)
