"""A report as one picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpgraph.plot import base
from dpgraph.plot.base import ACROSS, AS_WRITTEN, GREY
from dpgraph.plot.communities import draw_communities
from dpgraph.plot.curves import draw_degrees

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_report(result: Any) -> Figure:
    """Picture of a report: the map of the communities, the degrees, and the numbers; published values only.

    Parameters
    ----------
    result : Report
        What :func:`dpgraph.report` returned.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import dpgraph
    >>> page = dpgraph.report(dpgraph.datasets.load("us-flights"), epsilon=4.0)
    >>> plot_report(page).savefig("/dev/null", format="png")
    """
    figure = base.new_figure(13.0, 7.0)
    places = figure.subplot_mosaic([["map", "degrees"], ["map", "numbers"]], width_ratios=(1.1, 1))
    draw_communities(places["map"], result.communities)
    groups = len(result.communities.communities)
    found = f"{groups} communities" if groups > 1 else "no division stands out"
    places["map"].set_title(f"{found}; big dots have many connections", fontsize=10, loc="left")
    draw_degrees(places["degrees"], result.degrees)
    places["degrees"].set_ylabel("share of the nodes")
    places["degrees"].set_xlabel("at least so many connections")
    for axis, written in (
        (places["degrees"].xaxis, "{x:,.0f}"),
        (places["degrees"].yaxis, lambda share, _: f"{100 * share:.6g} %"),
    ):
        axis.set_major_formatter(written)
        axis.set_minor_formatter("")
    numbers = places["numbers"]
    numbers.set_axis_off()
    numbers.set_title("numbers, with 95 % intervals", fontsize=10, loc="left")
    for at, fact in enumerate(result.facts):
        y = 1 - (at + 0.6) / len(result.facts)
        numbers.text(0.0, y, fact.name, fontsize=9.5, va="center", **AS_WRITTEN)
        if fact.interval:
            numbers.text(0.76, y, fact.shown, fontsize=10, va="center", ha="right", color=ACROSS, weight="bold")
        numbers.text(0.79, y, fact.interval or fact.shown, fontsize=9, va="center", color=GREY)
    base.entitle(figure, result.title, "", result.privacy, found=f"{len(result.communities.nodes):,} nodes")
    return figure
