"""Commands beyond max-cut, dry runs and completion, run in this process through main()."""

import csv
import gzip
import json

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import datasets
from dpgraph.results.files import load_result
from tests import programs
from tests.about import each

PRIVACY = ["--epsilon", "2", "--delta", "1e-6"]


pytestmark = pytest.mark.usefixtures("no_local_data")


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


@pytest.fixture
def survey(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "survey.csv"
    lines = [
        f"{smoker},{sleep},{sport}"
        for smoker, sleep, sport in zip(
            rng.integers(0, 2, 300), rng.choice(["bad", "good"], 300), rng.integers(0, 2, 300), strict=True
        )
    ]
    path.write_text("\n".join(["smoker,sleep,sport", *lines]) + "\n")
    (tmp_path / "values.json").write_text('{"sleep": ["bad", "good", "none"]}')
    return path


# --- graphs ------------------------------------------------------------------------------------------------------


def test_max_bisection_is_the_library_call_with_equal_halves(run, tmp_path):
    output, report = tmp_path / "halves.csv", tmp_path / "report.json"
    status, _, err = run("max-bisection", "planted-cut", *PRIVACY, "--seed", 1, "--output", output, "--report", report)
    assert (status, err) == (0, "")
    sides = [int(side) for _, side in rows(output)[1:]]
    assert (sides.count(0), sides.count(1)) == (300, 300)
    A, _ = datasets.load_sparse("planted-cut")
    assert sides == dpgraph.private_max_bisection(A, epsilon=2.0, delta=1e-6, rng=1).labels.tolist()
    assert json.loads(report.read_text())["command"] == "max-bisection"


def test_embed_writes_points_and_a_file_for_python_with_the_labels_of_the_graph(run, tmp_path):
    G = datasets.planted_cut(300, 100, -0.8, rng=5)
    path, points, saved = tmp_path / "g.txt.gz", tmp_path / "points.csv", tmp_path / "private.npz"
    path.write_bytes(gzip.compress("".join(f"{u + 1000} {v + 1000}\n" for u, v in G.edges).encode()))
    options = ["--rank", 2, "--seed", 3, "--output", points, "--save", saved, "--report", tmp_path / "r.json"]
    status, out, err = run("embed", path, "--epsilon", 8, "--delta", 1e-6, *options)
    assert (status, err) == (0, "")
    assert "2 dimensions" in out
    private = load_result(saved)
    assert private.nodes == tuple(range(1000, 1300))
    assert private.privacy.seeded
    assert rows(points)[0] == ["node", "x1", "x2"]
    written = np.array([[float(x) for x in row[1:]] for row in rows(points)[1:]])
    np.testing.assert_array_equal(written, private.embedding())
    assert json.loads((tmp_path / "r.json").read_text())["result"]["rank"] == 2


# --- communities and counts --------------------------------------------------------------------------------------


def test_communities_are_those_of_the_library_with_the_labels_of_the_file(run, tmp_path):
    G = nx.planted_partition_graph(3, 60, 0.5, 0.03, seed=1)
    path, output, report = tmp_path / "g.txt", tmp_path / "c.csv", tmp_path / "r.json"
    path.write_text("".join(f"{u + 1000} {v + 1000}\n" for u, v in G.edges))
    pictures = {name: tmp_path / f"{name}.png" for name in ("plot", "graph-plot")}
    drawn = [argument for name, picture in pictures.items() for argument in (f"--{name}", picture)]
    options = ["--epsilon", 4, "--seed", 1, "--resolution", 1.1, "--output", output, "--report", report, *drawn]
    status, out, err = run("communities", path, *options)
    assert (status, err) == (0, "")
    A, nodes = datasets.read_sparse(path)
    found = dpgraph.private_communities(A, epsilon=4.0, resolution=1.1, rng=1)
    table = rows(output)
    assert table[0] == ["node", "community"]
    assert table[1:] == [[str(node), str(k)] for node, k in zip(nodes, found.labels.tolist(), strict=True)]
    assert set(nodes) == set(range(1000, 1180))
    content = json.loads(report.read_text())
    assert content["command"] == "communities"
    assert content["parameters"]["resolution"] == 1.1
    assert content["result"]["sizes"] == [len(community) for community in found.communities]
    assert content["result"]["block_weights"] == found.block_weights.tolist()
    assert f"modularity: {found.estimated_modularity:.4g}, with" in out
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures.values())
    assert run("communities", path, "--epsilon", 4, "--communities", 2, "--output", output)[0] == 0
    assert {community for _, community in rows(output)[1:]} == {"0", "1"}
    status, out, err = run("communities", path, "--epsilon", 4, "--communities", "many")
    assert (status, out) == (2, "")
    assert "--communities must be auto or a number" in err


