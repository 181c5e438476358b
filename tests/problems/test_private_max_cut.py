"""Private max-cut: utility on planted and real graphs, strategies, bad input, halting, budget."""

import itertools
from functools import partial

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.datasets.planted import planted_cut_sparse
from dpgraph.problems.cut.strategies import CUTS
from dpgraph.strategies import Coherence, Projector
from tests.about import each

DELTA = 1e-6


def mean_fraction(A, *, runs, **kwargs):
    """Mean share of edges that released cuts really cut."""
    return np.mean(
        [
            dpgraph.evaluate.cut_fraction(A, dpgraph.private_max_cut(A, delta=DELTA, rng=seed, **kwargs).partition)
            for seed in range(runs)
        ]
    )


def real(graphs_dir, name):
    return dpgraph.datasets.load(name, data_dir=graphs_dir, download=False)


# --- utility (issue table; the slow version has five runs of every line)


@each(
    "degree, mechanism, epsilon, least",
    [
        (400, "coherence", 1.0, 0.85),
        (200, "coherence", 2.0, 0.80),
        (100, "bounded-iterates", 1.0, 0.86),
        (100, "auto", 1.0, 0.86),
        (200, "auto", 2.0, 0.86),
        (400, "auto", 1.0, 0.86),
    ],
    parts=2,
)
def test_planted_cuts_are_found(degree, mechanism, epsilon, least):
    A, _ = planted_cut_sparse(2000, degree, -0.75, rng=degree)
    assert mean_fraction(A, runs=2, mechanism=mechanism, epsilon=epsilon) >= least


REAL = [
    ("wiki-Vote", 1.0, 0.64),
    ("wiki-Vote", 4.0, 0.71),
    ("email-Eu-core", 1.0, 0.55),
    ("email-Eu-core", 4.0, 0.59),
    ("ego-Facebook", 4.0, 0.55),
    ("fb100-Harvard1", 1.0, 0.527),
]


@pytest.mark.graphs
def test_email_network_is_cut_above_the_target(graphs_dir):
    assert mean_fraction(real(graphs_dir, "email-Eu-core"), runs=5, mechanism="bounded-iterates", epsilon=4.0) >= 0.59


@pytest.mark.slow
@pytest.mark.graphs
@each("name, epsilon, least", REAL, parts=2)
def test_real_graphs_are_cut_above_the_target(graphs_dir, name, epsilon, least):
    assert mean_fraction(real(graphs_dir, name), runs=8, mechanism="bounded-iterates", epsilon=epsilon) >= least


@pytest.mark.slow
@each(
    "degree, mechanism, epsilon, least",
    [(400, "coherence", 1.0, 0.85), (200, "coherence", 2.0, 0.80), (100, "bounded-iterates", 1.0, 0.86)],
    parts=2,
)
def test_planted_cuts_are_found_in_ten_runs(degree, mechanism, epsilon, least):
    A, _ = planted_cut_sparse(2000, degree, -0.75, rng=degree + 1)
    assert mean_fraction(A, runs=10, mechanism=mechanism, epsilon=epsilon) >= least


@each("mechanism", ["gaussian", "randomized-response", "noisy-power", "coherence", "auto"], parts=2)
def test_every_mechanism_approaches_the_best_cut_at_a_huge_epsilon(mechanism):
    A, _ = planted_cut_sparse(200, 60, -0.8, rng=3)
    best = dpgraph.max_cut(A, rng=0).value / (A.sum() / 2)
    assert mean_fraction(A, runs=1, mechanism=mechanism, epsilon=200.0) >= 0.97 * best


def test_estimated_value_is_unbiased_with_the_stated_standard_deviation():
    G = nx.gnp_random_graph(40, 0.5, seed=0)
    errors = []
    for seed in range(60):
        cut = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, rng=seed)
        errors.append((cut.estimated_value - dpgraph.evaluate.cut_value(G, cut.partition)) / cut.estimated_value_std)
    assert abs(np.mean(errors)) < 4 / np.sqrt(60)
    assert 0.6 < np.std(errors) < 1.5


def test_the_private_upper_bound_is_reported_for_matrix_mechanisms_only():
    A, _ = planted_cut_sparse(300, 100, -0.8, rng=0)
    assert dpgraph.private_max_cut(A, epsilon=1, delta=DELTA, rng=0).upper_bound is None
    bounded = dpgraph.private_max_cut(A, epsilon=8, delta=DELTA, mechanism=Coherence(rank=2), rng=0)
    assert bounded.upper_bound > 0


@each("projection", ["none", "frobenius", "spectral"], parts=2)
def test_projection_is_a_choice(projection):
    A, _ = planted_cut_sparse(120, 60, -0.9, rng=0)
    cut = dpgraph.private_max_cut(A, epsilon=30, delta=DELTA, mechanism=Coherence(rank=2, projection=projection), rng=0)
    assert dpgraph.evaluate.cut_fraction(A, cut.partition) > 0.85


