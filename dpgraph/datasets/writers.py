"""Graphs as the text of a file. The counterpart of the readers: what is written here reads back the same."""

import csv
import io
import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.edges import to_networkx, upper_edges

#: What a spreadsheet would run as a formula, or take for one behind an apostrophe.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def label_texts(nodes: Sequence[Hashable]) -> list[str]:
    """Vertex labels as text from which they can be told apart again.

    Integers are written as digits and strings as they are, if all labels are of that one kind; otherwise every
    label is written as its ``repr`` (``1``, ``'1'``, ``(0, 1)``), which ``ast.literal_eval`` reads back.
    """
    for kind in (int, str):
        if all(type(node) is kind for node in nodes):
            return [str(node) for node in nodes]
    return [repr(node) for node in nodes]


def csv_text(header: Sequence[str], columns: Sequence[Sequence[Any]]) -> str:
    """Columns as comma-separated text with a header line; texts that a spreadsheet would run get an apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in (header, *zip(*columns, strict=True)):
        writer.writerow(["'" + cell if is_formula(cell) else cell for cell in row])
    return buffer.getvalue()


def is_formula(cell: Any) -> bool:
    """Whether a spreadsheet would run a text as a formula, which no number is."""
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


def edge_columns(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None = None) -> list[list[str]]:
    """Two columns of labels, and one of weights. A vertex without edges appears as a self-loop."""
    names = label_texts(nodes)
    tails, heads, weights = map(np.ndarray.tolist, upper_edges(A))
    alone = np.flatnonzero(np.diff(A.indptr) == 0).tolist()
    columns = [[names[i] for i in tails + alone], [names[j] for j in heads + alone]]
    if weight is not None:
        columns.append([f"{w:.17g}" for w in weights] + ["0"] * len(alone))
    return columns


def _csv(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None) -> str:
    if any(map(is_formula, label_texts(nodes))):  # an apostrophe would be another label when it is read
        raise InvalidParameterError(
            "a vertex label starts with =, +, - or @, which a spreadsheet would run as a formula; write a .txt file"
        )
    return csv_text(["source", "target", *([weight] if weight else [])], edge_columns(A, nodes, weight))


def _text(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None) -> str:
    if any(not name.isprintable() or name.startswith(("#", "%")) for name in label_texts(nodes)):
        raise InvalidParameterError(
            "a vertex label holds a tab or a line end or starts with # or %, which a text edge list cannot; "
            "write a .csv file"
        )
    header = "# FromNodeId\tToNodeId" + (f"\t{weight}" if weight else "")
    lines = map("\t".join, zip(*edge_columns(A, nodes, weight), strict=True))
    return "\n".join([header, *lines, ""])


def _gset(A: sparse.csr_array, nodes: Sequence[Hashable], _: str | None) -> str:
    tails, heads, weights = map(np.ndarray.tolist, upper_edges(A))
    lines = (f"{i + 1} {j + 1} {w:.17g}" for i, j, w in zip(tails, heads, weights, strict=True))
    return "\n".join([f"{len(nodes)} {len(tails)}", *lines, ""])


def _gml(A: sparse.csr_array, nodes: Sequence[Hashable], weight: str | None) -> str:
    import networkx as nx

    return "\n".join([*nx.generate_gml(to_networkx(A, nodes, weight)), ""])


#: Ending of a file name: function of (adjacency matrix, vertex labels, name of the weights or None) to its text.
WRITERS = {"txt": _text, "csv": _csv, "gset": _gset, "gml": _gml}
