"""Extreme budgets, scales and graphs end in a finite result or in one of the package's own errors."""

import dataclasses
import gc
import warnings
import weakref

import igraph
import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import DPGraphError, MechanismHalted
from dpgraph.releases.all_cuts import LARGEST
from tests.about import about, each
from tests.privacy.inputs import Data
from tests.privacy.registry import ENTRIES, of_each_strategy

GRAPH_ENTRIES = [entry for entry in ENTRIES if entry.private == "G" and "rank" not in entry.options]
EACH = each("entry", of_each_strategy(ENTRIES))
EACH_GRAPH = each("entry", of_each_strategy(GRAPH_ENTRIES))


def run_strictly(entry, data, **options):
    """Run with warnings as errors, those too that a private call keeps quiet; a halt is an answer too."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPGRAPH_DEBUG", "1")
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="epsilon = .* protect nothing")  # of public numbers
        try:
            return entry.call(data, rng=0, **options)
        except MechanismHalted:
            return None


def assert_finite(result):
    for field in dataclasses.fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.all(np.isfinite(value)), field.name


@EACH
def test_any_budget_gives_finite_numbers_or_a_halt(entry):
    _, data, _ = entry.pairs[0]
    for epsilon, delta in ((1e-3, None), (0.3, 1e-15), (1e4, 0.5)):
        budget = {"epsilon": epsilon} | ({} if entry.pure or delta is None else {"delta": delta})
        with about(budget):
            result = run_strictly(entry, data, **budget)
            if result is not None:
                assert_finite(result)


TINY = {
    "one vertex": nx.empty_graph(1),
    "two vertices": nx.path_graph(2),
    "two vertices, no edge": nx.empty_graph(2),
    "no edges": nx.empty_graph(30),
    "complete": nx.complete_graph(12),
    "two components": nx.disjoint_union(nx.cycle_graph(5), nx.complete_graph(4)),
    "isolated vertices": nx.disjoint_union(nx.complete_bipartite_graph(4, 5), nx.empty_graph(6)),
    "mixed labels": nx.relabel_nodes(nx.cycle_graph(6), {0: "a", 1: (1, 2), 2: 3.5, 3: frozenset({1}), 4: b"x", 5: -1}),
    "igraph": igraph.Graph.Full(6),
    "self-loops and parallel edges": nx.MultiGraph([(0, 0), (0, 1), (0, 1), (1, 2)]),
}


@EACH_GRAPH
def test_small_and_odd_graphs_are_answered_in_their_own_labels(entry):
    for name, G in TINY.items():
        nodes = list(G) if isinstance(G, nx.Graph) else list(range(6))
        if entry.options.get("mechanism") == "permute-and-flip" and len(nodes) > LARGEST:
            continue  # it refuses so many vertices, publicly
        epsilon = 1e3 if len(nodes) % 2 else 1.0
        with about(name, epsilon):
            answered_in_labels(run_strictly(entry, Data(G), epsilon=epsilon), nodes)


def answered_in_labels(result, nodes):
    if result is not None:
        assert_finite(result)
        if hasattr(result, "nodes"):
            assert list(result.nodes) == nodes
        if hasattr(result, "partition"):
            assert set().union(*result.partition) == set(nodes)
            assert sum(map(len, result.partition)) == len(nodes)


@each("entry", [entry for entry in of_each_strategy(GRAPH_ENTRIES) if entry.function != "private_statistic"])
def test_the_unit_of_the_weights_does_not_matter(entry):
    """Statistics count edges, and have none."""
    half = np.triu(np.random.default_rng(0).random((9, 9)), 1)
    for max_weight in (1e-100, 1e100):
        options = dict(entry.options)
        if isinstance(tau := options.get("regularization"), float):  # has the unit of the weights too
            options["regularization"] = tau * max_weight
        data = Data((half + half.T) * max_weight, {"max_weight": max_weight})
        with about(max_weight):
            result = run_strictly(dataclasses.replace(entry, options=options), data, epsilon=50.0)
            if result is not None:
                assert_finite(result)


#: Private inputs that are arrays, or graphs that may be given as one.
NUMERIC = [entry for entry in ENTRIES if entry.private not in ("instance", "networkx graph")]
ODD_NUMBERS = (np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1e308, -1e308, 2.0**60)


@each("entry", of_each_strategy(NUMERIC))
def test_an_odd_number_in_a_private_argument_is_an_error_of_the_package_or_a_finite_answer(entry):
    _, data, _ = entry.pairs[0]
    for number in ODD_NUMBERS:
        with about(number):
            refused_or_finite(entry, data, number)


def refused_or_finite(entry, data, number):
    value = data.value if isinstance(data.value, np.ndarray) else nx.to_numpy_array(data.value)
    value = np.array(value, dtype=np.float64)
    value[(0,) * value.ndim] = number
    if value.ndim == 2:
        value[0, -1] = number
        if value.shape[0] == value.shape[1]:
            value[-1, 0] = number
    try:
        result = entry.call(Data(value, data.public), rng=0, epsilon=2.0)
    except DPGraphError:
        return
    assert np.isfinite(number), "a number that is not finite was answered"
    assert_finite(result)


def test_an_accountant_keeps_one_line_for_each_release_and_nothing_of_the_data():
    accountant = dpgraph.PrivacyAccountant(epsilon=1e3, delta=1e-6)
    graphs = []
    with accountant:
        for _ in range(200):
            graph = nx.path_graph(20)
            graphs.append(weakref.ref(graph))
            dpgraph.private_degrees(graph, epsilon=1.0, mechanism="laplace")
    del graph
    gc.collect()
    assert accountant.spent.epsilon == pytest.approx(200.0)
    assert len(accountant.report().entries) == 200
    assert not [held for held in graphs if held() is not None]


@pytest.mark.parametrize("name", ["private_subgraph_counts", "private_transitivity", "private_synthetic_graph"])
def test_an_epsilon_that_is_too_small_for_a_count_is_refused_before_the_debit(name):
    accountant = dpgraph.PrivacyAccountant(epsilon=1.0)
    with pytest.raises(dpgraph.InvalidParameterError, match="counts need epsilon"):
        getattr(dpgraph, name)(nx.path_graph(5), epsilon=1e-6, accountant=accountant)
    assert accountant.spent.epsilon == 0


@pytest.mark.filterwarnings("ignore:epsilon")
def test_noise_of_a_scale_that_is_no_double_is_drawn(monkeypatch):
    """A tiny weight over a huge budget is 0 in floating point; the call would fail after its debit."""
    monkeypatch.setenv("DPGRAPH_DEBUG", "1")
    exact = np.triu(np.ones((9, 9)), 1) * 1e-100
    for release in (dpgraph.private_degrees, dpgraph.private_max_cut):
        result = release(exact + exact.T, epsilon=1e300, max_weight=1e-100, rng=0)
        assert_finite(result)
    assert dpgraph.private_degrees(exact + exact.T, epsilon=1e300, max_weight=1e-100).values == pytest.approx(8e-100)


@pytest.mark.parametrize("seed", range(4))
def test_communities_are_found_where_the_square_of_the_noise_is_no_double(seed):
    budget = {"weight": "weight", "max_weight": 3e92, "epsilon": 1e-69, "rng": seed}
    assert dpgraph.private_communities(3e92 * (1 - np.eye(8)), **budget).labels.size == 8


@pytest.mark.parametrize("adjacency", ["edge", "label-edge", "constraint"])
def test_constraints_that_add_up_to_more_than_a_double_are_answered(adjacency):
    """Each is capped. A sum of all would be an error after the debit, and one constraint less none."""
    instance = dpgraph.TwoCSP(8, 2)
    instance.add_constraints([[0, 1], [2, 3]], (1 - np.eye(2)) * 1.7e308)
    assert np.isfinite(dpgraph.private_max_2csp(instance, epsilon=1.0, adjacency=adjacency).estimated_value)
