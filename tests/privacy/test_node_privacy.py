"""Numbers for which neighbours differ in all edges of one vertex: every rewiring of small graphs."""

import dataclasses
import itertools
import math
from types import SimpleNamespace
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

import dpgraph
from dpgraph.bounds import nodes
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.call import Released
from dpgraph.releases import nodes as released
from dpgraph.releases.nodes import release_truncated_tails, truncated_degrees, twice_the_flow

N = 6
LIMITS = released._limits(N)


def read(graph):
    return open_graph(graph, weight=None, max_weight=None, symmetrize=False).read()


def flow(graph, limit):
    return twice_the_flow(graph.edge_counts(), graph.within, limit)


def rewired():
    """Numbers of all graphs that differ from each other in edges at vertex 0 only, for several remainders."""
    rng = np.random.default_rng(5)
    rests = [nx.empty_graph(N - 1), nx.complete_graph(N - 1), nx.star_graph(N - 2), nx.path_graph(N - 1)]
    rests += [nx.gnp_random_graph(N - 1, p, seed=int(rng.integers(99))) for p in (0.3, 0.5, 0.7)]
    for rest in rests:
        graphs = []
        for at in itertools.product((0, 1), repeat=N - 1):
            A = np.zeros((N, N))
            A[1:, 1:] = nx.to_numpy_array(rest)
            A[0, 1:] = A[1:, 0] = at
            graphs.append(read(A))
        yield graphs


@pytest.fixture(scope="module")
def families():
    return list(rewired())


def largest_change(rows):
    """Largest l1 distance of two rows."""
    return max(np.abs(rows - row).sum(axis=1).max() for row in np.asarray(rows, dtype=float))


def test_the_flow_is_the_optimum_of_its_linear_program():
    rng = np.random.default_rng(3)
    for _ in range(60):
        n = int(rng.integers(1, 9))
        graph = nx.gnp_random_graph(n, rng.random(), seed=int(rng.integers(1e9)))
        ends = np.zeros((n, max(len(graph.edges), 1)))
        for e, edge in enumerate(graph.edges):
            ends[list(edge), e] = 1.0
        for limit in (1, 2, 3, 4):
            best = linprog(-1.0 * ends.any(axis=0), A_ub=ends, b_ub=np.full(n, limit), bounds=(0, 1))
            assert flow(read(nx.to_numpy_array(graph)), limit) == pytest.approx(-2 * best.fun, abs=1e-6)


