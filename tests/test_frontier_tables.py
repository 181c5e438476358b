"""The summary tables of the frontier: what is in git is enough to draw, to continue and to check."""

import math
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    import frontier
    import frontier_tables
    from frontier_problems.base import Instance, Mechanism, Outcome, Problem
    from frontier_tables import Point
finally:
    sys.path.remove(str(BENCHMARKS))

CELL = ("G", "auto", "1", "1e-6")
PLAN = frontier.Plan(False, 3, frontier.Selection(epsilons=frozenset({1.0}), deltas=frozenset({"1e-6"})))


def problem(value=0.6):
    def run(data, epsilon, delta, seed):
        return Outcome(value + 0.01 * (seed - 1))

    instances = {"G": Instance(lambda: None, 100, 500)}
    mechanisms = {"auto": Mechanism(run), "exact": Mechanism(run, uses="", runs=1)}
    return Problem("p", "share", True, instances, mechanisms, "exact", "exact", "auto")


def test_a_summary_holds_what_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(frontier_tables, "RESULTS", tmp_path)
    points = {CELL: Point(0.61234, 0.012, 10, 2), ("G", "exact", "", ""): Point(0.7, math.nan, 1, 0)}
    frontier_tables.write_summary(problem(), points)
    read, back = frontier_tables.read_summary("p")
    assert back[CELL] == points[CELL]
    assert math.isnan(back["G", "exact", "", ""].half)
    assert (read.quantity, read.ceiling, read.instances["G"].group) == ("share", "exact", "real")
    assert frontier_tables.groups(frontier_tables.Table(read, back, 10)) == {"real": "frontier_p.png"}


def test_cells_of_the_summary_are_not_computed_again_and_not_lost():
    table = type("None computed", (), {"rows": {}, "key_of": lambda self, row: row["seed"]})()
    assert len(frontier.missing(problem(), table, {}, PLAN)) == 3 + 1
    whole = {CELL: Point(0.6, 0.01, 3, 0), ("G", "exact", "", ""): Point(0.7, math.nan, 1, 0)}
    assert frontier.missing(problem(), table, whole, PLAN) == []
    assert frontier.merged(whole, {CELL: Point(0.9, 0.1, 2, 0)}) == whole, "fewer runs"
    assert frontier.merged(whole, {CELL: Point(0.9, 0.1, 3, 0)})[CELL].mean == 0.9


@pytest.mark.parametrize(
    ("value", "verdict", "whole"), [(0.6, "as in", True), (0.55, "WORSE", False), (0.7, "BETTER", True)]
)
def test_a_check_says_which_cells_lie_outside_their_intervals(value, verdict, whole, capsys):
    assert frontier.check(problem(value), {CELL: Point(0.6, 0.01, 10, 0)}, PLAN) == whole
    assert verdict in capsys.readouterr().out


@pytest.mark.parametrize("name", frontier.PROBLEMS)
def test_the_tables_in_git_can_be_read_and_have_something_to_show(name):
    read, points = frontier_tables.read_summary(name)
    assert len(points) > 500
    assert frontier_tables.groups(frontier_tables.Table(read, points, 10))


def test_no_other_strategy_for_general_matrices_is_better_than_the_default_beyond_intervals_and_chance():
    _, points = frontier_tables.read_summary("eigenspace")
    others = ("private_projector (DN25a)", "Analyze Gauss (DTTZ14)", "DN25a to the letter")
    lost, compared = [], 0
    for (graph, mechanism, epsilon, delta), other in points.items():
        if mechanism in others:
            own = points[graph, "private_projector, noisy power", epsilon, delta]
            worse = own.mean - own.half > other.mean + other.half
            if worse and other.mean < 0.99:  # 0.999 is what a basis that saw no data has
                lost.append((graph, mechanism, epsilon))
            compared += 1
    assert compared > 400
    assert lost == []
