"""Every public fault is refused before the budget is debited: sizes beyond the memory, numbers too small."""

import gc
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph import PrivacyAccountant, strategies
from dpgraph.arguments import check_memory, memory_limit
from dpgraph.exceptions import DPGraphError, InvalidParameterError, MechanismHalted
from dpgraph.interfaces.cli import main
from dpgraph.interfaces.networkx.private_graph import PrivateGraph
from dpgraph.projections import Box
from dpgraph.releases import answers
from tests import memory
from tests.about import each
from tests.privacy.registry import ENTRIES, of_each_strategy, public_private_functions

FUNCTIONS = public_private_functions()
SENSITIVITY = {"sensitivity": 1.0}


def graph(n):
    """A graph without edges; its vertices are announced, and take no memory."""
    return sparse.coo_array((n, n))


def zeros(*shape):
    """A matrix that takes no memory."""
    return np.broadcast_to(0.0, shape)


#: Arguments of each public private function that announce far more than a gibibyte.
TOO_LARGE = {
    **{
        name: [(graph(10**8),)]
        for name in (
            "private_degrees",
            "private_degree_distribution",
            "private_densest_subgraph",
            "private_subgraph_counts",
            "private_transitivity",
            "private_max_bisection",
            "report",
        )
    },
    "private_statistic": [
        (graph(10**8), statistic) for statistic in ("components", "matching", "degeneracy", "edge-connectivity")
    ],
    "private_max_cut": [
        (graph(10**8),),
        (zeros(10**5, 10**5),),
        (graph(20_000), {"mechanism": strategies.Coherence(rank=20_000)}),
        (graph(5000), {"mechanism": "gaussian"}),
        (graph(5000), {"mechanism": strategies.Coherence(rank=2, projection="spectral")}),
        (graph(20_000), {"mechanism": "randomized-response", "epsilon": 2.0}),
    ],
    "private_max_k_cut": [(graph(10**8), 3), (graph(10**5), 256)],
    "private_max_2csp": [
        (dpgraph.TwoCSP(10**4, 10**4), {}),
        (dpgraph.TwoCSP(200, 200), {"mechanism": strategies.Coherence(rank=40_000)}),
    ],
    "private_communities": [(graph(10**8),), (graph(10**5), {"communities": 10**5})],
    "private_synthetic_graph": [(graph(10**8),), (graph(10**5), {"communities": 10**400})],
    "private_normalized_adjacency": [
        (graph(10**8),),
        (graph(5000), {"mechanism": "gaussian"}),
        *(
            (graph(20_000), {"rank": 20_000, "mechanism": mechanism, "epsilon": 12.0})
            for mechanism in ("auto", "coherence", "noisy-power", "randomized-response")
        ),
    ],
    "private_node_similarities": [(graph(10**8),), (graph(20_000), {"rank": 20_000, "epsilon": 12.0})],
    "private_spectrum": [
        (graph(10**8), 1),
        (graph(20_000), 20_000),
        (graph(20_000), 20_000, SENSITIVITY),
        (zeros(10**5, 10**5), 1, SENSITIVITY),
    ],
    "private_coherence": [(graph(20_000), 19_999, SENSITIVITY), (zeros(10**5, 10**5), 1, SENSITIVITY)],
    **{
        name: [(graph(20_000), 20_000, SENSITIVITY), (zeros(10**5, 10**5), 1, SENSITIVITY)]
        for name in ("private_eigenspace", "private_singular_subspace")
    },
    **{
        name: [
            (graph(20_000), 20_000, SENSITIVITY),
            (graph(20_000), 20_000, SENSITIVITY | {"mechanism": "noisy-power"}),
            (zeros(10**5, 10**5), 1, SENSITIVITY),
        ]
        for name in ("private_projector", "private_low_rank")
    },
    "private_covariance": [
        (zeros(3, 2_000_000),),
        (zeros(10**8, 10),),
        (zeros(3, 2_000_000), {"adjacency": "add-remove", "n_records": 3}),
    ],
    "private_cosine_similarities": [
        (zeros(10**6, 2), SENSITIVITY),
        (zeros(2, 10**9), SENSITIVITY),
        (sparse.csr_array((10**6, 10**6)), SENSITIVITY),
    ],
    "private_symmetric_matrix": [(zeros(10**5, 10**5), SENSITIVITY)],
    "perturb_and_project": [(zeros(10**5, 10**5), Box(-1, 1), SENSITIVITY), (zeros(10**10), Box(-1, 1), SENSITIVITY)],
    "private_marginals": [(sparse.coo_array((3, 10**9)), 1), (zeros(3, 4000), 2), (zeros(3, 30), 3, {"degree": 6})],
    "private_linear_queries": [
        (zeros(10**5, 10**5), np.ones(10**5)),
        (sparse.coo_array((10**9, 2)), np.ones(2)),
        (sparse.coo_array((2, 10**9)), zeros(10**9)),
    ],
}
CASES = [(name, case) for name, cases in TOO_LARGE.items() for case in cases]


