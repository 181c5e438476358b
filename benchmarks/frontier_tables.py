"""Tables and plots of the frontier, from its rows alone: ``<stem>.md``, ``<stem>.png`` and ``<stem>_planted.png``."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from common import Row, interval, markdown_table, quote
from frontier_problems.base import DELTAS, EPSILONS, Mechanism, Problem

_PANELS_A_ROW = 5
#: A difference below this is a draw where intervals do not decide (single runs).
_DRAW = 5e-4
_LATER = "not yet run"
_REFERENCES = ("exact 1-opt",)


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


Points = dict[tuple[str, str, str, str], Point]


class Table:
    """All cells of a problem, by graph, mechanism, epsilon and delta.

    A mechanism that does not use delta (or epsilon) answers for all of them.
    """

    def __init__(self, problem: Problem, rows: list[Row], runs: int) -> None:
        self.problem, self.runs = problem, runs
        samples: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
        for row in rows:
            if row["value"] != "nan":
                samples[row["graph"], row["mechanism"], row["epsilon"], row["delta"]].append(row)
        self._points: Points = {}
        for key, sample in samples.items():
            mean, half = interval(float(row["value"]) for row in sample)
            self._points[key] = Point(mean, half, len(sample), sum(row["note"] == "halted" for row in sample))
        graphs = {row["graph"] for row in rows}
        self.graphs = [name for name in problem.instances if name in graphs]
        present = {row["epsilon"] for row in rows}
        self.epsilons = [f"{e:g}" for e in EPSILONS if f"{e:g}" in present]

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


def write_tables(problem: Problem, rows: list[Row], stem: Path, runs: int, page: Path | None = None) -> None:
    """Write Markdown and plots next to the CSV file, and quote a short table on a page of the documentation."""
    table = Table(problem, rows, runs)
    parts = [f"# {problem.name}: {problem.quantity}\n", preface(table), *(f"{remark}\n" for remark in problem.remarks)]
    present = {row["delta"] for row in rows}
    for delta in (d for d in DELTAS if d in present):
        parts += [f"## delta = {delta}\n", brief(table, delta), coverage(table, delta), details(table, delta)]
    stem.with_suffix(".md").write_text("\n".join(parts))
    pictures = []
    for group in dict.fromkeys(problem.instances[name].group for name in table.graphs):
        picture = stem.with_name(f"{stem.name}{'' if group == 'real' else f'_{group}'}.png")
        if plot(table, group, picture):
            pictures.append(f"![{problem.name}, {group} inputs](../benchmarks/results/{picture.name})")
    if page is not None:
        where = (
            f"All mechanisms: [{stem.name}.md](../benchmarks/results/{stem.name}.md), single runs in the CSV beside it."
        )
        short = [brief(table, DELTAS[0]).strip(), coverage(table, DELTAS[0]).strip()]
        quote(page, problem.name, "\n\n".join([*short, *pictures, where]))


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


def verdict(table: Table, delta: str, default: str, pure: bool = False) -> str:
    """Where a default loses to another (pure) mechanism, its own parts among them, counted over all cells."""
    won, lost = 0, defaultdict(list)
    for graph in table.graphs:
        for e in table.epsilons:
            own = table.get(graph, default, e, delta)
            other = table.best(graph, e, delta, without=default, pure=pure)
            if own is None or other is None:
                continue
            behind = (other[1].mean - own.mean) * (1 if table.problem.higher_is_better else -1)
            noise = math.hypot(*(0.0 if math.isnan(p.half) else p.half for p in (own, other[1])))
            if behind > max(noise, _DRAW):
                chance = (
                    "; nobody is better than chance" if nothing_gained(table, graph, e, delta, other[1].mean) else ""
                )
                lost[graph, other[0]].append(f"eps {e} ({other[1].mean:.3f} against {own.mean:.3f}{chance})")
            else:
                won += 1
    total = won + sum(map(len, lost.values()))
    if not total:
        return ""
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
    """Whether a mechanism is meant for an input, by its size or its list of inputs."""
    return problem.instances[graph].size <= mechanism.largest and (not mechanism.only or graph in mechanism.only)


def absent(table: Table, graph: str, mechanism: Mechanism) -> str:
    """Why a cell is empty."""
    if mechanism.only and graph not in mechanism.only:
        return ""
    return f"not run: {mechanism.reason}" if table.problem.instances[graph].size > mechanism.largest else _LATER


def plot(table: Table, group: str, path: Path) -> bool:
    """One panel a graph, one line a mechanism, dashed ceilings; False when there is nothing to show."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator

    problem = table.problem
    graphs = [
        name
        for name in table.graphs
        if problem.instances[name].group == group and any(table.best(name, e, DELTAS[0]) for e in table.epsilons)
    ]
    if not graphs:
        return False
    columns = min(_PANELS_A_ROW, len(graphs))
    height = math.ceil(len(graphs) / columns)
    figure = Figure(figsize=(max(2.7 * columns, 8), 2.5 * height + 1.2), layout="constrained")
    axes = figure.subplots(height, columns, squeeze=False)
    handles: dict[str, object] = {}
    for axis, graph in zip(axes.flat, graphs, strict=False):
        for number, name in enumerate(table.private()):
            points = [(float(e), p) for e in table.epsilons if (p := table.get(graph, name, e, DELTAS[0]))]
            if not points:
                continue
            own = name == problem.default
            handles[name] = axis.errorbar(
                [e for e, _ in points], [p.mean for _, p in points],
                [0.0 if math.isnan(p.half) else p.half for _, p in points],
                marker="os^vDPX*"[number % 8], markersize=3.5, linewidth=2.2 if own else 0.9,
                color="black" if own else colormaps["tab20"](number % 20), zorder=3 if own else 2,
            )  # fmt: skip
        for name, style in ((problem.ceiling, "--"), (problem.baseline, ":")):
            if (point := table.get(graph, name)) is not None and not (problem.logarithmic and point.mean <= 0):
                handles[name] = axis.axhline(point.mean, color="grey", linestyle=style, linewidth=1)
        axis.set_title(graph, fontsize=8)
        if problem.logarithmic:
            axis.set_yscale("log")
        axis.set_xscale("log", base=2)
        axis.set_xticks([float(e) for e in table.epsilons], table.epsilons)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.tick_params(labelsize=7)
    for axis in axes.flat[len(graphs) :]:
        axis.axis("off")
    figure.supxlabel("epsilon", fontsize=9)
    figure.supylabel(problem.quantity, fontsize=9)
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncol=4, fontsize=7.5, frameon=False)
    figure.savefig(path, dpi=110)
    return True
