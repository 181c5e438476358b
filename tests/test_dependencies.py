"""What the package needs: the table of the documents says it, and a package under the GPL is not imported unasked."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

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
for graph in (G, nx.to_scipy_sparse_array(G, weight=None)):
    for name in ("max_cut", "communities", "degrees", "synthetic_graph"):
        getattr(dpgraph, "private_" + name)(graph, epsilon=2.0)
    dpgraph.private_normalized_adjacency(graph, epsilon=2.0, delta=1e-6)
    dpgraph.evaluate.cut_value(graph, dpgraph.max_cut(graph).partition)
print(nx.community.louvain_communities(G, backend="dpgraph", epsilon=1.0))
"""


def test_igraph_is_not_imported_for_graphs_of_others():
    done = programs.python("-c", WITHOUT_IGRAPH)
    assert done.returncode == 0, done.stderr
