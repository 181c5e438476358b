"""The networkx backend: private answers through nx.*, and no way to an exact one."""

import inspect
import itertools
import math
import random
import sys
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import DPGraphError, InvalidGraphError, InvalidParameterError
from dpgraph.interfaces.networkx import backend as networkx_backend
from dpgraph.interfaces.networkx import info as _nx_backend_info
from dpgraph.interfaces.networkx.private_graph import PrivateGraph, as_rng
from tests import networkx_versions, programs
from tests.about import each

#: Some are as new as networkx 3.6.
FUNCTIONS = sorted(set(_nx_backend_info.ANSWERED) & set(nx.utils.backends._registered_algorithms))
COMMUNITIES = [name for name in FUNCTIONS if name.endswith("_communities")]
SPLIT = ("conductance", "edge_expansion", "mixing_expansion", "normalized_cut_size")
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
#: At this epsilon the noise of a count is far below 1/2 and rounding recovers the exact count.
LOUD = {"epsilon": 1e4, "delta": 1e-6}


@pytest.fixture(autouse=True)
def clean_configuration():
    """Each test starts and ends with the defaults of networkx and of the backend."""
    settings = nx.config.backends.dpgraph
    yield settings
    settings.epsilon = settings.delta = settings.max_weight = None
    nx.config.backend_priority = []
    nx.config.fallback_to_nx = False


def graph(n=60, degree=20, seed=0):
    return dpgraph.datasets.planted_cut(n, degree, -0.8, rng=seed)


