"""Peers of the synthetic graphs: what they release moves no more than they say, and without noise they fit."""

import itertools
import math
import sys
import tempfile
from pathlib import Path

import igraph
import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    import synthetic_beside_peers as table
    import synthetic_graphs
    import synthetic_hrg
    import synthetic_peers as peers
    import synthetic_tables as tables
    from common import read_csv

NO_NOISE = 1e7
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
m = A.nnz // 2


def drawn(method, epsilon, B=A, seed=0):
    return method(B, epsilon, np.random.default_rng(seed))


def degrees_of(pairs, n=A.shape[0]):
    return np.bincount(np.asarray(pairs).ravel(), minlength=n)


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


@pytest.mark.parametrize("epsilon", [0.5, 2.0, NO_NOISE])
def test_tmf_keeps_about_m_edges(epsilon):
    kept = len(drawn(peers.top_m_pairs, epsilon))
    assert abs(kept - m) <= 5 / (0.05 * epsilon) + 1


def test_without_noise_tmf_and_randomised_response_are_the_graph():
    for method in (peers.top_m_pairs, peers.flipped_pairs):
        assert (table.adjacency(A.shape[0], drawn(method, NO_NOISE)) != A).nnz == 0


@pytest.mark.parametrize("method", [peers.dp_1k, peers.dp_1k_sorted, peers.dp_2k])
def test_without_noise_degree_correlations_give_the_degree_sequence(method):
    wanted, found = np.sort(np.diff(A.indptr)), np.sort(degrees_of(drawn(method, NO_NOISE)))
    assert np.abs(wanted - found).sum() <= 0.005 * 2 * m


def test_without_noise_dk2_gives_the_joint_degrees():
    B = table.adjacency(A.shape[0], drawn(peers.dp_2k, NO_NOISE))
    most = int(np.diff(A.indptr).max())
    wanted = peers.joint_degrees(A, most)
    apart = np.abs(wanted - peers.joint_degrees(B, most)).sum()
    chance = peers.joint_degrees(table.adjacency(A.shape[0], drawn(peers.dp_1k_sorted, NO_NOISE)), most)
    assert apart < 0.2 * m < 0.5 * np.abs(wanted - chance).sum()


def test_degrees_that_no_graph_has_still_give_a_simple_one():
    pairs = peers.random_simple(np.array([5, 5, 1, 0, 1, 1]), np.random.default_rng(0))
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert (degrees_of(pairs, 6) <= [5, 5, 1, 0, 1, 1]).all()


def test_chung_lu_has_the_expected_degrees():
    weights, rng = np.linspace(1, 30, 200), np.random.default_rng(0)
    runs = [degrees_of(peers.chung_lu(np.arange(200), weights, rng), 200) for _ in range(200)]
    expected = weights - weights**2 / weights.sum()  # no loops
    assert np.abs(np.mean(runs, axis=0) - expected).max() < 5 * math.sqrt(30 / 200)


def test_kronecker_moments_are_those_of_the_law():
    a, b, c = 0.9, 0.5, 0.3
    initiator = np.array([[a, b], [b, c]])
    P = np.kron(initiator, np.kron(initiator, initiator))
    np.fill_diagonal(P, 0)
    triples = list(itertools.combinations(range(8), 3))
    triangles = sum(P[i, j] * P[j, k] * P[i, k] for i, j, k in triples)
    wedges = sum(P[v, i] * P[v, j] for v in range(8) for i, j in itertools.combinations(range(8), 2))
    stars = sum(P[v, i] * P[v, j] * P[v, k] for v in range(8) for i, j, k in triples)
    expected = [P.sum() / 2, wedges, stars, triangles]
    np.testing.assert_allclose(peers.kronecker_moments(a, b, c, 3), expected)


def test_an_initiator_is_found_from_its_moments():
    moments = peers.kronecker_moments(0.95, 0.55, 0.2, 10)
    np.testing.assert_allclose(peers.fitted_initiator(moments, 10), [0.95, 0.55, 0.2], atol=1e-3)


