"""Triangles of a graph in blocks, and the most common neighbours of two vertices, counted by the workers.

Vertices go by their rank, from the largest degree to the smallest. The rows of a few ranks at a time are sent to all
workers, and each block counts the triangles that have their vertex of largest degree there.
"""

from functools import cached_property
from typing import Any

import numpy as np

from dpgraph.compiled import njit
from dpgraph.distributed.blocks import Block
from dpgraph.distributed.graph import DistributedGraph
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.typing import BoolArray, IntArray

#: Entries of the rows that are sent at a time.
_SENT = 2**22


class DistributedSubgraphs(Subgraphs):
    """The same integers as on one machine; the matrix comes to the client for patterns beyond triangles."""

    def __init__(self, graph: DistributedGraph) -> None:
        self._graph, self._degrees = graph, graph.edge_counts()
        self._read = lambda: (graph.adjacency.indptr, graph.adjacency.indices)

    @cached_property
    def _triangles(self) -> int:
        return self._counted[0]

    @cached_property
    def _codegree(self) -> int:
        return self._counted[1]

    @cached_property
    def _counted(self) -> tuple[int, int]:
        blocks, n = self._graph.blocks, self._degrees.size
        rank = np.empty(n, dtype=np.int32 if n < 2**31 else np.int64)
        rank[self._by_degree] = np.arange(n)
        of_all, ends = blocks.sent(rank), np.cumsum(self._degrees[self._by_degree])
        first = total = codegree = 0
        while first < n:
            sent = ends[first - 1] if first else 0
            last = max(int(np.searchsorted(ends, sent + _SENT, side="right")), first + 1)
            rows = blocks.matrix(self._by_degree[first:last])
            rows.indices = rank[rows.indices]
            columns = rows.tocsc()
            piece = blocks.sent((first, last - first, columns.indptr, columns.indices))
            found = blocks.of_each(counted, of_all, piece, codegree)
            total, codegree = total + sum(t for t, _ in found), max(c for _, c in found)
            first = last
        return total, codegree


def counted(
    block: Block, _weighted: bool, number: int, blocks: int, rank: IntArray, piece: Any, codegree: int
) -> tuple[int, int]:
    """Triangles whose vertex of smallest degree is in a block, and whose one of largest degree is in a piece.

    And the most common neighbours of two vertices in the same places, if they are more than `codegree`, else that.
    """
    own = rank[number::blocks]
    order = np.argsort(own)
    rows = block.rows(order)
    starts = np.concatenate([[0], np.cumsum(rows.lengths)])
    found = _count(own[order], starts, rank[rows.columns], tuple(piece), codegree)
    return int(found[0]), int(found[1])


@njit(nogil=True)
def _count(own: IntArray, starts: IntArray, columns: IntArray, piece: Any, codegree: int) -> tuple[int, int]:
    """Triangles w < v < u of ranks, u a row and w = first + a member of `size`; see :func:`counted`."""
    first, size, pointers, members = piece
    marked, common = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.int64)
    total = 0
    for k in range(own.size):
        u, row = own[k], columns[starts[k] : starts[k + 1]]
        if u <= first:
            continue
        _mark(row, first, marked, True)
        for v in row:
            if v < u:
                for w in members[pointers[v] : pointers[v + 1]]:
                    if first + w >= v:
                        break
                    total += marked[w]
        _mark(row, first, marked, False)
        if row.size > codegree:
            for v in row:
                for w in members[pointers[v] : pointers[v + 1]]:
                    if first + w >= u:
                        break
                    common[w] += 1
                    codegree = max(codegree, common[w])
            for v in row:
                common[members[pointers[v] : pointers[v + 1]]] = 0
    return total, codegree


@njit()
def _mark(row: IntArray, first: int, marked: BoolArray, value: bool) -> None:
    for v in row:
        if first <= v < first + marked.size:
            marked[v - first] = value
