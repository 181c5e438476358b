"""Pictures of degree distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.plot import base
from dpgraph.plot.base import ACROSS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_degree_distribution(result: Any, *, title: str = "") -> Figure:
    """Picture of a private degree distribution with the 95 % band of its noise; published values only.

    Parameters
    ----------
    result, title : PrivateDegreeDistribution, str
        What :func:`dpgraph.private_degree_distribution` returned; name of the graph.

    Returns
    -------
    matplotlib.figure.Figure
        The share of the vertices that have at least so many edges, on logarithmic axes. The band holds
        each exact share with probability 95 %; the line is smoother than what it is about.

    Examples
    --------
    >>> import dpgraph
    >>> result = dpgraph.private_degree_distribution(dpgraph.datasets.load("planted-cut"), epsilon=1.0)
    >>> plot_degree_distribution(result).savefig("/dev/null", format="png")
    """
    figure = base.new_figure(6.8, 4.4)
    axes = figure.subplots()
    draw_degrees(axes, result)
    facts = f"{int(result.counts.sum()):,} vertices, largest degree {len(result.counts) - 1:,}"
    base.entitle(figure, "Private degree distribution", title, result.privacy, found=facts)
    return figure


def draw_degrees(axes: Axes, result: Any) -> None:
    """Shares of vertices of at least a degree on logarithmic axes, with the band of their noise."""
    n, share = int(result.counts.sum()), result.ccdf[1:]
    degree = np.arange(1, share.size + 1)
    floor = 0.5 / n  # less than one vertex
    low, high = np.maximum(result.interval()[:, 1 : share.size + 1], floor)
    band: Any = {"color": ACROSS, "alpha": 0.2, "linewidth": 0, "step": "pre"}
    axes.fill_between(degree, low, high, **band)
    axes.step(degree, share, where="pre", color=ACROSS, linewidth=1.6)
    axes.set(xscale="log", yscale="log", xlim=(1, 1.15 * max(share.size, 2)), ylim=(floor, 1.4))
    axes.set(xlabel="degree", ylabel="share of the vertices of at least this degree")
    base.without_frame(axes, "top", "right")
    axes.set_title("line: released; shaded: 95 % interval of each number", fontsize=9, loc="left", color=ACROSS)
