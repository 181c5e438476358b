"""Every committed table has one command that makes it."""

from pathlib import Path

from benchmarks.__main__ import MAKERS, about, script

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"


def test_every_committed_table_is_made_by_a_registered_script():
    assert {path.stem for path in RESULTS.glob("*.md")} - {"README"} == set(MAKERS)
    for name in MAKERS:
        assert script(name).exists(), name
        assert about(name), name


def test_the_estimate_of_large_graphs_follows_from_the_committed_measurements(monkeypatch):
    monkeypatch.syspath_prepend(str(RESULTS.parent))
    import distributed_estimate

    assert distributed_estimate.text() == (RESULTS / "distributed_estimate.md").read_text()
