"""Graph files: SNAP and other edge lists, CSV, Parquet, Gset and the formats of other libraries, plain or gzipped."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_choice, check_keywords
from dpgraph.datasets.files import AnyPath, Malformed, naming, read_bytes, refuse_long_lines
from dpgraph.datasets.formats import FORMATS, read_format, recognised
from dpgraph.datasets.rows import (
    Header,
    Labels,
    PaddedNumber,
    Rows,
    Table,
    as_texts,
    looks_like_gset,
    open_table,
    parse_gset,
    parse_rows,
    usual_ends,
)
from dpgraph.exceptions import DatasetError, InvalidGraphError, InvalidParameterError
from dpgraph.inputs.edge_tables import (
    PLAIN,
    EdgeSummary,
    Matched,
    NameRules,
    Normalize,
    Unknown,
    described,
    match_ends,
    read_table,
)
from dpgraph.inputs.graphs import as_graph
from dpgraph.inputs.public_nodes import public_labels
from dpgraph.inputs.text_formats import looks_like_gml, other_name, other_text, rows_of_vertices
from dpgraph.linalg.edges import EdgeList, merge_arcs, to_networkx
from dpgraph.progress import tqdm

if TYPE_CHECKING:
    import networkx as nx

Format = Literal["auto", "edgelist", "gset", "gml", "graphml", "gexf", "pajek", "node-link", "metis", "matrix-market"]
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
    unknown: Unknown = "raise",
    normalize: Normalize = None,
    encoding: str = "utf-8",
    columns: tuple[str, str] | None = None,
    progress: bool = False,
) -> nx.Graph:
    r"""Read an undirected graph from a file.

    Format and gzip compression are recognised by content: edge lists in the style of SNAP (one edge a line; separated
    by tabs, spaces, commas or semicolons; comment lines start with ``#`` or ``%``), Gset files (``n m`` header, then
    1-based ``i j w`` lines), GML, GraphML, GEXF, Pajek, node-link JSON, Matrix Market and METIS. A name that ends in
    .parquet is that of a table of edges. **This is a step of the owner of the file**: errors hold numbers of it.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : "auto", "edgelist", "gset", "gml", "graphml", "gexf", "pajek", "node-link", "metis" or "matrix-market"
        Force a format instead of recognising it.
    nodes : "file", int, or iterable of labels
        **The public vertex set of an edge list.** ``"file"``: you state that the vertices named in the file are public
        (they are sorted by label). An integer n: the vertices 0..n-1. An iterable: these labels in this order. With the
        last two, vertices without an edge exist. Files of other formats list their vertices themselves.
    labels : {"auto", int, str}
        Type of the vertex labels of an edge list. ``"auto"`` takes texts if `nodes` holds one, or if neither end of
        the first edge is an integer, and integers otherwise; of numbers like 00012 or +49 all are texts, where they are
        the vertices.
    header : bool or "auto"
        Whether the first line names the columns. ``"auto"`` says so where it has usual names (source and target, say),
        the name of the `weight`, or words where the second line has numbers. Of two other words that are no vertices of
        `nodes`, or stand nowhere else in the file, nobody knows, so you are asked. **Everything else is an edge.**
    weight : str, optional
        Edge attribute that receives the weights of an edge list: the column of this name in the header line, or the
        third column where there is no header. ``None``: further columns are ignored. The weights of a Gset file always
        become the attribute ``"weight"``; attributes of graph formats are kept as they are.
    symmetrize : bool, default False
        Accept a file that declares itself directed; a pair gets the heavier of its two arcs.
    unknown, normalize
        What is done with lines that name a vertex outside `nodes` or none, and how names are compared: as for
        :func:`dpgraph.edge_frame`.
    encoding : str, default "utf-8"
        How the text is written, such as "cp1252" for files of older Windows programs. UTF-16 is known by its mark.
    columns : tuple of two str, optional
        The columns that hold the two ends of an edge, by their names in the header line. By default those called source
        and target, if there are such, or the first two. Where two others have usual names (From and To, say) you are
        asked.
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
        file and the line but never quotes it.
    InvalidGraphError, InvalidParameterError
        A file is directed and `symmetrize` is false; an argument is not one of the above.

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
    asked = Reading(format, nodes, labels, header, weight, symmetrize, unknown, normalize, encoding, columns)
    with tqdm(total=3, desc="reading", disable=not progress) as bar:
        graph = asked.read(path, bar)[0]
        bar.update()
        if isinstance(graph, tuple):
            adjacency, vertices, weighted = graph
            graph = to_networkx(adjacency, vertices, (weight or "weight") if weighted else None)
        bar.update()
    return graph


