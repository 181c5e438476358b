"""Tables and plots of the speed benchmark, from its rows alone: ``<stem>.md`` and ``<stem>.png``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from common import Row, markdown_table, quote, slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Times below this are mostly noise: not used for exponents.
_SHORTEST = 2e-3
#: Megabytes below this are mostly those of the allocator.
_SMALLEST = 5.0


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
    plot(tasks, rows).savefig(stem.with_suffix(".png"), dpi=110)


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


def plot(tasks: list[str], rows: list[Row]) -> Figure:
    """Time above, memory below, one column a task."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.9 * len(tasks), 7.2), layout="constrained")
    axes = figure.subplots(2, len(tasks), squeeze=False)
    for column, task in enumerate(tasks):
        own = [row for row in rows if row["task"] == task]
        for number, method in enumerate(dict.fromkeys(row["method"] for row in own)):
            points = measured(own, method)
            if not points:
                continue
            size = [p.size for p in points]
            ours = method.startswith("dpgraph") and "not private" not in method
            style = {"marker": "os^vDPX"[number % 7], "markersize": 4, "linewidth": 2.2 if ours else 1.0}
            axes[0, column].loglog(
                size, [max(p.seconds, 1e-4) for p in points], color=f"C{number}", label=method, **style
            )
            axes[1, column].loglog(size, [p.peak for p in points], color=f"C{number}", **style)
        axes[0, column].set_title(task)
        if axes[0, column].lines:
            axes[0, column].legend(fontsize=7)
        axes[1, column].set_xlabel({"covariance": "dimensions", "marginals": "attributes"}.get(task, "vertices"))
        for axis in axes[:, column]:
            axis.grid(True, alpha=0.3)
    axes[0, 0].set_ylabel("processor seconds")
    axes[1, 0].set_ylabel("peak memory (MB)")
    return figure
