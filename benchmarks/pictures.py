"""The pictures of the documentation that are drawn from tables in git, whenever the documentation is built.

python benchmarks/pictures.py FOLDER          # draw them all into a folder, to look at them
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import charts
import cosine
import covariance
import frontier_tables
import marginals
import projector_gap
import science
import speed_tables
import synthetic_tables
from common import RESULTS, Row, read_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["pictures", "png"]


def png(draw: Callable[[], Figure]) -> bytes:
    """A figure as a PNG file."""
    return charts.png(draw())


def pictures() -> dict[str, Callable[[], Figure]]:
    """Name in ``benchmarks/results`` -> what draws it."""
    rows = read_csv(RESULTS / "science.csv")
    others: dict[str, Callable[[], Figure]] = {
        "cosine.png": lambda: cosine.plot(list(read_csv(RESULTS / "cosine.csv"))),
        "covariance.png": lambda: covariance.plot(list(map(numbers, read_csv(RESULTS / "covariance.csv")))),
        "science_coherence.png": lambda: science.plot_coherence(rows),
        "science_wishart.png": lambda: science.plot_wishart(rows),
        "science_schatten.png": lambda: science.plot_schatten(rows),
        "science_rates.png": lambda: science.plot_rates(rows),
        "projector_gap.png": lambda: projector_gap.plot(projector_gap.results().rows),
        "speed.png": speed,
        "speed_memory.png": partial(speed, memory=True),
        "marginals.png": lambda: marginals.plot(read_csv(RESULTS / "marginals.csv")),
        "synthetic_peers.png": lambda: synthetic_tables.plot(read_csv(RESULTS / "synthetic_peers.csv")),
    }
    return others | dict(frontiers())


def frontiers() -> Iterator[tuple[str, Callable[[], Figure]]]:
    """One picture for each problem and group of inputs."""
    for path in sorted(RESULTS.glob("frontier_*.csv")):
        name = path.stem.removeprefix("frontier_")
        if not name.endswith(("_full", "_quick")):
            table = frontier_tables.Table(*frontier_tables.read_summary(name), runs=0)
            for group, picture in frontier_tables.groups(table).items():
                yield picture, partial(frontier_tables.plot, table, group)


def speed(memory: bool = False) -> Figure:
    """Time or memory of each task, by size."""
    rows = sorted(read_csv(RESULTS / "speed.csv"), key=lambda row: int(row["size"]))
    return speed_tables.plot(list(dict.fromkeys(row["task"] for row in rows)), rows, memory)


def numbers(row: Row) -> dict[str, object]:
    """The filled columns of a row, numbers as such."""
    return {name: float(text) if name != "sweep" else text for name, text in row.items() if text}


if __name__ == "__main__":
    for name, draw in pictures().items():
        Path(sys.argv[1], name).write_bytes(png(draw))
