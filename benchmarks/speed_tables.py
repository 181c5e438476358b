"""Tables and plots of the speed benchmark, from its rows alone: ``<stem>.md`` and ``<stem>.png``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import charts
from common import Row, markdown_table, quote, slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Times below this are mostly noise: not used for exponents.
_SHORTEST = 2e-3
#: Megabytes below this are mostly those of the allocator.
_SMALLEST = 5.0
_SIZES = {"covariance": "dimensions", "marginals": "attributes"}


def write_tables(qualities: Mapping[str, str], rows: list[Row], stem: Path, page: Path | None = None) -> None:
    """Write Markdown and a plot next to the CSV file; `qualities` says what its column means for each task."""
    parts = [
        "# Time and memory\n",
        "Processor seconds on one thread, after imports and compilation, each line in a process of its own; *ratio*: "
        "to the first method at the same size; *peak* memory includes the interpreter and all imports, *working* "
        "memory the input but not these; *>*: the method was stopped. Made by `benchmarks/speed.py`.\n",
    ]
    tasks = [task for task in qualities if any(row["task"] == task for row in rows)]
    for task in tasks:
        own = [row for row in rows if row["task"] == task]
        parts += [f"## {task}\n", exponents(own), detail(own, qualities[task])]
        if page is not None:
            quote(page, f"speed of {task}", exponents(own))
    absent = sorted({f"{row['method']} ({row['note']})" for row in rows if row["note"].startswith("absent")})
    parts.append(f"Peers absent in this run: {', '.join(absent) if absent else 'none'}.\n")
    stem.with_suffix(".md").write_text("\n".join(parts))
    stem.with_suffix(".png").write_bytes(charts.png(plot(tasks, rows)))


@dataclass(frozen=True)
class Line:
    """One measurement; `working` megabytes are those beyond interpreter and imports (NaN: not measured)."""

    size: int
    seconds: float
    peak: float
    working: float


def measured(rows: list[Row], method: str) -> list[Line]:
    """The lines of a method that ran to the end."""
    return [
        Line(int(row["size"]), float(row["processor_seconds"]), float(row["peak_MB"]), working(row))
        for row in rows
        if row["method"] == method and row["processor_seconds"] and not row["note"]
    ]


def working(row: Row) -> float:
    return float(row["peak_MB"]) - float(row["imports_MB"] or "nan")


def exponent(points: Sequence[tuple[int, float]]) -> str:
    """Fitted over at most four of the largest sizes."""
    last = points[-4:]
    return f"{slope(*zip(*last, strict=True)):.2f} ({last[0][0]:,} to {last[-1][0]:,})" if len(last) > 2 else ""


def exponents(rows: list[Row]) -> str:
    """Fitted exponents of time and memory over the larger sizes, and ratios to the first method where both ran."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    first = {line.size: line for line in measured(rows, methods[0])}
    lines = []
    for method in methods:
        points = measured(rows, method)
        power = exponent([(p.size, p.seconds) for p in points if p.seconds > _SHORTEST])
        space = exponent([(p.size, p.working) for p in points if p.working > _SMALLEST])
        common = [p for p in points if p.size in first]
        ratios = [f"{p.seconds / first[p.size].seconds:.3g} at {p.size:,}" for p in common[-1:]]
        ratios += [
            f"> {limit / first[size].seconds:.2g} at {size:,}" for size, limit in stopped(rows, method) if size in first
        ]
        memory = f"{common[-1].peak / first[common[-1].size].peak:.2g} at {common[-1].size:,}" if common else ""
        reached = f"{points[-1].size:,}: {points[-1].seconds:.3g} s, {points[-1].peak:,.0f} MB" if points else "not run"
        lines.append([method, power, space, ", ".join(ratios), memory, reached])
    header = ["method", "exponent of time", "exponent of memory", "time over the first method"]
    return markdown_table([*header, "memory over the first", "largest size measured"], lines)


