"""Pictures of published values, and one picture of the exact graph that only the data owner may see.

Needs matplotlib (``pip install 'dpgraph[plot]'``). Figures are returned, never shown, and no global state of
matplotlib is touched; save one with ``figure.savefig("cut.png")``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import as_graph
from dpgraph.plot import base
from dpgraph.plot.base import ACROSS, AS_WRITTEN, GREY, INSIDE, PALE, SIDES, WARNING, figure_bytes, require_format
from dpgraph.plot.communities import plot_communities, plot_graph
from dpgraph.plot.curves import (
    plot_correlation_trace,
    plot_degree_distribution,
    plot_marginal,
    plot_privacy_utility,
    plot_spectrum,
)
from dpgraph.plot.panels import plot_benchmark
from dpgraph.plot.report import plot_report
from dpgraph.typing import BoolArray, FloatArray, GraphLike, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpgraph.privacy.report import PrivacyReport

__all__ = [
    "figure_bytes",
    "plot_adjacency",
    "plot_benchmark",
    "plot_communities",
    "plot_correlation_trace",
    "plot_cut",
    "plot_degree_distribution",
    "plot_graph",
    "plot_marginal",
    "plot_privacy_utility",
    "plot_report",
    "plot_spectrum",
    "require_format",
]

#: Up to this many vertices every entry of a matrix is drawn; above, densities on a grid of so many cells a side.
_EVERY_ENTRY, _MAX_CELLS = 1000, 500
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
    share = f"\n{value / total:.1%} of all edges" if total > 0 else ""
    rows = [("this cut", value, f"{value:,.0f} ± {half:,.0f}{share}", ACROSS)]
    rows.append(("random cut", total / 2, f"{total / 2:,.0f}", PALE))
    if (bound := result.upper_bound) is not None:
        rows.append(("bound, released\nmatrix only", float(bound), f"{bound:,.0f}", PALE))
    rows = [row for row in rows if np.isfinite(row[1])]
    base.bars(axes, rows, "private estimates: weight across, 95 % interval", least=2)
    if np.isfinite(value):
        axes.errorbar(value, 0, xerr=half, fmt="none", ecolor="black", capsize=3)
    weights = [total if total > 0 else 0.0, 1.0, *(weight for _, weight, *_ in rows)]
    axes.set_xlim(1.45 * min(0.0, *weights), 1.45 * max(weights))


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


def plot_adjacency(G: GraphLike, labels: ArrayLike, *, weight: str | None = None, title: str = "") -> Figure:
    """**Not private.** Exact adjacency matrix with its vertices ordered by a cut, for the data owner only.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The exact graph.
    labels : array-like of 0 and 1, shape (n,)
        Side of each vertex, in the order of the vertices of `G` (the `labels` of a result).
    weight, title : str, optional
        Edge attribute that holds the weight (default every edge counts 1); name of the graph.

    Returns
    -------
    matplotlib.figure.Figure
        Each side ordered by degree, entries as densities above 1000 vertices; beside it the exact weights inside the
        sides and across. The picture says that it is not private.

    Raises
    ------
    InvalidParameterError
        `labels` does not hold one 0 or 1 for each vertex.

    Examples
    --------
    >>> import networkx as nx
    >>> plot_adjacency(nx.cycle_graph(6), [0, 1, 0, 1, 0, 1]).savefig("/dev/null", format="png")
    """
    graph = as_graph(G, weight=weight)
    sides = np.asarray(labels)
    if sides.shape != (graph.n_vertices,) or not np.isin(sides, (0, 1)).all():
        raise InvalidParameterError(
            f"labels must hold one 0 or 1 for each of the {graph.n_vertices} vertices; got shape {sides.shape}"
        )
    sides = sides.astype(np.int64)
    figure = base.new_figure(8.4, 5.2)
    matrix, bars = figure.subplots(1, 2, width_ratios=(1.9, 1))
    entries = graph.adjacency.tocoo()
    across = sides[entries.row] != sides[entries.col]
    place = np.argsort(np.lexsort((-graph.degrees(), sides)))
    _draw_matrix(
        matrix, (place[entries.row], place[entries.col]), entries.data, across, np.bincount(sides, minlength=2)
    )
    # Every edge has two entries.
    counted = [("across", across, ACROSS)]
    counted += [(f"inside\nside {side}", ~across & (sides[entries.row] == side), INSIDE) for side in (0, 1)]
    totals = [(name, entries.data[chosen].sum() / 2, colour) for name, chosen, colour in counted]
    all_edges = sum(total for _, total, _ in totals) or 1.0
    rows = [(name, total, f"{total:,.0f}\n{total / all_edges:.1%}", colour) for name, total, colour in totals]
    base.bars(bars, rows)
    bars.set_title("exact edge weight", fontsize=10)
    exact = f"Exact adjacency of {title}" if title else "Exact adjacency"
    figure.suptitle(
        f"NOT PRIVATE: data owner only\n{exact}, ordered by the cut", color=WARNING, fontsize=10, **AS_WRITTEN
    )
    return figure


def _draw_matrix(
    axes: Axes, places: tuple[IntArray, IntArray], weights: FloatArray, across: BoolArray, sizes: IntArray
) -> None:
    from matplotlib.colors import to_rgb

    n, first = int(sizes.sum()), int(sizes[0])
    cells = n if n <= _EVERY_ENTRY else _MAX_CELLS
    bins: Any = {"bins": cells, "range": [[0, n], [0, n]]}
    row, col = places
    layers = [
        np.histogram2d(row[chosen], col[chosen], weights=np.abs(weights[chosen]), **bins)[0]
        for chosen in (across, ~across)
    ]
    # The square root keeps sparse corners visible; the 99th percentile keeps a few heavy cells from hiding the rest.
    filled = np.concatenate([layer[layer > 0] for layer in layers])
    top = np.quantile(filled, 0.99) if filled.size else 1.0
    picture = np.ones((cells, cells, 3))
    for layer, colour in zip(layers, (ACROSS, INSIDE), strict=True):
        picture -= np.sqrt(np.clip(layer / top, 0, 1))[..., None] * (1 - np.array(to_rgb(colour)))
    axes.imshow(np.clip(picture, 0, 1), extent=(0, n, n, 0), interpolation="nearest")
    for line in (axes.axhline, axes.axvline):
        line(first, color=GREY, linewidth=0.8)
    ends = [(0, first, "side 0"), (first, n, "side 1")]
    ticks = {(start + stop) / 2: f"{name}\n{stop - start:,}" for start, stop, name in ends if stop > start}
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set_yticks(list(ticks), list(ticks.values()), rotation=90, va="center")
    axes.tick_params(length=0)