def test_a_degree_distribution_is_written_and_drawn(run, tmp_path):
    output, picture, report = tmp_path / "d.csv", tmp_path / "d.pdf", tmp_path / "r.json"
    options = ["--epsilon", 1, "--seed", 2, "--output", output, "--plot", picture, "--report", report]
    status, out, err = run("degree-distribution", "planted-cut", *options)
    assert (status, err) == (0, "")
    found = dpgraph.private_degree_distribution(datasets.load_sparse("planted-cut")[0], epsilon=1.0, rng=2)
    table = rows(output)
    assert table[0] == ["degree", "count", "ccdf"]
    assert [int(count) for _, count, _ in table[1:]] == found.counts.tolist()
    assert [float(share) for _, _, share in table[1:]] == found.ccdf.tolist()
    assert json.loads(report.read_text())["result"]["counts"] == found.counts.tolist()
    assert f"600 vertices, mean degree {found.mean_degree:.4g}" in out
    assert picture.read_bytes().startswith(b"%PDF")


def test_the_densest_part_is_written(run, tmp_path):
    output, report = tmp_path / "d.csv", tmp_path / "r.json"
    status, out, err = run(
        "densest", "planted-cut", "--epsilon", 1, "--seed", 4, "--output", output, "--report", report
    )
    found = dpgraph.private_densest_subgraph(datasets.load_sparse("planted-cut")[0], epsilon=1.0, rng=4)
    assert (status, err) == (0, "")
    assert [int(inside) for _, inside in rows(output)[1:]] == found.labels.tolist()
    assert json.loads(report.read_text())["result"]["size"] == len(found.vertices)
    assert f"{len(found.vertices)} of 600 vertices" in out


def test_a_number_that_one_edge_moves_by_one_is_published(run, tmp_path):
    output = tmp_path / "n.csv"
    status, out, err = run("statistic", "planted-cut", "matching", "--epsilon", 1, "--seed", 5, "--output", output)
    assert (status, err) == (0, "")
    name, value, low, high = rows(output)[1]
    assert name == "matching"
    assert float(low) <= float(value) <= float(high) <= 300
    assert "with probability 95 % between" in out
    status, out, err = run("statistic", "planted-cut", "matching", "--epsilon", 1, "--weight", "w", "--max-weight", 2)
    assert (status, out) == (2, "")
    assert "count every edge once" in err


def test_patterns_are_counted_with_intervals(run, tmp_path):
    output, report = tmp_path / "n.csv", tmp_path / "r.json"
    options = ["--epsilon", 1, "--seed", 3, "--output", output, "--report", report]
    status, out, err = run("count", "planted-cut", "wedge", "triangle", *options)
    assert (status, err) == (0, "")
    graph = datasets.load_sparse("planted-cut")[0]
    found = dpgraph.private_subgraph_counts(graph, ("wedge", "triangle"), epsilon=1.0, rng=3)
    table = rows(output)
    assert table[0] == ["pattern", "count", "std", "low", "high"]
    for name, count, std, low, high in table[1:]:
        assert (int(count), float(std)) == (found.counts[name], found.std[name])
        assert (float(low), float(high)) == found.interval(name)
        assert f"{name}: {int(count):,}, with probability 95 % between {float(low):,.0f} and {float(high):,.0f}" in out
    assert json.loads(report.read_text())["result"]["counts"] == found.counts
    assert "triangle: " in run("count", "planted-cut", "--epsilon", 1)[1]
    for patterns in (["house"], ["edge", "edge"]):
        status, out, err = run("count", "there-is-no-such.txt", *patterns, "--epsilon", 1, "--nodes", 3)
        assert (status, out) == (2, "")
    status, _, err = run("count", "planted-cut", "house", "--epsilon", 1)
    assert "'4-clique'" in err
    status, _, err = run("count", "planted-cut", "--epsilon", 1, "--mechanism", "local-sensitivity")
    assert (status, "--mechanism ladder" in err) == (2, True)


