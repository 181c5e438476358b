"""No bound is below the optimum and nothing is wrongly called optimal, over 30 orders of magnitude."""

import runpy
from pathlib import Path

import pytest

from dpgraph.sos.csp import elimination, search, solver

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def judge(monkeypatch):
    """The function that judges the instance of a seed."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.setattr(elimination, "_LARGEST", elimination._LARGEST)  # put back afterwards
    monkeypatch.setattr(search, "_STEPS_BEFORE", search._STEPS_BEFORE)
    monkeypatch.setattr(solver, "_ENTRIES", solver._ENTRIES)
    return runpy.run_path(str(BENCHMARKS / "false_bounds.py"))["judge"]


@pytest.mark.parametrize("count", [12, pytest.param(2000, marks=pytest.mark.slow)])
def test_no_bound_of_random_instances_is_false(judge, count):
    wrong = [(seed, line) for seed in range(count) for line in judge(seed)[2]]
    assert wrong == []


def test_a_bound_that_is_lowered_a_little_is_found(judge, monkeypatch):
    solve = judge.__globals__["max_cut"]

    def lowered(*args, **given):
        result = solve(*args, **given)
        object.__setattr__(result, "upper_bound", result.value * (1.0 - 1e-15))
        return result

    monkeypatch.setitem(judge.__globals__, "max_cut", lowered)
    assert any(judge(seed)[2] for seed in range(10))
