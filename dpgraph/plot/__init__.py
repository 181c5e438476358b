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
from dpgraph.plot.base import ACROSS, GREY, INSIDE, PALE, SIDES, WARNING, figure_bytes, require_format
from dpgraph.plot.communities import plot_communities, plot_graph
from dpgraph.plot.curves import (
    plot_correlation_trace,
    plot_degree_distribution,
    plot_marginal,
    plot_privacy_utility,
    plot_spectrum,
)
from dpgraph.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpgraph.privacy.report import PrivacyReport

__all__ = [
    "figure_bytes",
    "plot_adjacency",
    "plot_communities",
    "plot_correlation_trace",
    "plot_cut",
    "plot_degree_distribution",
    "plot_graph",
    "plot_marginal",
    "plot_privacy_utility",
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
    result : PrivateCutResult
        What :func:`dpgraph.private_max_cut` returned.
    title : str
        Name of the graph.

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
    _draw_budget(figure.add_subplot(grid[:, 1]), result.privacy)
    guarantee = f"{base.guarantee(result.privacy)}, mechanism: {result.mechanism}"
    figure.suptitle(f"{base.heading('Private cut', title)}\n{guarantee}", fontsize=11)
    return figure


def _draw_sides(axes: Axes, result: Any) -> None:
    sizes = [len(side) for side in result.partition]
    left = 0
    for number, (size, colour) in enumerate(zip(sizes, SIDES, strict=True)):
        axes.barh(0, size, left=left, color=colour, height=1)
        if size > sum(sizes) / 10:
            axes.text(left + size / 2, 0, f"side {number}\n{size:,}", ha="center", va="center", color="white")
        left += size
    axes.set_xlim(0, max(left, 1))
    axes.set_ylim(-0.5, 0.5)
    axes.set_title(f"vertices on each side: {sizes[0]:,} + {sizes[1]:,}", fontsize=10, loc="left")
    axes.set_axis_off()


def _draw_value(axes: Axes, result: Any) -> None:
    value, half = float(result.estimated_value), result.privacy.half_width("cut weight")
    total = float(result.estimated_total_weight)
    rows = [("this cut", value, ACROSS), ("random cut", total / 2, PALE)]
    if result.upper_bound is not None:
        rows.append(("bound, released\nmatrix only", float(result.upper_bound), PALE))
    rows = [row for row in rows if np.isfinite(row[1])]
    share = f"\n{value / total:.1%} of all edges" if total > 0 else ""
    for at, (name, weight, colour) in enumerate(rows):
        axes.barh(at, weight, color=colour, height=0.55)
        text = f"{weight:,.0f} ± {half:,.0f}{share}" if name == "this cut" else f"{weight:,.0f}"
        axes.annotate(text, (weight, at), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9)
    if np.isfinite(value):
        axes.errorbar(value, 0, xerr=half, fmt="none", ecolor="black", capsize=3)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(max(len(rows), 2) - 0.5, -0.5)
    weights = [total if total > 0 else 0.0, 1.0, *(weight for _, weight, _ in rows)]
    axes.set_xlim(1.45 * min(0.0, *weights), 1.45 * max(weights))
    axes.set_xticks([])
    axes.set_title("private estimates: weight across, 95 % interval", fontsize=10, loc="left")
    base.without_frame(axes, "top", "right", "bottom", ticks="y")


def _draw_budget(axes: Axes, privacy: PrivacyReport) -> None:
    shares = _shares(privacy)
    axes.set_ylim(-0.6, max(len(shares), 4) - 0.4)
    axes.barh(range(len(shares)), [100 * share for share, _ in shares], color=SIDES[0], height=0.6)
    for row, (share, _) in enumerate(shares):
        axes.text(100 * share + 1, row, f"{100 * share:.3g} %", va="center", fontsize=9)
    axes.set_yticks(range(len(shares)), [name for _, name in shares], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 125)
    axes.set_xticks([])
    base.without_frame(axes, "top", "right", "bottom", ticks="y")
    axes.set_title("privacy budget spent on", fontsize=10, loc="left")


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


def plot_adjacency(G: Any, labels: ArrayLike, *, weight: str | None = None, title: str = "") -> Figure:
    """**Not private.** Exact adjacency matrix with its vertices ordered by a cut, for the data owner only.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The exact graph.
    labels : array-like of 0 and 1, shape (n,)
        Side of each vertex, in the order of the vertices of `G` (the `labels` of a result).
    weight : str, optional
        Edge attribute that holds the weight; default every edge counts 1.
    title : str
        Name of the graph.

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
    _draw_weights(bars, entries.data, sides[entries.row], across)
    heading = base.heading("Exact adjacency", title)
    figure.suptitle(f"NOT PRIVATE: data owner only\n{heading}, ordered by the cut", color=WARNING, fontsize=11)
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


def _draw_weights(axes: Axes, weights: FloatArray, side: IntArray, across: BoolArray) -> None:
    # Every edge has two entries.
    totals = [weights[chosen].sum() / 2 for chosen in (across, ~across & (side == 0), ~across & (side == 1))]
    axes.bar(range(3), totals, color=(ACROSS, INSIDE, INSIDE), width=0.65)
    for at, total in enumerate(totals):
        text = f"{total:,.0f}\n{total / (sum(totals) or 1.0):.1%}"
        axes.annotate(text, (at, total), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=9)
    axes.set_xticks(range(3), ["across", "inside\nside 0", "inside\nside 1"])
    axes.set_yticks([])
    axes.margins(y=0.15)
    base.without_frame(axes, "top", "right", "left", ticks="both")
    axes.set_title("exact edge weight", fontsize=10)
