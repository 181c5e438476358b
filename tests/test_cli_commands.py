"""Commands beyond max-cut, dry runs and completion, run in this process through main()."""

import csv
import json
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dpgraph
from dpgraph import datasets
from dpgraph.interfaces.cli import main
from dpgraph.results.files import load_result
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


BLOCKS = nx.convert_node_labels_to_integers(nx.planted_partition_graph(3, 60, 0.5, 0.03, seed=1), 1000)
TABLE = np.random.default_rng(0).normal(size=(2000, 3)) * [0.4, 0.2, 0.1]
#: Command, its options, the call of the library that it is, and what it prints of the result.
CALLS = {
    "max-cut": ([], dpgraph.private_max_cut, "weight of the cut"),
    "max-bisection": ([], dpgraph.private_max_bisection, "90 + 90"),
    "embed": (["--rank", 2], partial(dpgraph.private_normalized_adjacency, rank=2), "2 dimensions"),
    "communities": (["--resolution", 1.1], partial(dpgraph.private_communities, resolution=1.1), "modularity: "),
    "degrees": (["--mechanism", "laplace"], partial(dpgraph.private_degrees, mechanism="laplace"), "180 noisy degrees"),
    "degree-distribution": ([], dpgraph.private_degree_distribution, "180 vertices, mean degree"),
    "densest": ([], dpgraph.private_densest_subgraph, "of 180 vertices"),
    "statistic": (["matching"], partial(dpgraph.private_statistic, statistic="matching"), "with probability 95 %"),
    "count": (["wedge"], partial(dpgraph.private_subgraph_counts, patterns=("wedge",)), "wedge: "),
    "csp": (["--colours", 3, "--adjacency", "edge"], partial(dpgraph.private_max_k_cut, k=3), "weight earned"),
    "covariance": ([], dpgraph.private_covariance, "delta = 0"),
}


@each("name", CALLS, parts=4)
def test_a_command_writes_the_table_of_the_library_in_the_labels_of_its_file(run, tmp_path, name):
    options, call, words = CALLS[name]
    path, output, report = tmp_path / "g.csv", tmp_path / "o.csv", tmp_path / "r.json"
    if name == "covariance":
        np.savetxt(path, TABLE, delimiter=",", header="a,b,c", comments="")
    else:
        path.write_text("".join(f"{u} {v}\n" for u, v in BLOCKS.edges))
    written = ["--output", output, "--report", report]
    status, out, err = run(name, path, *options, "--epsilon", 4, "--seed", 1, *written)
    assert (status, err) == (0, "")
    found = call(TABLE if name == "covariance" else datasets.read_sparse(path)[0], epsilon=4.0, rng=1)
    assert words in out
    content = json.loads(report.read_text())
    assert (content["command"], content["privacy"]["epsilon"]) == (name, 4)
    table = pd.read_csv(output, index_col=0 if name == "covariance" else None)
    pd.testing.assert_frame_equal(table, expected(name, found)[table.columns], check_dtype=False, check_exact=True)


def expected(name, found):
    """What a command writes, and may be more."""
    if name == "covariance":
        return pd.DataFrame(found.matrix, columns=[*"abc"], index=[*"abc"])
    if name == "statistic":
        return pd.DataFrame(
            [["matching", found.value, *found.interval()]], columns=["statistic", "value", "low", "high"]
        )
    frame = found.to_frame()
    if frame.columns[0] in ("node", "variable"):
        frame[frame.columns[0]] += 1000
    if name == "degrees":
        frame["degree"] = found.values  # as they are
    if name == "count":
        frame["low"], frame["high"] = found.interval("wedge")
    return frame