# --- vertices and labels


def graph_with_isolated_and_mixed_labels():
    G = nx.Graph([((0, 1), "b"), ("b", 3), (3, frozenset({1}))])
    G.add_nodes_from([None.__class__, 2.5])
    return G


@each(
    "G, mechanism",
    list(
        itertools.product(
            [
                nx.empty_graph(1),
                nx.empty_graph(5),
                nx.path_graph(2),
                nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(4)),
                graph_with_isolated_and_mixed_labels(),
            ],
            ["auto", "noisy-power", "gaussian", "randomized-response"],
        )
    ),
    parts=2,
)
def test_odd_graphs_are_partitioned_in_their_own_labels(G, mechanism):
    cut = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, mechanism=mechanism, rng=0)
    first, second = cut.partition
    assert first | second == set(G.nodes)
    assert not first & second
    assert [node in second for node in cut.nodes] == [bool(side) for side in cut.labels]
    assert cut.nodes == tuple(G.nodes)


def test_networkx_igraph_scipy_and_numpy_give_the_same_cut():
    import igraph

    G = nx.gnp_random_graph(30, 0.4, seed=0)
    A = nx.to_scipy_sparse_array(G, dtype=float)
    inputs = [G, igraph.Graph(n=30, edges=list(G.edges)), A, A.toarray(), sparse.coo_array(A)]
    cuts = [dpgraph.private_max_cut(g, epsilon=2.0, delta=DELTA, rng=5).labels.tolist() for g in inputs]
    assert all(cut == cuts[0] for cut in cuts)
    result = dpgraph.private_max_cut(inputs[1], epsilon=2.0, delta=DELTA, rng=5)
    assert result.to_igraph_clustering(inputs[1]).membership == result.labels.tolist()


def test_weighted_graphs_need_a_public_bound_and_scale_with_it():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 0.5), (1, 2, 0.25)])
    with pytest.raises(dpgraph.InvalidParameterError, match="max_weight"):
        dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, weight="weight")
    one = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, weight="weight", max_weight=1.0, rng=0)
    two = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, weight="weight", max_weight=2.0, rng=0)
    assert two.estimated_value_std == pytest.approx(2 * one.estimated_value_std, rel=1e-6)


# --- bad input, halting, budget


@each(
    "G, error",
    [
        (nx.DiGraph([(0, 1)]), dpgraph.InvalidGraphError),
        (nx.Graph(), dpgraph.InvalidGraphError),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), dpgraph.InvalidGraphError),
        (np.array([[0.0, -1.0], [-1.0, 0.0]]), dpgraph.InvalidGraphError),
        (np.ones((2, 3)), dpgraph.InvalidGraphError),
        ("wiki-Vote", dpgraph.InvalidGraphError),
        (None, dpgraph.InvalidGraphError),
    ],
    parts=2,
)
def test_bad_graphs_get_clear_errors(G, error):
    with pytest.raises(error):
        dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA)


@each(
    "arguments",
    [
        {"epsilon": 0.0},
        {"epsilon": -1.0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": "1"},
        {"delta": 1.0},
        {"delta": None},
        {"mechanism": "laplace"},
        {"mechanism": Coherence(projection="nuclear")},
        {"mechanism": Coherence(rank=11)},
        {"mechanism": Projector()},
        {"mechanism": Coherence(degree=3)},
        {"mechanism": Coherence(degree=20)},
        {"mechanism": Coherence},
        {"mechanism": None},
        {"on_halt": "ignore"},
        {"rng": "seed"},
        {"mechanism": Coherence(rounds=0)},
        {"mechanism": Coherence(seeds=-1)},
        {"accountant": 3},
    ],
    parts=2,
)
def test_bad_parameters_are_refused_and_cost_nothing(arguments):
    accountant = dpgraph.PrivacyAccountant(epsilon=1.0, delta=DELTA)
    with pytest.raises(dpgraph.InvalidParameterError):
        dpgraph.private_max_cut(
            nx.path_graph(10), **{"epsilon": 1.0, "delta": DELTA, "accountant": accountant, **arguments}
        )
    assert accountant.spent == (0.0, 0.0)


def test_privacy_arguments_are_keyword_only_and_have_no_default():
    with pytest.raises(TypeError):
        dpgraph.private_max_cut(nx.path_graph(3))
    with pytest.raises(TypeError):
        dpgraph.private_max_cut(nx.path_graph(3), 1.0, 1e-6)


def test_a_halt_reports_the_spending_and_a_fallback_is_independent_of_the_data():
    G = nx.gnp_random_graph(100, 0.1, seed=0)
    kwargs = {"epsilon": 0.5, "delta": DELTA, "mechanism": "coherence", "rng": 0}
    with pytest.raises(dpgraph.MechanismHalted, match="bounded-iterates") as halt:
        dpgraph.private_max_cut(G, **kwargs)
    assert halt.value.privacy.epsilon == 0.5
    fallback = dpgraph.private_max_cut(G, **kwargs, on_halt="fallback")
    other = dpgraph.private_max_cut(nx.empty_graph(100), **kwargs, on_halt="fallback")
    assert fallback.mechanism == other.mechanism == "data-independent"
    assert abs(len(fallback.partition[0]) - len(fallback.partition[1])) <= 1
    assert fallback.estimated_value_std > 0


def test_the_budget_is_debited_before_the_edges_are_read_and_never_refunded():
    accountant = dpgraph.PrivacyAccountant(epsilon=1.0, delta=DELTA)

    class Exploding(nx.Graph):
        @property
        def edges(self):
            assert accountant.remaining.epsilon == 0.0
            raise RuntimeError("disk on fire")

    G = Exploding()
    G.add_nodes_from(range(4))
    with pytest.raises(
        dpgraph.exceptions.DPGraphError, match=r"internal error \(RuntimeError\).* budget of this call is spent"
    ) as caught:
        dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, accountant=accountant)
    assert "fire" not in str(caught.value)  # what a library says may quote the data
    with pytest.raises(dpgraph.BudgetExceededError):
        dpgraph.private_max_cut(nx.path_graph(4), epsilon=0.1, delta=DELTA, accountant=accountant)


