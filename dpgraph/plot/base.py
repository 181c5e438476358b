"""What all pictures share: colours, formats, and the line that states the guarantee."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpgraph.privacy.report import PrivacyReport

#: The palette of all pictures: readers with any colour vision tell its lists apart (tests/test_plot.py).
#: Edges across the cut, edges inside a side, the rest.
ACROSS, INSIDE, GREY, PALE, WARNING = "#0077BB", "#EE7733", "#777777", "#BBBBBB", "#BB2222"
#: Lines of a picture, at most six: the first is what the picture is about, the second what it is compared with.
LINES = (ACROSS, INSIDE, "#33BBEE", "#AA3377", "#222222", PALE)
#: The two sides of the cut: neutral, because a side is no better than the other.
SIDES = ("#44546A", "#8796AB")
#: For texts with names that others gave, of files, columns or values: a $ in them starts no formula.
AS_WRITTEN: dict[str, Any] = {"parse_math": False, "usetex": False}
#: Communities (Paul Tol, "muted"); from the tenth on they are grey.
COMMUNITIES = ("#332288", "#CC6677", "#117733", "#DDCC77", "#88CCEE", "#AA4499", "#44AA99", "#882255", "#999933")


def expect(what: str, result: Any, *names: str) -> None:
    """Raise InvalidParameterError for a result of another kind, which lacks something that is drawn."""
    for name in ("privacy", *names):
        if not hasattr(result, name):
            raise InvalidParameterError(f"expected {what}; got a {type(result).__name__}, which has no {name}")


def require_format(suffix: str) -> str:
    """Name of the picture format with this file ending (``.png``, ``.pdf``, ``.svg``, ...), which matplotlib must know.

    Raises
    ------
    InvalidParameterError
        matplotlib does not write such files.
    """
    from matplotlib.backend_bases import FigureCanvasBase

    format = suffix.removeprefix(".").lower()
    supported = FigureCanvasBase.get_supported_filetypes()
    if format not in supported:
        raise InvalidParameterError(f"a picture must end in .{', .'.join(sorted(supported))}; got {suffix!r}")
    return format


def figure_bytes(figure: Figure, suffix: str = ".png") -> bytes:
    """The picture as the content of a file whose name ends in `suffix`."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=require_format(suffix), dpi=200)
    return buffer.getvalue()


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """An empty figure that no global state of matplotlib knows; without a layout its places are set by hand."""
    require("matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def without_frame(axes: Axes, *sides: str, ticks: Literal["x", "y", "both"] | None = None) -> None:
    """Take away these sides of the frame, and the marks (not the labels) of an axis."""
    axes.spines[list(sides)].set_visible(False)
    if ticks is not None:
        axes.tick_params(axis=ticks, length=0)


def name_lines(axes: Axes, size: float = 9) -> None:
    """Write the label of each line at its right end, moved up or down where two would touch: no legend is needed."""
    from matplotlib.patheffects import withStroke

    lines: list[Any] = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    if not lines:
        return
    axes.get_xlim(), axes.get_ylim()  # asked for, limits are brought up to date
    ends = np.array([[values[-1] for values in line.get_data()] for line in lines])
    x, y = axes.transLimits.transform(axes.transScale.transform(ends)).T
    x[[line.get_transform() != axes.transData for line in lines] | (x > 0.9)] = 1.0  # lines across the whole picture
    order = np.argsort(y, kind="stable")
    rows = np.array([line.get_label().count("\n") + 1 for line in lines])[order]
    tall = 1.5 * size * rows / axes.get_window_extent().height * axes.figure.dpi / 72
    apart = np.cumsum(tall) - tall / 2
    y[order] = scipy.optimize.isotonic_regression(y[order] - apart).x + apart
    for at, line in enumerate(lines):
        axes.annotate(
            line.get_label(), (x[at], y[at]), xytext=(7, 0), textcoords="offset points", xycoords="axes fraction",
            color=GREY if line.get_color() == PALE else line.get_color(), fontsize=size, va="center", zorder=5,
            annotation_clip=False, path_effects=[withStroke(linewidth=2.5, foreground="white")], **AS_WRITTEN,
        )  # fmt: skip


def bars(
    axes: Axes, rows: Sequence[tuple[str, float, str, str]], title: str = "", *, least: int = 4, half: float = 0.0
) -> None:
    """Horizontal bars from the top down, with place for at least so many: name, length, text at the end, colour.

    The first one has an interval of this half width.
    """
    for at, (_, length, text, colour) in enumerate(rows):
        known = 0.0 if at else half
        axes.barh(at, length, color=colour, height=0.6, xerr=known or None, capsize=3)
        axes.annotate(text, (length + known, at), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows], **AS_WRITTEN)
    longest = max((length for _, length, *_ in rows), default=0.0)
    axes.set(ylim=(max(len(rows), least) - 0.4, -0.6), xlim=(0, 1.6 * longest or 1.0), xticks=[])
    axes.set_title(title, fontsize=10, loc="left")
    without_frame(axes, "top", "right", "bottom", ticks="y")


def entitle(figure: Figure, what: str, of: str, privacy: PrivacyReport, *, found: str = "", more: str = "") -> None:
    """What a picture shows, of which data if that has a name; what was found; and the guarantee."""
    shown = (f"{what} of {of}" if of else what) + (f": {found}" if found else "")
    shown = shown.encode(errors="backslashreplace").decode()  # of a file whose name is no text in this locale
    if len(shown) > 11 * figure.get_figwidth():  # of about 9 wide letters, or 11 usual ones, an inch
        shown = textwrap.fill(shown, int(9 * figure.get_figwidth()), max_lines=3, placeholder=" …")
    figure.suptitle(f"{shown}\n{guarantee(privacy)}{more}", fontsize=10, **AS_WRITTEN)


def guarantee(privacy: PrivacyReport) -> str:
    """Epsilon, delta, and a warning for seeded noise."""
    text = f"ε = {privacy.epsilon:g}, δ = {privacy.delta:g}"
    return text + " (SEEDED: noise for experiments, not for publication)" if privacy.seeded else text
