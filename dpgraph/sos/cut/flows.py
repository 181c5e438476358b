"""Minimum bisections refined by maximum flows, which move a seam past what flips of single vertices cannot.

Of all cuts that differ from a given one in vertices near its seam alone, a flow finds one of least weight (Sanders,
Schulz 2011). Two of these are told apart, next to either side.
"""

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.typing import FloatArray

_NEAR = 0.15  # share of the vertices that may change sides
_MOST_ENTRIES = 2**18  # of a matrix: beyond it, a flow may take long
_CAPACITY = 2**29  # of the cut: so no residual overflows 32 bits


def can_flow(objective: SparseObjective) -> bool:
    """Whether the matrix is that of a minimum cut, and small enough."""
    return objective.entries.size <= _MOST_ENTRIES and bool(np.max(objective.entries, initial=-1.0) < 0.0)


def cut_by_flow(objective: SparseObjective, cut: FloatArray) -> FloatArray:
    """The least cut of those that differ near the seam, or the more balanced of two; the same where much is near."""
    M, n = objective.matrix, objective.n_vertices
    rows, columns = np.repeat(np.arange(n), np.diff(M.indptr)), M.indices
    crossing = cut[rows] != cut[columns]
    near, wider = np.zeros(n, dtype=bool), np.bincount(rows[crossing], minlength=n) > 0
    while np.count_nonzero(near) < np.count_nonzero(wider) <= _NEAR * n:
        near, wider = wider, wider.copy()
        wider[columns[near[rows]]] = True
    if not near.any():
        return cut
    names = np.where(cut > 0.0, 0, 1)  # all that is far from the seam are the two ends of the flow
    names[near] = 2 + np.arange(np.count_nonzero(near))
    inside = near[rows] | near[columns]
    pairs, scale = (names[rows[inside]], names[columns[inside]]), _CAPACITY / (0.5 * M.data[crossing].sum())
    network = sparse.coo_array((scale * M.data[inside], pairs), shape=(names.max() + 1,) * 2).tocsr()
    network.data = np.rint(np.minimum(network.data, _CAPACITY)).astype(np.int32)
    left = sparse.csr_array(network - csgraph.maximum_flow(network, 0, 1).flow)
    found = []
    for end, to in enumerate((left, left.T.tocsr())):
        sides = np.full(names.max() + 1, 1.0 if end else -1.0)
        sides[csgraph.breadth_first_order(to, end, return_predecessors=False)] *= -1.0
        found.append(sides[names])
    return min(found, key=lambda x: abs(float(x.sum())))