def test_every_private_function_is_asked_for_too_much():
    """Functions of the networkx backend get a graph that exists, and call one of these, or make a dense matrix."""
    backend = {
        name for name, function in FUNCTIONS.items() if function.__module__.startswith("dpgraph.interfaces.networkx")
    }
    assert set(TOO_LARGE) == set(FUNCTIONS) - backend


@each("name, case", CASES, parts=4)
def test_what_does_not_fit_into_memory_is_refused_before_the_debit(name, case, monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1GiB")
    *arguments, options = case if isinstance(case[-1], dict) else (*case, {})
    accountant = PrivacyAccountant(epsilon=100.0, delta=0.1)
    if name != "private_symmetric_matrix":
        options = {"delta": 1e-6} | options
    refused = pytest.raises(InvalidParameterError, match=r"DPGRAPH_MEMORY|fit into memory|supported")
    with memory.less_than(2**26), refused:
        FUNCTIONS[name](*arguments, **{"epsilon": 1.0, "accountant": accountant} | options)
    assert accountant.spent == PrivacyAccountant(epsilon=100.0, delta=0.1).spent


@pytest.mark.parametrize("kind", ["max-k-cut", "coloring", "unique-games", "relations"])
def test_tables_that_do_not_fit_into_memory_are_refused_before_they_are_made(kind, monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1GiB")
    with memory.less_than(2**26):
        for labels in (100_000, 6_000):
            with pytest.raises(InvalidParameterError, match="DPGRAPH_MEMORY"):
                dpgraph.TwoCSP.from_networkx(nx.path_graph(3), kind, labels)
        with pytest.raises(InvalidParameterError, match="DPGRAPH_MEMORY"):
            dpgraph.datasets.planted_csp(100, 10, 10_000, 0.8)


#: Sizes that options of the command line announce.
ANNOUNCED = {
    "csp {graph} --colours 100000": "constraints on 3 variables with 100000 labels",
    "csp {graph} --colours 100000 --adjacency edge": "constraints",
    "csp planted-cut --colours 100000 --dry-run": "100000 labels",
    "csp planted-cut --colours 100000 --dry-run --adjacency edge": "100000 labels",
    "spectrum {graph} --k 1000000000000": "k must be",
    "embed {graph} --rank 1000000000000": "rank must be",
    "max-cut {graph} --nodes 2000000000": "vertices would take",
}


@each("line", ANNOUNCED, parts=2)
def test_a_size_that_an_option_announces_is_refused_in_little_memory(line, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1GiB")
    (graph := tmp_path / "g.txt").write_text("1 2\n2 3\n")
    (table := tmp_path / "t.csv").write_text("a,b\n0,1\n")
    accountant = dpgraph.FileAccountant(tmp_path / "budget.db", epsilon=1.0, delta=1e-3)
    words = [word.format(graph=graph, table=table) for word in line.split()]
    with memory.less_than(2**27):
        status = main(["--budget", str(tmp_path / "budget.db"), *words, "--epsilon", "1", "--delta", "1e-6"])
    assert (status, ANNOUNCED[line] in capsys.readouterr().err, accountant.spent.epsilon) == (2, True, 0)


@pytest.mark.parametrize("spectrum", [nx.adjacency_spectrum, nx.laplacian_spectrum])
def test_a_whole_spectrum_is_refused_before_the_debit(spectrum, monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1MiB")
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    G = PrivateGraph(nx.empty_graph(500))
    with pytest.raises(InvalidParameterError, match="DPGRAPH_MEMORY"):
        spectrum(G, weight=None, epsilon=1.0, delta=1e-6, accountant=accountant)
    assert accountant.spent.epsilon == accountant.spent.delta == 0


RNG = np.random.default_rng(0)
NOISE = {"epsilon": 1.0, "rng": 0}
SPARSE = nx.to_scipy_sparse_array(nx.fast_gnp_random_graph(3000, 0.003, seed=1), format="csr")


def products(n, epsilon):
    options = {"rank": 4, "mechanism": "noisy-power", "delta": 1e-6}
    return dpgraph.private_normalized_adjacency(graph(n), epsilon=epsilon, rng=0, **options)


TAKEN = {
    "covariance": lambda: dpgraph.private_covariance(RNG.normal(size=(20, 120)), **NOISE),
    "records": lambda: dpgraph.private_covariance(RNG.normal(size=(200_000, 10)), **NOISE),
    "similarities": lambda: dpgraph.private_cosine_similarities(
        RNG.normal(size=(400, 3)), sensitivity=1.0, delta=1e-6, **NOISE
    ),
    "symmetric": lambda: dpgraph.private_symmetric_matrix(np.eye(400), sensitivity=1.0, **NOISE),
    "projection": lambda: dpgraph.perturb_and_project(
        np.eye(400), Box(-1, 1), sensitivity=1.0, max_iter=3, delta=1e-6, **NOISE
    ),
    "spectrum": lambda: dpgraph.private_spectrum(SPARSE[:500, :500], 500, delta=1e-6, **NOISE),
    "noise on all entries": lambda: dpgraph.private_normalized_adjacency(
        SPARSE[:800, :800], mechanism="gaussian", delta=1e-6, **NOISE
    ),
    "few products": lambda: products(50_000, 1.0),
    "many products": lambda: products(10_000, 16.0),
    "labels": lambda: dpgraph.private_max_k_cut(SPARSE[:500, :500], 200, mechanism="bounded-iterates", **NOISE),
    "communities": lambda: dpgraph.private_communities(
        SPARSE[:600, :600], communities=600, mechanism="bounded-iterates", **NOISE
    ),
}


@pytest.mark.parametrize("what", TAKEN)
def test_a_call_is_refused_at_half_of_what_it_takes_and_runs_at_four_times_as_much(what, monkeypatch):
    TAKEN[what]()  # what it imports is not counted
    gc.collect()
    tracemalloc.start()
    try:
        TAKEN[what]()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    monkeypatch.setenv("DPGRAPH_MEMORY", str(peak // 2))
    with pytest.raises(InvalidParameterError, match="DPGRAPH_MEMORY"):
        TAKEN[what]()
    monkeypatch.setenv("DPGRAPH_MEMORY", str(4 * peak))
    TAKEN[what]()


def test_a_small_budget_pays_for_few_products_and_needs_memory_for_few(monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "100MB")
    products(50_000, 1.0)
    with pytest.raises(InvalidParameterError, match="noisy power method"):
        products(50_000, 16.0)


def test_the_number_of_edges_never_decides(monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1MiB")
    complete = sparse.csr_array(1 - np.eye(1500))  # takes 27 MB
    for private in (graph(1500), complete):
        dpgraph.private_degrees(private, epsilon=1.0)
    for private in (graph(5000), sparse.csr_array(sparse.eye_array(5000))):
        with pytest.raises(InvalidParameterError, match="5000 vertices"):
            dpgraph.private_degrees(private, epsilon=1.0)


def test_a_private_number_of_records_never_decides(monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1MiB")
    few, many = np.zeros((3, 4)), np.zeros((100_000, 4))
    for X in (few, many):
        dpgraph.private_covariance(X, epsilon=1.0, adjacency="add-remove", n_records=100_000)
    dpgraph.private_covariance(few, epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="records 15"):
        dpgraph.private_covariance(many, epsilon=1.0)


def test_marginals_of_sparse_records_take_memory_by_the_columns():
    data = sparse.coo_array(([1.0], ([0], [5])), shape=(100_000, 200))  # 160 MB as integers
    with memory.less_than(2**26):
        found = dpgraph.private_marginals(data, 1, epsilon=1e6, rng=0)
    assert found.count == 100_000
    assert found.table([5])[1] == pytest.approx(1.0, abs=0.1)


def test_answers_are_not_chosen_where_they_do_not_fit(monkeypatch):
    G = nx.to_scipy_sparse_array(nx.gnp_random_graph(400, 0.5, seed=1), format="csr")
    assert dpgraph.private_max_cut(G, epsilon=2.0, rng=0).mechanism == "randomized-response"
    monkeypatch.setenv("DPGRAPH_MEMORY", "1MiB")
    assert dpgraph.private_max_cut(G, epsilon=2.0, rng=0).mechanism == "bounded-iterates"
    accountant = PrivacyAccountant(epsilon=2.0)
    with pytest.raises(InvalidParameterError, match="false answers"):
        dpgraph.private_max_cut(G, epsilon=2.0, mechanism="randomized-response", accountant=accountant)
    assert accountant.spent.epsilon == 0


@pytest.mark.parametrize(("share", "answer"), [(0.9, True), (0.95, False), (0.985, False), (0.99, False)])
def test_questions_leave_enough_for_the_answers_that_they_choose(share, answer, monkeypatch):
    monkeypatch.setattr(answers, "FLIP_LIMIT", answers.expected_flips(300, 2.0 * share))
    even = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)
    assert (dpgraph.private_communities(even, epsilon=2.0, rng=1).mechanism == "randomized-response") is answer


@pytest.mark.parametrize("limit", [1e7, 100.0])
def test_a_core_answers_where_its_answers_fit(limit, monkeypatch):
    monkeypatch.setattr(answers, "FLIP_LIMIT", limit)
    hubs, mechanism = nx.barabasi_albert_graph(300, 100, seed=1), "bounded-iterates"
    lines = dpgraph.private_communities(hubs, epsilon=2.0, mechanism=mechanism, rng=1).privacy.entries
    assert any(line.name == "adjacency bits" for line in lines) is (limit > 100)


@pytest.mark.parametrize(
    ("text", "limit"),
    [("1000", 1000), ("8GiB", 2**33), ("0.5 GiB", 2**29), ("500MB", 5e8), ("2KiB", 2048), ("1TB", 1e12)],
)
def test_the_limit_is_a_number_of_bytes_with_or_without_a_unit(text, limit, monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", text)
    assert memory_limit() == limit


@each("text", ["much", "8 parsecs", "-1", "1e400GiB", "8gib", "nan", "1.2.3"], parts=1)
def test_another_limit_is_refused_and_costs_nothing(text, monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", text)
    accountant = PrivacyAccountant(epsilon=1.0)
    with pytest.raises(InvalidParameterError, match="DPGRAPH_MEMORY must be"):
        dpgraph.private_degrees(graph(3), epsilon=1.0, accountant=accountant)
    assert accountant.spent.epsilon == 0


def test_the_refusal_lists_what_would_be_allocated(monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1MiB")
    with pytest.raises(InvalidParameterError, match=r"a thing would take about 3 MiB .*first 1 MiB, second 2 MiB"):
        check_memory("a thing", first=(2**17,), second=(2, 2**17))


SMALLEST = [(1e-100, 1e-300), (1e-8, 1e-300), (1e300, 1e-300)]


@each("entry", of_each_strategy(ENTRIES), parts=4)
def test_a_budget_that_is_too_small_for_exact_noise_is_refused_before_the_debit(entry):
    _, data, _ = entry.pairs[0]
    for epsilon, delta in SMALLEST:
        budget = {"epsilon": epsilon} if entry.pure else {"epsilon": epsilon, "delta": delta}
        accountant = PrivacyAccountant(epsilon=1e300, delta=1 - 1e-16)
        try:
            entry.call(data, rng=0, accountant=accountant, **budget)
        except MechanismHalted:
            continue
        except DPGraphError:
            assert not accountant.report().entries
            assert accountant.spent.epsilon == accountant.spent.delta == 0


@pytest.mark.parametrize("certificate", ["gap-and-coherence", "stability"])
@pytest.mark.parametrize("n", [60, pytest.param(900, marks=pytest.mark.slow)])
def test_a_shift_by_much_noise_is_refused_or_harmless(n, certificate):
    """The shift of a signed eigenspace grows with its noise, until rounding errors of it exceed a sensitivity."""
    A = nx.to_numpy_array(nx.fast_gnp_random_graph(n, 0.1, seed=0))
    options = {"sensitivity": 1.0, "mechanism": "coherence", "certificate": certificate, "rng": 0}
    refused = 0
    for delta in (1e-300, 1e-15, 1e-9, 1e-6):
        for epsilon in (1e-8, 1e-4):
            accountant = PrivacyAccountant(epsilon=1.0, delta=1e-3)
            try:
                dpgraph.private_eigenspace(A, 1, epsilon=epsilon, delta=delta, accountant=accountant, **options)
            except MechanismHalted:
                pass
            except InvalidParameterError:
                assert not accountant.report().entries
                refused += 1
    assert refused == 3
