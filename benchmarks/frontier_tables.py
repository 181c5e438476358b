"""Tables and plots of the frontier.

One summary table a problem, ``results/frontier_<problem>.csv``, is in git: mean and 95 % interval of every cell, below
a line that describes the problem. The plots of the documentation are drawn from it when the documentation is built.
"""

from __future__ import annotations

import csv
import json
import math
import re
import statistics
import subprocess
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import charts
from common import RESULTS, Row, interval, markdown_table, quote
from frontier_problems.base import DELTAS, EPSILONS, Instance, Mechanism, Outcome, Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Letters in a line of a name beside a picture.
_WIDE = 27
#: Methods as others published them.
_PEER = re.compile(r"MT07|HP14|DTTZ14|et al\.|DN25b|as in the paper|to the letter")
#: A difference below this is a draw where intervals do not decide (single runs).
_DRAW = 5e-4
_LATER = "not yet run"
_REFERENCES = ("exact 1-opt",)
#: What of a problem its plots need, beside its inputs and mechanisms.
_DESCRIPTION = ("quantity", "higher_is_better", "ceiling", "baseline", "default", "logarithmic")
_COLUMNS = ("graph", "mechanism", "epsilon", "delta", "mean", "half", "runs", "halted")


@dataclass(frozen=True)
class Point:
    """Mean and 95 % half-width of the runs of one cell; `halted` of them gave the data-independent answer."""

    mean: float
    half: float
    runs: int
    halted: int

    def text(self, wanted: int) -> str:
        """For a table; the number of runs is shown where it is smaller than `wanted`."""
        shown = f"{self.mean:.3f}" if math.isnan(self.half) else f"{self.mean:.3f} ± {self.half:.3f}"
        if self.halted:
            shown += f" (halted {self.halted}/{self.runs})"
        elif self.runs < wanted:
            shown += f" ({self.runs} runs)" if self.runs > 1 else " (1 run)"
        return shown


Cell = tuple[str, str, str, str]
#: Graph, mechanism, epsilon and delta -> result.
Points = dict[Cell, Point]


def points_of(rows: list[Row]) -> Points:
    """The cells of single runs; a run that failed is left out."""
    samples: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        if row["value"] != "nan":
            samples[row["graph"], row["mechanism"], row["epsilon"], row["delta"]].append(row)
    points: Points = {}
    for cell, sample in samples.items():
        mean, half = interval(float(row["value"]) for row in sample)
        points[cell] = Point(mean, half, len(sample), sum(row["note"] == "halted" for row in sample))
    return points


def summary_path(problem: str) -> Path:
    """The table of a problem that is in git."""
    return RESULTS / f"frontier_{problem}.csv"


