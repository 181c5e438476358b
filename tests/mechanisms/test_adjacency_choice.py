"""The automatic mechanism of an embedding follows from public arguments."""

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.mechanisms.adjacency_choice import choose_mechanism, noise_ratio


@pytest.mark.parametrize(
    ("n", "rank", "epsilon", "chosen"),
    [
        (800, 2, 1.0, "randomized-response"),
        (20_000, 1, 1.0, "noisy-power"),
        (20_000, 1, 8.0, "randomized-response"),
        (5_000, 1, 2.0, "noisy-power"),
        (1_600, 4, 2.0, "randomized-response"),
        (1_000_000, 8, 8.0, "noisy-power"),
    ],
)
def test_answers_are_chosen_for_small_graphs_and_large_budgets(n, rank, epsilon, chosen):
    assert choose_mechanism(n, rank, epsilon, 1e-6, weighted=False) == chosen


def test_edges_of_any_weight_are_never_asked_for_one_bit():
    assert choose_mechanism(800, 2, 8.0, 1e-6, weighted=True) == "noisy-power"


def test_the_ratio_of_the_noises_is_that_of_the_formulas_at_any_epsilon():
    assert noise_ratio(900, 2, 1.0, 1e-6) == pytest.approx(
        30 / (2 * np.sinh(0.5)) * dpgraph.privacy.gdp_mu(1.0, 1e-6) / 2
    )
    assert 0.0 <= noise_ratio(10**6, 1, 5000.0, 1e-6) < 1e-6


@pytest.mark.parametrize("n", [400, 1400])
def test_all_graphs_of_a_size_get_the_same_mechanism_and_the_result_says_which(n):
    budget = {"epsilon": 1.0, "delta": 1e-6, "rank": 2, "mechanism": "auto", "rng": 0}
    graphs = (nx.empty_graph(n), planted_cut_sparse(n, n // 4, -0.75, rng=0)[0])
    found = [dpgraph.private_normalized_adjacency(G, **budget) for G in graphs]
    expected = choose_mechanism(n, 2, 1.0, 1e-6, weighted=False)
    assert [private.mechanism for private in found] == [expected, expected]
    assert [private.privacy.delta for private in found] == [0.0 if n == 400 else 1e-6] * 2


def test_auto_is_exactly_the_mechanism_that_it_names():
    A, _ = planted_cut_sparse(400, 100, -0.75, rng=1)
    auto, named = (
        dpgraph.private_normalized_adjacency(A, epsilon=1.0, delta=1e-6, rank=2, mechanism=mechanism, rng=3)
        for mechanism in ("auto", "randomized-response")
    )
    assert np.array_equal(auto.basis, named.basis)
