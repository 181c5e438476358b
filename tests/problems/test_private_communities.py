"""Private communities: what is found, what the result says, what is refused."""

import math

import igraph
import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.denoise.modularity import BlockWeights, merge_labels, modularity
from dpgraph.exceptions import BudgetExceededError, InvalidGraphError, InvalidParameterError
from dpgraph.privacy import PrivacyAccountant

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
    assert (found.mechanism, found.privacy.delta) == ("one-sided-sweeps", 0.0)


def test_the_estimates_are_those_of_the_communities():
    G, _ = planted()
    within = 0
    for seed in range(20):
        found = dpgraph.private_communities(G, epsilon=2.0, rng=seed)
        exact = nx.community.modularity(G, found.communities)
        within += abs(found.estimated_modularity - exact) < 1.96 * found.estimated_modularity_std
        assert np.array_equal(found.block_weights, found.block_weights.T)
    assert within >= 16
    A = nx.to_numpy_array(G)
    loud = dpgraph.private_communities(A, epsilon=1e5, rng=0)
    member = np.eye(len(loud.communities))[loud.labels]
    exact = member.T @ A @ member
    exact[np.diag_indices(len(exact))] /= 2
    assert np.allclose(loud.block_weights, exact, atol=0.5)
    assert np.allclose(loud.degrees, A.sum(axis=1), atol=0.5)


def test_modularity_and_its_deviation_are_those_of_networkx_and_of_finite_differences():
    G, blocks = planted()
    member = np.array([[node in block for block in blocks] for node in G], dtype=float)
    counts = member.T @ nx.to_numpy_array(G) @ member
    values = np.triu(counts)
    values[np.diag_indices(3)] /= 2
    weights = BlockWeights.released(values, 2.0)
    for resolution in (0.5, 1.0, 2.0):
        value, std = modularity(weights, resolution)
        assert value == pytest.approx(nx.community.modularity(G, blocks, resolution=resolution))
        slopes = []
        for place in zip(*np.triu_indices(3), strict=True):
            moved = values.copy()
            moved[place] += 1e-3
            slopes.append((modularity(BlockWeights.released(moved, 2.0), resolution)[0] - value) / 1e-3)
        assert std == pytest.approx(2.0 * np.linalg.norm(slopes), rel=1e-3)
    grouped = weights.grouped(np.array([0, 1, 0]))
    assert grouped.numbers.tolist() == [[3.0, 2.0], [0.0, 1.0]]
    assert grouped.values.sum() == values.sum()


def test_labels_of_one_community_are_merged_and_others_are_not():
    values = np.diag([50.0, 50.0, 80.0, 90.0]) + np.triu(np.full((4, 4), 5.0), 1)
    values[0, 1] = 60.0
    weights = BlockWeights.released(values, 1.0)
    groups, merged = merge_labels(weights, 1.0, least=1, most=4)
    assert groups.tolist() == [0, 0, 1, 2]
    assert np.diag(merged.values).tolist() == [160.0, 80.0, 90.0]
    assert merge_labels(weights, 1.0, least=1, most=4, margin=1e3)[0].tolist() == [0, 1, 2, 3]
    assert merge_labels(weights, 1.0, least=4, most=4)[0].tolist() == [0, 1, 2, 3]
    assert set(merge_labels(weights, 1.0, least=2, most=2)[0]) == {0, 1}
    nothing = BlockWeights.released(np.full((3, 3), -1.0), 1.0)
    assert merge_labels(nothing, 1.0, least=1, most=3)[0].tolist() == [0, 1, 2]
    assert math.isnan(modularity(nothing, 1.0)[0])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_number_of_communities_is_kept(count):
    assert len(dpgraph.private_communities(planted()[0], epsilon=4.0, communities=count, rng=2).communities) == count


def test_resolution_makes_communities_smaller():
    G = nx.ring_of_cliques(12, 12)
    few, many = (dpgraph.private_communities(G, epsilon=30.0, resolution=r, rng=0) for r in (0.1, 1.0))
    assert len(few.communities) < len(many.communities)


def test_weights_count():
    """The edges say nothing, their weights everything."""
    rng = np.random.default_rng(1)
    block = np.repeat([0, 1], 100)
    A = np.triu(rng.random((200, 200)) < 0.5, 1) * np.where(np.equal.outer(block, block), 2.0, 0.25)
    found = dpgraph.private_communities(A + A.T, weight="weight", max_weight=2.0, epsilon=4.0, communities=2, rng=0)
    assert max(np.mean(found.labels == block), np.mean(found.labels != block)) > 0.97
    assert {line.sensitivity for line in found.privacy.entries} == {4.0, 2.0}


