"""Private densest subgraphs: what is found, what is said of it, and inputs at the edge."""

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.inputs.graphs import open_graph
from dpgraph.releases.densest import to_earlier


def density(G, vertices, weight=None):
    return G.subgraph(vertices).size(weight) / len(vertices)


def test_a_clique_is_found_and_no_edge_is_counted_at_both_ends():
    G = nx.disjoint_union(nx.complete_graph(60), nx.gnm_random_graph(500, 1500, seed=1))
    for seed in range(5):
        found = dpgraph.private_densest_subgraph(G, epsilon=1.0, rng=seed)
        assert density(G, found.vertices) > 0.93 * 29.5
        assert [node for node, inside in zip(found.nodes, found.labels, strict=True) if inside] == sorted(
            found.vertices
        )
    graph, order = open_graph(G).read(), np.random.default_rng(0).permutation(len(G))
    counted = to_earlier(graph, order)
    assert counted.sum() == G.number_of_edges()
    for size in (1, 40, 560):  # those of a prefix are the edges inside it
        assert counted[order[:size]].sum() == G.subgraph(order[:size].tolist()).number_of_edges()


@pytest.mark.parametrize("epsilon", [1e-100, 1e-9, 1.0, 1e300])
def test_graphs_without_a_dense_part_have_possible_answers(epsilon):
    for G in (nx.empty_graph(1), nx.empty_graph(5), nx.path_graph(2), nx.star_graph(9)):
        found = dpgraph.private_densest_subgraph(G, epsilon=epsilon, rng=0)
        low, high = found.interval()
        assert 1 <= len(found.vertices) <= len(G)
        assert 0 <= low <= high <= (len(found.vertices) - 1) / 2


def test_the_interval_of_a_chosen_set_holds_as_often_as_it_says():
    """Where nothing is to be found the choice follows the noise: from the same numbers it would seem too dense."""
    G = nx.gnm_random_graph(60, 60, seed=3)
    rng = np.random.default_rng(3)
    for u, v in G.edges:
        G.edges[u, v]["w"] = 2.5 * rng.random()
    for options, level in (({}, 0.9), ({"weight": "w", "max_weight": 2.5}, 0.5)):
        held, off = 0, []
        for seed in range(300):
            found = dpgraph.private_densest_subgraph(G, epsilon=1.0, rng=seed, **options)
            exact = density(G, found.vertices, options.get("weight"))
            low, high = found.interval(level)
            held += low <= exact <= high
            off.append((found.estimated_density - exact) / found.estimated_density_std)
        assert held >= 300 * level - 3 * np.sqrt(300 * level * (1 - level))
        assert abs(np.mean(off)) < 4 / np.sqrt(300)
        assert abs(np.std(off) - 1) < 0.25
