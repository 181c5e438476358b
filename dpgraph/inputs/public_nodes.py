"""The public vertex set of a networkx graph or a table of edges, and its order, declared apart from the edges.

dpgraph takes the vertices of a graph object as it finds them, since only its owner knows how it was made.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.arguments import check_memory
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.arrays import is_arrow, is_null
from dpgraph.inputs.edge_tables import EdgeFrame, NameRules, Normalize, Unknown, is_table, read_table, sorted_labels

if TYPE_CHECKING:
    import networkx as nx

    from dpgraph.distributed.tables import EdgeTable

#: Words for the vertices that are there, in a graph, a file or a table: each is good for all three.
_WORDS = ("sorted", "file", "frame")
#: Words of which names of columns of vertices are made.
_COLUMN_WORDS = frozenset(
    re.findall(
        r"\w+",
        "source target src dst from to start end origin destination sender receiver recipient caller callee payer "
        "payee customer product user item node vertex id name email mail e address",
    )
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
#: A number as Python writes it: 00012 is the name of somebody else than 12.
_INTEGER = re.compile(r"-?[1-9][0-9]*|0")
#: Positions are 32-bit integers in a matrix.
MAX_VERTICES = 2**31


def with_public_nodes(G: nx.Graph, nodes: Iterable[Hashable] | int | Literal["sorted"] = "sorted") -> nx.Graph:
    """Copy a networkx graph with a public vertex set in a public order.

    Use it for a graph that was built from its edges (``networkx.Graph(edges)``, ``networkx.read_edgelist``). There the
    order of ``G.nodes`` tells which edges come first, and a vertex without an edge is missing: without this step two
    neighbouring edge lists may differ in what is taken to be public.

    Parameters
    ----------
    G : networkx.Graph
        The private graph, of any class of networkx. It is not changed.
    nodes : "sorted", iterable of hashable, or int
        ``"sorted"``: you state that the vertices of `G` are no secret; they are sorted by label (by their text form if
        labels of several kinds cannot be compared). An iterable: these vertices in this order, with or without edges. A
        number n: the vertices 0, ..., n - 1.

    Returns
    -------
    networkx.Graph
        Of the class of `G`, with the same attributes.

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        `G` has a vertex outside `nodes` (the message does not name it); `G` is no networkx graph, or `nodes` repeats.

    Notes
    -----
    *Guarantee.* This publishes nothing and costs nothing. With ``nodes="sorted"`` the vertex set is still that of `G`;
    if a vertex without edges must not be recognisable as such, name the vertices.

    Examples
    --------
    >>> import dpgraph, networkx as nx
    >>> friends = nx.Graph([("cem", "ann"), ("ann", "bob")])
    >>> list(friends), list(with_public_nodes(friends))
    (['cem', 'ann', 'bob'], ['ann', 'bob', 'cem'])
    >>> G = with_public_nodes(friends, ["ann", "bob", "cem", "dan"])
    >>> dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6).nodes
    ('ann', 'bob', 'cem', 'dan')
    """
    import networkx as nx

    if not isinstance(G, nx.Graph):
        raise InvalidParameterError(
            f"G must be a networkx graph; got {type(G).__name__}. Matrices and igraph graphs have numbered vertices; "
            "for a table of edges use dpgraph.edge_frame"
        )
    labels = sorted_labels(G.nodes) if (given := public_labels(nodes, "sorted")) is None else given
    if not set(G.nodes) <= set(labels):
        raise InvalidGraphError(
            "G has a vertex outside nodes=, the public vertex set; correct the set, or drop it from G"
        )
    H = G.__class__()
    H.graph.update(G.graph)
    H.add_nodes_from((node, G.nodes[node] if node in G else {}) for node in labels)
    H.add_edges_from(G.edges(keys=True, data=True) if G.is_multigraph() else G.edges(data=True))
    return H


def edge_frame(
    table: Any,
    *,
    nodes: Iterable[Hashable] | int | Path | Literal["frame", "file", "sorted"],
    source: str = "source",
    target: str = "target",
    unknown: Unknown = "raise",
    normalize: Normalize = None,
    weight: str | None = None,
) -> EdgeFrame | EdgeTable:
    """Check a table of edges and declare its public vertices, so that every function of dpgraph accepts it as a graph.

    **This is a step of the owner of the table.** It reads the private table, and its errors and its summary hold exact
    numbers. It spends no budget, and what it accepts is not refused after a debit. Do not show its errors to others.

    Parameters
    ----------
    table : DataFrame of pandas, polars, pyarrow or Dask, or path
        One row for each edge. It is not changed. A path is that of a Parquet or CSV file, or of a folder of them. These
        and tables of Dask are read on the cluster of the current ``distributed.Client``: see docs/distributed.md.
    nodes : iterable of hashable, int, pathlib.Path or "frame"
        As for :func:`with_public_nodes`; ``"frame"``, ``"file"`` and ``"sorted"`` mean the same, not on Dask. A path is
        that of a text file of one vertex a line.
    source, target : str
        Columns of the ends of an edge.
    unknown : {"raise", "drop"}
        What is done with rows that name a vertex outside `nodes`, or lack a name: all of them are refused, or left out.
        It is refused to leave out all rows, or with ``normalize=None`` those that "casefold" would match (not on Dask).
    normalize : None, "exact", "strip", "casefold" or callable
        How names are compared: as they are; without blanks around them; also without capitals; or by what a function
        makes of each. It applies to `nodes`, too; results have the labels of `nodes`.
    weight : str, optional
        A column in which every row must have a finite nonnegative number. (A private call names it again.)

    Returns
    -------
    EdgeFrame or EdgeTable
        An object that private functions accept as a graph, with a method ``summary()`` for the owner of the table.

    Raises
    ------
    InvalidParameterError
        A column is missing or there twice, `table` is no table, or the vertices repeat or stand for what is missing.
    InvalidGraphError
        Rows name an unknown vertex or none, hold something that cannot be a vertex, such as a list, or no weight.

    Examples
    --------
    >>> import dpgraph, pandas as pd
    >>> mails = pd.DataFrame({"from": ["Ann", "bob ", None], "to": ["bob", "CEM", "ann"]})
    >>> staff = ["ann", "bob", "cem", "dan"]
    >>> G = edge_frame(mails, nodes=staff, source="from", target="to", normalize="casefold", unknown="drop")
    >>> dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6).nodes
    ('ann', 'bob', 'cem', 'dan')
    >>> G.summary().rows, G.summary().dropped
    (3, 1)
    """
    rules = NameRules(unknown, normalize)
    labels = public_labels(nodes, "frame")
    if isinstance(table, (str, Path)) or type(table).__module__.startswith("dask."):
        from dpgraph.distributed.tables import edge_table

        if labels is None:
            raise InvalidParameterError("a table on Dask needs nodes=, its public vertices: their number, or a list")
        numbered = isinstance(nodes, (int, np.integer))
        return edge_table(table, labels, (source, target), numbered=numbered, rules=rules, weight=weight)
    if not is_table(table):
        raise InvalidParameterError(
            "table must be a DataFrame of pandas, polars, pyarrow or Dask, or a path (a LazyFrame first needs its "
            f"collect()); got {type(table).__name__}"
        )
    return read_table(table, (source, target), labels, rules, weight)


def public_labels(nodes: Iterable[Hashable] | int | Path | str, word: str) -> tuple[Hashable, ...] | None:
    """The vertices that an argument ``nodes=`` declares; None for a word that stands for those that are there."""
    if isinstance(nodes, str):
        if nodes in _WORDS:
            return None
        raise InvalidParameterError(
            f'nodes must be "{word}", a number or an iterable of vertices; got {nodes!r}. A file of one vertex a line '
            f"is named by pathlib.Path({nodes!r})"
        )
    if isinstance(nodes, (int, np.integer)):
        if isinstance(nodes, bool) or not 1 <= nodes < MAX_VERTICES:
            raise InvalidParameterError(f"nodes, the number of vertices, must lie in [1, 2**31); got {nodes!r}")
        check_memory(f"a set of {nodes} vertices", labels=(5, int(nodes)))
        return tuple(range(int(nodes)))
    if is_table(nodes):
        raise InvalidParameterError(
            "nodes must be a list of vertices, or one column of a table; got a whole table. Pass the column that names "
            'them, such as people["name"]. No budget was spent'
        )
    try:
        found: Any = numbered(vertex_lines(nodes)) if isinstance(nodes, Path) else nodes
        labels = tuple(found.to_pylist() if is_arrow(found) else found)
        distinct = len(set(labels))
    except TypeError:  # not iterable, or not hashable
        raise InvalidParameterError(
            f'nodes must be "{word}", a number or an iterable of hashable vertices; got {type(nodes).__name__}'
        ) from None
    if distinct < len(labels):
        raise InvalidParameterError("the vertices in nodes= must differ")
    if any(map(is_null, labels)):
        raise InvalidParameterError("nodes= must not hold None, NaN or NaT, which stand for what is missing")
    return labels


def numbered(names: list[str]) -> list[int] | list[str]:
    """The names, as numbers if all of them are written as numbers are."""
    return list(map(int, names)) if all(map(_INTEGER.fullmatch, names)) else names


def vertex_lines(file: Path, encoding: str = "utf-8") -> list[str]:
    """Names of the vertices in a text file, one a line; above those of a CSV file there may be a header."""
    if not file.is_file():
        raise InvalidParameterError(f"no such file: {file}")
    try:
        lines = file.read_text("utf-8-sig" if encoding == "utf-8" else encoding).split("\n")
        if "\0" in "".join(lines):  # a spreadsheet
            raise UnicodeError
    except (UnicodeError, LookupError):
        raise InvalidParameterError(
            f"{file}: expected text in the encoding {encoding}; found other bytes. Save it as UTF-8, or name its "
            'encoding: encoding="cp1252" is that of older Windows programs'
        ) from None
    if file.suffix.lower() == ".csv":
        rows = [row for row in csv.reader(lines) if row]
        if any(len(row) > 1 for row in rows) or (rows and re.search("[;\t]", rows[0][0])):
            raise InvalidParameterError(
                f"{file}: expected one vertex a line; this table has several columns. Keep the one that names them"
            )
        lines = [row[0] for row in rows]
        lines = lines[1:] if lines and is_column_name(lines[0]) else lines
    return [line.strip() for line in lines if line.strip()]


def is_column_name(text: str) -> bool:
    """Whether a text is made of words that name columns, and of nothing that a name has: user1, user@mail."""
    words = [word.lower() for word in _WORD.findall(text)]
    rest = _WORD.sub("", text)
    return bool(words) and set(words) <= _COLUMN_WORDS and not any(sign.isalnum() or sign == "@" for sign in rest)
