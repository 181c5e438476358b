"""The search for the best assignment against all of them, where elimination does not come first."""

import itertools

import networkx as nx
import numpy as np
import pytest

from dpgraph import TwoCSP, max_2csp
from dpgraph.sos.csp import elimination


def drawn(seed):
    """A dense instance of seven or eight variables: tables, weighted colourings, or differences modulo q."""
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(7, 9)), int(rng.integers(2, 5))
    instance, kind = TwoCSP(n, q), seed % 3
    cycle = (np.arange(q)[:, None] - np.arange(q)) % q
    for u, v in nx.gnm_random_graph(n, int(rng.integers(3 * n - 6, n * (n - 1) // 2 + 1)), seed=seed).edges:
        weight = float(rng.integers(1, 4))
        colours = 1.0 - np.eye(q) if rng.random() < 0.7 else np.eye(q)
        wish = (cycle == rng.integers(q)).astype(float)
        instance.add_constraint(u, v, (rng.integers(0, 6, (q, q)).astype(float), weight * colours, weight * wish)[kind])
    return instance


def best(instance):
    labels = np.array(list(itertools.product(range(instance.alphabet_size), repeat=instance.n_variables)))
    u, v = instance.pairs.T
    return sum(table[labels[:, i], labels[:, j]] for i, j, table in zip(u, v, instance.tables, strict=True)).max()


@pytest.mark.parametrize("count", [20, pytest.param(3000, marks=pytest.mark.slow)])
def test_what_a_search_proves_is_the_best_of_all(monkeypatch, count):
    monkeypatch.setattr(elimination, "_LARGEST", 1)
    for seed in range(count):
        instance = drawn(seed)
        result = max_2csp(instance, search="optimal", sweeps=0, starts=1, rng=0)
        assert (seed, result.status, result.value) == (seed, "optimal", best(instance))


def test_a_refuted_label_that_a_branch_tells_apart_refutes_no_other():
    """A bound of 245 was called proven once: labels that no branch had used went with one that had been."""
    graph = nx.gnm_random_graph(100, 250, seed=0)
    result = max_2csp(TwoCSP.from_networkx(graph, "coloring", range(3)), rng=0)
    assert (result.status, result.value) == ("optimal", 246.0)
