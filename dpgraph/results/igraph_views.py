"""Results as objects of igraph, for the ``to_igraph_...`` methods.

The vertices of a graph are recognised by name (attribute ``"name"``) or, where a result speaks of the vertices
0, ..., n - 1, by number.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from dpgraph.exceptions import InvalidParameterError

Sets = Sequence[set[Hashable]]


def by_label(assignment: Mapping[Hashable, Hashable]) -> Sets:
    """The keys with each value, these sorted by their texts."""
    labels = sorted(set(assignment.values()), key=repr)
    return [{key for key, value in assignment.items() if value == label} for label in labels]


def _membership(g: Any, sets: Sets) -> list[int]:
    """Number of the set that holds each vertex of an igraph graph, in the order of its vertices."""
    n, number = g.vcount(), {node: k for k, nodes in enumerate(sets) for node in nodes}
    for names in (g.vs["name"] if "name" in g.vs.attributes() else None, range(n)):
        if names is not None and len(number) == n and all(name in number for name in names):
            return [number[name] for name in names]
    raise InvalidParameterError(
        "the vertices of the igraph.Graph must be those of this result; pass the graph it was computed from"
    )


def igraph_clustering(g: Any, sets: Sets) -> Any:
    """``igraph.VertexClustering`` of `g` of which cluster k is set k."""
    import igraph

    return igraph.VertexClustering(g, membership=_membership(g, sets))
