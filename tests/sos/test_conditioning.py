"""Correlations are those of the definition; pinned searches bound every cut."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dpgraph.sos.cut.conditioning import condition
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.rounding import independent_signs
from dpgraph.sos.seed_search import SolverOptions
from tests.sos.brute_force import best_value


def signed_objective(n, seed, density=0.6):
    rng = np.random.default_rng(seed)
    M = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < density), 1)
    return SparseObjective(sparse.csr_array(M + M.T))


def search(objective, *, seeds, beam=2, target=0.0, lower_bound=-np.inf):
    rng = np.random.default_rng(0)
    root = solve_low_rank(objective, rng)
    return condition(
        objective,
        root,
        SolverOptions(seeds=seeds, target_correlation=target, beam=beam),
        rng,
        weights=objective.vertex_weights(),
        lower_bound=lower_bound,
    )


@pytest.mark.parametrize("seeds", [1, 3])
def test_independent_rounding_expects_relaxation_value_minus_local_correlation(seeds):
    objective = signed_objective(14, seed=3)
    found = search(objective, seeds=seeds, beam=1)
    node, last = found.nodes[0], found.trace[-1]
    means = node.means()
    expected = last.value - last.local_correlation
    assert objective.values(means) == pytest.approx(expected, abs=1e-8)  # M has no diagonal: exact, not sampled
    values = objective.values(independent_signs(means, 40_000, np.random.default_rng(1)))
    assert values.mean() == pytest.approx(expected, abs=4.5 * values.std() / 200.0)


def test_pinning_every_vertex_without_dropping_a_node_finds_the_optimum():
    objective = signed_objective(7, seed=2, density=1.0)
    found = search(objective, seeds=7, beam=64)
    assert found.upper_bound == pytest.approx(best_value(objective), abs=1e-9)
    assert found.nodes[0].solution.value == pytest.approx(best_value(objective), abs=1e-9)
    assert found.trace[-1].global_correlation == pytest.approx(0.0, abs=1e-12)


def test_a_search_that_cannot_beat_a_known_cut_closes_every_branch():
    objective = SparseObjective(nx.to_scipy_sparse_array(nx.cycle_graph(5), dtype=float))
    assert search(objective, seeds=0).upper_bound == pytest.approx(4.52254, abs=1e-5)
    found = search(objective, seeds=5, lower_bound=4.0 + 1.0 - 1e-6)  # integers: below 5 is at most 4
    assert found.upper_bound < 5.0
    assert search(objective, seeds=5, beam=16).upper_bound == pytest.approx(4.0)