def write_summary(problem: Problem, points: Points) -> None:
    """Write the summary table of a problem."""
    groups = {graph: instance.group for graph, instance in problem.instances.items()}
    uses = {name: mechanism.uses for name, mechanism in problem.mechanisms.items()}
    description = {name: getattr(problem, name) for name in _DESCRIPTION} | {"groups": groups, "uses": uses}
    with summary_path(problem.name).open("w", newline="") as file:
        file.write(f"# {json.dumps(description)}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for cell, point in sorted(points.items()):
            half = "" if math.isnan(point.half) else f"{point.half:.4g}"
            writer.writerow([*cell, f"{point.mean:.7g}", half, point.runs, point.halted])


def read_summary(name: str) -> tuple[Problem, Points]:
    """What plots need of a problem, without its data and mechanisms, and its cells; none when there is no table."""
    if not summary_path(name).exists():
        return Problem(name, "", True, {}, {}, "", "", ""), {}
    with summary_path(name).open(newline="") as file:
        description = json.loads(file.readline().removeprefix("# "))
        points = summarised(file)
    instances = {graph: Instance(_absent, 0, 0, group) for graph, group in description.pop("groups").items()}
    mechanisms = {mechanism: Mechanism(_absent, uses=uses) for mechanism, uses in description.pop("uses").items()}
    return Problem(name, instances=instances, mechanisms=mechanisms, **description), points


def summarised(lines: Iterable[str]) -> Points:
    """The cells of a summary table, from its line of column names on."""
    return {
        (row["graph"], row["mechanism"], row["epsilon"], row["delta"]): Point(
            float(row["mean"]), float(row["half"] or "nan"), int(row["runs"]), int(row["halted"])
        )
        for row in csv.DictReader(lines)
    }


def points_at(commit: str, name: str) -> Points:
    """The cells of a problem in the tables of a commit; old ones have single runs in git."""
    for path, read in ((f"frontier_{name}.csv", summarised), (f"frontier_{name}_full.csv", _single_runs)):
        shown = subprocess.run(["git", "show", f"{commit}:./{path}"], cwd=RESULTS, capture_output=True, text=True)
        if not shown.returncode:
            return read(line for line in shown.stdout.splitlines() if not line.startswith("#"))
    raise SystemExit(shown.stderr)


def _single_runs(lines: Iterable[str]) -> Points:
    return points_of(list(csv.DictReader(lines)))


def _absent(*_: object) -> Outcome:
    raise LookupError("a summary table holds neither data nor mechanisms")


class Table:
    """All cells of a problem, by graph, mechanism, epsilon and delta.

    A mechanism that does not use delta (or epsilon) answers for all of them.
    """

    def __init__(self, problem: Problem, points: Points, runs: int) -> None:
        self.problem, self.runs, self._points = problem, runs, points
        graphs, present = {cell[0] for cell in points}, {cell[2] for cell in points}
        self.graphs = [name for name in problem.instances if name in graphs]
        self.epsilons = [f"{e:g}" for e in EPSILONS if f"{e:g}" in present]
        self.deltas = [delta for delta in DELTAS if any(cell[3] == delta for cell in points)]

    def get(self, graph: str, mechanism: str, epsilon: str = "", delta: str = "") -> Point | None:
        """The cell, or nothing where no run has been made."""
        uses = self.problem.mechanisms[mechanism].uses
        epsilon, delta = epsilon if "epsilon" in uses else "", delta if "delta" in uses else ""
        return self._points.get((graph, mechanism, epsilon, delta))

    def private(self) -> list[str]:
        """The mechanisms that release something about the data privately."""
        return [name for name, mechanism in self.problem.mechanisms.items() if mechanism.uses]

    def best(
        self, graph: str, epsilon: str, delta: str, without: str = "", pure: bool = False
    ) -> tuple[str, Point] | None:
        """The best private (pure) mechanism of a column; a default may be left out, and with it what is not proven."""
        found = [
            (name, point)
            for name in self.private()
            if name != without and not (without and not self.problem.mechanisms[name].proven)
            if not pure or "delta" not in self.problem.mechanisms[name].uses
            if (point := self.get(graph, name, epsilon, delta)) is not None
        ]
        sign = 1.0 if self.problem.higher_is_better else -1.0
        return max(found, key=lambda pair: sign * pair[1].mean) if found else None


def write_tables(problem: Problem, points: Points, stem: Path, runs: int, page: Path | None = None) -> None:
    """Write Markdown and plots next to the single runs, and a short table between the marks of a committed page."""
    table = Table(problem, points, runs)
    parts = [f"# {problem.name}: {problem.quantity}\n", preface(table), *(f"{remark}\n" for remark in problem.remarks)]
    for delta in table.deltas:
        parts += [f"## delta = {delta}\n", brief(table, delta), coverage(table, delta), details(table, delta)]
    stem.with_suffix(".md").write_text("\n".join(parts))
    for group, name in groups(table).items():
        path = stem.with_name(name.replace(summary_path(problem.name).stem, stem.name))
        path.write_bytes(charts.png(plot(table, group)))
    if page is not None:
        name = summary_path(problem.name).name
        short = [brief(table, DELTAS[0]).strip(), coverage(table, DELTAS[0]).strip()]
        quote(page, problem.name, "\n\n".join([*short, f"All mechanisms: [{name}]({name})."]))


def overview(problems: Iterable[tuple[Problem, Points]]) -> str:
    """One line for each kind of input of each problem: how far the default goes, and how often it is best."""
    lines = []
    for problem, points in problems:
        table = Table(problem, points, 10)
        for group in groups(table):
            graphs = [graph for graph in table.graphs if problem.instances[graph].group == group]
            cells = []
            for e in ("1", "4", "8"):
                own = [(graph, table.get(graph, problem.default, e, DELTAS[0])) for graph in graphs]
                shares = sorted(int(share(table, graph, p).removesuffix(" %")) for graph, p in own if p is not None)
                cells.append(f"{round(statistics.median(shares))} % ({shares[0]} to {shares[-1]})" if shares else "")
            won, total = verdict_counts(table, DELTAS[0], problem.default, graphs)
            lines.append([f"{problem.name}, {group}", len(graphs), *cells, f"{won} of {total}"])
    return markdown_table(["problem", "inputs", "ε = 1", "ε = 4", "ε = 8", "best, or level"], lines)


def preface(table: Table) -> str:
    better = "higher is better" if table.problem.higher_is_better else "lower is better"
    return (
        f"Mean and 95 % interval (Student) of {table.runs} runs, {better}; a cell with fewer runs says how many. "
        "Best private mean of a column in bold. A run that halts counts with its data-independent answer. "
        "Mechanisms without delta (pure) stand in both tables. Made by `benchmarks/frontier.py`.\n"
    )


def share(table: Table, graph: str, point: Point) -> str:
    """How much of the way from the data-independent answer to the ceiling a mechanism goes, in per cent."""
    ceiling = table.get(graph, table.problem.ceiling)
    baseline = table.get(graph, table.problem.baseline)
    if ceiling is None or baseline is None or ceiling.mean == baseline.mean:
        return ""
    return f"{round(100 * (point.mean - baseline.mean) / (ceiling.mean - baseline.mean))} %"


def brief(table: Table, delta: str) -> str:
    """The default at four budgets, the best of all others at two, the ceiling: what docs/frontier.md quotes."""
    problem, one = table.problem, "1"
    epsilons = [e for e in ("0.25", "1", "4", "8") if e in table.epsilons]
    ceilings = [name for name in (*_REFERENCES, problem.ceiling) if name in problem.mechanisms]
    header = ["input", "n", "degree" if problem.name != "covariance" else "", *(f"ε = {e}" for e in epsilons)]
    header += ["share of the gain, ε = 1 / 8", "best other, ε = 1", "best other, ε = 4", *ceilings]
    lines = []
    for graph in table.graphs:
        instance = problem.instances[graph]
        own = {e: table.get(graph, problem.default, e, delta) for e in epsilons}
        line = [graph, f"{instance.size:,}", f"{2 * instance.edges / instance.size:.0f}" if header[2] else ""]
        line += ["" if point is None else point.text(table.runs) for point in own.values()]
        if not any(own.values()):
            continue
        shares = [share(table, graph, p) if (p := own.get(e)) else "" for e in (one, "8")]
        line.append(" / ".join(shares) if any(shares) else "")
        for e in (one, "4"):
            other = table.best(graph, e, delta, without=problem.default)
            line.append(f"{other[1].mean:.3f} {other[0]}" if other else "")
        lines.append([*line, *("" if (p := table.get(graph, name)) is None else f"{p.mean:.3f}" for name in ceilings)])
    verdicts = [verdict(table, delta, problem.default)]
    if problem.pure_default:
        verdicts.append(f"Among the pure mechanisms: {verdict(table, delta, problem.pure_default, pure=True)}")
    return "\n".join([markdown_table(header, lines), *verdicts])


def duels(
    table: Table, delta: str, default: str, graphs: Iterable[str], pure: bool = False
) -> Iterator[tuple[str, str, Point, tuple[str, Point]]]:
    """Input, epsilon, the default, and the best of all others there."""
    for graph in graphs:
        for e in table.epsilons:
            own = table.get(graph, default, e, delta)
            other = table.best(graph, e, delta, without=default, pure=pure)
            if own is not None and other is not None:
                yield graph, e, own, other


def loses(table: Table, own: Point, other: Point) -> bool:
    """Whether the other is better, beyond the intervals of both."""
    behind = (other.mean - own.mean) * (1 if table.problem.higher_is_better else -1)
    return behind > max(math.hypot(*(0.0 if math.isnan(p.half) else p.half for p in (own, other))), _DRAW)


def verdict_counts(table: Table, delta: str, default: str, graphs: Iterable[str]) -> tuple[int, int]:
    """In how many cells the default is best or level, and of how many."""
    lost = [loses(table, own, other[1]) for _, _, own, other in duels(table, delta, default, graphs)]
    return len(lost) - sum(lost), len(lost)


def verdict(table: Table, delta: str, default: str, pure: bool = False) -> str:
    """Where a default loses to another (pure) mechanism, its own parts among them, counted over all cells."""
    lost = defaultdict(list)
    total = 0
    for graph, e, own, other in duels(table, delta, default, table.graphs, pure):
        total += 1
        if loses(table, own, other[1]):
            chance = "; nobody is better than chance" if nothing_gained(table, graph, e, delta, other[1].mean) else ""
            lost[graph, other[0]].append(f"eps {e} ({other[1].mean:.3f} against {own.mean:.3f}{chance})")
    if not total:
        return ""
    won = total - sum(map(len, lost.values()))
    text = f"{default} is best, or level within the intervals, in {won} of {total} columns."
    losses = "".join(f"- {graph}: {name} at {', '.join(places)}\n" for (graph, name), places in lost.items())
    return f"{text} It loses:\n\n{losses}" if losses else f"{text}\n"


def nothing_gained(table: Table, graph: str, e: str, delta: str, best: float) -> bool:
    """Whether the best mechanism goes less than a hundredth of the way from ignoring the data to the ceiling."""
    ends = [table.get(graph, name, e, delta) for name in (table.problem.baseline, table.problem.ceiling)]
    if None in ends:
        return False
    floor, ceiling = (point.mean for point in ends)
    return abs(best - floor) < 0.01 * abs(ceiling - floor)


def details(table: Table, delta: str) -> str:
    """One line for each graph and mechanism."""
    lines = []
    for graph in table.graphs:
        best = {e: table.best(graph, e, delta) for e in table.epsilons}
        for name, mechanism in table.problem.mechanisms.items():
            cells = []
            for e in table.epsilons:
                point = table.get(graph, name, e, delta)
                wanted = 1 if mechanism.runs == 1 else table.runs  # 1: not random
                text = absent(table, graph, mechanism) if point is None else point.text(wanted)
                leader = best[e]
                bold = point is not None and leader is not None and mechanism.uses and point.mean == leader[1].mean
                cells.append(f"**{text}**" if bold else text)
            if any(cells) and set(cells) != {_LATER}:
                lines.append([graph, name, *cells])
    return markdown_table(["input", "mechanism", *(f"eps {e}" for e in table.epsilons)], lines)


def coverage(table: Table, delta: str) -> str:
    """Which mechanisms have all their runs on every input that they are run on, at every epsilon, and which in part."""
    whole, part = [], []
    for name, mechanism in table.problem.mechanisms.items():
        wanted = 1 if mechanism.runs == 1 else table.runs
        points = [
            table.get(graph, name, f"{e:g}", delta)
            for graph in table.problem.instances
            if runs_on(table.problem, graph, mechanism)
            for e in (EPSILONS if "epsilon" in mechanism.uses else (0.0,))
        ]
        full = sum(point is not None and point.runs >= wanted for point in points)
        started = sum(point is not None for point in points)
        if full == len(points):
            whole.append(name)
        else:
            part.append(f"{name} ({full}, and {started - full} with fewer runs, of {len(points)})")
    epsilons = ", ".join(f"{e:g}" for e in EPSILONS)
    meaning = f"{table.runs} runs at epsilon = {epsilons} on every input of the mechanism"
    text = f"Complete ({meaning}): {'; '.join(whole) or 'none'}."
    return f"{text} Cells of the others: {'; '.join(part)}.\n" if part else f"{text}\n"


def runs_on(problem: Problem, graph: str, mechanism: Mechanism) -> bool:
    """Whether a mechanism is meant for an input, by its size."""
    return problem.instances[graph].size <= mechanism.largest


def absent(table: Table, graph: str, mechanism: Mechanism) -> str:
    """Why a cell is empty."""
    return _LATER if runs_on(table.problem, graph, mechanism) else f"not run: {mechanism.reason}"


def shown(table: Table, group: str) -> list[str]:
    """The inputs of a group for which there is something to show."""
    return [
        name
        for name in table.graphs
        if table.problem.instances[name].group == group and any(table.best(name, e, DELTAS[0]) for e in table.epsilons)
    ]


def groups(table: Table) -> dict[str, str]:
    """Group of inputs with something to show -> name of its picture."""
    found = dict.fromkeys(table.problem.instances[name].group for name in table.graphs)
    stem = summary_path(table.problem.name).stem
    return {group: f"{stem}{'' if group == 'real' else f'_{group}'}.png" for group in found if shown(table, group)}


def series(table: Table, graphs: list[str]) -> list[str]:
    """The lines of a picture: the default, the best method of others, and two more, each with the best means.

    Variants that protect something else, and what runs on few inputs, are left to the table.
    """
    problem = table.problem

    def level(name: str) -> float:
        """Mean place among the private mechanisms of a column: 0 is best."""
        places = []
        for graph in graphs:
            for e in table.epsilons:
                means = {other: p.mean for other in table.private() if (p := table.get(graph, other, e, DELTAS[0]))}
                if name in means:
                    better = [m for m in means.values() if (m > means[name]) == problem.higher_is_better]
                    places.append((len(better) - list(means.values()).count(means[name])) / len(means))
        return sum(places) / len(places) if places else math.inf

    def legible(name: str) -> bool:
        """Whether it runs on half of the inputs, and on one at the end of a row, where its name can stand."""
        runs = [table.get(graph, name, table.epsilons[-1], DELTAS[0]) is not None for graph in graphs]
        return 2 * sum(runs) >= len(graphs) and any(runs[2::3] or runs[-1:])

    others = sorted((name for name in table.private() if name != problem.default), key=level)
    others = [name for name in others if legible(name) and problem.mechanisms[name].proven]
    peers = [name for name in others if _PEER.search(name)]
    own = [name for name in others if name not in peers and "whole constraint" not in name]
    return [problem.default, *peers[:1], *own[:1], *peers[1:2]]


def plot(table: Table, group: str) -> Figure:
    """The default, the best method of others and two more on at most nine inputs; grey: what bounds them."""
    problem = table.problem
    graphs = charts.spread(shown(table, group))
    lines = series(table, graphs)
    figure, axes = charts.panels(len(graphs))
    named: set[str] = set()
    for place, (axis, graph) in enumerate(zip(axes, graphs, strict=True)):
        if problem.logarithmic:
            axis.set_yscale("log")
        charts.epsilon_axis(axis, [float(e) for e in table.epsilons])
        last = place % 3 == 2 or place == len(graphs) - 1
        for number, name in enumerate(lines):
            points = [(float(e), p) for e in table.epsilons if (p := table.get(graph, name, e, DELTAS[0]))]
            if points:
                means, halves = [p.mean for _, p in points], [p.half for _, p in points]
                new = last and name not in named
                charts.curve(
                    axis, [e for e, _ in points], means, halves, number, label=_told(problem, name) if new else "_"
                )
                named |= {name} if last else set()
        for name, style in ((problem.ceiling, "--"), (problem.baseline, ":")):
            if (point := table.get(graph, name)) is not None and not (problem.logarithmic and point.mean <= 0):
                new = last and name not in named
                label = _told(problem, name) if new else "_"
                axis.axhline(point.mean, color=charts.GREY, linestyle=style, linewidth=1, label=label)
                named |= {name} if last else set()
        size = problem.instances[graph].size
        axis.set_title(f"{graph}, n = {size:,}" if size and "n=" not in graph else graph, fontsize=8)
        charts.name_lines(axis, 7.5)
    return charts.finish(figure, *_finding(table, group, lines), "epsilon", problem.quantity)


def _told(problem: Problem, name: str) -> str:
    """What a line is called in a picture."""
    roles = {problem.default: "default", problem.baseline: "ignores the data", problem.ceiling: "not private"}
    text = f"{name} ({roles[name]})" if name in roles else name
    return "\n".join(textwrap.wrap(text, _WIDE))


def _finding(table: Table, group: str, lines: list[str]) -> tuple[str, str]:
    """In how many cells the default is ahead of, or level with, the best method of others; and what is shown."""
    problem, ahead, total = table.problem, 0, 0
    for graph in shown(table, group):
        for e in table.epsilons:
            own = table.get(graph, problem.default, e, DELTAS[0])
            published = filter(_PEER.search, table.private())
            peers = [p for name in published if (p := table.get(graph, name, e, DELTAS[0]))]
            if own and peers:
                sign = 1 if problem.higher_is_better else -1
                best = max(peers, key=lambda p: sign * p.mean)
                noise = math.hypot(*(0.0 if math.isnan(p.half) else p.half for p in (own, best)))
                ahead, total = ahead + (sign * (own.mean - best.mean) >= -max(noise, _DRAW)), total + 1
    title = (
        f"{problem.name}, {group} inputs: the default is ahead of all published methods, or level, "
        f"in {ahead} of {total} cells"
    )
    best = f"best of them: {lines[1]}" if len(lines) > 1 and _PEER.search(lines[1]) else "none of them runs here"
    better = "higher is better" if problem.higher_is_better else "lower is better"
    some = len(shown(table, group))
    shown_of = f"{charts.PANELS} of {some} inputs" if some > charts.PANELS else f"all {some} inputs"
    return title, f"{best}; {better}; mean and 95 % interval, delta = {DELTAS[0]}; {shown_of}"
