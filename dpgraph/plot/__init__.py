"""Pictures of published values.

Needs matplotlib (``pip install 'dpgraph[plot]'``). Figures are returned, never shown, and no global state of
matplotlib is touched; save one with ``figure.savefig("cut.png")``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.plot import base
from dpgraph.plot.base import ACROSS, PALE, SIDES, figure_bytes, require_format
from dpgraph.plot.communities import plot_communities, plot_graph, plot_report
from dpgraph.plot.curves import plot_degree_distribution, plot_marginal, plot_spectrum
from dpgraph.plot.panels import plot_benchmark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpgraph.privacy.report import PrivacyReport

__all__ = [
    "figure_bytes",
    "plot_benchmark",
    "plot_communities",
    "plot_cut",
    "plot_degree_distribution",
    "plot_graph",
    "plot_marginal",
    "plot_report",
    "plot_spectrum",
    "require_format",
]

#: At most this many releases are drawn one by one.
_MAX_RELEASES = 10


def plot_cut(result: Any, *, title: str = "") -> Figure:
    """Picture of a private cut that shows published values only, so it may be published itself.

    Parameters
    ----------
    result, title : PrivateCutResult, str
        What :func:`dpgraph.private_max_cut` returned; name of the graph.

    Returns
    -------
    matplotlib.figure.Figure
        The two sides, the private estimate of the cut's weight beside that of a random cut (half of the estimated
        total weight), and how the privacy budget was shared among the releases.

    Examples
    --------
    >>> import dpgraph
    >>> result = dpgraph.private_max_cut(dpgraph.datasets.load("five-cycle"), epsilon=1.0, delta=1e-6, rng=0)
    >>> plot_cut(result, title="five-cycle").savefig("/dev/null", format="png")
    """
    base.expect("the result of private_max_cut or private_max_bisection", result, "partition")
    figure = base.new_figure(9, 4.4)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.3, 1), height_ratios=(1, 2.4))
    _draw_sides(figure.add_subplot(grid[0, 0]), result)
    _draw_value(figure.add_subplot(grid[1, 0]), result)
    budget = [(name, share, f"{100 * share:.3g} %", SIDES[0]) for share, name in _shares(result.privacy)]
    base.bars(figure.add_subplot(grid[:, 1]), budget, "privacy budget spent on")
    base.entitle(figure, "Private cut", title, result.privacy, more=f", mechanism: {result.mechanism}")
    return figure


def _draw_sides(axes: Axes, result: Any) -> None:
    sizes = [len(side) for side in result.partition]
    left = 0
    for number, (size, colour) in enumerate(zip(sizes, SIDES, strict=True)):
        axes.barh(0, size, left=left, color=colour, height=1)
        if size > sum(sizes) / 10:
            axes.text(left + size / 2, 0, f"side {number}\n{size:,}", ha="center", va="center", color="white")
        left += size
    axes.set(xlim=(0, max(left, 1)), ylim=(-0.5, 0.5))
    axes.set_title(f"vertices on each side: {sizes[0]:,} + {sizes[1]:,}", fontsize=10, loc="left")
    axes.set_axis_off()


def _draw_value(axes: Axes, result: Any) -> None:
    value, half = float(result.estimated_value), result.privacy.half_width("cut weight")
    total = float(result.estimated_total_weight)
    share = f"\n{value / total:.1%} of all edges" if 0 <= value <= total > 0 else ""
    rows = [("this cut", value, f"{value:,.0f} ± {half:,.0f}{share}", ACROSS)]
    rows.append(("random cut", total / 2, f"{total / 2:,.0f}", PALE))
    if (bound := result.upper_bound) is not None:
        rows.append(("bound, released\nmatrix only", float(bound), f"{bound:,.0f}", PALE))
    rows = [row for row in rows if np.isfinite(row[1])]
    half = half if np.isfinite(value) else 0.0
    base.bars(axes, rows, "private estimates: weight across, 95 % interval", least=2, half=half)
    weights = [total if total > 0 else 0.0, 1.0, *(weight for _, weight, *_ in rows)]
    axes.set_xlim(1.45 * min(0.0, *weights), 1.45 * (max(weights) + half))


def _shares(privacy: PrivacyReport) -> list[tuple[float, str]]:
    """Share and name of each release, largest first; numbered releases ("sweep 1", "sweep 2", ...) as one."""
    groups: dict[str, list[float]] = defaultdict(list)
    for entry in privacy.entries:
        if entry.share > 0:
            groups[re.sub(r"\s*\d+$", "", entry.name)].append(entry.share)
    named = {
        name if len(group) == 1 else f"{name}\n{len(group)} releases": sum(group) for name, group in groups.items()
    }
    shares = sorted(((share, name) for name, share in named.items()), reverse=True)
    if len(shares) <= _MAX_RELEASES:
        return shares
    rest = shares[_MAX_RELEASES - 1 :]
    return [*shares[: _MAX_RELEASES - 1], (sum(share for share, _ in rest), f"{len(rest)} smaller ones")]
