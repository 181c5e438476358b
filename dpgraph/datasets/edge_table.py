"""Edges of an undirected graph in arrays: the common ground between file formats and graph types."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False)
class EdgeTable:
    """Simple undirected graph: positions ``low < high`` in `nodes` of the ends of each edge, once, no self-loops."""

    nodes: tuple[Hashable, ...]
    low: IntArray
    high: IntArray
    weights: FloatArray | None = None  # every edge counts 1 if None

    def to_networkx(self, weight: str = "weight") -> nx.Graph:
        """As a networkx graph; weights, if there are any, become edge attribute `weight`."""
        import networkx as nx

        G = nx.Graph()
        G.add_nodes_from(self.nodes)
        tails, heads = ([self.nodes[i] for i in ends.tolist()] for ends in (self.low, self.high))
        if self.weights is None:
            G.add_edges_from(zip(tails, heads, strict=True))
        else:
            G.add_weighted_edges_from(zip(tails, heads, self.weights.tolist(), strict=True), weight=weight)
        return G

    def to_sparse(self) -> sparse.csr_array:
        """As a symmetric adjacency matrix, shape ``(n, n)``, float64."""
        n = len(self.nodes)
        data = np.ones(len(self.low)) if self.weights is None else self.weights
        # 32-bit positions halve the memory of a large graph.
        row = np.concatenate([self.low, self.high]).astype(np.int32)
        col = np.concatenate([self.high, self.low]).astype(np.int32)
        A = sparse.coo_array((np.concatenate([data, data]), (row, col)), shape=(n, n)).tocsr()
        A.sort_indices()
        return A


def merge_arcs(
    nodes: tuple[Hashable, ...], tails: IntArray, heads: IntArray, weights: FloatArray | None = None
) -> EdgeTable:
    """Undirected simple graph from a list of arcs between positions in `nodes`.

    Self-loops are dropped. Unweighted repetitions, in either direction, count once. Weights of arcs repeated in the
    same direction are summed; of the two directions the larger counts, because most files that list both mean one edge.
    Both rules map neighbouring graphs to neighbouring graphs.
    """
    n = max(len(nodes), 1)
    proper = tails != heads
    tails, heads = tails[proper], heads[proper]
    if weights is None:
        # Ten times faster than numpy.unique, which hashes.
        pairs = np.sort(np.minimum(tails, heads) * n + np.maximum(tails, heads))
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return EdgeTable(nodes, pairs // n, pairs % n)
    arcs, arc_of = np.unique(tails * n + heads, return_inverse=True)
    sums = np.bincount(arc_of, weights=weights[proper], minlength=len(arcs))
    tails, heads = arcs // n, arcs % n
    pairs, pair_of = np.unique(np.minimum(tails, heads) * n + np.maximum(tails, heads), return_inverse=True)
    heavier = np.full(len(pairs), -np.inf)
    with np.errstate(invalid="ignore"):  # NaN stays NaN; whoever uses the weights refuses it
        np.maximum.at(heavier, pair_of, sums)
    return EdgeTable(nodes, pairs // n, pairs % n, heavier)