def test_no_rewiring_moves_flows_scores_or_tails_beyond_their_bounds_and_some_reach_them(families, monkeypatch):
    seen = dict.fromkeys(("flow", "tails", "score", "difference"), 0.0)
    scores = []
    monkeypatch.setattr(Maximum, "found", scores)
    for graphs in families:
        flows = np.array([[flow(graph, limit) for limit in LIMITS] for graph in graphs])
        for j, limit in enumerate(LIMITS):
            seen["flow"] = max(seen["flow"], largest_change(flows[:, j : j + 1] // 2) / nodes.flow(limit))
            for order in range(4):
                kept = [truncated_degrees(graph.adjacency, limit, order) for graph in graphs]
                tails = [[np.sum(degrees >= k) for k in range(1, limit + 1)] for degrees in kept]
                seen["tails"] = max(seen["tails"], largest_change(tails) / nodes.truncated_tails(limit))
        seen["difference"] = max(seen["difference"], largest_change((flows[:, 1:2] - flows[:, :1]) / 2))
        for prices in ([0.0] * len(LIMITS), [4.0 * limit for limit in LIMITS], [0.7 * limit**1.5 for limit in LIMITS]):
            scores.clear()
            for row in flows:
                released._chosen(row.tolist(), LIMITS, prices, Maximum)
            change = np.array(scores)[:, None] - np.array(scores)[None]
            # What moves up and what moves down add up.
            moved = np.maximum(change.max(axis=2), 0) - np.minimum(change.min(axis=2), 0)
            assert np.abs(change).max() <= 1.0
            seen["score"] = max(seen["score"], moved.max() / nodes.choice())
    assert max(seen["flow"], seen["tails"], seen["score"]) <= 1.0, f"a vertex moves more than its bound: {seen}"
    assert seen["flow"] == seen["tails"] == 1.0, "nobody tried hard enough"
    assert seen["difference"] >= 2.0, "a difference of two flows moves by more than one of them"
    assert seen["score"] >= 0.4


class Kept:
    """A call that keeps what it is asked to release, the limit being given."""

    epsilon = 1.0
    generator = SimpleNamespace(integers=lambda _: 2**40 + 7)

    def __init__(self):
        self.found = []

    def split(self, *shares):
        assert sum(shares) == 1
        return self, self

    def release(self, measurement):
        self.found.append(measurement)
        return Released(measurement.value, 1.0)


def largest_move_of_sums(families, monkeypatch):
    """What one vertex moves the released sums by, over their bound, at most, for blocks of several widths."""
    worst = 0.0
    for limit, precise in itertools.product((2, 5), (1.0, 3.0)):
        monkeypatch.setattr(released, "_chosen", lambda flows, limits, *_, at=limit: limits.index(at))
        monkeypatch.setattr(released, "NODES", dataclasses.replace(released.NODES, precise=precise))
        for graphs in families:
            call = Kept()
            for graph in graphs:
                release_truncated_tails(graph, call)
            worst = max(worst, largest_change([m.value for m in call.found]) / call.found[0].l1)
    return worst


def test_no_rewiring_moves_the_sums_over_blocks_beyond_their_bound(families, monkeypatch):
    assert largest_move_of_sums(families, monkeypatch) == 1.0


def test_sums_from_the_first_degree_on_would_move_more(families, monkeypatch):
    reduceat = np.add.reduceat
    wrong = SimpleNamespace(reduceat=lambda *arguments: np.cumsum(reduceat(*arguments)))
    monkeypatch.setattr(released, "np", SimpleNamespace(**vars(np) | {"add": wrong}))
    assert largest_move_of_sums(families[:3], monkeypatch) > 1.0


def flow_moves_by_half_its_limit(monkeypatch):
    monkeypatch.setattr(nodes, "flow", lambda limit: limit / 2)


def tails_move_by_their_limit(monkeypatch):
    monkeypatch.setattr(nodes, "truncated_tails", float)


@pytest.mark.parametrize("fault", [flow_moves_by_half_its_limit, tails_move_by_their_limit])
def test_a_fault_is_caught_by_the_enumeration(fault, families, monkeypatch):
    test = test_no_rewiring_moves_flows_scores_or_tails_beyond_their_bounds_and_some_reach_them
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="a vertex moves more"):
        test(families[:3], monkeypatch)


class Maximum:
    """A call that keeps the scores of its choices."""

    found: ClassVar[list] = []

    @classmethod
    def noisy_maximum(cls, name, bound, unit):
        assert bound == nodes.choice()
        assert (1.0 / unit) % 1 == 0
        return cls

    @classmethod
    def choose(cls, scores):
        cls.found.append(scores[0])
        assert np.array_equal(scores * 2.0**20, np.rint(scores * 2.0**20))
        return np.argmax(scores, axis=1)


def test_a_chain_of_kept_edges_moves_two_degrees_only():
    """On a path in its own order every kept edge changes with the first one, and the degrees at its ends."""
    chain = nx.path_graph(40)
    for order in range(30):
        before = truncated_degrees(read(nx.to_numpy_array(chain)).adjacency, 1, order)
        other = chain.copy()
        other.remove_edge(0, 1)
        after = truncated_degrees(read(nx.to_numpy_array(other)).adjacency, 1, order)
        assert np.abs(before - after).sum() <= 2


def test_counts_and_distributions_are_near_on_a_graph_of_moderate_degrees():
    graph = nx.fast_gnp_random_graph(4000, 16 / 4000, seed=2)
    m, true = graph.number_of_edges(), np.sort([d for _, d in graph.degree])
    counts = [dpgraph.private_subgraph_counts(graph, "edge", epsilon=1.0, adjacency="node", rng=s) for s in range(9)]
    assert np.median([abs(c.counts["edge"] / m - 1) for c in counts]) < 0.05
    assert all(c.interval("edge")[1] == math.inf for c in counts)
    assert counts[0].mechanism == "flow"
    assert sum(c.interval("edge")[0] <= m for c in counts) >= 8
    for entry, law in zip(counts[0].privacy.entries, ("noisy maximum", "Laplace"), strict=True):
        assert entry.mechanism == law
    found = dpgraph.private_degree_distribution(graph, epsilon=1.0, adjacency="node", rng=1)
    ranks = np.searchsorted(true, np.arange(len(found.counts)), side="right")
    assert np.abs(np.cumsum(found.counts) - ranks).max() < 0.1 * len(graph)
    low, high = found.interval()
    at_least = np.append(len(graph), len(graph) - np.searchsorted(true, np.arange(1, found.ends[-1] + 1)))
    assert np.mean(low[: at_least.size] <= at_least / len(graph)) >= 0.9
    assert low.size == high.size == len(graph)
    assert "all edges of one vertex" in found.privacy.adjacency


def test_a_vertex_without_others_has_no_edges():
    for seed in range(20):
        found = dpgraph.private_degree_distribution(nx.empty_graph(1), epsilon=0.1, adjacency="node", rng=seed)
        assert found.counts.tolist() == [1]


def test_an_accountant_of_edges_takes_no_call_about_vertices():
    with dpgraph.PrivacyAccountant(epsilon=2.0):
        dpgraph.private_degrees(nx.star_graph(5), epsilon=1.0)
        with pytest.raises(InvalidParameterError, match="neighbouring relation"):
            dpgraph.private_degree_distribution(nx.star_graph(5), epsilon=1.0, adjacency="node")
