"""Randomised response on a graph: every pair, unbiased, sparse, and within its ratio."""

import itertools

import networkx as nx
import numpy as np
import pytest
from scipy import stats

import dpgraph
from dpgraph.inputs.graphs import open_graph
from dpgraph.problems.released_solvers import cut_answers, flipped_objective, label_answers
from dpgraph.releases.answers import FLIP_LIMIT, expected_flips, release_flipped_graph
from tests.calls import edge_call


def flipped(G, epsilon, seed, **options):
    return release_flipped_graph(open_graph(G, **options).read(), edge_call(epsilon, seed))


def test_every_graph_on_four_vertices_comes_out_with_its_product_probability():
    """Enumeration: all 64 answers, for two neighbours, and the ratio of their probabilities is e**epsilon at most."""
    epsilon, runs = 1.0, 600
    pairs = list(itertools.combinations(range(4), 2))
    for seed, G in enumerate([nx.path_graph(4), nx.Graph([(0, 1), (2, 3)])]):
        G.add_nodes_from(range(4))
        counts = np.zeros(64)
        for run in range(runs):
            A = flipped(G, epsilon, 10_000 * seed + run).adjacency.toarray()
            assert np.array_equal(A, A.T)
            counts[sum(int(A[i, j]) << k for k, (i, j) in enumerate(pairs))] += 1
        p = flipped(G, epsilon, 0).flip
        lies = [
            [bool(code >> k & 1) != nx.Graph(G).has_edge(*pair) for k, pair in enumerate(pairs)] for code in range(64)
        ]
        expected = np.array([p ** sum(row) * (1 - p) ** (6 - sum(row)) for row in lies])
        assert stats.chisquare(counts, runs * expected).pvalue > 1e-7


def test_the_largest_pair_number_and_the_smallest_come_back_as_the_pairs_they_were():
    for n in (2, 3, 4, 5, 100, 3001):
        A = np.zeros((n, n))
        A[n - 2, n - 1] = A[n - 1, n - 2] = A[0, 1] = A[1, 0] = 1.0
        assert np.array_equal(flipped(A, 60.0, 0).adjacency.toarray(), A)


def test_answers_are_unbiased_for_every_weight():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 2.0), (1, 2, 0.5), (2, 3, 1.25)])
    estimates = []
    for seed in range(1000):
        released = flipped(G, 1.0, seed, weight="weight", max_weight=2.0)
        assert set(released.adjacency.data) <= {1.0}
        estimates.append(released.gain * (released.adjacency.toarray() - released.flip))
    error = np.array(estimates).mean(axis=0) - nx.to_numpy_array(G)
    spread = np.array(estimates).std(axis=0) / np.sqrt(1000)
    assert np.all(np.abs(error - np.diag(np.diag(error))) <= 5 * spread + 1e-12)


def test_the_number_of_false_answers_is_public_and_foreseen():
    n, epsilon = 3000, 5.0
    released = flipped(nx.empty_graph(n), epsilon, 0)
    expected = expected_flips(n, epsilon)
    assert abs(released.adjacency.nnz / 2 - expected) < 6 * np.sqrt(expected)
    with pytest.raises(dpgraph.InvalidParameterError, match="false answers"):
        dpgraph.private_max_cut(nx.empty_graph(40_000), epsilon=0.1, delta=1e-6, mechanism="randomized-response")
    assert expected_flips(40_000, 0.1) > FLIP_LIMIT
    with pytest.raises(dpgraph.InvalidParameterError, match="fair coins"):
        dpgraph.private_max_cut(nx.empty_graph(30), epsilon=1e-7, delta=1e-6, mechanism="randomized-response")


def test_the_objective_holds_expected_weights_and_no_dense_matrix():
    """On an Erdos-Renyi graph an answer means what Bayes' rule says, and silence what is left."""
    n, density, epsilon = 300, 0.2, 1.5
    released = flipped(nx.gnp_random_graph(n, density, seed=1), epsilon, 2)
    objective = flipped_objective(released)
    p = released.flip
    odds = density / (1 - density)
    answered, silent = (ratio * odds / (1 + ratio * odds) for ratio in ((1 - p) / p, p / (1 - p)))
    M = objective.multiply(np.eye(n))
    ones = released.adjacency.toarray() > 0
    assert M[ones].mean() == pytest.approx(answered, rel=0.15)
    assert M[~ones & ~np.eye(n, dtype=bool)].mean() == pytest.approx(silent, rel=0.25)
    assert objective.base.matrix.nnz == released.adjacency.nnz


def test_an_answer_counts_more_between_vertices_of_many_edges():
    G = nx.compose(nx.empty_graph(1500), nx.complete_graph(60))
    released = flipped(G, 4.0, 3)
    matrix = flipped_objective(released).base.matrix
    true = np.mean([matrix[i, j] for i, j in itertools.combinations(range(30), 2)])
    false = matrix.data[matrix.data > 0].min()
    assert false < 0.5 * true


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("n", [8, 9])
def test_the_upper_bound_covers_every_cut_of_the_expected_weights(n, balanced):
    released = flipped(nx.gnp_random_graph(n, 0.5, seed=n), 2.0, 4)
    M = flipped_objective(released).multiply(np.eye(n))
    solution = cut_answers(released, np.random.default_rng(0), balanced=balanced)
    cuts = np.array([side for side in itertools.product((0, 1), repeat=n) if side[0] == 0])
    if balanced:
        cuts = cuts[np.abs(n - 2 * cuts.sum(axis=1)) <= 1]
    weights = np.einsum("ci,ij,cj->c", cuts, M, 1 - cuts)
    chosen = solution.labels
    assert solution.value == pytest.approx(chosen @ M @ (1 - chosen))
    assert weights.max() <= solution.upper_bound + 1e-9
    assert solution.value >= 0.97 * weights.max()
    assert not balanced or abs(n - 2 * chosen.sum()) <= 1


@pytest.mark.parametrize("relation", [1.0 - np.eye(3), np.eye(2), np.array([[0.0, 1.0], [1.0, 0.5]])])
def test_labels_of_the_answers_earn_nearly_as_much_expected_weight_as_any(relation):
    released = flipped(nx.gnp_random_graph(7, 0.6, seed=2), 3.0, 5)
    W = released.expected_weights()[0].toarray()
    labels = label_answers(released, relation, rng=np.random.default_rng(0))
    every = np.array(list(itertools.product(range(len(relation)), repeat=7)))
    earned = np.einsum("ij,cij->c", W, relation[every[:, :, None], every[:, None, :]])
    assert (W * relation[labels[:, None], labels]).sum() >= 0.99 * earned.max()
