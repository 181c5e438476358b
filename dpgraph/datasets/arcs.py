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
    tails, heads = tails[proper], heads[proper]
    if weights is None:
        # Ten times faster than numpy.unique, which hashes.
        pairs = np.sort(np.minimum(tails, heads) * n + np.maximum(tails, heads))
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        data = np.ones(len(pairs))
    else:
        arcs, arc_of = np.unique(tails * n + heads, return_inverse=True)
        tails, heads = np.divmod(arcs, n)
        pairs, pair_of = np.unique(np.minimum(tails, heads) * n + np.maximum(tails, heads), return_inverse=True)
        data = np.full(len(pairs), -np.inf)
        with np.errstate(invalid="ignore"):  # NaN stays NaN; whoever uses the weights refuses it
            np.maximum.at(data, pair_of, np.bincount(arc_of, weights=weights[proper], minlength=len(arcs)))
    return symmetric(n, *np.divmod(pairs, n), data)


def symmetric(n: int, low: IntArray, high: IntArray, data: FloatArray) -> sparse.csr_array:
    """Both entries of each edge."""
    low, high = low.astype(np.int32), high.astype(np.int32)  # half the memory of a large graph
    ends = np.concatenate([low, high]), np.concatenate([high, low])
    A = sparse.coo_array((np.concatenate([data, data]), ends), shape=(n, n)).tocsr()
    A.sort_indices()
    return A
