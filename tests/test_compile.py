"""All kernels are compiled by one command, for the types that calls have, and are read ever after."""

import contextlib
import importlib
import io
import pkgutil
import re
import sys

import networkx as nx
import pytest

import dpgraph
from dpgraph import compiled
from dpgraph.compiled import KERNELS, Kernel
from dpgraph.interfaces.cli.app import main
from dpgraph.linalg.subgraphs import PATTERNS
from tests import programs


@pytest.fixture(scope="module")
def entered():
    """Kernels that the command called; it says how much there was to do."""
    for module in pkgutil.walk_packages(dpgraph.__path__, "dpgraph."):
        if module.name not in ("dpgraph.__main__", "dpgraph.sklearn"):
            importlib.import_module(module.name)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert main(["compile"]) == 0
    counted = re.fullmatch(r"(\d+) inner loops were compiled, (\d+) had been kept\n", said.getvalue())
    assert int(counted[1]) + int(counted[2]) > 30
    return [kernel for kernel in of_the_package() if kernel.compiled]


def of_the_package():
    """Kernels without those of benchmarks."""
    return [kernel for kernel in KERNELS if kernel.py_func.__module__.startswith("dpgraph.")]


def inner(kernel):
    """Kernels that a kernel calls: they are compiled with it."""
    function = kernel.py_func
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [other for other in called if isinstance(other, Kernel)]


def test_every_kernel_is_reached(entered):
    reached, new = [], entered
    while new:
        reached += new
        new = [other for kernel in new for other in inner(kernel) if other not in reached]
    missed = [kernel.py_func.__qualname__ for kernel in of_the_package() if kernel not in reached]
    assert not missed, f"add calls of these to dpgraph/interfaces/cli/compile.py: {missed}"


def test_what_has_been_compiled_is_read_and_not_compiled_again(entered):
    for kernel in entered:
        other = Kernel(kernel.py_func, kernel.options).dispatcher
        other.compile(kernel.dispatcher.signatures[0])
        assert sum(other.stats.cache_hits.values()) == 1, kernel.py_func.__qualname__


#: Calls whose kernels may run as Python, on inputs that take them through most lines.
SMALL = {
    "cuts": lambda G: vars(dpgraph.max_cut(G, rng=0)),
    "tree-like": lambda G: vars(dpgraph.max_cut(nx.barbell_graph(5, 9), rng=0)),
    "bisection": lambda G: vars(dpgraph.max_bisection(G, rng=0, sweeps=3, starts=1, rounds=2)),
    "communities": lambda G: dpgraph.private_communities(G, epsilon=8.0, rng=0).labels,
    "synthetic": lambda G: dpgraph.private_synthetic_graph(G, epsilon=4.0, rng=0).sample(rng=1).edges,
    "matching": lambda G: dpgraph.private_statistic(G, "matching", epsilon=4.0, rng=0).value,
    "counts": lambda G: dpgraph.private_subgraph_counts(G, PATTERNS, epsilon=4.0, rng=0).counts,
}


@pytest.mark.parametrize("call", SMALL.values(), ids=SMALL)
def test_kernels_give_the_same_bits_as_their_python(call, monkeypatch):
    G = nx.karate_club_graph()
    expected = call(G)  # with what is compiled by now, or not
    for execute in (lambda kernel, steps: kernel, lambda kernel, steps: compiled._plain(kernel)):
        for name, module in list(sys.modules.items()):
            if name.startswith("dpgraph.") and hasattr(module, "at_once"):
                monkeypatch.setattr(module, "at_once", execute)
        assert str(call(G)) == str(expected)


def test_small_calls_do_not_import_the_compiler():
    code = """
import sys, networkx as nx, dpgraph
G = nx.karate_club_graph()
for call in (dpgraph.private_communities, dpgraph.private_subgraph_counts, dpgraph.private_synthetic_graph):
    call(G, epsilon=2.0, rng=0)
for G in (G, nx.gnp_random_graph(60, 0.5, seed=0), nx.random_regular_graph(3, 90, seed=0)):
    dpgraph.max_cut(G, rng=0)
    dpgraph.max_bisection(G, rng=0)
assert "numba" not in sys.modules
"""
    programs.python("-c", code, check=True)