def call(name, G, **more):
    """One networkx function with the arguments that it needs."""
    nodes = list(G)[: len(G) // 2]
    public = {
        **{one: {"S": nodes} for one in (*SPLIT, "cut_size", "volume")},
        "density": {"nodes": nodes},
        "modularity": {"communities": [set(nodes), set(G) - set(nodes)]},
        "adjacency_spectrum": {"weight": None},
        "laplacian_spectrum": {"weight": None},
        "spectral_bisection": {"weight": None, "normalized": True},
        "kernighan_lin_bisection": {"weight": None},
        "partition_quality": {"partition": [set(nodes), set(G) - set(nodes)]},
        "attribute_mixing_matrix": {"attribute": "side"},
        "attribute_assortativity_coefficient": {"attribute": "side"},
    }.get(name, {})
    return nx.utils.backends._registered_algorithms[name](G, **public, **more)


def test_one_exchange_is_private_max_cut_with_python_numbers_and_the_callers_labels():
    G = nx.relabel_nodes(graph(300, 60), lambda v: (v, "name"))
    value, (left, right) = nx.approximation.one_exchange(G, backend="dpgraph", epsilon=2.0, delta=1e-6, seed=3)
    assert type(value) is int
    assert (left | right, left & right) == (set(G), set())
    assert abs(value - dpgraph.evaluate.cut_value(G, (left, right))) < 300
    assert dpgraph.evaluate.cut_fraction(G, (left, right)) > 0.7


def test_a_random_partition_is_drawn_without_looking_at_the_edges():
    partitions = [
        nx.approximation.randomized_partitioning(G, seed=5, p=0.3, backend="dpgraph", **BUDGET)[1]
        for G in (nx.empty_graph(200), nx.complete_graph(200))
    ]
    assert partitions[0] == partitions[1]
    assert 30 < len(partitions[0][0]) < 90
    G = nx.complete_graph(10)
    assert nx.approximation.randomized_partitioning(G, p=1, backend="dpgraph", **LOUD) == (0, (set(G), set()))


@each("pure", [False, True], parts=2)
def test_counts_are_those_of_networkx_when_the_noise_is_negligible(pure):
    budget = {"backend": "dpgraph"} | (LOUD | {"delta": 0} if pure else LOUD)
    G = graph()
    S, T = range(20), range(10, 45)
    assert nx.cut_size(G, S, **budget) == nx.cut_size(G, S)
    assert nx.cut_size(G, S, T, **budget) == nx.cut_size(G, S, T)
    assert nx.volume(G, S, **budget) == nx.volume(G, S)
    assert nx.degree_centrality(G, **budget) == nx.degree_centrality(G)
    assert nx.bipartite.density(G, range(30), **budget) == nx.bipartite.density(G, range(30))
    assert nx.bipartite.density(G, None, **budget) == pytest.approx(nx.density(G))


def test_numbers_about_public_groups_are_those_of_networkx_when_the_noise_is_negligible():
    budget = {"backend": "dpgraph"} | LOUD
    G = nx.planted_partition_graph(3, 20, 0.4, 0.05, seed=2)
    parts = [set(range(k, k + 20)) for k in (0, 20, 40)]
    nx.set_node_attributes(G, {v: "abc"[v // 20] for v in G}, "group")
    mapping = {"c": 0, "a": 1, "b": 2, "d": 3}
    for private, more in ((G, budget), (PrivateGraph(G), LOUD)):
        assert nx.community.partition_quality(private, parts, **more) == nx.community.partition_quality(G, parts)
    for normalized in (False, True):
        options = {"mapping": mapping, "normalized": normalized}
        exact = nx.attribute_mixing_matrix(G, "group", **options)
        assert nx.attribute_mixing_matrix(G, "group", **options, **budget) == pytest.approx(exact)
    assert nx.attribute_mixing_matrix(G, "group", **budget).shape == (3, 3)
    exact = nx.attribute_assortativity_coefficient(G, "group")
    assert nx.attribute_assortativity_coefficient(G, "group", **budget) == pytest.approx(exact)
    assert nx.number_connected_components(G, **budget) == nx.number_connected_components(G)
    assert nx.edge_connectivity(G, **budget) == nx.edge_connectivity(G)
    assert nx.triangles(G, **budget) == sum(nx.triangles(G).values()) // 3
    for H in (G, nx.star_graph(20), nx.barabasi_albert_graph(80, 3, seed=1)):
        exact = nx.degree_assortativity_coefficient(H)
        assert nx.degree_assortativity_coefficient(H, **budget) == pytest.approx(exact, abs=2e-3)
    assert math.isnan(nx.degree_assortativity_coefficient(nx.empty_graph(5), **budget))
    with pytest.raises(InvalidParameterError, match="must be None"):
        nx.edge_connectivity(G, 0, 1, **budget)
    with pytest.raises(InvalidParameterError, match="in all"):
        nx.triangles(G, [0, 1], **budget)


def test_the_page_says_which_tests_of_networkx_differ():
    assert networkx_versions.page() in (networkx_versions.REPOSITORY / "docs" / "networkx.md").read_text()


@pytest.mark.skipif(not hasattr(nx.approximation, "densest_subgraph"), reason="came with networkx 3.5")
def test_the_densest_part_is_found_and_its_density_is_possible():
    G = nx.disjoint_union(nx.complete_graph(60), nx.empty_graph(200))
    density, vertices = nx.approximation.densest_subgraph(G, backend="dpgraph", epsilon=4.0)
    assert vertices == set(range(60))
    assert 28 < density <= 29.5
    for _ in range(30):
        density, vertices = nx.approximation.densest_subgraph(nx.empty_graph(5), backend="dpgraph", epsilon=0.05)
        assert 0 <= density <= (len(vertices) - 1) / 2


def test_answers_are_possible_on_five_isolated_vertices():
    G = nx.empty_graph(5)
    nx.set_node_attributes(G, {v: v % 2 for v in G}, "side")
    for _ in range(30):
        tight = {"backend": "dpgraph", "epsilon": 0.05}
        value, (left, right) = nx.approximation.one_exchange(G, **tight)
        assert 0 <= value <= len(left) * len(right)
        assert 0 <= nx.cut_size(G, [0, 1], **tight) <= 6
        assert 0 <= nx.cut_size(G, [0, 1], [1, 2], **tight) <= 3
        assert 0 <= nx.volume(G, [0, 1], **tight) <= 8
        assert 0 <= nx.bipartite.density(G, None, **tight) <= 1
        assert all(0 <= share <= 1 for share in nx.degree_centrality(G, **tight).values())
        assert all(0 <= share <= 1 for share in nx.community.partition_quality(G, [{0, 1}, {2, 3, 4}], **tight))
        assert nx.attribute_mixing_matrix(G, "side", normalized=False, **tight).sum() <= 20
        assert 1 <= nx.number_connected_components(G, **tight) <= 5
        assert 0 <= nx.edge_connectivity(G, **tight) <= 4


def test_a_public_set_may_be_any_iterable_and_is_looked_at_once():
    G, calls = graph(), (nx.cut_size, nx.volume, *(getattr(nx, name) for name in SPLIT), nx.bipartite.density)
    for function in calls:
        exact = pytest.approx(function(G, range(20)), abs=1e-2)
        for S in (iter(range(20)), np.arange(20), dict.fromkeys(range(20))):
            assert function(G, S, backend="dpgraph", **LOUD) == exact
    assert nx.cut_size(G, iter([0, 1]), iter([1, 2]), backend="dpgraph", **LOUD) == nx.cut_size(G, [0, 1], [1, 2])
    nx.set_node_attributes(G, {v: v % 2 for v in G}, "side")
    mixing = {"mapping": {0: np.int64(1), 1: np.int64(0)}, "normalized": False}
    exact = nx.attribute_mixing_matrix(G, "side", **mixing)
    assert nx.attribute_mixing_matrix(G, "side", **mixing, backend="dpgraph", **LOUD) == pytest.approx(exact)


def test_what_is_no_public_set_or_resolution_costs_nothing():
    budget = {"backend": "dpgraph", "accountant": dpgraph.PrivacyAccountant(epsilon=1.0), "epsilon": 1.0}
    G = nx.karate_club_graph()
    for strange in (None, 3, [[1]]):
        with pytest.raises(InvalidParameterError, match="must be a collection of"):
            nx.volume(G, strange, **budget)
    for resolution in ("1", -2.0, math.nan):
        with pytest.raises(InvalidParameterError, match="resolution must be a nonnegative finite number"):
            nx.community.modularity(G, [set(G)], resolution=resolution, **budget)
    assert budget["accountant"].spent == (0.0, 0.0)


def test_a_name_that_no_vertex_has_costs_nothing():
    budget = {"backend": "dpgraph", "accountant": dpgraph.PrivacyAccountant(epsilon=1.0), "epsilon": 1.0}
    G = nx.karate_club_graph()
    calls = nx.cut_size, nx.volume, nx.conductance, nx.mixing_expansion, nx.edge_expansion, nx.bipartite.density
    for call in calls:
        with pytest.raises(InvalidParameterError, match=r"1 of 2 are none\. Nothing was spent"):
            call(G, [0, "John A"], **budget)
    with pytest.raises(InvalidParameterError, match="no vertex has an attribute 'clubs'"):
        nx.attribute_mixing_matrix(G, "clubs", **budget)
    assert budget["accountant"].spent == (0.0, 0.0)


@each("more, name", list(itertools.product([{}, {"T": range(10, 45)}], SPLIT)), parts=2)
def test_quotients_are_those_of_networkx_when_the_noise_is_negligible(name, more):
    function = getattr(nx, name)
    for weight in (None,) if name == "mixing_expansion" else (None, "weight"):
        G, public = graph(), {"weight": weight, **more}
        nx.set_edge_attributes(G, {edge: 0.5 + (k % 3) / 4 for k, edge in enumerate(G.edges)}, "weight")
        exact = function(G, range(20), **public)
        assert function(G, range(20), **public, max_weight=1.0, backend="dpgraph", **LOUD) == pytest.approx(
            exact, abs=1e-3
        )


def test_weights_are_used_a_missing_one_counts_1_and_large_ones_are_capped():
    G = nx.Graph()
    G.add_edge("a", "b", weight=2.5)
    G.add_edge("a", "c")
    G.add_edge("a", "d", weight=70.0)
    value = nx.cut_size(G, {"a"}, weight="weight", max_weight=4.0, backend="dpgraph", **LOUD)
    assert value == pytest.approx(2.5 + 1.0 + 4.0, abs=0.3)
    with pytest.raises(InvalidParameterError, match="max_weight"):
        nx.cut_size(G, {"a"}, weight="weight", backend="dpgraph", **LOUD)


def test_spectral_bisection_finds_planted_halves_and_refuses_the_unbounded_laplacian():
    G = dpgraph.datasets.planted_bisection(400, 120, 0.8, rng=0)
    sides = nx.spectral_bisection(G, None, normalized=True, backend="dpgraph", epsilon=8.0, delta=1e-6, seed=1)
    assert dpgraph.evaluate.cut_fraction(G, sides) < 0.2
    with pytest.raises(InvalidParameterError, match="normalized=True"):
        nx.spectral_bisection(G, None, backend="dpgraph", **BUDGET)
    for bisect in (nx.community.kernighan_lin_bisection, partial(nx.spectral_bisection, normalized=True)):
        with dpgraph.PrivacyAccountant(epsilon=9.0) as accountant:
            for n in (1, 2):
                with pytest.raises(InvalidParameterError, match="at least 3 vertices"):
                    bisect(nx.complete_graph(n), backend="dpgraph", epsilon=1.0)
        assert accountant.spent.epsilon == 0


def planted():
    return nx.relabel_nodes(nx.planted_partition_graph(3, 60, 0.5, 0.03, seed=1), lambda v: f"v{v}")


@each("name", COMMUNITIES, parts=2)
def test_communities_are_those_of_the_private_function_as_sets_of_the_callers_labels(name):
    G = planted()
    with dpgraph.PrivacyAccountant(epsilon=4.0, delta=0.0) as budget:
        found = call(name, G, backend="dpgraph", epsilon=4.0)
    assert type(found) is list
    assert {type(community) for community in found} == {frozenset if "greedy" in name else set}
    assert nx.community.is_partition(G, found)
    assert [len(community) for community in found] == [60, 60, 60]
    assert nx.community.modularity(G, found) > 0.5
    assert budget.spent == (4.0, 0.0)


def test_the_default_weight_of_communities_counts_where_a_bound_is_public(clean_configuration):
    def sensitivities(function, *public, **more):
        with dpgraph.PrivacyAccountant(epsilon=9.0, delta=0.0) as budget:
            function(G, *public, backend="dpgraph", epsilon=1.0, **more)
        return {round(line.sensitivity, 2) for line in budget.report().entries}

    G = planted()
    nx.set_edge_attributes(G, 2.5, "weight")
    halves = [set(list(G)[:90]), set(list(G)[90:])]
    for function, public in ((nx.community.louvain_communities, ()), (nx.community.modularity, (halves,))):
        assert 1.0 in sensitivities(function, *public)
        assert 1.0 in sensitivities(function, *public, weight=None)
        assert 2.5 in sensitivities(function, *public, max_weight=2.5)
        with pytest.raises(InvalidParameterError, match="max_weight"):
            function(G, *public, weight="length", backend="dpgraph", epsilon=1.0)
    clean_configuration.max_weight = 2.5
    assert 2.5 in sensitivities(nx.community.louvain_communities)


def test_the_modularity_of_public_communities_is_that_of_networkx_when_the_noise_is_negligible():
    G, louder = planted(), LOUD | {"epsilon": 1e6}
    nodes = list(G)
    for communities in ([set(nodes[:90]), set(nodes[90:])], [nodes[k::5] for k in range(5)], [nodes], [nodes, []]):
        for resolution in (1, 1.7):
            exact = nx.community.modularity(G, communities, resolution=resolution)
            found = nx.community.modularity(G, iter(communities), resolution=resolution, backend="dpgraph", **louder)
            assert found == pytest.approx(exact, abs=1e-12)
    weights = {edge: 0.5 + k % 3 / 4 for k, edge in enumerate(G.edges)}
    nx.set_edge_attributes(G, weights, "weight")
    found = nx.community.modularity(G, [nodes[:90], nodes[90:]], max_weight=1.0, backend="dpgraph", **LOUD)
    assert found == pytest.approx(nx.community.modularity(G, [nodes[:90], nodes[90:]]), abs=1e-3)


@each("communities", [[{0, 1}], [{0, 1, 2}, {2, 3}], [{0, 1, 2, 3, 4}], [{0, 1}, {2, 9}]], parts=2)
def test_what_is_no_partition_of_the_vertices_is_refused_as_networkx_does_and_costs_nothing(communities):
    with dpgraph.PrivacyAccountant(epsilon=1.0, delta=0.0) as budget, pytest.raises(nx.community.quality.NotAPartition):
        nx.community.modularity(nx.path_graph(4), communities, backend="dpgraph", epsilon=1.0)
    assert budget.spent == (0.0, 0.0)


@each("name", FUNCTIONS, parts=2)
def test_a_missing_epsilon_is_a_type_error_that_the_user_sees(name):
    with pytest.raises(TypeError, match="requires epsilon="):
        call(name, graph(), backend="dpgraph", delta=1e-6)


def test_configuration_gives_the_defaults_and_arguments_override_it(clean_configuration):
    G = graph()
    clean_configuration.epsilon, clean_configuration.delta = 0.25, 1e-7
    with dpgraph.PrivacyAccountant(epsilon=3.0, delta=1e-6) as budget:
        nx.cut_size(G, [0], backend="dpgraph")
        nx.cut_size(G, [0], backend="dpgraph", epsilon=0.5)
    first, second = budget.report().entries
    assert first.scale > 1.9 * second.scale
    clean_configuration.max_weight = 2.0
    with dpgraph.PrivacyAccountant(epsilon=3.0, delta=1e-6) as budget:
        nx.cut_size(G, [0], weight="weight", backend="dpgraph")
        nx.cut_size(G, [0], backend="dpgraph")  # unweighted: every edge counts 1 whatever the configured bound
    weighted, unweighted = (entry.sensitivity for entry in budget.report().entries)
    assert (weighted, unweighted) == (pytest.approx(2.0, rel=1e-3), pytest.approx(1.0, rel=1e-3))


def test_a_private_graph_shows_its_vertices_and_nothing_of_its_edges():
    G = PrivateGraph(nx.path_graph(3))
    assert (list(G), len(G), 2 in G, 9 in G) == ([0, 1, 2], 3, True, False)
    assert repr(G) == "PrivateGraph(3 vertices)"
    assert not {"edges", "adj", "degree", "number_of_edges", "neighbors"} & set(dir(G))
    assert dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6).nodes == (0, 1, 2)


def test_an_unfinished_mechanism_is_an_error_and_not_a_reason_for_networkx_to_answer(monkeypatch):
    nx.config.backend_priority = ["dpgraph"]

    def unfinished(*_, **__):
        raise NotImplementedError

    monkeypatch.setattr(networkx_backend, "private_degrees", unfinished)
    with pytest.raises(DPGraphError, match="degree_centrality"):
        nx.degree_centrality(graph(), **BUDGET)


def test_directed_and_parallel_edges_are_refused_or_capped():
    with pytest.raises(InvalidGraphError, match=r"directed.*Pass G.to_undirected\(\)") as found:
        nx.cut_size(nx.DiGraph([(0, 1)]), {0}, backend="dpgraph", **BUDGET)
    assert "symmetrize" not in str(found.value)
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.approximation.one_exchange(nx.DiGraph([(0, 1)]), backend="dpgraph", **BUDGET)
    assert nx.cut_size(nx.MultiGraph(["ab", "ab"]), {"a"}, backend="dpgraph", **LOUD) == 1


@each("seed", [None, random, np.random], parts=2)
def test_the_global_generators_of_networkx_mean_cryptographic_noise(seed):
    for converted in (seed, nx.utils.create_py_random_state(seed)):
        assert as_rng(converted) is None
    state = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    G = graph()
    with dpgraph.PrivacyAccountant(epsilon=9.0, delta=1e-6) as budget:
        cuts = [nx.approximation.randomized_partitioning(G, seed=seed, backend="dpgraph", **BUDGET) for _ in range(2)]
    assert cuts[0] != cuts[1]
    assert not budget.report().seeded
    assert state == (random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002


@each("name", FUNCTIONS, parts=2)
def test_a_function_has_the_parameters_of_networkx_and_then_keyword_only_ones(name):
    ours = inspect.signature(getattr(networkx_backend, name)).parameters
    theirs = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func).parameters
    shared = list(ours.values())[: len(theirs)]
    assert [(p.name, p.kind, p.default) for p in shared] == [(p.name, p.kind, p.default) for p in theirs.values()]
    more = list(ours.values())[len(theirs) :]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in more)
    documented = _nx_backend_info.get_info()["functions"][name]["additional_parameters"]
    assert {p.name for p in more} == {parameter.split(" : ")[0] for parameter in documented}


@each("name", FUNCTIONS, parts=2)
def test_results_hold_python_numbers(name):
    G = graph() if not name.endswith("_bisection") else dpgraph.datasets.planted_bisection(400, 120, 0.8, rng=0)
    result = call(name, G, backend="dpgraph", epsilon=8.0, delta=1e-6)

    def leaves(value):
        if isinstance(value, dict):
            value = [*value, *value.values()]
        several = isinstance(value, (list, set, frozenset, tuple))
        return [leaf for item in value for leaf in leaves(item)] if several else [value]

    # Arrays are what networkx returns for spectra too.
    assert all(isinstance(leaf, np.ndarray) or type(leaf) in (int, float) for leaf in leaves(result))


def test_the_metadata_imports_nothing_heavy():
    code = (
        "import sys; before = set(sys.modules); import dpgraph.interfaces.networkx.info as info; info.get_info(); "
        "heavy = {'numpy', 'scipy', 'networkx', 'numba', 'clarabel'}; "
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = programs.python("-c", code, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_tests_of_networkx_that_concern_the_backend_fail_only_where_the_list_says_so():
    """The whole test-suite, under several versions of networkx, is run by `make test-networkx`."""
    folder = Path(nx.__file__).parent.parent
    known = networkx_versions.differences_in(folder)
    files = sorted({test.partition("::")[0] for test in known})
    failed, summary = networkx_versions.run_networkx_tests(sys.executable, folder, files)
    assert " passed" in summary
    assert networkx_versions.fits(failed, known), failed ^ set(known)
