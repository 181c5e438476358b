"""An undirected graph from a list of arcs."""

from collections.abc import Hashable

import numpy as np
from scipy import sparse

from dpgraph.typing import FloatArray, IntArray

#: Adjacency matrix, vertices, and whether the entries are weights.
EdgeList = tuple[sparse.csr_array, tuple[Hashable, ...], bool]


def merge_arcs(n: int, tails: IntArray, heads: IntArray, weights: FloatArray | None = None) -> sparse.csr_array:
    """Symmetric matrix without diagonal from a list of arcs between n vertices; entries are 1 without `weights`.

    Unweighted repetitions, in either direction, count once. Weights of arcs repeated in the same direction are summed;
    of the two directions the larger counts, because most files that list both mean one edge. Both rules map
    neighbouring graphs to neighbouring graphs.
    """
    proper = tails != heads
    tails, heads = tails[proper].astype(np.int64), heads[proper].astype(np.int64)
    pairs = np.minimum(tails, heads) * n + np.maximum(tails, heads)
    if weights is None:
        pairs.sort()
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        return symmetric(n, *np.divmod(pairs, n), np.ones(len(pairs)))
    arcs = 2 * pairs + (tails < heads)
    order = np.argsort(arcs, kind="stable")
    arcs = arcs[order]
    new = np.diff(arcs, prepend=-1) > 0
    first = np.flatnonzero(np.diff(arcs[new] // 2, prepend=-1))
    sums = np.bincount(np.cumsum(new) - 1, weights=weights[proper][order])
    with np.errstate(invalid="ignore"):  # NaN stays NaN; whoever uses the weights refuses it
        data = np.maximum.reduceat(sums, first, dtype=np.float64)
    return symmetric(n, *np.divmod(arcs[new][first] // 2, n), data)


def symmetric(n: int, low: IntArray, high: IntArray, data: FloatArray) -> sparse.csr_array:
    """Both entries of each edge."""
    low, high = low.astype(np.int32), high.astype(np.int32)  # half the memory of a large graph
    # Rows come out sorted if the edges are: what is left of the diagonal first.
    ends = np.concatenate([high, low]), np.concatenate([low, high])
    A = sparse.coo_array((np.concatenate([data, data]), ends), shape=(n, n)).tocsr()
    A.sort_indices()
    return A
