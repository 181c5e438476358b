"""An installation and a home that cannot be written: the package imports and runs, without a cache of compiled code."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpgraph
from tests import programs

DEFINES_ALL = """
import importlib, pathlib, sys
import dpgraph
folder = pathlib.Path(dpgraph.__file__).parent
assert str(folder).startswith(sys.argv[1]), folder
for file in sorted(folder.rglob("*.py")):
    if "njit" in file.read_text():
        importlib.import_module(".".join(file.relative_to(folder.parent).with_suffix("").parts))
"""
RUNS_ONE = """
import numpy as np
from dpgraph.sos.elimination import _link
lists = np.full((3, 2), -1)
_link(0, 1, lists)
assert lists[0].tolist() == [-1, 0]
assert type(_link.dispatcher._cache).__name__ == "NullCache"
"""
RUNS_ALL = """
import networkx as nx
result = dpgraph.private_max_cut(nx.complete_bipartite_graph(8, 9), epsilon=8.0, delta=1e-6, rng=0)
assert len(result.partition[0] | result.partition[1]) == 17
assert dpgraph.max_cut(nx.cycle_graph(5), rng=0).value == 4.0
"""


def run(code, tmp_path, *, cache_dir):
    """Run code with a copy of the package in which no folder can be made, by anybody: a file is in its place."""
    copy = tmp_path / "site"
    shutil.copytree(Path(dpgraph.__file__).parent, copy / "dpgraph", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy / "dpgraph", *(p for p in (copy / "dpgraph").rglob("*") if p.is_dir())]:
        (folder / "__pycache__").write_text("")
    blocked = tmp_path / "file"
    blocked.write_text("")
    nowhere = {name: str(blocked / "home") for name in ("HOME", "XDG_CACHE_HOME")}
    environment = programs.environment(**nowhere, PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    environment.pop("NUMBA_CACHE_DIR", None)
    if cache_dir:
        environment["NUMBA_CACHE_DIR"] = str(blocked / "cache")
    done = subprocess.run(
        [sys.executable, "-c", code, str(copy)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_package_runs_where_no_cache_can_be_written(tmp_path):
    run(DEFINES_ALL + RUNS_ONE, tmp_path, cache_dir=True)


@pytest.mark.slow
@pytest.mark.parametrize("cache_dir", [False, True])
def test_private_and_exact_functions_run_where_no_cache_can_be_written(tmp_path, cache_dir):
    run(DEFINES_ALL + RUNS_ALL, tmp_path, cache_dir=cache_dir)


def test_every_compiled_function_goes_through_the_one_decorator():
    folder = Path(dpgraph.__file__).parent
    direct = [
        file.name
        for file in folder.rglob("*.py")
        if any(line.startswith(("from numba", "import numba")) for line in file.read_text().splitlines())
    ]
    assert direct == []
