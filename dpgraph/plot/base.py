"""What all pictures share: colours, formats, and the line that states the guarantee."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpgraph.privacy.report import PrivacyReport

__all__ = ["ACROSS", "GREY", "INSIDE", "PALE", "SIDES", "WARNING", "figure_bytes", "require_format"]

#: Colours that readers with any colour vision tell apart: edges across the cut, edges inside a side, the rest.
ACROSS, INSIDE, GREY, PALE, WARNING = "#0077BB", "#EE7733", "#777777", "#BBBBBB", "#BB2222"
#: The two sides of the cut: neutral, because a side is no better than the other.
SIDES = ("#44546A", "#8796AB")


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


def new_figure(width: float, height: float) -> Figure:
    """An empty figure that no global state of matplotlib knows."""
    require("matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def without_frame(axes: Axes, *sides: str, ticks: Literal["x", "y", "both"] | None = None) -> None:
    """Take away these sides of the frame, and the marks (not the labels) of an axis."""
    axes.spines[list(sides)].set_visible(False)
    if ticks is not None:
        axes.tick_params(axis=ticks, length=0)


def heading(what: str, of: str, joined: str = " of ") -> str:
    """What a picture shows, of which data if that has a name."""
    return f"{what}{joined}{of}" if of else what


def guarantee(privacy: PrivacyReport) -> str:
    """Epsilon, delta, and a warning for seeded noise."""
    text = f"ε = {privacy.epsilon:g}, δ = {privacy.delta:g}"
    return text + " (SEEDED: noise for experiments, not for publication)" if privacy.seeded else text
