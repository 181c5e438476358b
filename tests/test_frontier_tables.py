"""The summary tables of the frontier: what is in git is enough to draw, to continue and to check."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    import frontier
    import frontier_compare
    import frontier_tables
    from frontier_problems.base import Instance, Mechanism, Outcome, Problem
    from frontier_tables import Point
finally:
    sys.path.remove(str(BENCHMARKS))

CELL = ("G", "auto", "1", "1e-6")
PLAN = frontier.Plan(False, 3, frontier.Selection(epsilons=frozenset({1.0}), deltas=frozenset({"1e-6"})))


def problem(value=0.6):
    def run(data, epsilon, delta, seed):
        return Outcome(value + 0.01 * (seed % 3 - 1))

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
    ("value", "verdict", "whole"),
    [(0.6, "0 differ", True), (0.597, "0 worse outside", True), (0.55, "WORSE", False), (0.7, "better (p", True)],
)
def test_a_check_says_which_cells_lie_outside_their_intervals(value, verdict, whole, capsys):
    assert frontier.check(problem(value), {CELL: Point(0.6, 0.01, 10, 0)}, PLAN) == whole
    assert verdict in capsys.readouterr().out


def points_of_values(values):
    mean, half = frontier_tables.interval(values)
    return Point(mean, half, len(values), 0)


def table(rng, cells, shift=0.0, runs=10):
    """Cells of one true mean; the first ten are worse by `shift` standard deviations of a run."""
    shifts = np.where(np.arange(cells) < 10, shift, 0.0)
    return {
        (f"G{k}", "auto", "1", ""): points_of_values(0.5 + 0.01 * (rng.normal(size=runs) - shifts[k]))
        for k in range(cells)
    }


def compared(before, now, sign=1):
    return [frontier_compare.Comparison(cell, before[cell], now[cell], sign) for cell in before]


def test_chance_makes_cells_worse_and_the_corrected_count_knows_it():
    raw, named = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        found = frontier_compare.distinct(compared(table(rng, 400), table(rng, 400)))
        raw.append(sum(c.outside and c.gain < 0 for c in found))
        named.append(len(frontier_compare.worse_beyond_chance(found)))
    assert 4 < np.mean(raw) < 14, "one cell in forty, or a little less"
    assert sum(count > 0 for count in named) <= 2, "5 % of the tables"


def test_a_column_is_worse_where_its_graphs_lose_together_and_not_where_they_balance():
    rng = np.random.default_rng(0)
    before = table(rng, 10)
    lost = {cell: Point(p.mean - 0.01, p.half, p.runs, 0) for cell, p in before.items()}
    balanced = {cell: Point(p.mean + 0.02 * (-1) ** k, p.half, p.runs, 0) for k, (cell, p) in enumerate(before.items())}
    [(loss, half)] = frontier_compare.columns(compared(before, lost)).values()
    assert loss == pytest.approx(-0.1)
    assert half == pytest.approx(1.96 / 2.262 * np.sqrt(2 * sum(p.half**2 for p in before.values())), rel=1e-3)
    assert loss < -half
    [(gain, half)] = frontier_compare.columns(compared(before, balanced)).values()
    assert abs(gain) < half


@pytest.mark.parametrize("sign", [1, -1])
def test_cells_that_are_worse_are_named_and_better_ones_are_not(sign):
    rng = np.random.default_rng(0)
    found = compared(table(rng, 400), table(rng, 400, shift=3.0 * sign), sign)
    lost = {c.cell[0] for c in frontier_compare.worse_beyond_chance(found)}
    assert len(lost & {f"G{k}" for k in range(10)}) >= 9
    assert len(lost) <= 12
    gained = compared(table(rng, 400), table(rng, 400, shift=-3.0 * sign), sign)
    assert not frontier_compare.worse_beyond_chance(gained)
    assert not frontier_compare.report("p", found)
    assert frontier_compare.report("p", gained)


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
