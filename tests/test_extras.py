"""A package that is not installed with dpgraph is one line of error, which says how to install it."""

import sys
import tomllib
from pathlib import Path

import polars
import pytest

import dpgraph
from dpgraph import extras
from dpgraph.exceptions import DPGraphError
from dpgraph.interfaces.cli import main

DECLARED = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("package", extras._EXTRAS)
def test_the_extra_that_the_error_names_installs_the_package(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(DPGraphError) as caught:
        extras.require(package)
    _, name, extra = extras._EXTRAS[package]
    assert f"{name}; install it with: pip install 'dpgraph[{extra}]'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert any(line.startswith(name) for line in DECLARED["optional-dependencies"][extra])
    assert not any(line.startswith(name) for line in DECLARED["dependencies"])


def test_tables_of_edges_and_of_results_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    degrees = dpgraph.private_degrees(
        dpgraph.edge_frame(polars.DataFrame({"source": [0], "target": [1]}), nodes=3), epsilon=1.0
    )
    assert degrees.to_polars().shape == (3, 2)
    with pytest.raises(DPGraphError, match=r"pip install 'dpgraph\[pandas\]'"):
        degrees.to_frame()


def test_a_picture_on_the_command_line_without_matplotlib(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = ["max-cut", "planted-cut", "--epsilon", "1", "--delta", "1e-6", "--plot", "cut.png"]
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
