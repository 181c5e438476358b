"""Graphs as the text of a file. The counterpart of the readers: what is written here reads back the same."""

from collections.abc import Hashable, Sequence

import numpy as np
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.edges import to_networkx, upper_edges
from dpgraph.result import csv_text, is_formula, label_texts


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
