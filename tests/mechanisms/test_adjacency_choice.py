"""The automatic mechanism of an embedding follows from public arguments."""

import networkx as nx
import pytest

import dpgraph
from dpgraph.datasets import planted_cut_sparse
from dpgraph.problems.embedding.normalized_adjacency import choose_mechanism


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
