"""The automatic mechanism of an embedding follows from public arguments."""

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.problems.embedding.rule import RESIDUAL, UNEVENNESS, choose_mechanism, noise_ratio
from dpgraph.problems.embedding.strategies import Start
from dpgraph.releases.eigenspaces.vector import DegreeResidual


@pytest.mark.parametrize(
    ("n", "rank", "epsilon", "chosen"),
    [
        (50, 2, 1.0, "randomized-response"),
        (800, 1, 8.0, "randomized-response"),
        (800, 1, 1.0, "noisy-power"),
        (800, 1, 2.0, RESIDUAL),
        (800, 1, 4.0, RESIDUAL),
        (1_600, 4, 2.0, UNEVENNESS),
        (1_600, 4, 0.25, UNEVENNESS),
        (20_000, 1, 1.0, "noisy-power"),
        (20_000, 1, 4.0, RESIDUAL),
        (20_000, 1, 8.0, "randomized-response"),
        (1_000_000, 1, 2.0, "noisy-power"),
        (1_000_000, 8, 8.0, "noisy-power"),
    ],
)
def test_answers_are_chosen_for_small_graphs_and_large_budgets_and_degrees_decide_in_between(n, rank, epsilon, chosen):
    found = choose_mechanism(n, rank, epsilon, 1e-6, weighted=False)
    assert getattr(found, "question", found) == chosen


@pytest.mark.parametrize(
    ("is_large", "quotient", "epsilon", "chosen"),
    [
        (True, 20.0, 4.0, "randomized-response"),
        (True, 50.0, 2.5, "noisy-power"),
        (True, 32.0, 2.5, "randomized-response"),
        (True, 5.0, 4.0, "noisy-power"),
        (False, 55.0, 4.0, "noisy-power"),
    ],
    ids=["far", "products find it", "products do not", "answers do not", "near"],
)
def test_answers_are_chosen_where_degrees_miss_a_vector_that_answers_find(is_large, quotient, epsilon, chosen):
    rule = choose_mechanism(10_000, 1, epsilon, 1e-6, weighted=False)
    assert rule.then(Start(20.0, DegreeResidual(quotient, is_large))) == chosen


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("rank", ["auto", 1, 3])
def test_without_delta_the_call_is_pure_whatever_is_chosen(epsilon, rank):
    A = planted_cut_sparse(300, 60, -0.75, rng=0)[0]
    private = dpgraph.private_normalized_adjacency(A, epsilon=epsilon, rank=rank, rng=0)
    assert (private.privacy.delta, private.privacy.mu) == (0.0, None)
    assert private.mechanism in ("randomized-response", "noisy-power")
    assert rank == "auto" or private.rank == rank


def test_a_strategy_that_needs_delta_names_the_pure_ones():
    for mechanism in ("coherence", "gaussian", "noisy-power"):
        with pytest.raises(dpgraph.InvalidParameterError, match=r"delta.*randomized-response.*rank=1"):
            dpgraph.private_normalized_adjacency(nx.path_graph(30), epsilon=1.0, rank=2, mechanism=mechanism)


def test_edges_of_any_weight_are_never_asked_for_one_bit():
    assert choose_mechanism(800, 2, 8.0, 1e-6, weighted=True) == "noisy-power"


def test_the_ratio_of_the_noises_is_that_of_the_formulas_at_any_epsilon():
    assert noise_ratio(900, 2, 1.0, 1e-6) == pytest.approx(
        30 / (2 * np.sinh(0.5)) * dpgraph.privacy.gdp_mu(1.0, 1e-6) / 2
    )
    assert 0.0 <= noise_ratio(10**6, 1, 5000.0, 1e-6) < 1e-6


@pytest.mark.parametrize(("n", "epsilon", "expected"), [(60, 4.0, "randomized-response"), (1400, 1.0, "noisy-power")])
def test_all_graphs_get_the_same_mechanism_where_public_arguments_decide(n, epsilon, expected):
    budget = {"epsilon": epsilon, "delta": 1e-6, "rank": 1, "mechanism": "auto", "rng": 0}
    graphs = (nx.empty_graph(n), planted_cut_sparse(n, n // 4, -0.75, rng=0)[0])
    found = [dpgraph.private_normalized_adjacency(G, **budget) for G in graphs]
    assert [private.mechanism for private in found] == [expected, expected]
    assert [private.privacy.delta for private in found] == [0.0, 0.0]  # one vector is released purely too


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.complete_bipartite_graph(60, 540), "randomized-response"),
        (nx.random_regular_graph(20, 600, seed=0), "randomized-response"),
        (nx.random_regular_graph(100, 600, seed=0), "noisy-power"),
        (nx.gnp_random_graph(600, 0.2, seed=0), "noisy-power"),
    ],
    ids=["hubs", "few edges", "regular", "random"],
)
def test_uneven_degrees_and_few_edges_are_seen_by_one_bit_of_a_hundredth_of_epsilon_and_pay_for_answers(
    graph, expected
):
    for seed in range(5):
        private = dpgraph.private_normalized_adjacency(
            graph, epsilon=2.0, delta=1e-6, rank=2, mechanism="auto", rng=seed
        )
        assert private.mechanism == expected
        first, *others = private.privacy.entries
        assert first.name == "choice by degrees"
        assert first.epsilon <= 0.02
        if expected == "noisy-power":  # which pays nothing for the bit
            assert private.privacy.mu == pytest.approx(dpgraph.privacy.gdp_mu(2.0, 1e-6))
            assert first.share == 0.0
        else:
            assert first.epsilon + sum(entry.epsilon for entry in others) == pytest.approx(2.0)
        assert sum(entry.share for entry in private.privacy.entries) == pytest.approx(1.0)
        assert (private.privacy.epsilon, private.privacy.delta) == (2.0, 1e-6)


def test_an_automatic_rank_is_chosen_for_as_the_two_columns_that_products_have():
    for degree, expected in ((20, "randomized-response"), (100, "noisy-power")):
        graph = nx.random_regular_graph(degree, 600, seed=0)
        budget = {"epsilon": 2.0, "delta": 1e-6, "mechanism": "auto", "rng": 0}
        found = [dpgraph.private_normalized_adjacency(graph, rank=rank, **budget).mechanism for rank in ("auto", 2)]
        assert found == [expected, expected]


def test_an_accountant_pays_epsilon_and_delta_for_a_call_that_the_degrees_decide():
    accountant = dpgraph.PrivacyAccountant(epsilon=4.0, delta=1e-6)
    G = nx.barabasi_albert_graph(600, 10, seed=0)
    budget = {"epsilon": 4.0, "delta": 1e-6, "rank": 2, "mechanism": "auto", "accountant": accountant}
    dpgraph.private_normalized_adjacency(G, **budget, rng=0)
    with pytest.raises(dpgraph.BudgetExceededError):
        dpgraph.private_normalized_adjacency(G, **(budget | {"epsilon": 0.01}))


def test_auto_is_exactly_the_mechanism_that_it_names():
    A, _ = planted_cut_sparse(60, 20, -0.75, rng=1)
    auto, named = (
        dpgraph.private_normalized_adjacency(A, epsilon=1.0, delta=1e-6, rank=2, mechanism=mechanism, rng=3)
        for mechanism in ("auto", "randomized-response")
    )
    assert np.array_equal(auto.basis, named.basis)
