"""Private communities: what is found, what the result says, what is refused."""

import math

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.denoise.answer_communities import Excesses, communities_of_answers
from dpgraph.denoise.louvain import louvain
from dpgraph.denoise.modularity import BlockWeights, modularity, modularity_interval
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import PrivacyAccountant
from dpgraph.problems.communities import CommunityFacts, choose
from dpgraph.releases.totals import WeightEstimate

SIZES = (120, 90, 60)


def planted(names=str):
    """Three blocks of different sizes, shuffled, with names."""
    G = nx.random_partition_graph(SIZES, 0.4, 0.02, seed=3)
    order = np.random.default_rng(0).permutation(len(G)).tolist()
    H = nx.Graph()
    H.add_nodes_from(names(v) for v in order)
    H.add_edges_from((names(u), names(v)) for u, v in G.edges)
    blocks = [{names(v) for v in block} for block in G.graph["partition"]]
    return H, blocks


def test_planted_blocks_are_found_the_largest_first_in_the_callers_names():
    G, blocks = planted()
    found = dpgraph.private_communities(G, epsilon=3.0, rng=1)
    assert [len(a & b) / len(a | b) > 0.95 for a, b in zip(found.communities, blocks, strict=True)] == [True] * 3
    assert found.nodes == tuple(G)
    assert all(node in found.communities[k] for node, k in zip(found.nodes, found.labels.tolist(), strict=True))
    assert found.to_frame()["community"].tolist() == found.labels.tolist()
    assert (found.mechanism, found.privacy.delta) == ("randomized-response", 0.0)


def test_the_estimates_are_those_of_the_communities():
    G, _ = planted()
    A = nx.to_numpy_array(G)
    loud = dpgraph.private_communities(A, epsilon=1e5, rng=0)
    member = np.eye(len(loud.communities))[loud.labels]
    exact = member.T @ A @ member
    exact[np.diag_indices(len(exact))] /= 2
    assert np.allclose(loud.block_weights, exact, atol=0.5)
    assert np.allclose(loud.degrees, A.sum(axis=1), atol=0.5)


def test_merging_does_not_flatter_the_estimate():
    """Labels merge where noise is high: an estimate by the same noise is 1.3 standard deviations too large here."""
    G = nx.planted_partition_graph(6, 30, 0.5, 0.25, seed=3)
    errors = []
    for seed in range(30):
        found = dpgraph.private_communities(G, epsilon=2.0, mechanism="bounded-iterates", rng=seed)
        exact = nx.community.modularity(G, found.communities)
        errors.append((found.estimated_modularity - exact) / found.estimated_modularity_std)
    assert abs(np.mean(errors)) < 3.3 / math.sqrt(30)
    assert np.std(errors) < 1.6


def test_modularity_and_its_deviation_are_those_of_networkx_and_of_finite_differences():
    G, blocks = planted()
    member = np.array([[node in block for block in blocks] for node in G], dtype=float)
    counts = member.T @ nx.to_numpy_array(G) @ member
    values = np.triu(counts)
    values[np.diag_indices(3)] /= 2
    weights = BlockWeights.released(values, 1e-9)
    for resolution in (0.5, 1.0, 2.0):
        value, std = modularity(weights, resolution)
        assert value == pytest.approx(nx.community.modularity(G, blocks, resolution=resolution))
        slopes = []
        for place in zip(*np.triu_indices(3), strict=True):
            moved = values.copy()
            moved[place] += 1e-3
            slopes.append((modularity(BlockWeights.released(moved, 1e-9), resolution)[0] - value) / 1e-3)
        assert std == pytest.approx(1e-9 * np.linalg.norm(slopes), rel=1e-3)
    grouped = weights.grouped(np.array([0, 1, 0]))
    assert grouped.numbers.tolist() == [[3.0, 2.0], [0.0, 1.0]]
    assert grouped.values.sum() == values.sum()


@pytest.mark.parametrize("resolution", [1.0, 2.0])
def test_the_modularity_of_many_groups_of_few_edges_is_not_found_too_low(resolution):
    """Squares of noisy degree sums are too large in the mean: by them alone, 2 to 6 of 10 intervals held."""
    rng, exact, held, errors = np.random.default_rng(0), 1 - resolution / 30, 0, []
    for _ in range(200):
        noisy = BlockWeights.released(np.triu(np.eye(30) + rng.laplace(0, 1.8, (30, 30))), 1.8 * math.sqrt(2))
        noisy = noisy.with_total(30 + rng.laplace(0, 5), 5 * math.sqrt(2))
        low, high = modularity_interval(noisy, resolution)
        held += low <= exact <= high
        errors.append(modularity(noisy, resolution)[0] - exact)
    assert held >= 186
    assert abs(np.nanmedian(errors)) < 0.3


