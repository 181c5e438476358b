"""Results as objects of igraph, for the ``to_igraph_...`` methods.

The vertices of a graph are recognised by name (attribute ``"name"``) or, where a result speaks of the vertices
0, ..., n - 1, by number.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from dpgraph.exceptions import InvalidParameterError


def sides(partition: tuple[set[Hashable], set[Hashable]]) -> dict[Hashable, int]:
    """Vertex -> 0 or 1."""
    return {node: side for side, nodes in enumerate(partition) for node in nodes}


def _membership(g: Any, assignment: Mapping[Hashable, Any]) -> list[Any]:
    """What `assignment` says about each vertex of an igraph graph, in the order of its vertices."""
    n = g.vcount()
    for names in (g.vs["name"] if "name" in g.vs.attributes() else None, range(n)):
        if names is not None and len(assignment) == n and all(name in assignment for name in names):
            return [assignment[name] for name in names]
    raise InvalidParameterError(
        "the vertices of the igraph.Graph must be those of this result; pass the graph it was computed from"
    )


def igraph_clustering(g: Any, assignment: Mapping[Hashable, Any], labels: Iterable[Any]) -> Any:
    """``igraph.VertexClustering`` of `g`: cluster k holds the vertices with the k-th of `labels`."""
    import igraph

    number = {label: k for k, label in enumerate(labels)}
    return igraph.VertexClustering(g, membership=[number[label] for label in _membership(g, assignment)])


def igraph_cut(g: Any, side: Mapping[Hashable, int], *, value: float, edges: list[int]) -> Any:
    """``igraph.Cut`` of `g` with the vertices of side 0 first."""
    import igraph

    first = [vertex for vertex, which in enumerate(_membership(g, side)) if which == 0]
    return igraph.Cut(g, value=value, cut=edges, partition=first)


def crossing_edges(g: Any, side: Mapping[Hashable, int]) -> list[int]:
    """Numbers of the edges of `g` between the two sides. Exact, not private."""
    where = _membership(g, side)
    return [edge for edge, (u, v) in enumerate(g.get_edgelist()) if where[u] != where[v]]
