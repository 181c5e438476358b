"""Nothing heavy is imported before it is used: which modules a fresh process has loaded, not how long that took."""

import pytest

from tests import programs

#: Packages of which each costs a tenth of a second or more, or is an extra.
HEAVY = {
    "cvxpy",
    "igraph",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "opendp",
    "pandas",
    "pooch",
    "requests",
    "scipy",
    "sklearn",
}
EVERY_MODULE = """
import importlib, pkgutil
import dpgraph
for found in pkgutil.walk_packages(dpgraph.__path__, "dpgraph."):
    if found.name not in ("dpgraph.__main__", "dpgraph.sklearn"):  # the latter is there for nothing else
        importlib.import_module(found.name)
"""
RUN = "from dpgraph.__main__ import main; assert main({arguments!r}) == 0"


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


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_degrees_of_a_file_are_released_without_compiler_and_solvers(mechanism, tmp_path):
    file = tmp_path / "graph.txt"
    file.write_text("0 1\n1 2\n2 3\n")
    arguments = ["degrees", str(file), "--epsilon", "1", "--delta", "1e-6", "--mechanism", mechanism]
    assert loaded(RUN.format(arguments=arguments))[0] == {"numpy", "scipy"}


def test_no_module_loads_an_extra_or_the_reference_of_a_test_when_it_is_imported():
    assert not loaded(EVERY_MODULE)[0] & {"matplotlib", "opendp", "pandas", "pooch", "requests", "sklearn"}