def test_a_synthetic_graph_is_drawn_with_the_labels_of_the_file(run, tmp_path):
    G = nx.planted_partition_graph(3, 60, 0.5, 0.03, seed=1)
    path, output, picture, saved = (tmp_path / name for name in ("g.txt", "twin.csv", "twin.png", "twin.npz"))
    path.write_text("".join(f"{u + 1000} {v + 1000}\n" for u, v in G.edges))
    options = ["--epsilon", 4, "--seed", 1, "--draw", 5, "--output", output, "--plot", picture, "--save", saved]
    status, out, err = run("synthesize", path, *options, "--report", tmp_path / "r.json")
    assert (status, err) == (0, "")
    model = load_result(saved)
    drawn, nodes = datasets.read_sparse(output)
    assert set(nodes) == set(model.nodes) == set(range(1000, 1180))
    twin = nx.relabel_nodes(nx.from_scipy_sparse_array(drawn), dict(enumerate(nodes)))
    assert {frozenset(edge) for edge in twin.edges} == {frozenset(edge) for edge in model.sample(5).edges}
    assert f"{model.triangles:,} triangles" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "r.json").read_text())["result"]["triangles"] == model.triangles


# --- constraints -------------------------------------------------------------------------------------------------


def test_csp_colours_a_graph(run, tmp_path):
    output, report = tmp_path / "colours.csv", tmp_path / "r.json"
    arguments = ["--colours", 3, "--seed", 1, "--output", output, "--report", report]
    status, out, err = run("csp", "planted-cut", "--epsilon", 4, "--delta", 1e-6, *arguments)
    assert (status, err) == (0, "")
    table = rows(output)
    assert table[0] == ["variable", "label"]
    assert {label for _, label in table[1:]} == {"0", "1", "2"}
    assert "weight earned" in out
    assert json.loads(report.read_text())["privacy"]["epsilon"] == 4


def test_csp_reads_constraints_and_speaks_in_their_names(run, tmp_path):
    names = [f"talk {i}" for i in range(40)]
    clash = [{"u": u, "v": v, "relation": [[0, 1], [1, 0]]} for i, u in enumerate(names) for v in names[i % 2 :: 2]]
    clash = [constraint for constraint in clash if constraint["u"] != constraint["v"]]
    path, output = tmp_path / "schedule.json", tmp_path / "slots.csv"
    path.write_text(json.dumps({"variables": names, "alphabet": ["morning", "evening"], "constraints": clash}))
    assert run("csp", path, "--epsilon", 8, "--delta", 1e-6, "--output", output)[0] == 0
    assert [name for name, _ in rows(output)[1:]] == names
    assert {slot for _, slot in rows(output)[1:]} <= {"morning", "evening"}


@each(
    "content",
    [
        "{}",
        "[1]",
        "no json",
        '{"variables": ["secret"], "alphabet": ["a", "b"], "constraints": [{"u": "secret"}]}',
        '{"variables": 2, "alphabet": 2, "constraints": [{"u": 0, "v": 1, "relation": [[-73519, 0], [0, 0]]}]}',
    ],
    parts=2,
)
def test_a_bad_instance_is_one_clear_line_without_its_constraints(run, tmp_path, content):
    path = tmp_path / "p.json"
    path.write_text(content)
    status, out, err = run("csp", path, *PRIVACY)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert "p.json" in err
    assert "secret" not in err
    assert "-73519" not in err


# --- tables ------------------------------------------------------------------------------------------------------


def test_covariance_writes_the_private_matrix_with_column_names(run, tmp_path):
    data = np.random.default_rng(0).normal(size=(2000, 3)) * [0.4, 0.2, 0.1]
    path, output, report = tmp_path / "x.csv", tmp_path / "c.csv", tmp_path / "r.json"
    np.savetxt(path, data, delimiter=",", header="a,b,c", comments="")
    status, out, err = run("covariance", path, "--epsilon", 2, "--seed", 4, "--output", output, "--report", report)
    assert (status, err) == (0, "")
    assert "delta = 0" in out
    table = rows(output)
    assert table[0] == ["", "a", "b", "c"]
    matrix = np.array([[float(x) for x in row[1:]] for row in table[1:]])
    np.testing.assert_array_equal(matrix, dpgraph.private_covariance(data, epsilon=2.0, rng=4).matrix)
    content = json.loads(report.read_text())
    assert content["table"] == {"source": str(path), "columns": ["a", "b", "c"]}
    assert content["result"]["matrix"] == matrix.tolist()


def test_covariance_with_a_private_number_of_records_needs_a_public_one_before_the_table_is_opened(run, tmp_path):
    secret = ["--epsilon", 1, "--adjacency", "add-remove", "--seed", 1]
    status, out, err = run("covariance", "there-is-no-such.csv", *secret)
    assert (status, out) == (2, "")
    assert "--records" in err
    ledgers = []
    for rows in (40, 41):
        np.save(tmp_path / "x.npy", np.ones((rows, 2)))
        status, out, _ = run("covariance", tmp_path / "x.npy", *secret, "--records", 50)
        assert status == 0
        ledgers.append(out.splitlines()[-4:])
    assert ledgers[0] == ledgers[1]


