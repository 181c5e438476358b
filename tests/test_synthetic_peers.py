"""Peers of the synthetic graphs: what they release moves no more than they say, and without noise they fit."""

import itertools
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import synthetic_beside_peers as table
    import synthetic_hrg
    import synthetic_peers as peers
    import synthetic_tables as tables
    from common import read_csv
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
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_every_peer_draws_a_simple_graph_on_the_vertices(name, epsilon):
    B = table.adjacency(A.shape[0], drawn(DRAWN[name], epsilon))
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


def rows_of(values):
    """Rows of one graph and epsilon: method -> the value of every measure."""
    empty = dict.fromkeys(table.COLUMNS, "")
    rows = {}
    for method, value in values.items():
        row = empty | {"graph": "ego-Facebook", "epsilon": "1.0", "method": method, "runs": "3", "seconds": "1"}
        rows["ego-Facebook", "1.0", method] = row | {name: str(value) for name in table.MEASURES}
    return rows


def test_the_verdict_knows_errors_from_similarities():
    found = tables.Comparison(rows_of({"ours": 0.2, "TmF": 0.4, "DGG": 0.205}))
    lost = found.lost()
    for measure in table.MEASURES:
        similar = measure in tables.SIMILARITIES
        assert found.counts(measure, ["TmF"]) == ("0 / 0 / 1" if similar else "1 / 0 / 0")
        assert (f"**{measure}**: none" in lost) != similar
    assert found.counts("NMI", ["DGG"]) == "0 / 1 / 0"
    assert "ego-Facebook: 0.200 at 1 (0.400 TmF)" in lost
    firsts = {line.split(" | ")[0]: line for line in found.firsts().splitlines()[2:]}
    assert firsts["| NMI"].startswith("| NMI | 1 | 0 | 0 | 0 | 1 | 0 |")  # TmF
    assert firsts["| edges"].startswith("| edges | 1 | 1 | 0 | 0 | 0 | 1 |")  # ours, and DGG
    details = found.details("ego-Facebook", 1.0)
    assert details.splitlines()[3].count("**0.400**") == 3


def test_a_chain_is_not_the_best_peer_and_an_infeasible_cell_is_none():
    rows = rows_of({"ours": 0.2, "HRG": 0.9, "TmF": 0.1, "randomised response": 0.8})
    rows["ego-Facebook", "1.0", "randomised response"]["note"] = "infeasible"
    found = tables.Comparison(rows)
    assert "NMI**: none" in found.lost()
    assert found.counts("NMI", ["HRG"]) == "0 / 0 / 1"
    assert found.counts("NMI", ["randomised response"]) == ""
    assert "| NMI | 1 / 0 / 0 | 1 / 0 / 0 |" in found.tally()


def test_the_best_pure_peer_is_not_the_one_that_spends_delta():
    tally = tables.Comparison(rows_of({"ours": 0.2, "DP-2K": 0.9, "TmF": 0.1})).tally()
    assert "| NMI | 0 / 0 / 1 | 1 / 0 / 0 |" in tally


@pytest.mark.usefixtures("graphs_dir")
def test_one_command_forgets_and_measures_our_rows_again(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # of the lock
    monkeypatch.setattr(table, "EPSILONS", (1.0,))
    for value, options in ((0.1, []), (0.2, []), (0.3, ["--again", "ours"])):
        fake = lambda name, epsilon, method, value=value: rows_of({method: value})[name, str(epsilon), method]  # noqa: E731
        monkeypatch.setattr(table, "measure", fake)
        monkeypatch.setattr(sys, "argv", ["script", "--only", "ego-Facebook", *options])
        table.main()
    rows = read_csv(tmp_path / "synthetic_peers.csv")
    assert {row["method"]: row["NMI"] for row in rows} == dict.fromkeys(table.METHODS, "0.1") | {"ours": "0.3"}
    monkeypatch.setattr(sys, "argv", ["script", "--page"])
    (tmp_path / "synthetic_peers.md").unlink()
    table.main()
    assert "| ours | **0.300** |" in (tmp_path / "synthetic_peers.md").read_text()
