"""Every committed table has one command that makes it."""

from pathlib import Path

from benchmarks.__main__ import MAKERS, about, script

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"


def test_every_committed_table_is_made_by_a_registered_script():
    assert {path.stem for path in RESULTS.glob("*.md")} - {"README"} == set(MAKERS)
    for name in MAKERS:
        assert script(name).exists(), name
        assert about(name), name
