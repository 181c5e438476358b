"""The loop of bounded iterates: what it costs, what it publishes, and that it stays on its grid."""

import networkx as nx
import numpy as np

from dpgraph.denoise.iterates import ITERATE_UNIT, Signs
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.row_norm import NUMBER
from dpgraph.releases.sweeps.core import release_one_sided_sweep, release_repeated_sweeps
from dpgraph.releases.sweeps.iteration import Core, FieldOracle, Iteration, RowSensitivity
from tests.calls import edge_call, release_cut_labels


def test_rows_outside_the_core_are_looked_at_once_after_all_sweeps_and_never_seen_by_the_core():
    looks = []

    def fields(block, X):
        looks.append((set(block.tolist()), set(np.flatnonzero(X[:, 0]).tolist())))
        return np.ones((len(block), 1))

    oracle = FieldOracle(30, 1, fields, unit=ITERATE_UNIT, row_bound=1.0, sensitivity=RowSensitivity(NUMBER, 1.0))
    call, core = edge_call(1.0), Core(np.arange(30), 10)
    arguments = Iteration(oracle, Signs()), np.ones(30), core
    X, _ = release_repeated_sweeps(*arguments, call.part(0.5), sweeps=4)
    assert not X[core.others].any()
    X, _ = release_one_sided_sweep(*arguments, X, call.part(0.5))
    assert X.all()
    inside, outside = set(range(10)), set(range(10, 30))
    sweeps = [(rows, seen) for rows, seen in looks if rows <= inside]
    last = [(rows, seen) for rows, seen in looks if rows <= outside]
    assert len(sweeps) + len(last) == len(looks)
    assert all(seen <= inside for _, seen in sweeps)
    assert looks[len(sweeps) :] == last
    assert sorted(row for rows, _ in last for row in rows) == sorted(outside)
    assert all(not seen & rows for rows, seen in last)


def test_iterates_seen_by_the_data_are_bounded_and_on_the_public_grid():
    seen = []
    G = open_graph(nx.gnp_random_graph(60, 0.3, seed=0)).read()
    multiply = type(G).multiply_rows

    class Spy:
        def __getattr__(self, name):
            return getattr(G, name)

        def multiply_rows(self, rows, block):
            seen.append(block.copy())
            return multiply(G, rows, block)

    release_cut_labels(Spy(), edge_call(1.0), mean_degree=18.0)
    X = np.stack(seen)
    assert np.abs(X).max() <= 1.0
    assert np.array_equal(X, np.rint(X / ITERATE_UNIT) * ITERATE_UNIT)
