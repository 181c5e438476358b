"""What the package needs: the documents say it, an error names what is not installed, and nothing comes unasked."""

import re
import sys
import tomllib
from pathlib import Path

import polars
import pytest
import yaml

import dpgraph
from dpgraph import extras
from dpgraph.exceptions import DPGraphError
from dpgraph.interfaces.cli import main
from tests import programs

REPOSITORY = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
EXTRAS = ("plot", "pandas", "sklearn")


def test_the_table_names_every_dependency_with_its_lowest_version_a_size_and_a_licence():
    rows = re.findall(
        r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|", (REPOSITORY / "docs" / "dependencies.md").read_text(), re.M
    )
    extras = [one for extra in EXTRAS for one in PROJECT["optional-dependencies"][extra]]
    assert [name for name, _, _ in rows] == PROJECT["dependencies"] + extras
    assert all("MB" in size and licence.strip() for _, size, licence in rows)


@pytest.mark.skipif(PROJECT["requires-python"] != f">=3.{sys.version_info.minor}", reason="not the lowest Python")
def test_the_release_is_tried_with_the_lowest_versions():
    pins = programs.python(REPOSITORY / ".ci" / "lowest.py", check=True).stdout.split()
    assert [pin.replace("==", ">=") for pin in pins][: len(PROJECT["dependencies"])] == PROJECT["dependencies"]


def test_the_recipe_for_conda_is_that_of_pip():
    recipe = yaml.safe_load((REPOSITORY / "conda" / "recipe.yaml").read_text())
    assert recipe["package"]["version"] == PROJECT["version"]
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["build"]["python"]["entry_points"] == [f"dpgraph = {PROJECT['scripts']['dpgraph']}"]
    wanted = [one.replace(">=", " >=") for one in PROJECT["dependencies"]]
    run = [one.removeprefix("python-") for one in recipe["requirements"]["run"]]
    assert run == [f"python {PROJECT['requires-python']}", *wanted]


WITHOUT_IGRAPH = """
import sys
sys.modules["igraph"] = None  # an import would fail
import networkx as nx
import dpgraph
G = nx.karate_club_graph()
A = nx.to_scipy_sparse_array(G, weight=None)
for name in ("max_cut", "communities", "degrees", "synthetic_graph"):
    getattr(dpgraph, "private_" + name)(A, epsilon=2.0)
dpgraph.private_normalized_adjacency(A, epsilon=2.0, delta=1e-6)
dpgraph.private_degrees(G, epsilon=2.0)
dpgraph.evaluate.cut_value(G, dpgraph.max_cut(A).partition)
print(nx.community.louvain_communities(G, backend="dpgraph", epsilon=1.0))
"""


def test_igraph_is_not_imported_for_graphs_of_others():
    done = programs.python("-c", WITHOUT_IGRAPH)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", extras._EXTRAS)
def test_the_extra_that_the_error_names_installs_the_package(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(DPGraphError) as caught:
        extras.require(package)
    _, name, extra = extras._EXTRAS[package]
    assert f"{name}; install it with: pip install 'dpgraph[{extra}]'" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert any(line.startswith(name) for line in PROJECT["optional-dependencies"][extra])
    assert not any(line.startswith(name) for line in PROJECT["dependencies"])


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


#: Packages of which each costs a tenth of a second or more, or is an extra.
HEAVY = {
    "clarabel", "igraph", "matplotlib", "networkx", "numba", "numpy", "pandas", "pooch", "requests", "scipy", "scs",
    "sklearn",
}  # fmt: skip
EVERY_MODULE = """
import importlib, pkgutil
import dpgraph
for found in pkgutil.walk_packages(dpgraph.__path__, "dpgraph."):
    if found.name not in ("dpgraph.__main__", "dpgraph.sklearn"):  # the latter is there for nothing else
        importlib.import_module(found.name)
"""


def loaded(code):
    """Those of HEAVY, and all modules of dpgraph, that are loaded after `code` ran in a fresh process."""
    code += "\nimport sys; print('LOADED', *sys.modules)"
    done = programs.python("-c", code, check=True)
    names = done.stdout.rpartition("LOADED")[2].split()
    return HEAVY & set(names), {name for name in names if name.startswith("dpgraph")}


def test_the_package_loads_nothing_heavy_and_none_of_its_modules():
    assert loaded("import dpgraph") == (set(), {"dpgraph"})


def test_the_version_is_told_without_a_command_and_its_libraries():
    heavy, own = loaded("from dpgraph.__main__ import main; main(['--version'])")
    assert heavy == set()
    assert len(own) < 8, own


def test_degrees_of_a_file_are_released_without_compiler_and_solvers(tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text("0 1\n1 2\n2 3\n")
    arguments = ["degrees", str(file), "--epsilon", "1", "--delta", "1e-6", "--mechanism"]
    code = f"""
from dpgraph.__main__ import main
for mechanism in ("gaussian", "laplace"):
    assert main({arguments!r} + [mechanism]) == 0
"""
    assert loaded(code)[0] == {"numpy", "scipy"}


def test_no_module_loads_an_extra_when_it_is_imported():
    assert not loaded(EVERY_MODULE)[0] & {"matplotlib", "pandas", "pooch", "requests", "sklearn"}
