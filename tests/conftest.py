"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

from dpgraph.privacy import streams

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    """Tests use a seed many times, on made-up data; the one warning of a process has its own tests."""
    streams._warned = True


@pytest.fixture(scope="session")
def graphs_dir() -> Path:
    """Folder of real graphs (SNAP, Facebook100, Gset); the test skips where it is missing."""
    folder = Path(os.environ.get("DPGRAPH_DATA") or REPOSITORY.parent / "shared" / "graphs")
    if not (folder / "MANIFEST.tsv").exists():
        pytest.skip(f"real graphs not found in {folder}; set DPGRAPH_DATA to a folder with MANIFEST.tsv")
    return folder


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name file contents by their length: workers must collect equal names, and a gzip header holds the time."""
    if isinstance(val, bytes):
        return f"{len(val)}-bytes"
    if isinstance(val, str) and len(val) > 80:
        return f"{len(val)}-characters"
    return None
