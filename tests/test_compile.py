"""All kernels are compiled by one command, for the types that calls have, and are read ever after."""

import importlib
import pkgutil
import re

import numba
import pytest

import dpgraph
from dpgraph.compiled import KERNELS
from dpgraph.interfaces.cli import main


@pytest.fixture(scope="module")
def entered():
    """Kernels that the command called."""
    for module in pkgutil.walk_packages(dpgraph.__path__, "dpgraph."):
        if module.name not in ("dpgraph.__main__", "dpgraph.sklearn"):
            importlib.import_module(module.name)
    assert main(["compile"]) == 0
    return [kernel for kernel in of_the_package() if kernel.signatures]


def of_the_package():
    """Kernels without those of benchmarks."""
    return [kernel for kernel in KERNELS if kernel.py_func.__module__.startswith("dpgraph.")]


def inner(kernel):
    """Kernels that a kernel calls: they are compiled with it."""
    function = kernel.py_func
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [other for other in called if other in KERNELS]


def test_every_kernel_is_reached(entered):
    reached, new = [], entered
    while new:
        reached += new
        new = [other for kernel in new for other in inner(kernel) if other not in reached]
    missed = [kernel.py_func.__qualname__ for kernel in of_the_package() if kernel not in reached]
    assert not missed, f"add calls of these to dpgraph/interfaces/cli/kernels.py: {missed}"


def test_what_has_been_compiled_is_read_and_not_compiled_again(entered):
    for kernel in entered:
        options = {
            name: value for name, value in kernel.targetoptions.items() if name not in ("nopython", "boundscheck")
        }
        other = numba.njit(cache=True, **options)(kernel.py_func)
        other.compile(kernel.signatures[0])
        assert sum(other.stats.cache_hits.values()) == 1, kernel.py_func.__qualname__


def test_the_command_says_how_much_there_was_to_do(capsys):
    assert main(["compile"]) == 0
    counted = re.fullmatch(r"(\d+) inner loops were compiled, (\d+) had been kept\n", capsys.readouterr().out)
    assert int(counted[1]) + int(counted[2]) > 40
