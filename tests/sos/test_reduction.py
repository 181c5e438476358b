"""Eliminating vertices of low degree changes no optimum."""

import itertools

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.reduction import reduce_low_degree


def weighted(graph, seed, integral=False):
    rng = np.random.default_rng(seed)
    A = nx.to_scipy_sparse_array(graph, dtype=float, format="coo")
    row, col = A.coords
    upper = row < col
    data = rng.standard_normal(int(upper.sum()))
    data = np.rint(2.0 * data) if integral else data
    U = sparse.coo_array((data, (row[upper], col[upper])), shape=A.shape)
    M = (U + U.T).tocsr()
    M.eliminate_zeros()
    return M


def all_signs(k):
    return np.array([(1.0, *rest) for rest in itertools.product((-1.0, 1.0), repeat=k - 1)]).T


GRAPHS = [
    nx.random_labeled_tree(9, seed=1),
    nx.cycle_graph(8),
    nx.cubical_graph(),
    nx.petersen_graph(),
    nx.gnp_random_graph(10, 0.35, seed=2),
    nx.gnp_random_graph(10, 0.7, seed=3),
    nx.complete_graph(6),
    nx.disjoint_union(nx.path_graph(4), nx.complete_graph(5)),
    nx.empty_graph(3),
    nx.empty_graph(1),
]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("integral", [False, True])
def test_every_cut_of_the_rest_extends_with_its_own_value_plus_a_constant(graph, integral):
    for seed in range(4):
        M = weighted(graph, seed, integral)
        whole, (matrix, kept, lift, _) = SparseObjective(M), reduce_low_degree(M)
        rest = SparseObjective(matrix)
        signs = all_signs(kept.size)
        lifted = np.column_stack([lift(x) for x in signs.T])
        shift = whole.values(lifted) - rest.values(signs)
        np.testing.assert_allclose(shift, shift[0], atol=1e-9)
        np.testing.assert_array_equal(lifted[kept], signs)
        # Lifted cuts are the best extensions: the best of them is the best cut of all.
        assert whole.values(lifted).max() == pytest.approx(whole.values(all_signs(len(graph))).max())