@pytest.mark.parametrize("mechanism", ["bounded-iterates", "randomized-response"])
def test_communities_are_vague_where_epsilon_times_the_average_degree_is_below_fifty(mechanism):
    G = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)  # degree 43.6
    for epsilon, vague in ((0.9, True), (1.5, False)):
        for unit in (1.0, 4.0):
            nx.set_edge_attributes(G, unit, "weight")
            found = dpgraph.private_communities(
                G, epsilon=epsilon, communities=3, mechanism=mechanism, weight="weight", max_weight=unit, rng=0
            )
            assert found.vague is vague
            assert ("another run would hardly agree" in repr(found)) is vague


def test_weights_count():
    """The edges say nothing, their weights everything."""
    rng = np.random.default_rng(1)
    block = np.repeat([0, 1], 100)
    A = np.triu(rng.random((200, 200)) < 0.5, 1) * np.where(np.equal.outer(block, block), 2.0, 0.25)
    found = dpgraph.private_communities(A + A.T, weight="weight", max_weight=2.0, epsilon=4.0, communities=2, rng=0)
    assert max(np.mean(found.labels == block), np.mean(found.labels != block)) > 0.97
    bounds = {line.sensitivity for line in found.privacy.entries if line.name != "adjacency bits"}
    assert bounds == {4.0, 2.0}


@pytest.mark.parametrize(
    ("degree", "sweeps", "core"), [(10, 1, ""), (30, 2, "labels, core"), (160, 3, "adjacency bits")]
)
def test_the_ledger_holds_the_whole_budget_and_released_degrees_choose_sweeps_and_core(degree, sweeps, core):
    accountant = PrivacyAccountant(epsilon=1.0)
    G = nx.gnp_random_graph(400, degree / 400, seed=2)
    found = dpgraph.private_communities(G, epsilon=1.0, mechanism="bounded-iterates", accountant=accountant, rng=0)
    lines = found.privacy.entries
    assert sum(line.share for line in lines) == pytest.approx(1.0)
    assert accountant.remaining.epsilon == pytest.approx(0.0, abs=1e-9)
    names = [line.name for line in lines]
    assert sum(name.startswith("labels, sweep") for name in names) == sweeps
    assert [name for name in names if name in ("labels, core", "adjacency bits")] == ([core] if core else [])
    assert [line.mechanism for line in lines if line.name.startswith("labels")][-1] == "noisy maximum"
    assert names[-1] == "weights between communities"
    *counted, chosen = (line.share for line in lines if line.name.startswith("labels, sweep"))
    assert not counted or sum(counted) == pytest.approx(chosen)


@pytest.mark.parametrize(
    ("G", "expected"),
    [
        (nx.gnp_random_graph(500, 30 / 500, seed=1), "randomized-response"),
        (nx.barabasi_albert_graph(500, 15, seed=1), "bounded-iterates"),
    ],
    ids=["even degrees", "uneven degrees"],
)
def test_auto_takes_answers_at_more_noise_where_released_degrees_are_even(G, expected):
    total = WeightEstimate(float(G.number_of_edges()), 0.0)
    assert choose(CommunityFacts(500, 1.0, 2.0)).then(total).question == "evenness of degrees"
    for seed in range(3):
        found = dpgraph.private_communities(G, epsilon=2.0, rng=seed)
        assert found.mechanism == expected
        assert "excess of degrees" in [line.name for line in found.privacy.entries]
    for epsilon, decided in ((0.5, "bounded-iterates"), (5.0, "randomized-response")):
        assert choose(CommunityFacts(500, 1.0, epsilon)).then(total) == decided


@pytest.mark.parametrize("function", ["private_communities", "private_synthetic_graph"])
def test_a_number_of_communities_is_at_least_one_or_refused_before_the_debit(function):
    accountant, find = PrivacyAccountant(epsilon=1.0), getattr(dpgraph, function)
    for number in (0, -1, 2.0, True, "many", None, math.nan, [2]):
        with pytest.raises(InvalidParameterError, match="communities must be an integer, at least 1"):
            find(nx.path_graph(5), epsilon=1.0, communities=number, accountant=accountant)
    assert accountant.spent.epsilon == 0
    for good in (1, 5, np.int64(5), 100, "auto"):
        assert 1 <= len(find(nx.path_graph(5), epsilon=1.0, communities=good, rng=0).communities) <= 5


