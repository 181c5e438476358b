"""Gset max-cut instances: a line ``n m``, then m lines ``i j w`` with vertices 1..n."""

import numpy as np

from dpgraph.datasets.edge_table import MAX_VERTICES, EdgeTable, merge_arcs
from dpgraph.datasets.files import malformed
from dpgraph.datasets.rows import Table, parse_rows
from dpgraph.exceptions import DatasetError

__all__ = ["looks_like_gset", "parse_gset"]


def looks_like_gset(table: Table) -> bool:
    """Two columns on the first line, three on the second, separated by white space."""
    lines = table.data_lines()
    widths = [len(fields) for _, (_, _, fields) in zip(range(2), lines, strict=False)]
    return table.delimiter is None and table.header is None and widths == [2, 3]


def parse_gset(table: Table) -> EdgeTable:
    """Read a Gset file. Vertices are 1..n whether they have edges or not; a missing weight column means 1.

    DatasetError unless the first line is ``n m``, all vertices lie in 1..n, and there are m edges.
    """
    n, m, body = _size(table)
    widths = [len(fields) for _, (_, _, fields) in zip(range(1), body.data_lines(), strict=False)]
    weighted = widths != [2]
    rows = parse_rows(body, labels=int, weight="weight" if weighted else None)
    if len(rows.tails) != m:
        raise DatasetError(
            f"{table.path}: expected as many edges as the first line announces; the file may be truncated, "
            'or it is no Gset file (then pass format="edgelist")'
        )
    present, tails, heads = rows.positions()
    vertices = np.array(present, dtype=object)
    if len(vertices) and not (vertices[0] >= 1 and vertices[-1] <= n):
        raise DatasetError(f"{table.path}: expected vertices in 1..{n}, as the first line announces; found another")
    index = vertices.astype(np.int64) - 1
    weights = rows.weights if rows.weights is not None else np.ones(m)
    return merge_arcs(tuple(range(1, n + 1)), index[tails], index[heads], weights)


def _size(table: Table) -> tuple[int, int, Table]:
    for number, end, fields in table.data_lines():
        numbers = [int(field) for field in fields if field.isascii() and field.isdigit() and len(field) <= 18]
        if not len(fields) == len(numbers) == 2 or not 1 <= numbers[0] < MAX_VERTICES:
            raise malformed(table.path, number, "the numbers of vertices and edges of a Gset file: n m")
        return numbers[0], numbers[1], table.below(number, end)
    raise DatasetError(f"{table.path} is empty; expected a Gset file that starts with n m")