def test_every_kind_of_graph_gives_the_same():
    G, _ = planted(int)
    matrix = nx.to_scipy_sparse_array(G)
    names = list(G)
    g = igraph.Graph.from_networkx(G)
    from_graph, from_matrix, from_igraph = (
        dpgraph.private_communities(graph, epsilon=2.0, rng=5) for graph in (G, sparse.csr_array(matrix), g)
    )
    assert np.array_equal(from_graph.labels, from_matrix.labels)
    assert np.array_equal(from_graph.labels, from_igraph.labels)
    assert from_graph.communities == [{names[v] for v in block} for block in from_matrix.communities]
    assert from_igraph.to_igraph_clustering(g).membership == from_igraph.labels.tolist()


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 1e4])
@pytest.mark.parametrize(
    "graph", [nx.empty_graph(1), nx.path_graph(2), nx.empty_graph(40), nx.complete_graph(9)], ids=str
)
def test_empty_and_tiny_graphs_are_answered(graph, epsilon):
    for communities in ("auto", 1, len(graph)):
        found = dpgraph.private_communities(graph, epsilon=epsilon, communities=communities, rng=0)
        assert set().union(*found.communities) == set(graph)
        assert all(found.communities)
        assert found.block_weights.shape == (len(found.communities),) * 2


@pytest.mark.parametrize(("degree", "sweeps", "core"), [(10, 1, False), (30, 2, False), (80, 3, True)])
def test_the_ledger_holds_the_whole_budget_and_released_degrees_choose_sweeps_and_core(degree, sweeps, core):
    accountant = PrivacyAccountant(epsilon=1.0)
    G = nx.gnp_random_graph(400, degree / 400, seed=2)
    lines = dpgraph.private_communities(G, epsilon=1.0, accountant=accountant, rng=0).privacy.entries
    assert sum(line.share for line in lines) == pytest.approx(1.0)
    assert accountant.remaining.epsilon == pytest.approx(0.0, abs=1e-9)
    names = [line.name for line in lines]
    assert sum(name.startswith("labels, sweep") for name in names) == sweeps
    assert ("adjacency bits" in names) == core
    assert [line.mechanism for line in lines if line.name.startswith("labels")][-1] == "noisy maximum"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"resolution": 0.0}, "resolution"),
        ({"resolution": math.nan}, "resolution"),
        ({"mechanism": "louvain"}, "mechanism"),
        ({"weight": "weight"}, "max_weight"),
    ],
)
def test_bad_arguments_are_refused(arguments, named):
    with pytest.raises(InvalidParameterError, match=named):
        dpgraph.private_communities(nx.path_graph(5), **{"epsilon": 1.0} | arguments)


@pytest.mark.parametrize("number", [0, 6, -1, 2.0, True, "many", None, math.nan, [2]], ids=repr)
@pytest.mark.parametrize("function", ["private_communities", "private_synthetic_graph"])
def test_a_number_of_communities_is_from_one_to_the_number_of_vertices_or_refused_before_the_debit(function, number):
    accountant, find = PrivacyAccountant(epsilon=1.0), getattr(dpgraph, function)
    with pytest.raises(InvalidParameterError, match="communities must be an integer from 1 to 5"):
        find(nx.path_graph(5), epsilon=1.0, communities=number, accountant=accountant)
    assert accountant.spent.epsilon == 0
    for good in (1, 5, np.int64(5), "auto"):
        assert 1 <= len(find(nx.path_graph(5), epsilon=1.0, communities=good, rng=0).communities) <= 5


def test_bad_graphs_and_empty_budgets_are_refused():
    with pytest.raises(InvalidGraphError):
        dpgraph.private_communities(nx.path_graph(4, create_using=nx.DiGraph), epsilon=1.0)
    with pytest.raises(BudgetExceededError):
        dpgraph.private_communities(nx.path_graph(4), epsilon=1.0, accountant=PrivacyAccountant(epsilon=0.5))


def test_a_result_survives_a_file(tmp_path):
    found = dpgraph.private_communities(planted()[0], epsilon=2.0, rng=0)
    dpgraph.save_result(found, tmp_path / "found.npz")
    again = dpgraph.load_result(tmp_path / "found.npz")
    assert again.communities == found.communities
    assert np.array_equal(again.labels, found.labels)
    assert again.privacy == found.privacy