def stopped(rows: list[Row], method: str) -> list[tuple[int, float]]:
    """Sizes at which a method was stopped, and after how many processor seconds."""
    notes = [(int(row["size"]), row["note"]) for row in rows if row["method"] == method]
    return [(size, float(note.split()[2])) for size, note in notes if note.startswith("stopped after")]


def detail(rows: list[Row], quality: str) -> str:
    header = ["size", "method", "processor s", "wall s", "ratio", "peak MB", "working MB", quality, "note"]
    lines = []
    for row in rows:
        base = next((r for r in rows if r["size"] == row["size"]), row)["processor_seconds"]
        has_both = row["processor_seconds"] and base and float(base) > 0
        ratio = f"{float(row['processor_seconds']) / float(base):.3g}" if has_both else ""
        memory = [f"{float(row['peak_MB']):.0f}" if row["peak_MB"] else ""]
        memory.append(f"{working(row):.0f}" if row["imports_MB"] else "")
        times = (row["processor_seconds"], row["seconds"])
        lines.append([row["size"], row["method"], *times, ratio, *memory, row["quality"], row["note"]])
    return markdown_table(header, lines)


def plot(tasks: list[str], rows: list[Row], memory: bool = False) -> Figure:
    """Time (or peak memory) of the six methods with the most points, one panel a task; ours are thick."""
    figure, axes = charts.panels(len(tasks), columns=2, size=(2.9 + charts.NAMES, 2.5))
    figure.subplots_adjust(wspace=0.75)
    for axis, task in zip(axes, tasks, strict=True):
        own = [row for row in rows if row["task"] == task]
        found = {method: measured(own, method) for method in dict.fromkeys(row["method"] for row in own)}
        found = {method: points for method, points in found.items() if points}  # a peer may be absent
        kept = sorted(found, key=lambda method: -len(found[method]))[: len(charts.LINES)]
        peers = [method for method in found if method in kept and not _ours(method)]
        axis.set(xscale="log", yscale="log")
        for number, method in enumerate([method for method in found if method in kept and _ours(method)] + peers):
            y = [p.peak if memory else max(p.seconds, 1e-4) for p in found[method]]
            charts.curve(
                axis,
                [p.size for p in found[method]],
                y,
                None,
                number,
                label=method,
                linewidth=2.4 if _ours(method) else 1,
            )
        axis.set_title(f"{task}, by {_SIZES.get(task, 'vertices')}", fontsize=9)
        charts.name_lines(axis, 7.5)
    shown = "at most six methods a task; a line ends where its method was stopped or not started; the others: speed.md"
    if memory:
        cuts = measured([row for row in rows if row["task"] == "private max-cut"], "dpgraph private, eps 1")
        largest = max(cuts, key=lambda line: line.size)
        title = f"A private cut of {largest.size:,} vertices takes {largest.peak:,.0f} MB, all imports included"
        return charts.finish(figure, title, shown, "size", "peak memory, MB")
    return charts.finish(figure, _fastest(tasks, rows), shown, "size", "processor seconds, one thread")


def _ours(method: str) -> bool:
    return method.startswith("dpgraph") and "not private" not in method


def _fastest(tasks: list[str], rows: list[Row]) -> str:
    """The tasks in which nothing else is faster at the largest size that it reaches."""
    ahead = []
    for task in tasks:
        own = [row for row in rows if row["task"] == task]
        methods = list(dict.fromkeys(row["method"] for row in own))
        first = {line.size: line.seconds for line in measured(own, methods[0])}
        last = [points[-1] for method in methods if not _ours(method) and (points := measured(own, method))]
        if all(first[line.size] <= line.seconds for line in last if line.size in first):
            ahead.append(task)
    slower = [task for task in tasks if task not in ahead]
    return f"At the largest common size dpgraph is fastest in {', '.join(ahead)}, and not in {', '.join(slower)}"
