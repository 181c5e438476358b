"""Fixtures shared by all tests."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from dpgraph.interfaces.cli import main
from dpgraph.privacy import streams
from dpgraph.privacy.open_blocks import inside_a_block

REPOSITORY = Path(__file__).resolve().parent.parent
#: How variables of the environment begin that the package, and what computes for it, read.
READ = ("DPGRAPH", "NUMBA", "OMP", "OPENBLAS", "NETWORKX")


def pytest_configure() -> None:
    """Tests use a seed many times, on made-up data; the one warning of a process has its own tests."""
    streams._warned = True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays to the end: no garbage collection looks through it."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


@pytest.fixture(autouse=True)
def what_a_test_leaves() -> Iterator[None]:
    """A test that changes what other tests see fails, and not one of these."""
    before = of_the_process()
    yield
    assert of_the_process() == before, "the test has left this behind"


def of_the_process() -> dict[str, object]:
    """What tests of one process share."""
    return {
        "backend": dict(nx.config.backends.dpgraph),
        "networkx": {key: value for key, value in nx.config.items() if key != "backends"},
        "environment": {key: value for key, value in os.environ.items() if key.startswith(READ)},
        "floating point": np.geterr(),
        "open block": inside_a_block(),
    }


@pytest.fixture(scope="session")
def graphs_dir() -> Path:
    """Folder of real graphs (SNAP, Facebook100, Gset); the test skips where it is missing."""
    folder = Path(os.environ.get("DPGRAPH_DATA") or REPOSITORY.parent / "shared" / "graphs")
    if not (folder / "MANIFEST.tsv").exists():
        pytest.skip(f"real graphs not found in {folder}; set DPGRAPH_DATA to a folder with MANIFEST.tsv")
    return folder


@pytest.fixture
def no_local_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command line in an empty folder, without graphs and settings of this machine."""
    monkeypatch.delenv("DPGRAPH_DATA", raising=False)
    monkeypatch.delenv("DPGRAPH_DEBUG", raising=False)
    monkeypatch.setenv("DPGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Exit status, stdout and stderr of one command."""

    def run(*arguments: object) -> tuple[int, str, str]:
        return main([str(argument) for argument in arguments]), *capsys.readouterr()

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Make a file of this content, text or bytes."""

    def write(content: str | bytes, name: str = "graph.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name file contents by their length: workers must collect equal names, and a gzip header holds the time."""
    if isinstance(val, bytes):
        return f"{len(val)}-bytes"
    if isinstance(val, str) and len(val) > 80:
        return f"{len(val)}-characters"
    return None
