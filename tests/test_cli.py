"""The command line, run in this process through main(), and once as a program."""

import csv
import json
import re

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import datasets
from dpgraph.exceptions import DPGraphError, MechanismHalted, NotConvergedError
from dpgraph.privacy.report import PrivacyReport
from tests.about import each

PRIVACY = ["--epsilon", "2", "--delta", "1e-6"]


pytestmark = pytest.mark.usefixtures("no_local_data")


def one_clear_line(err):
    lines = err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("dpgraph: error: ")
    assert "Traceback" not in err
    return lines[0]


def read_csv(path):
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


def test_the_exact_value_is_printed_only_on_request_and_labelled(run, tmp_path):
    report = tmp_path / "report.json"
    status, out, err = run("max-cut", "planted-cut", *PRIVACY, "--seed", 1, "--evaluate", "--report", report)
    assert status == 0
    assert "exact" not in out
    assert err.startswith("NOT PRIVATE")
    G = datasets.load("planted-cut")
    result = dpgraph.private_max_cut(datasets.load_sparse("planted-cut")[0], epsilon=2.0, delta=1e-6, rng=1)
    exact = dpgraph.evaluate.cut_value(G, result.partition)
    assert f"exact weight {exact:g}," in err
    assert f"{exact:g}" not in re.findall(r"[-+.\w]+", report.read_text())  # other numbers may hold its digits


def test_weights_are_used_on_request(run, tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("u,v,calls\n" + "".join(f"{i},{(i + 1) % 9},{i}\n" for i in range(9)))
    report = tmp_path / "report.json"
    status, _, _ = run("max-cut", path, *PRIVACY, "--weight", "calls", "--max-weight", 5, "--report", report)
    assert status == 0
    content = json.loads(report.read_text())
    assert (content["parameters"]["weight"], content["parameters"]["max_weight"]) == ("calls", 5)
    # The weight of the released cut is released last; one pair changes it by at most max_weight.
    assert content["privacy"]["entries"][-1]["sensitivity"] == pytest.approx(5, rel=1e-3)


@each(
    "command",
    ["max-cut", "max-bisection", "csp", "degrees", "spectrum", "embed", "communities", "count", "benchmark"],
    parts=2,
)
def test_a_directed_graph_is_refused_in_the_words_of_the_command_line(run, tmp_path, command):
    path = tmp_path / "directed.gml"
    nx.write_gml(nx.path_graph(3, nx.DiGraph), path)
    status, out, err = run(command, path, *(() if command == "benchmark" else PRIVACY))
    assert (status, out) == (2, "")
    assert "--symmetrize" in one_clear_line(err)
    assert "symmetrize=" not in err


def test_a_halted_mechanism_is_exit_status_3_and_tells_what_was_spent(run, tmp_path):
    # A 5-cycle has no spectral gap that could be certified at this budget.
    arguments = ["max-cut", "five-cycle", "--epsilon", "0.1", "--delta", "1e-6", "--mechanism", "coherence"]
    output = tmp_path / "cut.csv"
    status, out, err = run(*arguments, "--output", output)
    assert (status, out) == (3, "")
    assert "epsilon=0.1" in one_clear_line(err)
    assert not output.exists()
    status, out, _ = run(*arguments, "--on-halt", "fallback", "--output", output)
    assert status == 0
    assert "data-independent" in out
    assert len(read_csv(output)) == 6


@each(
    "error, status, shown",
    [
        (
            MechanismHalted("too little\ngap", stage="gap", privacy=PrivacyReport(1, 1e-6, 0.2, "edge")),
            3,
            "too little gap",
        ),
        (NotConvergedError("no convergence"), 1, "no convergence"),
        (DPGraphError("left epsilon=1, delta=0; pass delta=1e-6"), 2, "left epsilon=1, delta=0; pass --delta 1e-6"),
        (DPGraphError("Declare them in categories=; None stands"), 2, "Declare them in --categories; None stands"),
        (OSError(28, "No space left on device", "cut.csv"), 2, "cut.csv: No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("secret degree 17"), 1, "internal error (ValueError)"),
        (MemoryError(), 1, "internal error (MemoryError)"),
    ],
    parts=2,
)
def test_whatever_happens_inside_becomes_one_line_without_private_values(run, monkeypatch, error, status, shown):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(dpgraph, "private_max_cut", fail)
    got, out, err = run("max-cut", "five-cycle", *PRIVACY)
    assert (got, out) == (status, "")
    assert shown in one_clear_line(err)
    assert "secret" not in err


@each("ending", ["txt", "csv", "gml", "gset", "txt.gz", "csv.gz", "gml.gz", "gset.gz"], parts=2)
def test_convert_keeps_every_vertex_edge_and_weight(run, tmp_path, ending):
    path, output = tmp_path / "in.csv", tmp_path / f"out.{ending}"
    path.write_text("u,v,strength\n5,7,0.1\n7,9,3\n11,11,1\n")
    status, out, err = run("convert", path, output, "--weight", "strength")
    assert (status, out) == (0, "")
    assert "private graph itself" in err
    A, nodes = datasets.read_sparse(path, weight="strength")
    format = "gset" if "gset" in ending else "auto"
    B, converted = datasets.read_sparse(output, weight=None if format == "gset" else "strength", format=format)
    np.testing.assert_array_equal(A.toarray(), B.toarray())
    assert len(converted) == 4
    if "gset" not in ending:
        assert tuple(map(str, converted)) == tuple(map(str, nodes))


def test_convert_writes_names_that_begin_as_comments_so_that_they_are_read(run, tmp_path):
    G = nx.Graph([("#x", "%y"), ("#x", "z"), ("%y", "z"), ("%y", "q # r")])
    nx.write_graphml(G, tmp_path / "in.graphml")
    assert run("convert", tmp_path / "in.graphml", tmp_path / "out.csv")[0] == 0
    read = datasets.read_edgelist(tmp_path / "out.csv")
    assert set(map(frozenset, read.edges)) == set(map(frozenset, G.edges))


def test_datasets_are_listed_and_fetched_by_name(run):
    status, out, _ = run("datasets", "list")
    assert status == 0
    assert len(out.splitlines()) == 1 + len(datasets.available())
    assert "wiki-Vote" in out
    assert (
        run("datasets", "fetch", "five-cycle")[1] == "five-cycle: 5 vertices, 5 undirected edges without self-loops\n"
    )
    status, _, err = run("datasets", "fetch", "../etc")
    assert status == 2
    assert "not a dataset name" in one_clear_line(err)


def test_version_and_unknown_commands(run):
    status, out, _ = run("--version")
    assert (status, out.split()[0]) == (0, "dpgraph")
    status, _, err = run("min-cut")
    assert status == 2
    assert "min-cut" in one_clear_line(err)
    assert "Try 'dpgraph embed --help'" in one_clear_line(run("embed", "five-cycle", "--plot", "x.png")[2])
    assert run()[0] == 2