def test_without_noise_priv_skg_fits_the_moments_of_a_kronecker_graph():
    pairs = peers.kronecker_pairs(np.array([0.95, 0.6, 0.4]), 9, np.random.default_rng(0))
    B = table.adjacency(512, pairs)
    for seed in range(3):
        C = table.adjacency(512, drawn(peers.priv_skg, NO_NOISE, B, seed))
        assert C.nnz == pytest.approx(B.nnz, rel=0.1)
        squares = [np.sum(np.diff(X.indptr) ** 2.0) for X in (B, C)]
        assert squares[1] == pytest.approx(squares[0], rel=0.2)


@pytest.mark.parametrize("method", [peers.priv_graph_pairs, peers.degree_groups])
def test_without_noise_released_degrees_give_the_number_of_edges(method):
    counts = [len(drawn(method, NO_NOISE, seed=seed)) for seed in range(3)]
    assert np.mean(counts) == pytest.approx(m, rel=0.1)


def test_degree_groups_keep_the_large_degrees_in_their_place():
    wanted = np.diff(A.indptr)
    assert np.corrcoef(wanted, degrees_of(drawn(peers.degree_groups, NO_NOISE)))[0, 1] > 0.9


def recounted(B, left, right):
    """Edges between the sides of every inner node, from the leaves below it."""
    n = B.shape[0]
    below = [synthetic_hrg._vertices(node, n, left, right) for node in range(2 * n - 1)]
    return [int(B[below[one]][:, below[other]].sum()) for one, other in zip(left, right, strict=True)]


def test_a_walk_keeps_a_dendrogram_and_its_counts():
    for steps in (0, 5000):
        left, right, sizes, edges = synthetic_hrg.dendrogram(A, 0.5, steps, np.random.default_rng(0))
        n = A.shape[0]
        assert sorted(synthetic_hrg._vertices(n, n, left, right)) == list(range(n))
        assert sizes[n] == n
        assert edges.tolist() == recounted(A, left, right)


def test_a_walk_finds_blocks():
    inside = np.arange(60)[:, None] // 30 == np.arange(60) // 30
    rates = np.triu(np.where(inside, 0.9, 0.02), 1)
    blocks = matrix(60, np.argwhere(np.random.default_rng(1).random((60, 60)) < rates))
    left, right, sizes, edges = synthetic_hrg.dendrogram(blocks, 0.3, 60 * 2000, np.random.default_rng(0))
    pairs = sizes[left] * sizes[right]
    assert pairs.max() == 900
    assert edges[pairs.argmax()] == np.sum(blocks[:30][:, 30:])


def test_hrg_keeps_the_number_of_edges():
    counts = [len(drawn(synthetic_hrg.hrg, NO_NOISE, seed=seed)) for seed in range(3)]
    assert np.mean(counts) == pytest.approx(m, rel=0.05)


def test_the_diameter_of_known_graphs():
    assert table.diameter(igraph.Graph.Ring(20)) == 10
    assert table.diameter(igraph.Graph.Lattice([5, 9], circular=False)) == 12
    assert table.diameter(igraph.Graph.Star(7) + igraph.Graph.Ring(3)) == 2


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


def test_names_of_methods_and_measures_agree():
    assert tuple(table.METHODS) == tables.METHODS
    assert tables.MEASURES[: len(synthetic_graphs.MEASURES)] == synthetic_graphs.MEASURES


@pytest.mark.usefixtures("graphs_dir")
def test_a_row_has_every_measure():
    row = table.measure("fb100-Caltech36", 1.0, "TmF")
    assert set(row) == set(table.COLUMNS)
    assert float(row["edges"]) < 0.02
    assert float(row["modularity"]) > 0.3
    assert row["runs"] == 3


def test_the_picture_has_a_line_a_method_in_every_panel():
    rows = rows_of({"ours": 0.2, "TmF": 0.4})
    figure = tables.plot(list(rows.values()))
    assert [len(axis.lines) for axis in figure.axes] == [2] * (len(table.MEASURES) - 1)  # all but the diameter
