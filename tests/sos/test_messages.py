"""Messages bound every assignment, tightly on trees."""

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
            shares, labels = messages.pass_messages(given)
            bound, largest = messages._bound(given, shares), best(given)
            assert bound >= (1.0 - 1e-14) * largest
            assert bound <= (1.0 + 1e-9 if tight else 1.3) * largest
            assert not tight or given.value(labels) >= (1.0 - 1e-9) * largest
