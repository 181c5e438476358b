"""Private max-k-cut, and 2-CSPs whose relation is public: what they answer and what they refuse."""

import itertools

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.problems.csp.private import private_max_k_cut
from dpgraph.problems.options import BoundedIterates

BUDGET = {"epsilon": 4.0, "delta": 1e-6}
GRAPH = nx.complete_multipartite_graph(40, 40, 40)


def weight_between(G, result):
    return sum(1 for u, v in G.edges if result.assignment[u] != result.assignment[v])


def test_fractions_and_values_lie_in_their_intervals_and_are_possible():
    G = nx.gnp_random_graph(30, 0.4, seed=1)
    A, held = nx.to_numpy_array(G), np.zeros((3, 2))
    instance = dpgraph.TwoCSP.from_networkx(G, "max-k-cut", 3)
    calls = (
        lambda seed: dpgraph.private_max_k_cut(G, 3, epsilon=2.0, mechanism="bounded-iterates", rng=seed),
        lambda seed: dpgraph.private_max_2csp(instance, epsilon=2.0, rng=seed),
        lambda seed: dpgraph.private_max_2csp(instance, epsilon=2.0, adjacency="constraint", rng=seed),
    )
    for k, seed in itertools.product(range(3), range(60)):
        found = calls[k](seed)
        value = A[found.labels[:, None] != found.labels].sum() / 2
        low, high = found.value_interval()
        assert 0 <= low <= high <= found.most_weight == 30 * 29 / 2
        held[k, 0] += low <= value <= high
        low, high = found.fraction_interval()
        assert 0 <= low <= high <= 1
        held[k, 1] += low <= value / G.number_of_edges() <= high
    assert np.all(held >= 50), held


@pytest.mark.parametrize("mechanism", ["bounded-iterates", "randomized-response"])
def test_every_mechanism_finds_three_parts_and_says_what_it_is(mechanism):
    result = private_max_k_cut(GRAPH, 3, epsilon=6.0, delta=1e-6, mechanism=mechanism, rng=0)
    assert result.mechanism == mechanism
    assert weight_between(GRAPH, result) > 0.97 * GRAPH.number_of_edges()
    assert mechanism == "bounded-iterates" or result.privacy.delta == 0.0


def test_auto_lets_pairs_answer_unless_weights_are_declared():
    options = {"epsilon": 6.0, "delta": 1e-6, "rng": 0}
    assert private_max_k_cut(GRAPH, 3, **options).mechanism == "randomized-response"
    assert private_max_k_cut(GRAPH, 3, **options, max_weight=1.0).mechanism == "randomized-response"
    weighted = GRAPH.copy()
    nx.set_edge_attributes(weighted, 1.0, "weight")
    found = private_max_k_cut(weighted, 3, **options, weight="weight", max_weight=2.0)
    assert found.mechanism == "bounded-iterates"


def test_a_relation_that_prefers_a_label_is_not_centred_away():
    relation = np.array([[0.5, 0.25], [0.25, 0.0]])
    instance = dpgraph.TwoCSP(60, 2)
    instance.add_constraints(np.array(list(nx.complete_graph(60).edges)), relation)
    result = dpgraph.private_max_2csp(
        instance, epsilon=20.0, delta=1e-6, adjacency="edge", relation=relation, mechanism=BoundedIterates(), rng=0
    )
    assert len(result.partition[0]) > 55


def test_an_instance_of_max_k_cut_is_answered_as_its_graph_is():
    A = sparse.csr_array(nx.to_scipy_sparse_array(GRAPH, dtype=float))
    instance = dpgraph.TwoCSP.from_networkx(GRAPH, "max-k-cut", 3)
    for seed in range(3):
        csp = dpgraph.private_max_2csp(instance, **BUDGET, adjacency="edge", rng=seed)
        cut = private_max_k_cut(A, 3, **BUDGET, rng=seed)
        assert np.array_equal(csp.labels, cut.labels)
        assert csp.estimated_value == cut.estimated_value


def test_heavy_edges_count_by_their_weight_up_to_the_public_bound():
    G = nx.Graph()
    G.add_weighted_edges_from((u, v, 5.0) for u, v in GRAPH.edges)
    result = private_max_k_cut(G, 3, **BUDGET, weight="weight", max_weight=2.0, rng=0)
    assert 0.97 * 2.0 * G.number_of_edges() < result.estimated_value < 1.03 * 2.0 * G.number_of_edges()


def test_a_table_that_is_no_multiple_of_the_relation_is_refused_without_saying_which_after_the_debit():
    instance = dpgraph.TwoCSP(4, 3)
    instance.add_constraint(0, 1, 0.123 * np.eye(3))
    accountant = dpgraph.PrivacyAccountant(epsilon=5.0, delta=1e-6)
    with pytest.raises(dpgraph.InvalidParameterError, match="at least one is not") as caught:
        dpgraph.private_max_2csp(instance, **BUDGET, adjacency="edge", accountant=accountant)
    assert "0.123" not in str(caught.value)
    assert accountant.spent.epsilon == pytest.approx(4.0)  # the tables were read


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_it_cuts_more_than_the_greedy_exponential_mechanism(epsilon):
    rng = np.random.default_rng(0)
    G = nx.gnm_random_graph(600, 12_000, seed=2)

    def greedy():
        labels = np.full(600, -1)
        for v in rng.permutation(600):
            known = labels[list(G[v])]
            counts = np.bincount(known[known >= 0], minlength=3)
            labels[v] = np.argmax(rng.gumbel(size=3) - epsilon * counts)
        return sum(labels[u] != labels[v] for u, v in G.edges)

    ours = [weight_between(G, private_max_k_cut(G, 3, epsilon=epsilon, delta=1e-6, rng=seed)) for seed in range(6)]
    assert np.mean(ours) > np.mean([greedy() for _ in range(6)])
