"""The noisily best of all cuts: every cut is weighed, and probabilities of neighbours stay within e**epsilon."""

import itertools

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.releases.all_cuts import _cut_weights

DELTA = 1e-6


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_the_weight_of_every_cut_is_that_of_its_definition(n):
    rng = np.random.default_rng(n)
    A = np.triu(rng.integers(0, 9, size=(n, n)), 1)
    A += A.T
    weights = _cut_weights(A)
    assert weights.size == 2 ** (n - 1)
    for code, weight in enumerate(weights):
        side = code >> np.arange(n) & 1
        assert side[-1] == 0
        assert weight == sum(A[i, j] for i, j in itertools.combinations(range(n), 2) if side[i] != side[j])


def law(A, epsilon):
    """Exact probabilities of all cuts: accepted independently, then one accepted uniformly."""
    scores = _cut_weights(A)
    accept = np.exp(epsilon * (scores - scores.max()).astype(float))
    found = np.zeros(scores.size)
    for i in range(scores.size):
        # E[1/(1 + number of others accepted)] by the distribution of that number.
        others = np.array([1.0])
        for a in np.delete(accept, i):
            others = np.convolve(others, [1 - a, a])
        found[i] = accept[i] * np.sum(others / np.arange(1, others.size + 1))
    return found


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_on_all_graphs_of_four_vertices_neighbours_have_ratios_of_e_to_the_epsilon_at_most(epsilon):
    """Enumeration of every graph and every neighbour; the bound is nearly attained, so half the scale would not do."""
    worst = 0.0
    pairs = list(itertools.combinations(range(4), 2))
    laws = {}
    for bits in itertools.product((0, 1), repeat=6):
        A = np.zeros((4, 4), dtype=np.int64)
        for bit, (i, j) in zip(bits, pairs, strict=True):
            A[i, j] = A[j, i] = bit
        laws[bits] = law(A, epsilon)
        assert laws[bits].sum() == pytest.approx(1.0)
    for bits, probabilities in laws.items():
        for k in range(6):
            other = laws[(*bits[:k], 1 - bits[k], *bits[k + 1 :])]
            worst = max(worst, float(np.abs(np.log(probabilities / other)).max()))
    assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-12)


def test_cuts_are_drawn_with_that_law():
    from scipy import stats

    G = nx.path_graph(4)
    runs, epsilon = 800, 1.0
    counts = np.zeros(8)
    for seed in range(runs):
        labels = dpgraph.private_max_cut(G, epsilon=epsilon / 0.975, delta=DELTA, rng=seed).labels
        counts[int(np.sum(labels[:3].astype(int) << np.arange(3)))] += 1
    expected = law(nx.to_numpy_array(G, dtype=np.int64), epsilon)
    assert stats.chisquare(counts, runs * expected).pvalue > 1e-7


def test_weights_count_in_units_of_the_largest():
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 50.0), (1, 2, 25.0), (0, 2, 1.0)])
    cut = dpgraph.private_max_cut(G, epsilon=1e4, delta=DELTA, weight="weight", max_weight=50.0, rng=0)
    assert cut.mechanism == "permute-and-flip"
    assert dpgraph.evaluate.cut_value(G, cut.partition, weight="weight") == 75.0
    assert cut.estimated_value == pytest.approx(75.0, abs=5.0)
