"""Pictures of spectra, degree distributions, budgets against utility, and tables of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.plot import base
from dpgraph.plot.base import ACROSS, AS_WRITTEN, GREY, PALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Up to this many cells, a heat map shows the number in each.
_NUMBERED_CELLS = 144


def plot_spectrum(result: Any, *, title: str = "") -> Figure:
    """Picture of a private spectrum with the 95 % band of its noise; published values only.

    Parameters
    ----------
    result, title : PrivateSpectrum, str
        What :func:`dpgraph.private_spectrum` returned; name of the data.

    Returns
    -------
    matplotlib.figure.Figure
        Values below the grey line, the half-width of the 95 % band, cannot be told from zero.

    Examples
    --------
    >>> import dpgraph
    >>> result = dpgraph.private_spectrum(dpgraph.datasets.load("planted-cut"), 6, epsilon=2.0, delta=1e-6)
    >>> plot_spectrum(result).savefig("/dev/null", format="png")
    """
    base.expect("the result of private_spectrum", result, "values", "regularization")
    figure = base.new_figure(6.4, 3.8)
    axes = figure.subplots()
    order = np.arange(1, len(result.values) + 1)
    half = result.privacy.half_width("spectrum")
    axes.fill_between(order, result.values - half, result.values + half, color=ACROSS, alpha=0.2, linewidth=0)
    axes.plot(order, result.values, "o-", color=ACROSS, markersize=4, linewidth=1)
    axes.axhline(half, color=GREY, linewidth=0.8, linestyle="--")
    beside: Any = {"xycoords": ("axes fraction", "data"), "xytext": (-4, 3), "textcoords": "offset points"}
    axes.annotate("noise, 95 %", (1, half), **beside, color=GREY, fontsize=9, ha="right")
    axes.set(xlabel="number of the value", ylabel="singular value")
    axes.locator_params(axis="x", integer=True)
    base.without_frame(axes, "top", "right")
    regularised = "" if result.regularization is None else f"\nnormalized adjacency, τ = {result.regularization:.3g}"
    base.entitle(figure, "Private spectrum", title, result.privacy, more=regularised)
    return figure


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
    base.expect("the result of private_degree_distribution", result, "ccdf")
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


def plot_marginal(result: Any, columns: Sequence[Any], *, names: Sequence[str] | None = None) -> Figure:
    """Heat map of a private table of two columns; published values only.

    Parameters
    ----------
    result : PrivateMarginals
        What ``private_marginals`` returned, with k of at least 2.
    columns : sequence of two labels
        Rows and columns of the picture.
    names : sequence of two str, optional
        What to call them.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InvalidParameterError
        Not two columns, or columns that the result does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.marginals import private_marginals
    >>> data = np.random.default_rng(0).integers(0, 2, size=(500, 4))
    >>> result = private_marginals(data, 2, epsilon=1.0, delta=1e-6)
    >>> plot_marginal(result, [0, 2]).savefig("/dev/null", format="png")
    """
    base.expect("the result of private_marginals", result, "table")
    if len(columns) != 2:
        raise InvalidParameterError(f"a heat map shows two columns; got {len(columns)}")
    table = result.table(list(columns))  # refuses unknown columns
    values = [result.categories[result.columns.index(column)] for column in columns]
    figure = base.new_figure(max(1.6 + 0.8 * len(values[1]), 5.6), 1.6 + 0.5 * max(len(values[0]), 4))
    axes = figure.subplots()
    top = max(float(table.max()), 1.0)
    image = axes.imshow(table, cmap="Blues", vmin=0, vmax=top, aspect="auto")
    if table.size <= _NUMBERED_CELLS:
        for (i, j), count in np.ndenumerate(table):
            colour = "white" if count > 0.6 * top else "black"
            axes.text(j, i, f"{count:,.0f}", ha="center", va="center", fontsize=9, color=colour)
    first, second = names or [str(column) for column in columns]
    axes.set_yticks(range(len(values[0])), [str(value) for value in values[0]], **AS_WRITTEN)
    axes.set_xticks(range(len(values[1])), [str(value) for value in values[1]], **AS_WRITTEN)
    axes.set_xlabel(second, **AS_WRITTEN)
    axes.set_ylabel(first, **AS_WRITTEN)
    axes.tick_params(length=0)
    axes.spines[:].set_color(PALE)
    figure.colorbar(image, ax=axes, shrink=0.8).outline.set_visible(False)
    base.entitle(figure, "Private counts", "", result.privacy)
    return figure