def test_marginals_writes_every_table_and_draws_one(run, survey, tmp_path):
    output, picture, report = tmp_path / "t.csv", tmp_path / "t.png", tmp_path / "r.json"
    arguments = ["--output", output, "--plot", picture, "--pair", "sleep", "sport", "--report", report]
    status, out, err = run("marginals", survey, *PRIVACY, "--categories", tmp_path / "values.json", *arguments)
    assert (status, err) == (0, "")
    cells = {(columns, values): float(count) for columns, values, count in rows(output)[1:]}
    assert len(cells) == (2 + 3 + 2) + (6 + 4 + 6)
    assert ("smoker x sleep", "1 x none") in cells
    totals = [sum(c for (columns, _), c in cells.items() if columns == name) for name in ("smoker", "sleep x sport")]
    np.testing.assert_allclose(totals, 300, rtol=1e-6)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "root mean square" in out
    assert json.loads(report.read_text())["result"]["count"] == 300


@each(
    "command, content, words",
    [
        (["covariance", "--epsilon", "1"], "a,b\n1,secret\n", "numbers"),
        (["covariance", "--epsilon", "1"], "a,a\n1,2\n", "differ"),
        (["covariance", "--epsilon", "1"], "a,b\n1\n", "another length"),
        (["covariance", "--epsilon", "1"], "", "header"),
        (["marginals", *PRIVACY], "a,b\n1,secret\n", "0 and 1"),
        (["marginals", *PRIVACY, "--plot", "x.png"], "a,b\n1,0\n", "--pair"),
        (["marginals", *PRIVACY, "--plot", "x.png", "--pair", "a", "z"], "a,b\n1,0\n", "'z'"),
    ],
    parts=2,
)
def test_a_bad_table_is_one_clear_line_without_its_entries(run, tmp_path, command, content, words):
    path = tmp_path / "x.csv"
    path.write_text(content)
    status, out, err = run(command[0], path, *command[1:])
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert words in err
    assert "secret" not in err


# --- dry runs ----------------------------------------------------------------------------------------------------


EVERYDAY = ["communities", "degree-distribution", "count", "densest", "synthesize", "report"]


@each("command", ["max-cut", "max-bisection", "degrees", "spectrum", "embed", "csp", *EVERYDAY], parts=2)
def test_a_dry_run_opens_no_graph_and_shows_the_noise(run, command):
    size = ["--nodes", 500, "--average-degree", 100]
    status, out, err = run(command, "there-is-no-such.txt", *PRIVACY, "--dry-run", *size)
    assert (status, err) == (0, "")
    assert out.startswith("DRY RUN: nothing was read, nothing was spent")
    assert "sensitivity" in out


def test_a_dry_run_shows_the_releases_of_its_own_command(run):
    size = ["--dry-run", "--nodes", 400, "--average-degree", 30]
    _, out, _ = run("degrees", "mine.txt", *PRIVACY, "--mechanism", "gaussian", *size)
    real = dpgraph.private_degrees(np.zeros((400, 400)), epsilon=2.0, delta=1e-6, mechanism="gaussian")
    assert out.endswith(real.privacy.table() + "\n")
    _, out, _ = run("embed", "mine.txt", *PRIVACY, "--mechanism", "gaussian", *size)
    assert "cut weight" not in out
    status, out, _ = run("embed", "mine.txt", *PRIVACY, "--mechanism", "coherence", *size)
    assert status == 0
    assert "halts at the gap test" in out


# --- options of strategies ---------------------------------------------------------------------------------------


def test_a_dry_run_takes_the_size_of_a_dataset_from_its_publisher_or_asks_for_it(run):
    status, out, _ = run("max-cut", "wiki-Vote", *PRIVACY, "--dry-run", "--mechanism", "bounded-iterates")
    assert status == 0
    assert "7115 vertices" in out
    status, out, err = run("max-cut", "mine.txt", *PRIVACY, "--dry-run")
    assert (status, out) == (2, "")
    assert "--average-degree" in err


# --- completion ----------------------------------------------------------------------------------------------------


@each("words, expected", [("dpgraph max-b", "max-bisection"), ("dpgraph max-cut wiki-V", "wiki-Vote")], parts=2)
def test_the_shell_completes_commands_and_datasets(words, expected):
    completion = {"_DPGRAPH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = programs.python(
        "-c", "import sys; from dpgraph.interfaces.cli import main; sys.exit(main())", env=completion
    )
    assert expected in done.stdout.split()
