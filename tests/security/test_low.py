"""Odd arguments and files: each ends in an error that says what is wrong, and costs nothing."""

import itertools
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import dpgraph
from dpgraph import PrivacyAccountant, edge_frame
from dpgraph.datasets import read_edgelist
from dpgraph.datasets.writers import WRITERS
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.interfaces.cli import main
from dpgraph.result import csv_text
from tests.about import each

PATH = nx.path_graph(30)
TINY = np.longdouble("1e-400")  # its float is 0


@pytest.mark.skipif(TINY == 0, reason="long doubles are doubles here")
@each(
    "mechanism, delta",
    list(itertools.product(["auto", "gaussian", "laplace"], [TINY, np.longdouble(1e-310), 5e-324, 1e-301])),
    parts=2,
)
def test_a_delta_whose_parts_would_underflow_is_refused(delta, mechanism):
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidParameterError, match="at least 1e-300"):
        dpgraph.private_degrees(PATH, epsilon=1.0, delta=delta, mechanism=mechanism, accountant=accountant)
    assert accountant.spent.delta == accountant.spent.epsilon == 0


def test_a_long_double_is_spent_as_the_double_next_to_it():
    report = dpgraph.private_degrees(PATH, epsilon=1.0, delta=np.longdouble("1e-6"), mechanism="gaussian").privacy
    assert report.delta == 1e-6
    assert type(report.delta) is float


CALLS = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"]})
LISTS = pd.DataFrame({"a": [[1], [2]], "b": [[2], [3]]})
TABLES = {
    "a series": (CALLS["a"], {}, "DataFrame"),
    "None": (None, {}, "DataFrame"),
    "a column of neither end twice": (
        CALLS.assign(w=1.0, v=2.0).rename(columns={"v": "w"}),
        {},
        "need different names",
    ),
    "one column twice": (CALLS.iloc[:, [0, 0, 1]], {}, "one column 'a'"),
    "a list of columns": (CALLS, {"source": ["a"]}, "one column"),
    "levels of columns": (
        CALLS.set_axis(pd.MultiIndex.from_product([["a", "b"], ["1"]])[:2], axis=1),
        {},
        "one column",
    ),
    "vertices that are lists": (CALLS, {"nodes": [[1], [2]]}, "hashable"),
    "a number of vertices that is none": (CALLS, {"nodes": 3.5}, "iterable"),
    "too many vertices": (CALLS, {"nodes": 2**31 - 1}, "DPGRAPH_MEMORY"),
    "NaN as a vertex": (CALLS, {"nodes": ["x", float("nan")]}, "missing"),
    "None as a vertex": (CALLS, {"nodes": ["x", None]}, "missing"),
    "NaT as a vertex": (CALLS, {"nodes": ["x", pd.NaT]}, "missing"),
}


@each("case", TABLES, parts=2)
def test_a_bad_declaration_of_a_table_is_named(case, monkeypatch):
    monkeypatch.setenv("DPGRAPH_MEMORY", "1GiB")
    frame, options, words = TABLES[case]
    with pytest.raises(InvalidParameterError, match=words):
        edge_frame(frame, **{"nodes": "frame", "source": "a", "target": "b"} | options)


@each("nodes", ["frame", [1, 2]], parts=2)
def test_ends_that_are_no_labels_are_not_quoted(nodes):
    with pytest.raises(InvalidGraphError, match="hashable vertices") as caught:
        edge_frame(LISTS, nodes=nodes, source="a", target="b")
    assert caught.value.__cause__ is None


FORMULAS = ("=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "\rx", "'=1+1", "=")


@each("text", FORMULAS, parts=2)
def test_a_text_that_a_spreadsheet_would_run_is_written_behind_an_apostrophe(text):
    cells = csv_text([text], [["x", text]])
    assert cells.count("'" + text) == 2


def test_a_published_table_holds_no_formula(tmp_path):
    (tmp_path / "graph.csv").write_text("source,target\n=HYPERLINK(1),b\n@c,b\n")
    command = ["degrees", str(tmp_path / "graph.csv"), "--labels", "str", "--epsilon", "1"]
    assert main([*command, "--output", str(tmp_path / "out.csv")]) == 0
    written = (tmp_path / "out.csv").read_text()
    assert "\n'=HYPERLINK(1)," in written
    assert "\n'@c," in written


@each("label", ["=x", "@c"], parts=2)
def test_a_graph_file_with_formulas_is_not_written_because_it_would_not_read_back(label, tmp_path):
    A = sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(InvalidParameterError, match=r"formula.*\.txt"):
        WRITERS["csv"](A, [label, "b"], None)
    (tmp_path / "graph.txt").write_text(WRITERS["txt"](A, [label, "b"], None))
    assert set(read_edgelist(tmp_path / "graph.txt", labels=str, header=False)) == {label, "b"}
    WRITERS["csv"](A, [-1, 2], None)


@each("command", ["covariance", "marginals"], parts=2)
def test_an_entry_that_is_too_long_is_bad_input_and_not_quoted(command, tmp_path, capsys):
    (tmp_path / "table.csv").write_text("a,b\n1," + "7" * 140_000 + "\n")
    assert main([command, str(tmp_path / "table.csv"), "--epsilon", "1"]) == 2
    said = capsys.readouterr().err
    assert "budget of this call is spent" in said  # a record like others until then
    assert "777" not in said


def test_a_deeply_nested_declaration_is_bad_input(tmp_path, capsys):
    (tmp_path / "table.csv").write_text("a,b\n1,0\n")
    (tmp_path / "values.json").write_text("[" * 100_000)
    options = ["--categories", str(tmp_path / "values.json")]
    assert main(["marginals", str(tmp_path / "table.csv"), "--epsilon", "1", *options]) == 2
    assert "expected JSON" in capsys.readouterr().err


def test_a_report_says_that_there_was_a_seed_and_not_which(tmp_path):
    (tmp_path / "graph.txt").write_text("1 2\n2 3\n")
    command = ["degrees", str(tmp_path / "graph.txt"), "--epsilon", "1", "--seed", "271828"]
    assert main([*command, "--report", str(tmp_path / "report.json")]) == 0
    report = (tmp_path / "report.json").read_text()
    assert "271828" not in report
    assert json.loads(report)["privacy"]["seeded"] is True
