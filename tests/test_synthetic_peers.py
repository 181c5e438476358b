"""Peers of the synthetic graphs: what they release moves no more than they say, and without noise they fit."""

import itertools

import numpy as np
import pytest

from tests.programs import benchmark

table, synthetic_hrg, peers = map(benchmark, ("synthetic_beside_peers", "synthetic_hrg", "synthetic_peers"))
DRAWN = {name: method for name, method in table.METHODS.items() if name != "ours"}


def matrix(n, pairs):
    return table.adjacency(n, np.array(pairs, dtype=np.int64).reshape(-1, 2))


def planted(n=300, seed=1):
    """Three communities and degrees of a wide range."""
    rng = np.random.default_rng(seed)
    weights, labels = np.minimum(rng.pareto(2.5, n) + 1, 4), np.arange(n) % 3
    rates = np.outer(weights, weights) * (0.02 + 0.1 * (labels[:, None] == labels))
    rows, columns = np.nonzero(np.triu(rng.random((n, n)) < np.minimum(rates, 1), 1))
    return matrix(n, np.column_stack([rows, columns]))


A = planted()


def drawn(method, epsilon, B=A, seed=0):
    return method(B, epsilon, np.random.default_rng(seed))


@pytest.mark.parametrize("name", DRAWN)
def test_every_peer_draws_a_simple_graph_on_the_vertices(name, monkeypatch):
    monkeypatch.setattr(synthetic_hrg, "STEPS", 5)  # in Python, which takes less than to compile these loops
    for loop, compiled in list(vars(synthetic_hrg).items()):
        if hasattr(compiled, "py_func"):
            monkeypatch.setattr(synthetic_hrg, loop, compiled.py_func)
    B = table.adjacency(A.shape[0], drawn(DRAWN[name], 0.2))
    assert B.shape == A.shape
    assert B.nnz > 0
    assert set(B.data) == {1.0}
    assert not B.diagonal().any()


def neighbours(n=9, count=60):
    """Random graphs, and each with one more edge, from empty to nearly complete; and stars, where degrees move most."""
    rng = np.random.default_rng(3)
    pairs = list(itertools.combinations(range(n), 2))
    for size in rng.integers(0, len(pairs), count):
        chosen = rng.permutation(pairs)[: size + 1]
        yield matrix(n, chosen[:-1]), matrix(n, chosen)
    stars = [(0, k) for k in range(2, 5)] + [(1, k) for k in range(5, 9)]
    yield matrix(n, stars), matrix(n, [*stars, (0, 1)])


def test_an_edge_moves_the_joint_degrees_by_four_largest_degrees_and_one_at_most():
    ratios = []
    for B, C in neighbours():
        change = np.abs(peers.joint_degrees(B, 8) - peers.joint_degrees(C, 8)).sum()
        ratios.append(change / (4 * np.diff(B.indptr).max() + 1))
    assert 0.85 < max(ratios) <= 1


def test_joint_degrees_above_the_bound_move_by_no_more():
    for B, C in neighbours():
        for most in (1, 3, 5):
            change = np.abs(peers.joint_degrees(B, most) - peers.joint_degrees(C, most)).sum()
            assert change <= 4 * np.diff(B.indptr).max() + 1


def test_an_edge_moves_the_likelihood_of_a_dendrogram_by_its_range_at_most():
    n = 20
    largest = 0.0
    for pairs in {a * b for a in range(1, n) for b in range(1, n - a + 1)}:
        values = np.array([synthetic_hrg._likelihood(e, pairs) for e in range(pairs + 1)])
        largest = max(largest, np.abs(np.diff(values)).max())
    assert largest == pytest.approx(synthetic_hrg.likelihood_range(n))
