"""Prefixes of variables: bounds that hold however few are kept, and proofs where the treewidth is large."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

from dpgraph import TwoCSP, max_2csp, max_cut
from dpgraph.sos.csp import frontier
from dpgraph.sos.csp.messages import pass_messages
from dpgraph.sos.csp.objective import CSPObjective


def instance(graph, q, seed, *, whole):
    rng, graph = np.random.default_rng(seed), nx.convert_node_labels_to_integers(graph)
    made = TwoCSP(len(graph), q)
    for u, v in graph.edges:
        made.add_constraint(u, v, rng.integers(0, 9, (q, q)).astype(float) if whole else 1e6 + rng.random((q, q)))
    return made


def test_bounds_hold_however_few_prefixes_are_kept(monkeypatch):
    monkeypatch.setattr(frontier, "_FEWEST", 2)
    proven = 0
    for seed, most in itertools.product(range(8), (2, 8, 4096)):
        made = instance(nx.gnm_random_graph(7, 13, seed=seed), 3, seed, whole=seed % 2 == 0)
        if seed == 6:
            made = TwoCSP.from_networkx(nx.complete_graph(7), "coloring", 3)
        given = CSPObjective.of(made)
        best = max(given.value(np.array(x)) for x in itertools.product(range(3), repeat=7))
        start = np.zeros(7, dtype=np.int64)
        labels, bound = frontier.search_frontier(given, start, pass_messages(given).proof.shares, most, math.inf)
        assert given.value(start) <= given.value(labels) <= best <= bound
        proven += given.value(labels) == best and bound <= best * (1 + 1e-12)
    assert proven >= 6


def test_a_grid_that_no_table_holds_is_proven():
    made = instance(nx.grid_2d_graph(10, 10), 5, 101, whole=True)
    seen = []
    result = max_2csp(made, search="optimal", rng=0, callback=lambda *now: seen.append(now))
    assert result.status == "optimal"
    assert result.value == result.upper_bound <= result.certificate.bound
    rest = np.array([*itertools.islice(itertools.cycle(range(5)), 100)])
    assert made.value(rest) <= result.value


@pytest.mark.parametrize("solve", ["cut", "csp"])
def test_a_search_for_a_proof_is_never_behind_the_default(solve):
    for seed in range(6):
        if solve == "cut":
            graph = nx.gnm_random_graph(40, 60 + 40 * seed, seed=seed)
            first, proven = (max_cut(graph, rng=seed, search=mode) for mode in ("beam", "optimal"))
        else:
            made = instance(nx.gnm_random_graph(16, 30 + 8 * seed, seed=seed), 3, seed, whole=True)
            first, proven = (max_2csp(made, rng=seed, search=mode) for mode in ("beam", "optimal"))
        assert first.value <= proven.value <= proven.upper_bound <= first.upper_bound