@each("mechanism, delta", list(itertools.product(CUTS.names, [0.0, DELTA])), parts=2)
def test_with_or_without_delta_what_can_be_pure_is_pure_and_the_rest_names_what_is(mechanism, delta):
    strategy, _ = CUTS.resolve(mechanism)
    call = partial(dpgraph.private_max_cut, nx.path_graph(10), epsilon=30.0, mechanism=mechanism, rng=0)
    if strategy is None or strategy.pure:
        privacy = call(delta=delta).privacy
        assert (privacy.delta, privacy.mu) == (0.0, None)
    elif delta == 0.0:
        with pytest.raises(dpgraph.InvalidParameterError, match=r"delta.*use mechanism='bounded-iterates'"):
            call(delta=delta)
    else:
        assert call(delta=delta, on_halt="fallback").privacy.delta == delta


@each("strategy", CUTS.strategies.values(), parts=2)
def test_an_options_object_of_defaults_is_the_name(strategy):
    given = {"epsilon": 40.0, "delta": DELTA, "rng": 0, "on_halt": "fallback"}
    one, two = (
        dpgraph.private_max_cut(nx.gnp_random_graph(18, 0.6, seed=1), mechanism=mechanism, **given)
        for mechanism in (strategy.name, strategy.options())
    )
    assert np.array_equal(one.labels, two.labels)
    assert one.privacy == two.privacy


@each("function", [dpgraph.private_max_cut, dpgraph.private_max_bisection], parts=2)
def test_algorithm_7_13_of_the_paper_is_one_call(function):
    """Given tests of gap and coherence, no regularisation, projection, a relaxation of degree 4, conditioning."""
    G = nx.complete_bipartite_graph(8, 8)
    cut = function(G, epsilon=1e6, delta=DELTA, mechanism=Coherence.paper(2, degree=4, seeds=2), rng=0)
    assert dpgraph.evaluate.cut_fraction(G, cut) == 1.0
    assert cut.upper_bound >= 0.9 * 64
    assert {"minimum degree", "projector", "core"} <= {entry.name for entry in cut.privacy.entries}


def test_the_coherence_strategy_is_the_private_normalized_adjacency_and_the_solver():
    A, _ = planted_cut_sparse(200, 80, -0.8, rng=1)
    cut = dpgraph.private_max_cut(A, epsilon=16.0, delta=DELTA, mechanism=Coherence(rank=2), rng=0)
    private = dpgraph.private_normalized_adjacency(
        A, epsilon=16.0, delta=DELTA, mechanism=Coherence(rank=2, denoise=False), rng=0
    )
    own = {"advantage over chance", "cut weight"}
    assert {e.name for e in private.privacy.entries} == {e.name for e in cut.privacy.entries} - own


def test_seeded_results_are_reproducible_and_marked():
    G = nx.gnp_random_graph(50, 0.3, seed=0)
    one, two = (dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, rng=9) for _ in range(2))
    assert np.array_equal(one.labels, two.labels)
    assert one.estimated_value == two.estimated_value
    assert one.privacy.seeded
    fresh = [dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA) for _ in range(2)]
    assert not fresh[0].privacy.seeded
    assert fresh[0].estimated_value != fresh[1].estimated_value


def test_repr_is_short_and_shows_the_guarantee():
    cut = dpgraph.private_max_cut(nx.path_graph(30), epsilon=1.0, delta=DELTA, rng=0)
    assert "epsilon=1" in repr(cut)
    assert "seeded" in repr(cut)
    assert len(repr(cut)) < 400
