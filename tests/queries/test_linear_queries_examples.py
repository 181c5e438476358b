"""The graph examples run, keep their promises, and use honest sensitivities."""

import itertools
import runpy
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.slow
def test_cut_queries_beat_independent_noise(capsys):
    numbers = runpy.run_path(str(EXAMPLES / "cut_queries.py"))["main"](1.0)
    assert numbers["error"] < 1.3 * numbers["expected"] < numbers["plain"] / 2
    printed = capsys.readouterr().out
    assert "smallest private cut" in printed
    assert "not offered: triangle counts" in printed


def test_the_degree_histogram_adds_up_and_the_monotone_fit_removes_noise(capsys):
    numbers = runpy.run_path(str(EXAMPLES / "degree_histogram.py"))["main"](1.0)
    assert abs(numbers["total"] - 5000) < 1e-6
    assert numbers["error"] < numbers["noise"] / 2
    printed = capsys.readouterr().out
    assert "not private" in printed
    assert "not offered: triangles" in printed


def test_one_edge_moves_the_counts_of_high_degrees_by_two_in_l1():
    above = runpy.run_path(str(EXAMPLES / "degree_histogram.py"))["above"]
    for seed in range(5):
        G = nx.gnp_random_graph(8, 0.4, seed=seed)
        before = above(np.array([d for _, d in G.degree()]), 7)
        for u, v in itertools.combinations(G, 2):
            H = G.copy()
            H.remove_edge(u, v) if H.has_edge(u, v) else H.add_edge(u, v)
            after = above(np.array([d for _, d in H.degree()]), 7)
            assert np.abs(after - before).sum() == 2


def test_one_edge_moves_a_cut_by_at_most_one_and_triangles_by_up_to_n_minus_two():
    """Why cuts are offered and triangles are not."""
    cut_matrix = runpy.run_path(str(EXAMPLES / "cut_queries.py"))["cut_matrix"]
    n = 7
    pairs = list(itertools.combinations(range(n), 2))
    A = cut_matrix([set(S) for size in range(1, n) for S in itertools.combinations(range(n), size)], pairs)
    assert set(np.unique(A)) == {0.0, 1.0}
    K = nx.complete_graph(n)
    H = K.copy()
    H.remove_edge(0, 1)
    assert sum(nx.triangles(K).values()) // 3 - sum(nx.triangles(H).values()) // 3 == n - 2
