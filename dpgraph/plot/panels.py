"""Utility against epsilon, one panel a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.plot import base
from dpgraph.plot.base import AS_WRITTEN, GREY, LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Lines of the picture for what does not depend on epsilon.
_LEVELS = {"without privacy": ("black", "--"), "data-independent": (GREY, ":")}
#: Inches of the axes of a panel; of what is beside them for the names of lines and the numbers; and above and below.
_AXES, _NAMES, _TITLE = (2.9, 2.2), 2.0, 0.9
#: Panels beside each other, at most; errors further apart than this factor have a logarithmic axis.
_MOST_ACROSS, _DECADES = 3, 20


@dataclass(frozen=True)
class Panel:
    """Curves of one panel.

    Parameters
    ----------
    title, measure : str
        Of what, and what is measured.
    higher_is_better : bool
        Of the measure.
    curves : mapping
        Name -> (epsilon, mean, half the width of its interval) in any order.
    levels : mapping
        Name -> what does not depend on epsilon: "without privacy", "data-independent".
    """

    title: str
    measure: str
    higher_is_better: bool
    curves: Mapping[str, Sequence[tuple[float, float, float]]]
    levels: Mapping[str, float]


def plot_benchmark(rows: Sequence[Sequence[Panel]]) -> Figure:
    """Picture of the utility of private results of **public** graphs against epsilon, a panel for each problem.

    Parameters
    ----------
    rows : sequence of sequences of Panel
        A row of panels for each graph.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidParameterError
        There is nothing to draw.

    Examples
    --------
    >>> from dpgraph.plot.panels import Panel
    >>> curves = {"auto": [(1, 0.6, 0.01), (2, 0.7, 0.01)]}
    >>> panel = Panel("x: cut", "fraction cut", True, curves, {"without privacy": 0.8})
    >>> plot_benchmark([[panel]]).savefig("/dev/null", format="png")
    """
    drawn = [[panel for panel in row if panel.curves] for row in rows]
    if not any(drawn):
        raise InvalidParameterError("there must be at least one panel with a curve")
    across = min(max(map(len, drawn)), _MOST_ACROSS)
    lines = [row[start : start + across] for row in drawn for start in range(0, len(row), across)]
    down = len(lines)
    wide, high = (_AXES[0] + _NAMES) * across, (_AXES[1] + _TITLE) * down
    figure = base.new_figure(wide, high, layout=None)  # names of lines stand outside the axes
    grid = figure.subplots(down, across, squeeze=False)
    figure.subplots_adjust(
        left=0.65 / wide, right=1 - (_NAMES - 0.65) / wide, bottom=0.5 / high, top=1 - 0.4 / high,
        wspace=_NAMES / _AXES[0], hspace=_TITLE / _AXES[1],
    )  # fmt: skip
    for places, line in zip(grid, lines, strict=True):
        for axes, panel in zip_longest(places, line):
            if panel is None:
                axes.set_visible(False)
            else:
                _draw(axes, panel)
    return figure


def _draw(axes: Axes, panel: Panel) -> None:
    values = np.array([mean for points in panel.curves.values() for _, mean, _ in points])
    some, curves = values[values > 0], panel.curves
    if not panel.higher_is_better and some.size and some.max() > _DECADES * some.min():
        axes.set_yscale("log")  # errors of mechanisms differ by powers of ten
        bottom = some.min() / 2  # where zeros are drawn
        curves = {name: [(e, max(mean, bottom), half) for e, mean, half in of] for name, of in curves.items()}
        draw_curves(axes, curves)
        axes.set_ylim(bottom, 2 * max([some.max(), *panel.levels.values()]))
    else:  # wide intervals of few runs are cut off
        draw_curves(axes, curves)
        seen = [*values, *panel.levels.values()]
        margin = 0.06 * (max(seen) - min(seen)) or 0.05
        axes.set_ylim(min(seen) - margin, max(seen) + margin)
    for name, level in panel.levels.items():
        if level > axes.get_ylim()[0]:
            colour, style = _LEVELS.get(name, (GREY, "-."))
            axes.axhline(level, color=colour, linewidth=0.8, linestyle=style, label=name)
    axes.set(xlabel="ε", ylabel=panel.measure)
    better = "higher is better" if panel.higher_is_better else "lower is better"
    axes.set_title(f"{panel.title} ({better})", fontsize=9, loc="left", **AS_WRITTEN)
    axes.tick_params(labelsize=8)
    base.without_frame(axes, "top", "right")
    base.name_lines(axes, 7.5)


def draw_curves(axes: Axes, curves: Mapping[str, Sequence[tuple[float, float, float]]]) -> None:
    """Means with a shaded band on a logarithmic axis of epsilon, whose ticks are the budgets."""
    for (name, points), colour in zip(curves.items(), LINES * len(curves), strict=False):
        epsilon, mean, half = (np.array(column, dtype=float) for column in zip(*sorted(points), strict=True))
        axes.fill_between(epsilon, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)
        axes.plot(epsilon, mean, "o-", color=colour, markersize=4, label=name)
    axes.set_xscale("log")
    ticks = sorted({float(point[0]) for points in curves.values() for point in points})
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
