"""Privacy against utility: every mechanism and its peers, on every problem, one row for each run.

Rows are appended to ``results/frontier_<problem>_<version>.csv`` as they come; rows that are there are skipped, so
that a run may be killed and continued. After a mechanism has changed: ``--fresh MECHANISM`` drops its rows first. The
important cells come first: delta = 1e-6 before 1/m**1.1, epsilon 1, 4, 8 before the others, real graphs before
planted ones, the default before fast and these before slow mechanisms, three runs before ten. Tables and plots are
made at the end, or alone; the full ones are quoted in ``docs/frontier.md``.

    python benchmarks/frontier.py --quick                       # make bench-utility: minutes
    python benchmarks/frontier.py --full                        # make bench-utility-full: hours, resumable
    python benchmarks/frontier.py --full --problem max-cut --fresh auto --fresh bounded-iterates
    python benchmarks/frontier.py --full --tables               # only tables and plots, from the rows that exist
    python benchmarks/frontier.py --full --estimate             # what is missing, and about how long it takes
"""

from __future__ import annotations

import argparse
import importlib
import math
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from common import DOCS, RESULTS, ResumableTable
from frontier_problems.base import DELTAS, EPSILONS, Instance, Mechanism, Problem
from frontier_tables import write_tables

import dpgraph

KEY = ("problem", "graph", "epsilon", "delta", "mechanism", "seed")
COLUMNS = (*KEY, "n", "delta_value", "value", "note", "processor_seconds")
QUICK_EPSILONS = (1.0, 4.0)
FIRST_EPSILONS = (1.0, 4.0, 8.0)
#: Above this size an exact answer takes minutes.
SLOW_EXACT = 20_000
#: Page that quotes the full tables, between marks.
PAGE = DOCS / "frontier.md"
FULL_RUNS, QUICK_RUNS, FIRST_RUNS = 10, 3, 3

#: Problem -> module and arguments of its function ``problem``.
PROBLEMS: dict[str, tuple[str, tuple[object, ...]]] = {
    "max-cut": ("cuts", (False,)),
    "bisection": ("cuts", (True,)),
    "max-3-cut": ("csp", ("max-3-cut",)),
    "planted-2csp": ("csp", ("planted-2csp",)),
    "eigenspace": ("eigenspace", ()),
    "covariance": ("covariance", ()),
}


@dataclass(frozen=True)
class Cell:
    """One mechanism on one instance at one budget."""

    graph: str
    instance: Instance
    name: str
    mechanism: Mechanism
    epsilon: float | None
    delta: str

    @property
    def delta_value(self) -> float:
        """The number that the label of delta stands for."""
        return 1e-6 if self.delta != "m^-1.1" else self.instance.edges**-1.1

    def row(self, problem: str, seed: int) -> dict[str, object]:
        """The columns that are known before the run."""
        epsilon = "" if self.epsilon is None else f"{self.epsilon:g}"
        return {
            "problem": problem, "graph": self.graph, "epsilon": epsilon, "delta": self.delta,
            "mechanism": self.name, "seed": str(seed), "n": self.instance.size,
            "delta_value": f"{self.delta_value:.3g}" if self.delta else "",
        }  # fmt: skip


def load_problem(name: str) -> Problem:
    module, arguments = PROBLEMS[name]
    make: Callable[..., Problem] = importlib.import_module(f"frontier_problems.{module}").problem
    return make(*arguments)


def cells(problem: Problem, quick: bool) -> Iterator[tuple[tuple[float, ...], Cell]]:
    """All cells with their place in the order of work: delta, epsilon, slow ones last, real graphs first, tier."""
    for place, (graph, instance) in enumerate(problem.instances.items()):
        for name, mechanism in problem.mechanisms.items():
            fits = instance.size <= mechanism.largest and (not mechanism.only or graph in mechanism.only)
            if not fits or (quick and not instance.quick):
                continue
            for epsilon in (QUICK_EPSILONS if quick else EPSILONS) if "epsilon" in mechanism.uses else (None,):
                for number, delta in enumerate(DELTAS[: 1 if quick else None] if "delta" in mechanism.uses else ("",)):
                    late = epsilon is not None and epsilon not in FIRST_EPSILONS
                    slow = mechanism.tier == 2 or (mechanism.runs == 1 and instance.size > SLOW_EXACT)
                    order = (number, late, slow, instance.group != "real", mechanism.tier, place)
                    yield order, Cell(graph, instance, name, mechanism, epsilon, delta)


