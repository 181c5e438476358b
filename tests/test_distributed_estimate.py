"""The estimate of docs/distributed.md follows from the committed table of measurements."""

import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(REPOSITORY / "benchmarks")])
    import distributed_estimate

    return distributed_estimate


def test_the_page_holds_the_estimate_of_the_committed_table(script):
    assert script.text().strip() in (REPOSITORY / "docs" / "distributed.md").read_text()
