"""Seeded outputs are what they were before the package was rebuilt, to the bit (:mod:`tests.frozen`)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import programs
from tests.frozen import PATH, difference, machine, parts_of


def run_check(*arguments: str) -> None:
    """Check in a process of its own: the number of threads is fixed when numpy is imported."""
    recorded, here = json.loads(PATH.read_text())["header"], machine()
    differing = [f"{name}: {recorded.get(name)} != {here[name]}" for name in here if recorded.get(name) != here[name]]
    if differing:
        pytest.skip("bits were recorded on another machine: " + "; ".join(differing))
    done = programs.python("-m", "tests.frozen", "--check", *arguments, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stdout + done.stderr


def test_quick_cases_are_the_same_to_the_bit() -> None:
    run_check("--quick")


@pytest.mark.slow
def test_all_cases_are_the_same_to_the_bit() -> None:
    run_check()


def test_a_difference_is_told_from_rounding() -> None:
    before = parts_of({"number": 1.25, "words": "as they were", "list": [1, 2]})
    assert difference(before, before) == []
    assert [small for _, small in difference(before, before | {"[number]": "1.2500000000001"})] == [True]
    assert [small for _, small in difference(before, before | {"[number]": "1.2501"})] == [False]
    assert [small for _, small in difference(before, before | {"[words]": "as they are"})] == [False]
    assert [small for _, small in difference(before, {})] == [False] * 3
