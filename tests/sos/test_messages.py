"""Messages bound every assignment, tightly on trees; forests of variables get their best labels."""

import itertools

import networkx as nx
import numpy as np

from dpgraph import TwoCSP
from dpgraph.sos.csp import messages
from dpgraph.sos.csp.objective import CSPObjective


def objective(graph, q, seed, scale=1.0):
    rng, graph = np.random.default_rng(seed), nx.convert_node_labels_to_integers(graph)
    instance = TwoCSP(len(graph), q)
    for u, v in graph.edges:
        instance.add_constraint(u, v, scale * rng.random((q, q)))
    return CSPObjective.of(instance)


def best(given):
    n, q = given.unary.shape
    return max(given.value(np.array(x)) for x in itertools.product(range(q), repeat=n))


def test_bounds_hold_and_are_tight_on_trees():
    for seed in range(6):
        for graph, tight in (
            (nx.random_labeled_tree(7, seed=seed), True),
            (nx.gnm_random_graph(6, 11, seed=seed), False),
        ):
            given = objective(graph, 3, seed, 10.0 ** (4 * seed - 10))
            found, largest = messages.pass_messages(given), best(given)
            assert found.bound >= largest
            assert found.bound <= (1.0 + 1e-9 if tight else 1.3) * largest
            assert not tight or given.value(found.labels) >= (1.0 - 1e-9) * largest


def test_forests_get_their_best_labels():
    rng = np.random.default_rng(0)
    for seed in range(6):
        given = objective(nx.random_labeled_tree(8, seed=seed), 3, seed)
        start = rng.integers(3, size=(2, 8))
        assert all(given.value(x) == best(given) for x in messages.improve_by_forests(given, start, rng, 1))
        given = objective(nx.gnm_random_graph(30, 80, seed=seed), 4, seed)
        start = rng.integers(4, size=(1, 30))
        found = messages.improve_by_forests(given, start, rng, 20)
        assert given.value(found[0]) > given.value(start[0])
