"""Privacy against utility: every mechanism and its peers, on every problem, one row for each run.

Single runs are appended to ``results/frontier_<problem>_<version>.csv`` as they come; those that are there are skipped,
so that a run may be killed and continued. They stay on this machine. ``results/frontier_<problem>.csv`` is in git: mean
and interval of every cell. A full run computes the cells that neither file holds whole, and updates the second. After a
mechanism has changed: ``--fresh MECHANISM`` drops its cells first. The important cells come first: delta = 1e-6 before
1/m**1.1, epsilon 1, 4, 8 before the others, real graphs before planted ones, the default before fast and these before
slow mechanisms, three runs before ten. Another order: name the mechanisms, graphs, epsilons or deltas that shall be
looked at (--fresh then drops cells of these only). Tables and plots are made at the end, or alone; the full ones are in
``results/frontier.md``, and ``docs/frontier.md`` has an overview.

    python benchmarks/frontier.py --quick                       # make bench-utility: minutes
    python benchmarks/frontier.py --full                        # make bench-utility-full: hours, resumable
    python benchmarks/frontier.py --full --problem max-cut --fresh auto --fresh coherence
    python benchmarks/frontier.py --full --problem bisection --mechanism auto --graph G1 --epsilon 1 --delta 1e-6
    python benchmarks/frontier.py --full --tables               # only tables and plots, from the rows that exist
    python benchmarks/frontier.py --full --estimate             # what is missing, and about how long it takes
    python benchmarks/frontier.py --full --check --mechanism auto --graph G1 --epsilon 1     # is the table still true?
    python benchmarks/frontier.py --full --against 314a48d      # is no cell worse than in the tables of that commit?
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from common import DOCS, RESULTS, ResumableTable, quote
from frontier_compare import Comparison, report
from frontier_problems.base import DELTAS, EPSILONS, Instance, Mechanism, Problem
from frontier_tables import (
    Point,
    Points,
    overview,
    points_at,
    points_of,
    read_summary,
    runs_on,
    write_summary,
    write_tables,
)

import dpgraph

KEY = ("problem", "graph", "epsilon", "delta", "mechanism", "seed")
COLUMNS = (*KEY, "n", "delta_value", "value", "note", "processor_seconds")
QUICK_EPSILONS = (1.0, 4.0)
FIRST_EPSILONS = (1.0, 4.0, 8.0)
#: Above this size an exact answer takes minutes.
SLOW_EXACT = 20_000
#: The full tables stand here between marks; the page of the documentation has one line for each of them.
PAGE, OVERVIEW = RESULTS / "frontier.md", DOCS / "frontier.md"
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
    def key(self) -> tuple[str, str, str, str]:
        """Its place in the summary table."""
        return self.graph, self.name, "" if self.epsilon is None else f"{self.epsilon:g}", self.delta

    @property
    def delta_value(self) -> float:
        """The number that the label of delta stands for."""
        return 1e-6 if self.delta != "m^-1.1" else self.instance.edges**-1.1

    def row(self, problem: str, seed: int) -> dict[str, object]:
        """The columns that are known before the run."""
        return {
            "problem": problem, "graph": self.graph, "epsilon": self.key[2], "delta": self.delta,
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
            if not runs_on(problem, graph, mechanism) or (quick and not instance.quick):
                continue
            for epsilon in (QUICK_EPSILONS if quick else EPSILONS) if "epsilon" in mechanism.uses else (None,):
                for number, delta in enumerate(DELTAS[: 1 if quick else None] if "delta" in mechanism.uses else ("",)):
                    late = epsilon is not None and epsilon not in FIRST_EPSILONS
                    slow = mechanism.tier == 2 or (mechanism.runs == 1 and instance.size > SLOW_EXACT)
                    order = (number, late, slow, instance.group != "real", mechanism.tier, place)
                    yield order, Cell(graph, instance, name, mechanism, epsilon, delta)


@dataclass(frozen=True)
class Selection:
    """The cells to look at; an empty field leaves its column free. Cells without an epsilon or delta match any."""

    mechanisms: frozenset[str] = frozenset()
    graphs: frozenset[str] = frozenset()
    epsilons: frozenset[float] = frozenset()
    deltas: frozenset[str] = frozenset()

    def __contains__(self, row: Mapping[str, object]) -> bool:
        return (
            (not self.mechanisms or row["mechanism"] in self.mechanisms)
            and (not self.graphs or row["graph"] in self.graphs)
            and (not self.epsilons or not row["epsilon"] or float(str(row["epsilon"])) in self.epsilons)
            and (not self.deltas or not row["delta"] or row["delta"] in self.deltas)
        )


@dataclass(frozen=True)
class Plan:
    """What a call is asked for: the version, runs of each cell, and which cells."""

    quick: bool
    runs: int
    selection: Selection


def missing(problem: Problem, table: ResumableTable, known: Points, plan: Plan) -> list[tuple[Cell, int]]:
    """Rows to compute of cells that are not known with all their runs.

    The most important first: a few runs of every cell before many of one, except of tier 0.
    """
    found: list[tuple[tuple[float, ...], int, Cell]] = []
    for (delta, *rest), cell in cells(problem, plan.quick):
        if cell.row(problem.name, 0) not in plan.selection:
            continue
        slow = plan.quick and cell.mechanism.tier == 2
        runs = 1 if slow else min(plan.runs, cell.mechanism.runs)
        if cell.key in known and known[cell.key].runs >= runs:
            continue
        for seed in range(runs):
            if table.key_of(cell.row(problem.name, seed)) not in table.rows:
                again = int(cell.mechanism.tier > 0 and seed >= FIRST_RUNS)
                found.append(((delta, again, *rest), seed, cell))
    return [(cell, seed) for _, seed, cell in sorted(found, key=lambda entry: entry[0])]


def one_run(cell: Cell, data: Any, seed: int) -> dict[str, str]:
    """The columns that a run fills."""
    start = time.process_time()
    try:
        outcome = cell.mechanism.run(data, cell.epsilon or 1.0, cell.delta_value, seed)
        value, note = f"{outcome.value:.6g}", outcome.note
    except dpgraph.NotConvergedError as error:
        value, note = "nan", f"failed: {type(error).__name__}"
    return {"value": value, "note": note, "processor_seconds": f"{time.process_time() - start:.3g}"}


def compute(problem: Problem, table: ResumableTable, known: Points, plan: Plan, until: float) -> None:
    """Add the missing rows, until the clock says `until`."""
    name, data = "", None
    for cell, seed in missing(problem, table, known, plan):
        if time.time() > until:
            print(f"{problem.name}: stopped, the time is up", flush=True)
            return
        if cell.graph != name:
            name, data = cell.graph, cell.instance.load()
        result = one_run(cell, data, seed)
        table.add(cell.row(problem.name, seed) | result)
        if seed == 0:
            print(problem.name, cell.graph, cell.name, cell.epsilon, cell.delta, result, flush=True)


def check(problem: Problem, known: Points, plan: Plan) -> bool:
    """Run the known cells of the selection again, a few times, and compare; False if one is worse beyond chance.

    A cell that falls behind its table by more than the interval there is run as often as for the table: one in
    fourteen does so if nothing has changed, as its first runs are some of those of the table.
    """
    compared, name, data = [], "", None
    for _, cell in cells(problem, plan.quick):
        old = known.get(cell.key)
        if cell.row(problem.name, 0) not in plan.selection or old is None:
            continue
        if cell.graph != name:
            name, data = cell.graph, cell.instance.load()
        rows: list[dict[str, object]] = []
        for runs in (plan.runs, max(plan.runs, old.runs)):
            seeds = range(len(rows), min(runs, cell.mechanism.runs))
            rows += [cell.row(problem.name, seed) | one_run(cell, data, seed) for seed in seeds]
            new = points_of(rows).get(cell.key, Point(math.nan, math.nan, 0, 0))
            found = Comparison(cell.key, old, new, 1 if problem.higher_is_better else -1)
            if math.isnan(old.half) or found.gain >= -old.half:
                break
        compared.append(found)
    return report(problem.name, compared)


def compare(problem: Problem, known: Points, old: Points, plan: Plan) -> bool:
    """Compare the table with another one; False if a cell is worse beyond chance."""
    names, sign = ("graph", "mechanism", "epsilon", "delta"), 1 if problem.higher_is_better else -1
    both = [cell for cell in old if cell in known and dict(zip(names, cell, strict=True)) in plan.selection]
    print(f"{problem.name}: {len(old.keys() - known)} of {len(old)} cells are gone")
    return report(problem.name, [Comparison(cell, old[cell], known[cell], sign) for cell in both])


def merged(known: Points, fresh: Points) -> Points:
    """Cells of both; where both have one, that with more runs, and the fresh one of equally many."""
    newer = {cell: p for cell, p in fresh.items() if cell not in known or p.runs >= known[cell].runs}
    return known | newer


def estimate(problem: Problem, table: ResumableTable, known: Points, plan: Plan) -> None:
    """Rows that are missing, and their time: that of the same mechanism on the same graph, or else by size."""
    times: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in table.rows.values():
        point = float(row["processor_seconds"]), float(row["n"])
        times[row["mechanism"], row["graph"]].append(point)
        times[row["mechanism"],].append(point)
    total, unknown, rows = 0.0, 0, missing(problem, table, known, plan)
    for cell, _ in rows:
        past = times.get((cell.name, cell.graph)) or times.get((cell.name,))
        if past:
            seconds, sizes = map(sum, zip(*past, strict=True))
            total += cell.instance.size * seconds / sizes
        else:
            unknown += 1
    print(f"{problem.name}: {len(rows)} rows missing, about {total / 60:.0f} minutes, {unknown} rows of unknown length")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    version = parser.add_mutually_exclusive_group(required=True)
    version.add_argument("--quick", action="store_true", help="few graphs, epsilon 1 and 4, three runs, slow ones once")
    version.add_argument("--full", action="store_true", help="everything, ten runs")
    parser.add_argument("--problem", action="append", choices=PROBLEMS, help="may be repeated; default: all")
    parser.add_argument(
        "--fresh", action="append", default=[], metavar="MECHANISM", help='drop its rows ("all": of all)'
    )
    parser.add_argument("--runs", type=int, help="of every cell; default: ten, quick: three")
    for column, kind in (("mechanism", str), ("graph", str), ("epsilon", float), ("delta", str)):
        parser.add_argument(f"--{column}", action="append", default=[], type=kind, help="only these; may be repeated")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after this time")
    parser.add_argument("--tables", action="store_true", help="compute nothing")
    parser.add_argument("--estimate", action="store_true", help="compute nothing, say what is missing")
    parser.add_argument("--check", action="store_true", help="run cells again (three times) and compare with the table")
    parser.add_argument(
        "--against", metavar="COMMIT", help="compute nothing, compare the tables with those of a commit"
    )
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    version = "quick" if arguments.quick else "full"
    chosen = (arguments.mechanism, arguments.graph, arguments.epsilon, arguments.delta)
    runs = QUICK_RUNS if arguments.quick else FULL_RUNS
    plan = Plan(arguments.quick, arguments.runs or runs, Selection(*map(frozenset, chosen)))
    fresh = Selection(frozenset(set(arguments.fresh) - {"all"}), *map(frozenset, chosen[1:]))
    until, whole = time.time() + 60 * arguments.minutes, True
    for name in arguments.problem or PROBLEMS:
        problem = load_problem(name)
        known = {} if arguments.quick and not arguments.check else read_summary(name)[1]
        if arguments.against:
            whole &= compare(problem, known, points_at(arguments.against, name), plan)
            continue
        if arguments.check:
            whole &= check(problem, known, replace(plan, runs=arguments.runs or QUICK_RUNS))
            continue
        stem: Path = RESULTS / f"frontier_{name}_{version}"
        table = ResumableTable(stem.with_suffix(".csv"), KEY, COLUMNS)
        if arguments.estimate:
            estimate(problem, table, known, plan)
            continue
        if not arguments.tables:
            with table.writing():
                if arguments.fresh:
                    print(f"{name}: {table.drop(fresh.__contains__)} rows dropped", file=sys.stderr)
                    names = ("graph", "mechanism", "epsilon", "delta")
                    known = {cell: p for cell, p in known.items() if dict(zip(names, cell, strict=True)) not in fresh}
                compute(problem, table, known, plan, until)
        points = merged(known, points_of(list(table.rows.values())))
        if points:
            write_tables(problem, points, stem, runs, PAGE if arguments.full else None)
            if arguments.full:
                write_summary(problem, points)
    if arguments.full and not (arguments.against or arguments.check or arguments.estimate):
        quote(OVERVIEW, "overview", overview([read_summary(name) for name in PROBLEMS]))
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