@pytest.mark.parametrize("mechanism", ["bounded-iterates", "randomized-response"])
def test_each_mechanism_finds_planted_blocks_estimates_honestly_and_keeps_the_number_asked_for(mechanism):
    G, blocks = planted()
    within = 0
    for seed in range(30):
        found = dpgraph.private_communities(G, epsilon=3.0, mechanism=mechanism, rng=seed)
        exact = nx.community.modularity(G, found.communities)
        within += abs(found.estimated_modularity - exact) < 1.96 * found.estimated_modularity_std
        assert found.mechanism == mechanism
    assert within >= 25
    assert [len(a & b) / len(a | b) > 0.9 for a, b in zip(found.communities, blocks, strict=True)] == [True] * 3
    for count in (1, 2, 3):
        few = dpgraph.private_communities(G, epsilon=3.0, mechanism=mechanism, communities=count, rng=0)
        assert len(few.communities) == count
        assert np.allclose(few.block_weights, few.block_weights.T)
    assert few.degrees.min() > 0


def test_louvain_finds_what_igraph_finds():
    G = nx.gaussian_random_partition_graph(300, 30, 10, 0.3, 0.02, seed=1).to_undirected()
    A = sparse.csr_array(nx.to_scipy_sparse_array(G), dtype=float)
    for resolution in (0.5, 1.0, 3.0):
        labels = louvain(A, resolution, np.random.default_rng(0))
        assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
        g = igraph.Graph.from_networkx(G)
        best = g.community_multilevel(resolution=resolution).membership
        mine, other = (g.modularity(found, resolution=resolution) for found in (labels.tolist(), best))
        assert mine > other - 0.005
    assert louvain(sparse.csr_array((3, 3)), 1.0, np.random.default_rng(0)).tolist() == [0, 1, 2]


def test_a_released_total_sharpens_the_weights_and_their_deviation_says_so():
    rng = np.random.default_rng(0)
    exact = np.triu(np.full((4, 4), 50.0) + 400 * np.eye(4))
    slopes = np.triu(rng.random((4, 4)) + 3.0)
    for total_std in (1.0, 20.0, math.inf):
        errors = []
        for _ in range(4000):
            noisy = BlockWeights.released(np.triu(exact + rng.normal(0, 10.0, (4, 4))), 10.0)
            total = exact.sum() + (rng.normal(0, total_std) if total_std < math.inf else 1e9)
            known = noisy.with_total(total, total_std)
            errors.append(((known.values - exact) * slopes).sum())
        assert known.deviation(slopes) == pytest.approx(np.std(errors), rel=0.05)
        assert known.grouped(np.array([0, 0, 1, 2])).values.sum() == pytest.approx(known.values.sum())
    assert noisy.with_total(total, 1.0).deviation(slopes) < 0.3 * noisy.deviation(slopes)


def test_a_small_community_of_answers_is_seen_inside_the_group_it_was_put_into():
    sizes, flip, found = np.array([200, 150, 20, 20, 20, 20]), 0.2, 0
    block, gain = np.repeat(np.arange(6), sizes), 1 / (1 - 2 * flip)
    rates = np.where(np.equal.outer(block, block), np.where(sizes > 20, 0.5, 0.8)[block], 0.003)
    for seed in range(10):
        edges, lies = (
            np.triu(np.random.default_rng((seed, i)).random(rates.shape) < rate, 1)
            for i, rate in enumerate((rates, flip))
        )
        answers, degrees = (edges ^ lies) | (edges ^ lies).T, (edges | edges.T).sum(axis=0, dtype=float)
        std = gain * math.sqrt(flip * (1 - flip))
        excesses = Excesses(sparse.csr_array(gain * answers), gain * flip, std, 1.0, degrees, float(degrees.sum()), 1.0)
        labels = communities_of_answers(excesses, np.random.default_rng(seed))
        found += len({int(np.bincount(labels[block == b]).argmax()) for b in range(6)})
    assert found >= 42  # eigenvectors of all rows alone find 34 of 60
