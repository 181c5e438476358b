"""Means of runs with their intervals: as Markdown, and as panels of a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from dpgraph.interfaces.benchmark.runs import HALTED, REFUSED, Outcome, Run
from dpgraph.interfaces.benchmark.tasks import BLIND, EXACT, TASKS, Measure
from dpgraph.plot.panels import Panel

#: Numbers below this are zero but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Cell:
    """Runs of a mechanism at one budget (None for those that spend nothing), judged by one measure.

    `mean` is NaN where the mechanism refused, `half`, half of its 95 % interval (Student's t), where there are
    fewer than two runs.
    """

    graph: str
    problem: str
    measure: Measure
    mechanism: str
    epsilon: float | None
    delta: float
    runs: int
    mean: float
    half: float
    halts: int
    refusal: str


def cells_of(runs: Iterable[tuple[Run, Outcome]]) -> list[Cell]:
    """Group runs."""
    groups: dict[tuple[str, str, str, float | None], list[tuple[Run, Outcome]]] = {}
    for run, outcome in runs:
        groups.setdefault((run.graph, run.problem, run.mechanism, run.epsilon), []).append((run, outcome))
    cells = []
    for (graph, problem, mechanism, epsilon), group in groups.items():
        notes = [outcome.note for _, outcome in group]
        refusal = next((note for note in notes if note.startswith(REFUSED)), "")
        for at, measure in enumerate(TASKS[problem].measures):
            values = np.array([outcome.values[at] for _, outcome in group])
            values = values[~np.isnan(values)]
            number, mean = values.size, float(values.mean()) if values.size else math.nan
            half = math.nan
            if number > 1:
                half = float(stdtrit(number - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(number))
            about = (graph, problem, measure, mechanism, epsilon, group[0][0].delta)
            cells.append(Cell(*about, number, mean, half, notes.count(HALTED), refusal))
    return cells


def as_markdown(cells: Sequence[Cell]) -> str:
    """A table for each problem and measure, with a line for each graph and mechanism and a column for each epsilon."""
    epsilons = sorted({cell.epsilon for cell in cells if cell.epsilon is not None})
    parts = [
        "**Not private**: exact numbers, for graphs that are public. Mean of the runs and half the width of its 95 % "
        f"interval (Student's t), at most {max((cell.runs for cell in cells), default=0)} runs. Mechanisms that may "
        f"spend a delta had delta = {cells[0].delta:g}. A run that halts is judged as the data-independent answer."
    ]
    for (problem, measure), group in _by_measure(cells):
        meaning = f"{measure.meaning[0].upper()}{measure.meaning[1:]}."
        title = f"### {problem}: {measure.name} ({measure.direction})\n\n{meaning}"
        parts.append(f"{title}\n\n{_markdown_table(group, epsilons)}")
    refusals = dict.fromkeys(f"- {c.graph}, {c.problem}, {c.mechanism}: {c.refusal}" for c in cells if c.refusal)
    return "\n\n".join([*parts, "\n".join(refusals)] if refusals else parts) + "\n"


def panels_of(cells: Sequence[Cell]) -> list[list[Panel]]:
    """A row of panels for each graph, one for each problem and measure."""
    rows = []
    for graph in dict.fromkeys(cell.graph for cell in cells):
        row = []
        for (problem, measure), group in _by_measure([cell for cell in cells if cell.graph == graph]):
            curves: dict[str, list[tuple[float, float, float]]] = {}
            for cell in group:
                if cell.epsilon is not None and cell.runs:
                    half = float(np.nan_to_num(cell.half))
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
    rows = dict.fromkeys((cell.graph, cell.mechanism) for cell in cells)
    for graph in dict.fromkeys(cell.graph for cell in cells):
        names = [mechanism for one, mechanism in rows if one == graph]
        for mechanism in sorted(names, key=lambda name: (name == EXACT, name == BLIND)):
            level = found.get((graph, mechanism, None))
            entries = [level or found.get((graph, mechanism, epsilon)) for epsilon in epsilons]
            lines.append([graph.replace("|", "\\|"), mechanism, *map(_entry, entries)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _entry(cell: Cell | None) -> str:
    if cell is None or not cell.runs:
        return "" if cell is None else "refused"
    mean, half = (0.0 if abs(x) < _ROUNDING else x for x in (cell.mean, cell.half))
    interval = "" if math.isnan(half) else f" ± {half:.2g}"
    return f"{mean:.3g}{interval}" + (f" ({cell.halts} halted)" if cell.halts else "")
