"""Files of other formats, each read by a library: GML, GraphML, GEXF, Pajek, node-link JSON, Matrix Market, METIS.

Messages of these libraries quote the file, so they stop here.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.datasets.files import Malformed, decode, refuse_announced, refuse_half_characters
from dpgraph.exceptions import DPGraphError, InvalidGraphError
from dpgraph.inputs.graphs import public_side, refuse_directed
from dpgraph.inputs.public_nodes import with_public_nodes
from dpgraph.inputs.text_formats import data_begin, looks_like_gml
from dpgraph.linalg.edges import EdgeList

if TYPE_CHECKING:
    import networkx as nx

#: What a malformed file makes the parsers of networkx and scipy raise.
_ERRORS = (Exception, RecursionError)


def recognised(name: str, text: bytes, rows: str | None) -> str | None:
    """The format of a file by its name, its beginning or its rows; None for an edge list, a Gset file and others."""
    ending = name.lower().removesuffix(".gz").rpartition(".")[2]
    begin = text[data_begin(text) :][:4096].lower()
    if begin.startswith(b"<"):
        return next((one for one in ("graphml", "gexf") if f"<{one}".encode() in begin), None)
    if looks_like_gml(text) or ending == "gml":
        return "gml"
    if text[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    if re.match(rb"\*(network|vertices)\b", begin):
        return "pajek"
    if begin.startswith(b"{") and re.search(rb'"nodes"\s*:', text) and re.search(rb'"(links|edges)"\s*:', text):
        return "node-link"
    return "metis" if ending == "metis" or " METIS" in (rows or "") else None


def read_format(format: str, text: bytes, weight: str | None, symmetrize: bool) -> nx.Graph | EdgeList:
    """The graph of a text in one of the :data:`FORMATS`."""
    if format == "matrix-market":
        return _matrix_market(text, weight, symmetrize)
    G = _parsed(format, text)
    if not len(G):
        raise Malformed(f"expected a file of format {format}; it names no vertex")
    for node in G:
        refuse_half_characters(node)
    import networkx as nx

    refuse_directed(G.is_directed(), symmetrize)
    if G.is_multigraph() and format != "gml":  # the readers of some formats always make one
        simple = nx.DiGraph(G) if G.is_directed() else nx.Graph(G)
        G = simple if simple.number_of_edges() == G.number_of_edges() else G
    if G.is_directed():
        G = _undirected(G, weight or "weight")
    G.remove_edges_from(list(nx.selfloop_edges(G, keys=G.is_multigraph())))
    return G


def _parsed(format: str, text: bytes) -> nx.Graph:
    try:
        return FORMATS[format](text[data_begin(text) :])
    except (DPGraphError, Malformed, MemoryError):
        raise
    except _ERRORS:
        raise Malformed(f"expected a valid file of format {format}; its reader stopped at an error") from None


def _gml(text: bytes) -> nx.Graph:
    """Vertices are named by their labels, or by their ids in a file without labels."""
    import networkx as nx

    for label in ("label", "id"):
        with suppress(*_ERRORS):
            return nx.parse_gml(decode(text), label=label)
    raise Malformed(
        "expected valid GML (a graph [ ... ] of node [ ... ] and edge [ ... ] records; with multigraph 1 if two edges "
        "have the same ends)"
    )


def _xml(read: str) -> Callable[[bytes], nx.Graph]:
    def parse(text: bytes) -> nx.Graph:
        import networkx as nx

        if b"<!ENTITY" in text:
            raise Malformed("expected XML without definitions of its own entities, which can fill the memory")
        return _listed(getattr(nx, read)(io.BytesIO(text)), len(re.findall(rb"<(?:\w+:)?node[\s/>]", text)))

    return parse


def _pajek(text: bytes) -> nx.Graph:
    import networkx as nx

    return _listed(nx.parse_pajek(decode(text)), sum(map(int, re.findall(rb"(?i)\*vertices\s+([0-9]+)", text))))


def _node_link(text: bytes) -> nx.Graph:
    import networkx as nx

    data = json.loads(decode(text))
    return _listed(nx.node_link_graph(data, edges="links" if "links" in data else "edges"), len(data["nodes"]))


def _listed(G: nx.Graph, vertices: int) -> nx.Graph:
    """The graph; Malformed if it has more vertices than the file lists, which its edges would make public, or less."""
    if len(G) != vertices:
        raise Malformed(
            "expected edges between the vertices that the file lists, each once; an edge names another one, or two "
            "have the same name"
        )
    return G


def _metis(text: bytes) -> nx.Graph:
    """A line for each of the vertices 1, ..., n, which becomes a line of adjacency lists."""
    import networkx as nx

    head, *rows = [line for line in decode(text).rstrip("\n").split("\n") if not line.startswith(("%", "#"))]
    n, m, *form = head.split()
    if any(map(int, form)):
        raise Malformed("expected METIS without weights of edges or vertices; read those into a scipy.sparse matrix")
    refuse_announced(int(n), text, "vertices")
    rows += [""] * (int(n) - len(rows))
    G = nx.parse_adjlist((f"{i} {row}" for i, row in enumerate(rows, 1)), nodetype=int)
    if (len(G), G.number_of_edges()) != (int(n), int(m)):
        raise Malformed(
            "expected METIS, of as many vertices and edges as its first line says. If it is an edge list, say "
            'format="edgelist"'
        )
    return with_public_nodes(G)  # in their own order: that of their first edges is private


def _matrix_market(text: bytes, weight: str | None, symmetrize: bool) -> EdgeList:
    """Vertices are numbered from 0, as rows of the matrix are."""
    from scipy import io as scipy_io

    try:
        rows, columns, _, layout, field, _ = scipy_io.mminfo(io.BytesIO(text))
        refuse_announced(rows * columns if layout == "array" else max(rows, columns), text, "rows")
        matrix = scipy_io.mmread(io.BytesIO(text))
    except (Malformed, MemoryError):
        raise
    except _ERRORS:
        raise Malformed("expected a valid Matrix Market file") from None
    nodes, edges = public_side(matrix, None, symmetrize)
    A = edges(True).matrix
    weighted = weight is not None and field != "pattern"
    return (A if weighted else A.astype(bool).astype(np.float64)), tuple(nodes), weighted


#: The formats whose readers make a graph of networkx.
FORMATS: dict[str, Callable[[bytes], Any]] = {
    "gml": _gml,
    "graphml": _xml("read_graphml"),
    "gexf": _xml("read_gexf"),
    "pajek": _pajek,
    "node-link": _node_link,
    "metis": _metis,
}


def _undirected(G: nx.DiGraph, weight: str) -> nx.Graph:
    import networkx as nx

    if G.is_multigraph():
        raise InvalidGraphError(
            "expected at most one arc from a vertex to another; the file declares a directed multigraph. "
            "Merge its parallel arcs first"
        )
    H = nx.Graph()
    H.add_nodes_from(G.nodes(data=True))
    try:
        H.add_edges_from(sorted(G.edges(data=True), key=lambda arc: arc[2].get(weight, 1)))  # the last one stays
    except TypeError:
        raise Malformed(f"expected a number in attribute {weight!r} of every arc, where it has one") from None
    return H
