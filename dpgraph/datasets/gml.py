"""GML files, through networkx, reduced to the undirected graphs of this package."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dpgraph.exceptions import DatasetError, InvalidGraphError

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["parse_gml"]


def parse_gml(text: str, path: str | os.PathLike[str], *, symmetrize: bool) -> nx.Graph:
    """Read a GML text. Vertices are named by their labels, or by their ids in a file without labels.

    DatasetError for a text that is not valid GML; InvalidGraphError for a directed graph without `symmetrize`.
    """
    import networkx as nx

    G = _parse(text, path)
    if G.is_directed():
        if not symmetrize:
            raise InvalidGraphError(
                f"expected an undirected graph; {path} declares itself directed. "
                "Pass symmetrize=True to join each pair of vertices by the heavier of its two arcs"
            )
        G = _undirected(G, path)
    G.remove_edges_from(list(nx.selfloop_edges(G, keys=True) if G.is_multigraph() else nx.selfloop_edges(G)))
    return G


def _parse(text: str, path: str | os.PathLike[str]) -> nx.Graph:
    import networkx as nx

    for label in ("label", "id"):
        try:
            return nx.parse_gml(text, label=label)
        # What a malformed file makes networkx's parser raise; its messages quote the file, so they stop here.
        except (nx.NetworkXException, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            continue
    raise DatasetError(f"{path}: expected valid GML (a graph [ ... ] of node [ ... ] and edge [ ... ] records)")


def _undirected(G: nx.DiGraph, path: str | os.PathLike[str]) -> nx.Graph:
    import networkx as nx

    if G.is_multigraph():
        raise InvalidGraphError(
            f"expected at most one arc from a vertex to another; {path} declares a directed multigraph. "
            "Merge its parallel arcs first"
        )
    H = nx.Graph()
    H.add_nodes_from(G.nodes(data=True))
    for u, v, data in G.edges(data=True):
        if not H.has_edge(u, v) or data.get("weight", 1) > H[u][v].get("weight", 1):
            H.add_edge(u, v, **data)
    return H
