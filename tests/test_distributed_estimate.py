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


def test_the_estimate_is_arithmetic_on_what_was_measured(script):
    numbers = {name: value for name, _, value, _ in script.estimate(script.Constants(read=2e-6, swept=0.28e-6))}
    assert numbers["reading, processor"] == pytest.approx(1e10 * 2e-6 / 200)
    assert numbers["a sweep, bytes to the client"] == pytest.approx(0.8)
    assert numbers["a sweep, workers, a thread each"] == pytest.approx(2e10 * 0.28e-6 / 50)
    assert numbers["memory of a worker"] < 16
    assert numbers["memory of the client"] < 128
