"""Private max-cut: utility on planted and real graphs, strategies, bad input, halting, budget."""

import itertools
from functools import partial

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.datasets.planted import planted_cut_sparse
from dpgraph.problems.labels import CUTS
from dpgraph.strategies import Coherence
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
    assert mean_fraction(A, runs=1, mechanism=mechanism, epsilon=epsilon) >= least


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


def test_weighted_graphs_need_a_public_bound_and_scale_with_it():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 0.5), (1, 2, 0.25)])
    with pytest.raises(dpgraph.InvalidParameterError, match="max_weight"):
        dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, weight="weight")
    one = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, weight="weight", max_weight=1.0, rng=0)
    two = dpgraph.private_max_cut(G, epsilon=1.0, delta=DELTA, weight="weight", max_weight=2.0, rng=0)
    assert two.estimated_value_std == pytest.approx(2 * one.estimated_value_std, rel=1e-6)


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


def test_the_fraction_is_inside_its_intervals_and_what_is_printed_inside_what_is_possible():
    for seed in range(20):
        found = dpgraph.private_max_cut(nx.path_graph(5), epsilon=0.01, rng=seed)
        if found.estimated_total_weight > 0:
            low, high = found.fraction_interval(0.5)
            assert low <= found.estimated_fraction <= high
        assert 0 <= float(repr(found).split("estimated value ")[1].split()[0]) <= 10