def missing(problem: Problem, table: ResumableTable, quick: bool, runs: int) -> list[tuple[Cell, int]]:
    """Rows to compute, the most important first: a few runs of every cell before many of one, except of tier 0."""
    found: list[tuple[tuple[float, ...], int, Cell]] = []
    for (delta, *rest), cell in cells(problem, quick):
        for seed in range(min(runs, cell.mechanism.runs)):
            if table.key_of(cell.row(problem.name, seed)) not in table.rows:
                again = int(cell.mechanism.tier > 0 and seed >= FIRST_RUNS)
                found.append(((delta, again, *rest), seed, cell))
    return [(cell, seed) for _, seed, cell in sorted(found, key=lambda entry: entry[0])]


def compute(problem: Problem, table: ResumableTable, quick: bool, runs: int, until: float) -> None:
    """Add the missing rows, until the clock says `until`."""
    name, data = "", None
    for cell, seed in missing(problem, table, quick, runs):
        if time.time() > until:
            print(f"{problem.name}: stopped, the time is up", flush=True)
            return
        if cell.graph != name:
            name, data = cell.graph, cell.instance.load()
        start = time.process_time()
        try:
            outcome = cell.mechanism.run(data, cell.epsilon or 1.0, cell.delta_value, seed)
            result = {"value": f"{outcome.value:.6g}", "note": outcome.note}
        except dpgraph.NotConvergedError as error:
            result = {"value": math.nan, "note": f"failed: {type(error).__name__}"}
        result["processor_seconds"] = f"{time.process_time() - start:.3g}"
        table.add(cell.row(problem.name, seed) | result)
        if seed == 0:
            print(problem.name, cell.graph, cell.name, cell.epsilon, cell.delta, result, flush=True)


def estimate(problem: Problem, table: ResumableTable, quick: bool, runs: int) -> None:
    """Rows that are missing, and their time from the rows of the same mechanism, scaled by the number of vertices."""
    rates: dict[str, list[float]] = defaultdict(list)
    for row in table.rows.values():
        rates[row["mechanism"]].append(float(row["processor_seconds"]) / float(row["n"]))
    total, unknown, count = 0.0, 0, 0
    for cell, _ in missing(problem, table, quick, runs):
        count += 1
        if rates[cell.name]:
            total += statistics.mean(rates[cell.name]) * cell.instance.size
        else:
            unknown += 1
    print(f"{problem.name}: {count} rows missing, about {total / 60:.0f} minutes, {unknown} rows of unknown length")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    version = parser.add_mutually_exclusive_group(required=True)
    version.add_argument("--quick", action="store_true", help="few graphs, epsilon 1 and 4, three runs")
    version.add_argument("--full", action="store_true", help="everything, ten runs")
    parser.add_argument("--problem", action="append", choices=PROBLEMS, help="may be repeated; default: all")
    parser.add_argument("--fresh", action="append", default=[], metavar="MECHANISM", help='drop its rows ("all": all)')
    parser.add_argument("--fresh-graph", action="append", default=[], metavar="GRAPH", help="drop the rows of a graph")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--tables", action="store_true", help="compute nothing")
    parser.add_argument("--estimate", action="store_true", help="compute nothing, say what is missing")
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    version = "quick" if arguments.quick else "full"
    runs = arguments.runs or (QUICK_RUNS if arguments.quick else FULL_RUNS)
    until = time.time() + 60 * arguments.minutes
    for name in arguments.problem or PROBLEMS:
        problem = load_problem(name)
        stem: Path = RESULTS / f"frontier_{name}_{version}"
        table = ResumableTable(stem.with_suffix(".csv"), KEY, COLUMNS)
        if arguments.estimate:
            estimate(problem, table, arguments.quick, runs)
            continue
        if not arguments.tables:
            with table.writing():
                for column, values in (("mechanism", arguments.fresh), ("graph", arguments.fresh_graph)):
                    for value in values:
                        print(f"{name}: {table.drop(column, value)} rows of {value} dropped", file=sys.stderr)
                compute(problem, table, arguments.quick, runs, until)
        if table.rows:
            write_tables(problem, list(table.rows.values()), stem, runs, PAGE if arguments.full else None)


if __name__ == "__main__":
    main()
