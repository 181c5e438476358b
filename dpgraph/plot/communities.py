"""Pictures of communities: the weights between them, a graph laid out by what is published about it, a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.plot import base
from dpgraph.plot.base import ACROSS, AS_WRITTEN, COMMUNITIES, GREY, PALE, SIDES
from dpgraph.plot.curves import draw_degrees
from dpgraph.typing import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: At most so many communities are listed, and so many vertices and edges drawn, one by one.
_LISTED, _VERTICES, _EDGES = 16, 20_000, 30_000
#: Cells of at least this share of the vertices on either side say what they weigh.
_LEGIBLE = 0.1
#: Distance of two communities from centre to centre, in sums of their radii: with the strongest tie, and with none.
_NEAR, _FAR = 1.25, 2.3
_STEPS = 200
#: Width in points of a line of the largest weight that is between two communities or inside one.
_THICKEST = 16.0
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def plot_communities(result: Any, *, title: str = "") -> Figure:
    """Picture of private communities, their sizes and the weights between them; published values only.

    Parameters
    ----------
    result, title : PrivateCommunities, str
        What :func:`dpgraph.private_communities` returned; name of the graph.

    Returns
    -------
    matplotlib.figure.Figure
        The matrix of communities, each as wide as it has vertices, with the private weight for each pair of vertices
        as colour; beside it the number of vertices of each, and the share of their edge ends that stay inside.

    Examples
    --------
    >>> import dpgraph
    >>> graph = dpgraph.datasets.load("planted-cut")
    >>> result = dpgraph.private_communities(graph, epsilon=2.0, communities=2)
    >>> plot_communities(result, title="planted-cut").savefig("/dev/null", format="png")
    """
    base.expect("the result of private_communities", result, "block_stds")
    figure = base.new_figure(9.6, 5.2)
    matrix, bars = figure.subplots(1, 2, width_ratios=(1.5, 1))
    weights, sizes = np.asarray(result.block_weights), np.bincount(result.labels)
    _draw_blocks(figure, matrix, weights, sizes)
    if result.block_stds is not None:  # small or sparse graphs: weights that cannot be, as noise is larger
        matrix.set_title(f"weight between communities, each ± {result.block_stds.max():,.0f}", fontsize=10, loc="left")
    _draw_sizes(bars, weights, sizes)
    value, std = result.estimated_modularity, result.estimated_modularity_std
    found = f"modularity {value:.3f} ± {std:.2g} (private estimate)" if np.isfinite(value) else "no edges were found"
    base.entitle(figure, "Private communities", title, result.privacy, found=found)
    return figure


def _draw_blocks(figure: Figure, axes: Axes, weights: FloatArray, sizes: IntArray) -> None:
    from matplotlib.colors import PowerNorm

    pairs = np.outer(sizes, sizes).astype(np.float64)
    np.fill_diagonal(pairs, np.maximum(sizes * (sizes - 1) / 2, 1))
    density = np.maximum(weights / pairs, 0.0)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    # The square root keeps what is sparse visible.
    norm = PowerNorm(0.5, vmin=0.0, vmax=float(density.max()) or 1.0)
    image = axes.pcolormesh(ends, ends, density, cmap="Blues", norm=norm, edgecolors=PALE)
    image.set_linewidth(0.4)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    middle, wide = (ends[:-1] + ends[1:]) / 2, sizes >= _LEGIBLE * sizes.sum()
    dark = 0.35 * density.max()
    for a, b in np.argwhere(np.outer(wide, wide)):
        colour = "white" if density[a, b] > dark else "black"
        text = f"{max(weights[a, b], 0.0):,.0f}"
        axes.text(middle[b], middle[a], text, ha="center", va="center", fontsize=8, color=colour)
    named = np.flatnonzero(sizes >= _LEGIBLE / 3 * sizes.sum())
    axes.set_xticks(middle[named], [str(k) for k in named])
    axes.set_yticks(middle[named], [str(k) for k in named])
    axes.tick_params(length=0)
    axes.spines[:].set_color(PALE)
    axes.set_title("weight between communities", fontsize=10, loc="left")
    bar = figure.colorbar(image, ax=axes, shrink=0.8, label="for each pair of vertices")
    bar.outline.set_visible(False)


def _draw_sizes(axes: Axes, weights: FloatArray, sizes: IntArray) -> None:
    inside = np.maximum(np.diag(weights), 0.0)
    volumes = np.maximum(weights, 0.0).sum(axis=1) + inside
    shown = len(sizes) if len(sizes) <= _LISTED else _LISTED - 1
    kept = [f", {2 * inside[k] / volumes[k]:.0%} inside" if volumes[k] > 0 else "" for k in range(shown)]
    rows = [(str(k), sizes[k], f"{sizes[k]:,}{kept[k]}", _colour(k)) for k in range(shown)]
    if len(rest := sizes[shown:]):
        rows.append((f"{len(rest)} more", rest.sum(), f"{rest.sum():,} in all", PALE))
    base.bars(axes, rows, "vertices, share of edge ends that stay")


def _colour(k: int) -> str:
    return COMMUNITIES[k] if k < len(COMMUNITIES) else GREY


def plot_graph(result: Any, *, title: str = "", rng: int | np.random.Generator | None = 0) -> Figure:
    """Draw of a private graph what may be published: its communities as clusters, or a sampled synthetic graph.

    Parameters
    ----------
    result : PrivateCommunities or a model with ``sample``
        Communities with `labels`, `nodes`, `degrees` and `block_weights`. If it has a method ``sample``, the edges of
        one sample are drawn, otherwise the private weights between communities.
    title, rng : str, int or numpy.random.Generator
        Name of the graph; what is sampled, which is public and protects nothing.

    Returns
    -------
    matplotlib.figure.Figure
        A dot for each vertex (of at most 20,000), the larger its private degree the larger, in the disc of its
        community; communities with strong ties are close. The layout is made of published values only.

    Raises
    ------
    InvalidParameterError
        The result has no communities.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> result = dpgraph.private_communities(nx.planted_partition_graph(3, 60, 0.4, 0.02, seed=1), epsilon=3.0)
    >>> plot_graph(result).savefig("/dev/null", format="png")
    """
    base.expect("communities", result, "labels", "nodes", "degrees", "block_weights")
    figure = base.new_figure(7.6, 7.2)
    axes, sampled = figure.subplots(), hasattr(result, "sample")
    what = draw_communities(axes, result, rng)
    base.entitle(figure, "A synthetic graph" if sampled else "Private communities", title, result.privacy, found=what)
    return figure


def draw_communities(axes: Axes, result: Any, rng: int | np.random.Generator | None = 0) -> str:
    """A dot for each vertex in the disc of its community, and ties or sampled edges; says what is drawn."""
    labels, weights = np.asarray(result.labels), np.maximum(np.asarray(result.block_weights), 0.0)
    sizes, degrees = np.bincount(labels), np.maximum(np.asarray(result.degrees, dtype=np.float64), 0.0)
    centres = centres_of(weights, np.sqrt(sizes))
    places = centres[labels] + in_discs(labels, degrees)
    sampled = hasattr(result, "sample")
    _draw_discs(axes, centres, sizes)
    if sampled:
        what = _draw_sample(axes, result, places, labels, rng)
    else:
        what = _draw_ties(axes, weights, centres, labels, result.privacy)
    _draw_vertices(axes, places, labels, degrees, share=0.4 if sampled else 1.0)
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.set_axis_off()
    return what


def centres_of(weights: FloatArray, radii: FloatArray) -> FloatArray:
    """Where the discs of the communities lie: near each other by their ties, and never one on another.

    Stress majorisation (de Leeuw 1977) from a circle, then as large as discs that do not overlap need. The tie of two
    communities is their weight over that of their degrees at random, as a share of the largest.
    """
    volumes = weights.sum(axis=1) + np.diag(weights)
    ties = weights / np.maximum(np.outer(volumes, volumes), np.finfo(np.float64).tiny)
    np.fill_diagonal(ties, 0.0)
    apart = np.add.outer(radii, radii)
    wanted = apart * (_FAR - (_FAR - _NEAR) * np.sqrt(ties / (ties.max() or 1.0)))
    angles = 2 * np.pi * np.arange(len(radii)) / len(radii)
    places = radii.sum() / 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(_STEPS):
        distances = np.linalg.norm(places[:, None] - places, axis=2)
        np.fill_diagonal(distances, np.inf)
        pull = -wanted / np.maximum(distances, 1e-9)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        places = pull @ places / len(radii)
    return np.asarray(places * max(1.0, (_NEAR * apart / distances).max()))


def outer_sides(centres: FloatArray) -> FloatArray:
    """On which side of its disc the name of each community stands, up 1, down -1: lines lead inwards."""
    return np.where(centres[:, 1] > centres[:, 1].mean() - 1e-6, 1.0, -1.0)


def in_discs(labels: IntArray, degrees: FloatArray) -> FloatArray:
    """Place of each vertex in the disc of its community: a sunflower, those of large degree in the middle."""
    places = np.zeros((labels.size, 2))
    order = np.lexsort((-degrees, labels))
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    rank = np.arange(labels.size) - starts[labels[order]]
    radius, angle = np.sqrt(rank + 0.5), rank * _GOLDEN_ANGLE
    places[order] = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return places


def _draw_discs(axes: Axes, centres: FloatArray, sizes: IntArray) -> None:
    """The discs of the communities, and the names of the larger ones."""
    from matplotlib.patches import Circle

    halo: Any = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    sides = outer_sides(centres)
    for k, (x, y) in enumerate(centres):
        radius = np.sqrt(sizes[k])
        for colour, alpha in (("white", 1.0), (_colour(k), 0.12)):  # lines end at the disc
            axes.add_patch(Circle((x, y), 1.04 * radius, facecolor=colour, alpha=alpha, linewidth=0, zorder=2))
        if sizes[k] >= sizes.sum() / 50:
            text, va = f"{k}: {sizes[k]:,}", "bottom" if sides[k] > 0 else "top"
            y += 1.1 * sides[k] * radius
            axes.text(x, y, text, ha="center", va=va, fontsize=9, color=SIDES[0], bbox=halo, zorder=4)


def _draw_vertices(axes: Axes, places: FloatArray, labels: IntArray, degrees: FloatArray, share: float) -> None:
    step = max(1, -(-labels.size // _VERTICES))
    drawn = np.arange(labels.size)[::step]
    # The area of a dot in points: this share of its place in the sunflower, in a picture of about 480 points.
    area = share * min(90.0, 2.2 * step * (480 / max(float(np.ptp(places, axis=0).max()), 1.0)) ** 2)
    size = area * (0.2 + 0.8 * np.sqrt(degrees / (np.quantile(degrees, 0.99) or 1.0)).clip(0, 1.2))
    colours = np.array([_colour(k) for k in range(labels.max() + 1)])[labels]
    x, y = places[drawn].T
    axes.scatter(
        x, y, s=size[drawn], c=colours[drawn], edgecolors="white", linewidths=0.05 * np.sqrt(area),
        zorder=3, rasterized=drawn.size > 2000,
    )  # fmt: skip


def _draw_ties(axes: Axes, weights: FloatArray, centres: FloatArray, labels: IntArray, privacy: Any) -> str:
    """Lines between communities, their width the root of the weight, where this stands out of its noise."""
    shown = clear_ties(weights, privacy)
    for a, b in np.argwhere(shown):
        width = _THICKEST * np.sqrt(shown[a, b] / weights.max())
        axes.plot(*centres[[a, b]].T, color=PALE, linewidth=width, zorder=1)
    size = f"{len(weights)} communities of {int(labels.size):,} vertices"
    return f"{size}, lines up to weight {shown.max():,.0f}" if shown.any() else size


def clear_ties(weights: FloatArray, privacy: Any) -> FloatArray:
    """Weights above the diagonal that stand out of their noise: one that is all noise does so once in 20 pictures."""
    line = [entry.name for entry in privacy.entries if entry.name.startswith("weights")][-1]
    pairs = max(len(weights) * (len(weights) - 1) / 2, 1)
    between = np.triu(weights, 1)
    return np.where(between > privacy.half_width(line, 1 - 2 * 0.05 / pairs), between, 0.0)


def _draw_sample(
    axes: Axes, result: Any, places: FloatArray, labels: IntArray, rng: int | np.random.Generator | None
) -> str:
    """The edges of one sample: those inside a community in its colour, the others grey."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    graph = result.sample(rng)
    number = {node: at for at, node in enumerate(result.nodes)}
    edges = np.array([(number[u], number[v]) for u, v in graph.edges], dtype=np.int64).reshape(-1, 2)
    count = len(edges)
    edges = edges[:: max(1, -(-count // _EDGES))]
    inside = labels[edges[:, 0]] == labels[edges[:, 1]]
    alpha = float(np.clip(900 / max(len(edges), 1), 0.025, 0.6))
    colours = [to_rgba(_colour(labels[u]) if same else GREY, alpha) for (u, _), same in zip(edges, inside, strict=True)]
    axes.add_collection(
        LineCollection(list(places[edges]), colors=colours, linewidths=0.5, zorder=2.5, rasterized=len(edges) > 2000)
    )
    return f"{len(result.nodes):,} vertices, {count:,} edges"


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
    base.expect("a report", result, "communities", "degrees", "cut")
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
