"""Moves of whole induced forests of a 2-CSP."""

import networkx as nx
import numpy as np
import pytest

from dpgraph import TwoCSP, max_2csp
from dpgraph.sos.csp import forests
from dpgraph.sos.csp.objective import CSPObjective


def random_objective(graph, q, seed):
    rng, instance = np.random.default_rng(seed), TwoCSP(len(graph), q)
    for u, v in nx.convert_node_labels_to_integers(graph).edges:
        instance.add_constraint(u, v, rng.integers(0, 10, (q, q)).astype(float))
    return instance, CSPObjective.of(instance)


@pytest.mark.parametrize("seed", range(5))
def test_the_last_move_has_no_noise_and_solves_a_tree(seed):
    instance, objective = random_objective(nx.random_labeled_tree(30, seed=seed), 4, seed)
    rng = np.random.default_rng(seed)
    moved = forests.move_forests(objective, rng.integers(4, size=30), rng, moves=12)
    assert objective.value(moved) == max_2csp(instance, rng=0).upper_bound


@pytest.mark.parametrize("graph", [nx.grid_2d_graph(6, 7), nx.gnp_random_graph(40, 0.2, seed=1), nx.empty_graph(9)])
def test_what_moves_is_an_induced_forest_to_which_nothing_can_be_added_with_one_neighbour(graph):
    graph = nx.convert_node_labels_to_integers(graph)
    _, objective = random_objective(graph, 2, 0)
    n, state = len(graph), np.array([3], dtype=np.uint64)
    tree, inside = np.empty((3, n), np.int64), np.empty(n, np.int64)
    for _ in range(20):
        count = forests._grow(objective.constraints, tree, inside, state)
        chosen, parents, tables = tree[:, :count].tolist()
        forest = graph.subgraph(chosen)
        assert nx.is_forest(forest)
        assert len(set(chosen)) == count
        joined = [(v, u, e) for v, u, e in zip(chosen, parents, tables, strict=True) if u >= 0]
        assert {frozenset(pair[:2]) for pair in joined} == {frozenset(edge) for edge in forest.edges}
        assert all(set(objective.pairs[e]) == {v, u} for v, u, e in joined)
        assert all(chosen.index(u) < chosen.index(v) for v, u, _ in joined)
        assert all(sum(u in chosen for u in graph[v]) > 1 for v in set(graph) - set(chosen))