def read_sparse(
    path: AnyPath, *, progress: bool = False, weight: str | None = None, **options: Any
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
    check_keywords(read_edgelist, options)
    with tqdm(total=3, desc="reading", disable=not progress) as bar:
        found = Reading(weight=weight, **options).sparse(path, bar)
        bar.update(2)
    return found


@dataclass(frozen=True)
class Reading:
    """How a file is to be read: the arguments of :func:`read_edgelist`."""

    format: str = "auto"
    nodes: Nodes = "file"
    labels: Labels = "auto"
    header: Header = "auto"
    weight: str | None = None
    symmetrize: bool = False
    unknown: Unknown = "raise"
    normalize: Normalize = None
    encoding: str = "utf-8"
    columns: tuple[str, str] | None = None
    #: How names become vertices.
    rules: NameRules = field(init=False)

    def __post_init__(self) -> None:
        check_choice("format", self.format, get_args(Format))
        if self.labels not in (int, str, "auto"):
            raise InvalidParameterError(f'labels must be int, str or "auto"; got {self.labels!r}')
        if self.header not in (True, False, "auto"):
            raise InvalidParameterError(f'header must be True, False or "auto"; got {self.header!r}')
        object.__setattr__(self, "rules", NameRules(self.unknown, self.normalize))

    def read(self, path: AnyPath, bar: Any = None) -> tuple[EdgeList | nx.Graph, Callable[[], EdgeSummary] | None]:
        """The graph, and what makes the summary of an edge list for its owner."""
        vertices = public_labels(self.nodes, "file")
        if vertices == ():
            raise InvalidParameterError("nodes must hold at least one vertex")
        with naming(path):
            if self.format == "auto" and Path(path).suffix.lower() == ".parquet":
                return self._parquet(path, vertices)
            text = read_bytes(path, self.encoding)
            if bar is not None:
                bar.update()
            format, rows = self.format, rows_of_vertices(text) if self.format == "auto" else None
            if format == "auto":
                format = recognised(Path(path).name, text, rows) or "auto"
            if format in FORMATS or format == "matrix-market":
                self._refuse_vertices(vertices, format)
                return read_format(format, text, self.weight, self.symmetrize), None
            _refuse_other_formats(path, text, rows, format)
            return self._edges(text, format, vertices)

    def sparse(self, path: AnyPath, bar: Any = None) -> tuple[sparse.csr_array, tuple[Hashable, ...]]:
        """The graph as a matrix and its labels."""
        graph = self.read(path, bar)[0]
        if isinstance(graph, tuple):
            return graph[:2]
        opened = as_graph(graph, weight=self.weight)
        return opened.adjacency, opened.nodes

    def _edges(
        self, text: bytes, format: str, vertices: tuple[Hashable, ...] | None
    ) -> tuple[EdgeList, Callable[[], EdgeSummary] | None]:
        refuse_long_lines(text)
        labels = self.labels
        if labels == "auto" and vertices is not None:
            labels = str if any(isinstance(vertex, str) for vertex in vertices) else int
        table, kind, doubtful = open_table(text, labels, self.header, self.weight, self.columns)
        if format == "gset" or (format == "auto" and looks_like_gset(table)):
            self._refuse_vertices(vertices, "Gset")
            return parse_gset(table), None
        parsed = partial(parse_rows, weight=self.weight, empty=self.unknown == "drop", padded=self.labels is int)
        try:
            rows = parsed(table, labels=kind)
        except PaddedNumber:
            if vertices is not None:
                raise
            kind = str  # 00012 is the name of somebody else than 12, or a number of a house or a telephone
            rows = parsed(as_texts(table), labels=kind)
        if doubtful and (vertices is None or self.unknown == "raise"):
            self._ask_for_header(rows, vertices)
        if self.header == "auto" and self.columns is None and kind is str and table.header is not None:
            self._ask_for_edge([table.header[k] for k in table.ends], rows.labels if vertices is None else vertices)
        if vertices is None and not rows.labels:
            raise Malformed(
                "the file names no vertex; state the public vertex set with nodes= if the graph has no edges"
            )
        matched = _matched(rows, vertices, self.rules, table)
        weights = None if rows.weights is None else rows.weights[matched.kept]
        A = merge_arcs(len(matched.vertices), matched.tails, matched.heads, weights)
        told = {
            "header": "no" if table.header is None else f"yes: {', '.join(table.header)}",
            "columns": _columns(table),
            "names": "numbers" if kind is int else "texts",
            "encoding": self.encoding if self.encoding != "utf-8" else "ascii" if text.isascii() else "utf-8",
        }
        return (A, matched.vertices, weights is not None), partial(described, matched, **told)

    def _ask_for_header(self, rows: Rows, vertices: tuple[Hashable, ...] | None) -> None:
        """Refuse a first line that may as well hold names of columns as an edge."""
        if vertices is None:
            first = rows.tails[0], rows.heads[0]
            other = "stand on no other line"
            known = any(np.count_nonzero(rows.tails == k) + np.count_nonzero(rows.heads == k) > 1 for k in first)
        else:
            names = {self.rules(vertex) for vertex in vertices}
            other = "are not in the public vertex set"
            known = any(self.rules(rows.labels[ends[0]]) in names for ends in (rows.tails, rows.heads))
        if not known:
            raise Malformed(
                f"the first line may hold names of columns, or an edge: its two names {other}. Say header=True or "
                "header=False. No budget was spent",
                1,
            )

    def _ask_for_edge(self, header: list[str], vertices: Sequence[Hashable]) -> None:
        """Refuse a first line that was taken for names of columns, and names a vertex."""
        if not {self.rules(vertex) for vertex in vertices}.isdisjoint(map(self.rules, header)):
            raise Malformed(
                "the first line may hold names of columns, or an edge: a vertex has one of its two names. Say "
                "header=True or header=False. No budget was spent",
                1,
            )

    def _parquet(
        self, path: AnyPath, vertices: tuple[Hashable, ...] | None
    ) -> tuple[EdgeList, Callable[[], EdgeSummary] | None]:
        """A table of Parquet."""
        import polars as pl

        if not Path(path).is_file():
            raise DatasetError(f"no such file: {path}")
        try:
            frame = pl.read_parquet(Path(path))
        except (pl.exceptions.PolarsError, OSError):
            raise Malformed("expected a valid Parquet file") from None
        if len(frame.columns) < 2:
            raise Malformed("expected a table with a column for each end of an edge; it has fewer columns")
        ends = self.columns or usual_ends(frame.columns) or (frame.columns[0], frame.columns[1])
        try:
            made = read_table(frame, ends, vertices, self.rules, self.weight)
        except (InvalidGraphError, InvalidParameterError) as error:
            raise Malformed(str(error)) from None
        weights = None if self.weight is None else np.array(made.weights(self.weight), dtype=np.float64)
        tails, heads = made.ends().T
        A = merge_arcs(len(made.nodes), tails, heads, weights)
        return (A, made.nodes, weights is not None), made.summary

    def _refuse_vertices(self, vertices: tuple[Hashable, ...] | None, format: str) -> None:
        if vertices is not None or self.normalize is not None:
            raise InvalidParameterError(
                f'a file of format {format} lists its own vertices; leave nodes="file", and normalize= out'
            )


def _columns(table: Table) -> str:
    """What was taken for the ends of an edge."""
    first, second = table.ends
    names = "" if table.header is None else f", {table.header[first]} and {table.header[second]}"
    return f"{first + 1} and {second + 1} of {max(table.widths(1), default=2)}{names}"


def _matched(rows: Rows, vertices: tuple[Hashable, ...] | None, rules: NameRules, table: Table) -> Matched:
    if vertices is None and rules == PLAIN:  # names of a file as they are: sorted, and none is empty
        every = len(rows.tails)
        summary = EdgeSummary(vertices=len(rows.labels), rows=every, kept=every, dropped=0)
        return Matched(rows.labels, rows.tails, rows.heads, np.ones(every, dtype=bool), summary)
    try:
        return match_ends(rows.labels, rows.tails, rows.heads, vertices, rules)
    except InvalidGraphError as error:
        read = "" if table.header is None else " and ".join(repr(table.header[k]) for k in table.ends)
        told = f". The ends of an edge were read from the columns {read}; columns= names others" if read else ""
        raise Malformed(f"{error}{told}") from None


def _refuse_other_formats(path: AnyPath, text: bytes, rows: str | None, format: str) -> None:
    """Refuse what is no list of edges: an edge would be the name of a vertex, or a row of a matrix an edge."""
    refused = other_text(text)
    if refused is None and looks_like_gml(text):
        refused = 'the text is GML; leave format="auto", or say format="gml"'
    if refused is None and format == "auto":
        refused = other_name(path) or rows
    if refused is not None:
        raise Malformed(refused)
