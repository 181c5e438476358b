"""Graph files: SNAP and other edge lists, CSV, Gset and GML, plain or gzip-compressed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, get_args

import numpy as np
from scipy import sparse
from tqdm import tqdm

from dpgraph.arguments import check_choice
from dpgraph.datasets.arcs import EdgeList, merge_arcs
from dpgraph.datasets.files import (
    AnyPath,
    Malformed,
    decode,
    naming,
    read_bytes,
    refuse_half_characters,
    refuse_long_lines,
)
from dpgraph.datasets.rows import Header, Labels, Rows, looks_like_gset, open_table, parse_gset, parse_rows
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.graphs import as_graph, refuse_directed
from dpgraph.inputs.public_nodes import public_labels
from dpgraph.inputs.text_formats import looks_like_gml, other_name, other_text, rows_of_vertices
from dpgraph.linalg.edges import to_networkx

if TYPE_CHECKING:
    import networkx as nx

Format = Literal["auto", "edgelist", "gset", "gml"]
Nodes = Literal["file"] | int | Iterable[Hashable]


def read_edgelist(  # noqa: PLR0913
    path: AnyPath,
    *,
    format: Format = "auto",
    nodes: Nodes = "file",
    labels: Labels = "auto",
    header: Header = "auto",
    weight: str | None = None,
    symmetrize: bool = False,
    progress: bool = False,
) -> nx.Graph:
    r"""Read an undirected graph from a file.

    Format and gzip compression are recognised by content: edge lists in the style of SNAP (one edge a line; separated
    by tabs, spaces or commas; comment lines start with ``#`` or ``%``; a header line is recognised), Gset files
    (``n m`` header, then 1-based ``i j w`` lines) and GML.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : {"auto", "edgelist", "gset", "gml"}
        Force a format instead of recognising it.
    nodes : "file", int, or iterable of labels
        **The public vertex set of an edge list.** ``"file"``: you state that the vertices named in the file are public
        (they are sorted by label). An integer n: the vertices 0..n-1. An iterable: these labels in this order. With the
        last two, vertices without an edge exist. Gset and GML files list their vertices themselves.
    labels : {"auto", int, str}
        Type of the vertex labels of an edge list. ``"auto"`` takes texts if `nodes` holds one, or if neither end of
        the first edge is an integer, and integers otherwise.
    header : bool or "auto"
        Whether the first line names the columns. ``"auto"`` says so where it has usual names (source and target, say),
        the name of the `weight`, or words where the second line has numbers; **everything else is an edge**. Where
        neither is safe you are asked.
    weight : str, optional
        Edge attribute that receives the weights of an edge list: the column of this name in the header line, or the
        third column where there is no header. ``None``: further columns are ignored. The weights of a Gset file always
        become the attribute ``"weight"``; GML attributes are kept as they are.
    symmetrize : bool, default False
        Accept a GML file that declares itself directed; a pair gets the heavier of its two arcs.
    progress : bool, default False
        Show on stderr what has been done: the file is read, its lines are edges, the graph is built.

    Returns
    -------
    networkx.Graph
        Undirected, without self-loops (their vertices stay). **An edge list is read as a list of unordered pairs**:
        repeated lines and the two directions of a pair are one edge, so reading a list of arcs symmetrises it. Weights
        of repeated lines are summed; of the two directions the heavier one counts.

    Raises
    ------
    DatasetError
        The file is missing, truncated, not text or malformed, or names a vertex outside `nodes`. The message names the
        file and the line but never quotes it: an edge is private.
    InvalidGraphError, InvalidParameterError
        A GML file is directed and `symmetrize` is false; an argument is not one of the above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "graph.txt"
    >>> _ = file.write_text("# three edges, one of them twice\n3 1\n1 3\n1 2\n2 3\n")
    >>> G = read_edgelist(file)
    >>> list(G.nodes), G.number_of_edges()
    ([1, 2, 3], 3)
    >>> read_edgelist(file, nodes=5).number_of_nodes()
    5
    """
    with tqdm(total=3, desc="reading", disable=not progress) as bar:
        graph = _read(path, format, nodes, (labels, header), weight, symmetrize, bar)
        bar.update()
        if isinstance(graph, tuple):
            adjacency, vertices, weighted = graph
            graph = to_networkx(adjacency, vertices, (weight or "weight") if weighted else None)
        bar.update()
    return graph


def read_sparse(  # noqa: PLR0913
    path: AnyPath,
    *,
    format: Format = "auto",
    nodes: Nodes = "file",
    labels: Labels = "auto",
    header: Header = "auto",
    weight: str | None = None,
    symmetrize: bool = False,
    progress: bool = False,
) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
    r"""Read an undirected graph as a sparse adjacency matrix: several times faster than :func:`read_edgelist`.

    Parameters and errors are the same. Every function of dpgraph that takes a graph takes the matrix.

    Returns
    -------
    adjacency : scipy.sparse.csr_array, shape (n, n)
        Symmetric, zero diagonal, float64. Entries are weights for a Gset file or with `weight`, and 1 otherwise.
    nodes : tuple of hashable
        Vertex labels, one for each row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "graph.csv"
    >>> _ = file.write_text("source,target\n10,20\n20,30\n")
    >>> A, nodes = read_sparse(file)
    >>> A.sum(axis=0), nodes
    (array([1., 2., 1.]), (10, 20, 30))
    """
    with tqdm(total=3, desc="reading", disable=not progress) as bar:
        graph = _read(path, format, nodes, (labels, header), weight, symmetrize, bar)
        bar.update(2)
    if isinstance(graph, tuple):
        return graph[:2]
    opened = as_graph(graph, weight=weight)
    return opened.adjacency, opened.nodes


def _read(
    path: AnyPath,
    format: str,
    nodes: Nodes,
    form: tuple[Labels, Header],
    weight: str | None,
    symmetrize: bool,
    bar: tqdm[NoReturn],
) -> EdgeList | nx.Graph:
    check_choice("format", format, get_args(Format))
    labels, header = form
    if labels not in (int, str, "auto"):
        raise InvalidParameterError(f'labels must be int, str or "auto"; got {labels!r}')
    if header not in (True, False, "auto"):
        raise InvalidParameterError(f'header must be True, False or "auto"; got {header!r}')
    vertices = public_labels(nodes, "file")
    if vertices == ():
        raise InvalidParameterError("nodes must hold at least one vertex")
    if labels == "auto" and vertices is not None:
        labels = str if any(isinstance(vertex, str) for vertex in vertices) else int
    text = read_bytes(path)
    bar.update()
    with naming(path):
        if format == "gml" or (format == "auto" and _is_gml(path, text)):
            _refuse_vertices(vertices, "GML")
            return _parse_gml(decode(text), symmetrize)
        _refuse_other_formats(path, text, format)
        refuse_long_lines(text)
        table, kind = open_table(text, labels, header, weight)
        if format == "gset" or (format == "auto" and looks_like_gset(table)):
            _refuse_vertices(vertices, "Gset")
            return parse_gset(table)
        return _edge_list(parse_rows(table, labels=kind, weight=weight), vertices)


def _refuse_other_formats(path: AnyPath, text: bytes, format: str) -> None:
    """Refuse what is no list of edges: an edge would be the name of a vertex, or a row of a matrix an edge."""
    refused = other_text(text)
    if refused is None and looks_like_gml(text):
        refused = 'the text is GML; leave format="auto", or say format="gml"'
    if refused is None and format == "auto":
        refused = other_name(path) or rows_of_vertices(text)
    if refused is not None:
        raise Malformed(refused)


def _refuse_vertices(vertices: tuple[Hashable, ...] | None, format: str) -> None:
    if vertices is not None:
        raise InvalidParameterError(f'a {format} file lists its own vertices; leave nodes="file"')


def _edge_list(rows: Rows, vertices: tuple[Hashable, ...] | None) -> EdgeList:
    if vertices is None:
        if not rows.labels:
            raise Malformed(
                "the file names no vertex; state the public vertex set with nodes= if the graph has no edges"
            )
        return merge_arcs(len(rows.labels), *rows[1:]), rows.labels, rows.weights is not None
    index = {label: i for i, label in enumerate(vertices)}
    position = np.array([index.get(label, -1) for label in rows.labels], dtype=np.int64)
    if position.size and position.min() < 0:
        raise Malformed(
            f"the file names a vertex outside nodes=, the public vertex set of {len(vertices)} vertices; correct the "
            "set, or drop the edges of other vertices from the file"
        )
    A = merge_arcs(len(vertices), position[rows.tails], position[rows.heads], rows.weights)
    return A, vertices, rows.weights is not None


# --- GML, by networkx --------------------------------------------------------------------------------------------


def _is_gml(path: AnyPath, text: bytes) -> bool:
    return Path(path).name.removesuffix(".gz").endswith(".gml") or looks_like_gml(text)


def _parse_gml(text: str, symmetrize: bool) -> nx.Graph:
    """Graph of a GML text. Vertices are named by their labels, or by their ids in a file without labels."""
    import networkx as nx

    # What a malformed file makes networkx's parser raise. Its messages quote the file, so they stop here.
    errors = (nx.NetworkXException, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)
    G = None
    for label in ("label", "id"):
        with suppress(*errors):
            G = nx.parse_gml(text, label=label)
            break
    if G is None:
        raise Malformed("expected valid GML (a graph [ ... ] of node [ ... ] and edge [ ... ] records)")
    for node in G:
        refuse_half_characters(node)
    refuse_directed(G.is_directed(), symmetrize)
    if G.is_directed():
        G = _undirected(G)
    G.remove_edges_from(list(nx.selfloop_edges(G, keys=G.is_multigraph())))
    return G


def _undirected(G: nx.DiGraph) -> nx.Graph:
    import networkx as nx

    if G.is_multigraph():
        raise InvalidGraphError(
            "expected at most one arc from a vertex to another; the file declares a directed multigraph. "
            "Merge its parallel arcs first"
        )
    H = nx.Graph()
    H.add_nodes_from(G.nodes(data=True))
    for u, v, data in G.edges(data=True):
        if not H.has_edge(u, v) or data.get("weight", 1) > H[u][v].get("weight", 1):
            H.add_edge(u, v, **data)
    return H
