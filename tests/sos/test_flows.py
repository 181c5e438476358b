"""A flow finds the least of all cuts that differ near a seam."""

import itertools

import networkx as nx
import numpy as np
from scipy import sparse

from dpgraph.sos.cut import flows
from dpgraph.sos.cut.objective import SparseObjective
from tests.about import each


@each("scale", [1.0, 1e-200, 1e200], parts=2)
def test_a_flow_finds_the_least_of_all_cuts_that_differ_near_the_seam(scale, monkeypatch):
    monkeypatch.setattr(flows, "_NEAR", 0.7)
    rng = np.random.default_rng(0)
    for _ in range(30):
        G = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 2))
        A = nx.to_numpy_array(G) * scale * rng.integers(1, 4, size=(16, 16))
        A = np.minimum(A, A.T)
        objective, cut = (
            SparseObjective(sparse.csr_array(-A)),
            np.where(np.arange(16) < rng.choice([6, 8, 9]), 1.0, -1.0),
        )
        assert flows.can_flow(objective)
        near = np.any((cut[:, None] != cut) & (A > 0.0), axis=0)
        while np.count_nonzero(wider := near | (A @ near > 0.0)) <= 0.7 * 16:
            near = wider
        sides = np.array(list(itertools.product((1.0, -1.0), repeat=int(near.sum())))).T
        cuts = np.tile(cut[:, None], sides.shape[1])
        cuts[near] = sides
        assert objective.cut_value(flows.cut_by_flow(objective, cut)) >= objective.values(cuts).max() * (1.0 + 1e-9)


def test_no_flow_where_some_weights_are_gains_or_much_is_near_the_seam():
    assert not flows.can_flow(SparseObjective(sparse.csr_array(np.array([[0.0, -1.0, 0], [-1, 0, 1], [0, 1, 0]]))))
    objective = SparseObjective(-nx.to_scipy_sparse_array(nx.complete_graph(20), dtype=float))
    cut = np.where(np.arange(20) < 10, 1.0, -1.0)
    assert flows.cut_by_flow(objective, cut) is cut
