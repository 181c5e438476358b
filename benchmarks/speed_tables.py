"""Tables and plots of the speed benchmark, from its rows alone: ``<stem>.md`` and ``<stem>.png``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from common import Row, markdown_table, quote, slope

#: Times below this are mostly noise: not used for exponents.
_SHORTEST = 2e-3


def write_tables(qualities: Mapping[str, str], rows: list[Row], stem: Path, page: Path | None = None) -> None:
    """Write Markdown and a plot next to the CSV file; `qualities` says what its column means for each task."""
    parts = [
        "# Time and memory\n",
        "Processor seconds on one thread, after imports and compilation, each line in a process of its own; *ratio*: "
        "to the first method at the same size; *peak* includes the interpreter and all imports. Made by "
        "`benchmarks/speed.py`.\n",
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
    plot(tasks, rows, stem.with_suffix(".png"))


def measured(rows: list[Row], method: str) -> list[tuple[int, float, float]]:
    """Size, seconds and megabytes of a method."""
    return [
        (int(row["size"]), float(row["processor_seconds"]), float(row["peak_MB"]))
        for row in rows
        if row["method"] == method and row["processor_seconds"] and not row["note"]
    ]


def exponents(rows: list[Row]) -> str:
    """Fitted exponent of the time over the larger sizes, and the ratio to the first method where both ran."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    first = {size: seconds for size, seconds, _ in measured(rows, methods[0])}
    lines = []
    for method in methods:
        points = measured(rows, method)
        long = [(size, seconds) for size, seconds, _ in points if seconds > _SHORTEST][-4:]
        power = f"{slope(*zip(*long, strict=True)):.2f} ({long[0][0]} to {long[-1][0]})" if len(long) > 2 else ""
        common = [(size, seconds / first[size]) for size, seconds, _ in points if size in first]
        ratio = f"{common[-1][1]:.3g} at {common[-1][0]}" if common else ""
        largest = points[-1] if points else None
        reached = f"{largest[0]}: {largest[1]:.3g} s, {largest[2]:.0f} MB" if largest else "not run"
        lines.append([method, power, ratio, reached])
    return markdown_table(["method", "exponent of time", "time over the first method", "largest size measured"], lines)


def detail(rows: list[Row], quality: str) -> str:
    header = ["size", "method", "processor s", "wall s", "ratio", "peak MB", quality, "note"]
    lines = []
    for row in rows:
        base = next((r for r in rows if r["size"] == row["size"]), row)["processor_seconds"]
        has_both = row["processor_seconds"] and base and float(base) > 0
        ratio = f"{float(row['processor_seconds']) / float(base):.3g}" if has_both else ""
        peak = f"{float(row['peak_MB']):.0f}" if row["peak_MB"] else ""
        times = (row["processor_seconds"], row["seconds"])
        lines.append([row["size"], row["method"], *times, ratio, peak, row["quality"], row["note"]])
    return markdown_table(header, lines)


def plot(tasks: list[str], rows: list[Row], path: Path) -> None:
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
            size, seconds, memory = zip(*points, strict=True)
            ours = method.startswith("dpgraph") and "not private" not in method
            style = {"marker": "os^vDPX"[number % 7], "markersize": 4, "linewidth": 2.2 if ours else 1.0}
            axes[0, column].loglog(size, [max(s, 1e-4) for s in seconds], color=f"C{number}", label=method, **style)
            axes[1, column].loglog(size, memory, color=f"C{number}", **style)
        axes[0, column].set_title(task)
        if axes[0, column].lines:
            axes[0, column].legend(fontsize=7)
        axes[1, column].set_xlabel({"covariance": "dimensions", "marginals": "attributes"}.get(task, "vertices"))
        for axis in axes[:, column]:
            axis.grid(True, alpha=0.3)
    axes[0, 0].set_ylabel("processor seconds")
    axes[1, 0].set_ylabel("peak memory (MB)")
    figure.savefig(path, dpi=110)
