"""Means of runs with their intervals: as Markdown, and as panels of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from dpgraph.interfaces.benchmark.base import BLIND, EXACT, Measure
from dpgraph.interfaces.benchmark.runs import HALTED, REFUSED, TASKS, Outcome, Run
from dpgraph.plot.panels import Panel

#: Numbers below this are zero but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Cell:
    """Runs of a mechanism at one budget (None for those that spend nothing), judged by one measure."""

    graph: str
    problem: str
    measure: Measure
    mechanism: str
    epsilon: float | None
    delta: float
    values: tuple[float, ...]
    halts: int
    refusal: str

    @property
    def mean(self) -> float:
        """Mean over the runs; NaN where the mechanism refused."""
        return float(np.mean(self.values)) if self.values else math.nan

    @property
    def half(self) -> float:
        """Half the width of the 95 % interval of the mean (Student's t); NaN for a single run."""
        number = len(self.values)
        if number < 2:
            return math.nan
        return float(stdtrit(number - 1, 0.975) * np.std(self.values, ddof=1) / math.sqrt(number))


def cells_of(runs: Iterable[tuple[Run, Outcome]]) -> list[Cell]:
    """Group runs."""
    groups: dict[tuple[str, str, str, float | None], list[tuple[Run, Outcome]]] = {}
    for run, outcome in runs:
        groups.setdefault((run.graph, run.problem, run.mechanism, run.epsilon), []).append((run, outcome))
    cells = []
    for (graph, problem, mechanism, epsilon), group in groups.items():
        outcomes = [outcome for _, outcome in group]
        refusal = next((outcome.note for outcome in outcomes if outcome.note.startswith(REFUSED)), "")
        halts = sum(outcome.note == HALTED for outcome in outcomes)
        for at, measure in enumerate(TASKS[problem].measures):
            values = tuple(outcome.values[at] for outcome in outcomes if not math.isnan(outcome.values[at]))
            delta = group[0][0].delta
            cells.append(Cell(graph, problem, measure, mechanism, epsilon, delta, values, halts, refusal))
    return cells


def as_markdown(cells: Sequence[Cell]) -> str:
    """A table for each problem and measure, with a line for each graph and mechanism and a column for each epsilon."""
    epsilons = sorted({cell.epsilon for cell in cells if cell.epsilon is not None})
    runs = max((len(cell.values) for cell in cells), default=0)
    parts = [
        "**Not private**: exact numbers, for graphs that are public. Mean of the runs and half the width of its 95 % "
        f"interval (Student's t), at most {runs} runs. Mechanisms that may spend a delta had delta = "
        f"{cells[0].delta:g}. A run that halts is judged as the data-independent answer."
    ]
    for (problem, measure), group in _by_measure(cells):
        title = (
            f"### {problem}: {measure.name} ({measure.direction})\n\n{measure.meaning[0].upper()}{measure.meaning[1:]}."
        )
        parts.append(f"{title}\n\n{_markdown_table(group, epsilons)}")
    refusals = dict.fromkeys(f"- {c.graph}, {c.problem}, {c.mechanism}: {c.refusal}" for c in cells if c.refusal)
    if refusals:
        parts.append("\n".join(refusals))
    return "\n\n".join(parts) + "\n"


def panels_of(cells: Sequence[Cell]) -> list[list[Panel]]:
    """A row of panels for each graph, one for each problem and measure."""
    rows = []
    for graph in dict.fromkeys(cell.graph for cell in cells):
        row = []
        for (problem, measure), group in _by_measure([cell for cell in cells if cell.graph == graph]):
            curves: dict[str, list[tuple[float, float, float]]] = {}
            for cell in group:
                if cell.epsilon is not None and cell.values:
                    half = 0.0 if math.isnan(cell.half) else cell.half
                    curves.setdefault(cell.mechanism, []).append((cell.epsilon, cell.mean, half))
            levels = {cell.mechanism: cell.mean for cell in group if cell.epsilon is None}
            row.append(Panel(f"{graph}: {problem}", measure.name, measure.higher_is_better, curves, levels))
        rows.append(row)
    return rows


def _by_measure(cells: Sequence[Cell]) -> Iterator[tuple[tuple[str, Measure], list[Cell]]]:
    for key in dict.fromkeys((cell.problem, cell.measure) for cell in cells):
        yield key, [cell for cell in cells if (cell.problem, cell.measure) == key]


def _markdown_table(cells: Sequence[Cell], epsilons: Sequence[float]) -> str:
    found = {(cell.graph, cell.mechanism, cell.epsilon): cell for cell in cells}
    lines = [["graph", "mechanism", *(f"ε = {epsilon:g}" for epsilon in epsilons)], ["---"] * (2 + len(epsilons))]
    for graph in dict.fromkeys(cell.graph for cell in cells):
        names = dict.fromkeys(cell.mechanism for cell in cells if cell.graph == graph)
        for mechanism in sorted(names, key=lambda name: (name == EXACT, name == BLIND)):
            level = found.get((graph, mechanism, None))
            entries = [level or found.get((graph, mechanism, epsilon)) for epsilon in epsilons]
            lines.append([graph.replace("|", "\\|"), mechanism, *map(_entry, entries)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _entry(cell: Cell | None) -> str:
    if cell is None or not cell.values:
        return "refused" if cell is not None else ""
    interval = "" if math.isnan(cell.half) else f" ± {_exact_zero(cell.half):.2g}"
    return f"{_exact_zero(cell.mean):.3g}{interval}" + (f" ({cell.halts} halted)" if cell.halts else "")


def _exact_zero(value: float) -> float:
    """Zero for what rounding has left of it."""
    return 0.0 if abs(value) < _ROUNDING else value