def test_communities_without_a_modularity_say_so(run, tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2\n2 3\n")
    said = "".join(run("communities", path, "--epsilon", 0.3, "--seed", seed)[1] for seed in range(6))
    assert "1 community of 3 vertices\nmodularity: none, for no weight stands out of the noise" in said
    assert "1 communities" not in said
    assert "nan" not in said


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


def test_csp_reads_constraints_and_speaks_in_their_names(run, tmp_path):
    names = [f"talk {i}" for i in range(40)]
    clash = [{"u": u, "v": v, "relation": [[0, 1], [1, 0]]} for i, u in enumerate(names) for v in names[i % 2 :: 2]]
    clash = [constraint for constraint in clash if constraint["u"] != constraint["v"]]
    path, output = tmp_path / "schedule.json", tmp_path / "slots.csv"
    path.write_text(json.dumps({"variables": names, "alphabet": ["morning", "evening"], "constraints": clash}))
    assert run("csp", path, "--epsilon", 8, "--delta", 1e-6, "--output", output)[0] == 0
    assert [name for name, _ in rows(output)[1:]] == names
    assert {slot for _, slot in rows(output)[1:]} <= {"morning", "evening"}


@each("mark", [";", "\t"], parts=1)
def test_the_header_of_a_table_says_where_its_columns_end(run, tmp_path, mark):
    rows = np.random.default_rng(4).uniform(-0.5, 0.5, size=(40, 2))
    for name, between in (("comma", ","), ("other", mark)):
        lines = [between.join(map(repr, row)) for row in rows.tolist()]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"age{between}height", *lines]))
        ask = ("--epsilon", 1, "--seed", 7, "--output", "-")
    expected = run("covariance", tmp_path / "comma.csv", *ask)[:2]
    assert run("covariance", tmp_path / "other.csv", *ask)[:2] == expected
    body = "\n".join(lines)
    for header in (f'"age, in years"{mark}"height"', f"sep={mark}\nage, in years{mark}height"):
        (tmp_path / "other.csv").write_text(f"{header}\n{body}")
        found = run("covariance", tmp_path / "other.csv", *ask)[:2]
        assert (found[0], found[1].replace('"age, in years"', "age")) == expected


def test_blanks_around_categories_do_not_count_and_null_stands_for_empty_entries(run, tmp_path):
    path, values, output = (tmp_path / name for name in ("t.csv", "values.json", "out.csv"))
    path.write_text("sport\n" + 'yes \n no\n""\n' * 20)
    values.write_text('{"sport": ["yes ", "no", null]}')
    status, *_ = run("marginals", path, "--k", 1, "--categories", values, "--epsilon", 1e3, "--output", output)
    assert status == 0
    assert [(value, round(float(count))) for _, value, count in rows(output)[1:]] == [("yes", 20), ("no", 20), ("", 20)]


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
        (["covariance", "--epsilon", "1"], ",a,b\n0,1,2\n", "column 1 has no name"),
        (["covariance", "--epsilon", "1"], "size, dry;b\n1;0\n", "double quotes"),
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


@each("command", ["max-cut", "embed", "csp", "report"])
def test_a_dry_run_shows_the_noise_of_the_budget_that_it_names_and_debits_nothing(run, tmp_path, command):
    budget = dpgraph.FileAccountant(tmp_path / "budget.db", epsilon=3.0, delta=1e-6, edges_per_person=5)
    size = ["--dry-run", "--nodes", 90, "--average-degree", 30, "--budget", tmp_path / "budget.db"]
    status, out, err = run(command, "mine.txt", *PRIVACY, *size)
    assert budget.spent == (0.0, 0.0)
    if command == "csp":  # constraints are of no person
        assert (status, out) == (2, "")
        assert "edges_per_person" in err
    else:
        assert (status, err) == (0, "")
        assert "up to 5 vertex pairs" in out


def test_a_dry_run_takes_the_size_of_a_dataset_from_its_publisher_or_asks_for_it(run):
    status, out, _ = run("max-cut", "wiki-Vote", *PRIVACY, "--dry-run", "--mechanism", "bounded-iterates")
    assert status == 0
    assert "7115 vertices" in out
    assert (
        "30 vertices, average degree 30:"
        in run(*("max-cut", "mine.txt", *PRIVACY, "--dry-run", "--nodes", 30, "--average-degree", 99))[1]
    )
    status, out, err = run("max-cut", "mine.txt", *PRIVACY, "--dry-run")
    assert (status, out) == (2, "")
    assert "--average-degree" in err


@each("words, expected", [("dpgraph max-b", "max-bisection"), ("dpgraph max-cut wiki-V", "wiki-Vote")], parts=1)
def test_the_shell_completes_commands_and_datasets(words, expected, monkeypatch, capsys):
    asked = {"_DPGRAPH_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["dpgraph"])
    with pytest.raises(SystemExit):
        main()
    assert expected in capsys.readouterr().out.split()
