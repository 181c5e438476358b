"""What the pictures of the benchmarks share: the palette of the package, names at the ends of lines, few panels.

At most six lines and nine panels stand in a picture. All cells are in the table beside it.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.plot.base import GREY as GREY
from dpgraph.plot.base import LINES as LINES
from dpgraph.plot.base import name_lines as name_lines
from dpgraph.plot.base import without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Dots an inch: twice what a page shows, for screens that have them.
DPI = 160
PANELS = 9
#: Inches at the right of a row of panels, for the names of its lines.
NAMES = 2.1


def panels(count: int, columns: int = 3, size: tuple[float, float] = (2.9, 2.4)) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels, with place at the right for names and above for a title of two lines."""
    from matplotlib.figure import Figure

    columns = min(columns, count)
    rows = -(-count // columns)
    wide, high = size[0] * columns + 0.6 + NAMES, size[1] * rows + 1.15
    figure = Figure(figsize=(wide, high))
    grid = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(0.75 / wide, 0.6 / high, 1 - NAMES / wide, 1 - 0.85 / high, 0.24, 0.36)
    for empty in grid.flat[count:]:
        empty.set_visible(False)
    return figure, list(grid.flat[:count])


def spread(names: Sequence[str], most: int = PANELS) -> list[str]:
    """At most so many of a list, evenly, the first and the last among them."""
    chosen = np.unique(np.linspace(0, len(names) - 1, min(most, len(names))).round().astype(int))
    return [names[at] for at in chosen]


def curve(
    axes: Axes, x: Iterable[float], y: Iterable[float], half: Iterable[float] | None, number: int, **more: Any
) -> None:
    """A line in the colour of its place in the palette; the first is the thick one. Intervals are shaded."""
    style = {"marker": "osv^DX"[number], "markersize": 3.5, "linewidth": 2.4 if number == 0 else 1.1}
    x, y = np.asarray(list(x), float), np.asarray(list(y), float)
    axes.plot(x, y, color=LINES[number], zorder=4 if number == 0 else 3, **{**style, **more})
    if half is not None:
        reach = np.nan_to_num(np.asarray(list(half), float))
        axes.fill_between(x, y - reach, y + reach, color=LINES[number], alpha=0.18, linewidth=0)


def epsilon_axis(axes: Axes, epsilons: Sequence[float]) -> None:
    """Budgets by their names, at equal distances where each is twice the one before."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log", base=2)
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.xaxis.set_minor_locator(NullLocator())


def finish(figure: Figure, title: str, remark: str, x: str, y: str) -> Figure:
    """The finding as the title, what is shown below it, and the names of the axes."""
    from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter

    wide, high = figure.get_size_inches()
    figure.text(0.12 / wide, 1 - 0.1 / high, title, fontsize=11, va="top", weight="bold")
    figure.text(0.12 / wide, 1 - 0.34 / high, remark, fontsize=8.5, va="top", color=GREY)
    figure.supxlabel(x, fontsize=9, y=0.1 / high)
    figure.supylabel(y, fontsize=9, x=0.12 / wide)
    for axes in figure.axes:
        axes.tick_params(labelsize=7.5)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter(NullFormatter())
            low, high = axis.get_view_interval()
            if axis.get_scale() == "log" and high < 12 * low and not isinstance(axis.get_major_locator(), FixedLocator):
                axis.set_major_locator(LogLocator(subs=(1, 2, 5)))  # powers of ten alone would be one or none
                axis.set_major_formatter("{x:g}")
        without_frame(axes, "top", "right")
    return figure


def png(figure: Figure) -> bytes:
    """A figure as the content of a PNG file, in at most 256 colours."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    small = io.BytesIO()
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    drawn.quantize(256, dither=Image.Dither.NONE).save(small, "png")
    return small.getvalue()
