"""Pictures: what they show, what they say about privacy, and that they can be saved."""

import sys
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import datasets, plot
from dpgraph.exceptions import DPGraphError, InvalidParameterError
from dpgraph.graph import vertex_sets
from dpgraph.plot.panels import Panel
from dpgraph.privacy.report import LedgerEntry, PrivacyReport
from dpgraph.problems.records.marginals import private_marginals
from dpgraph.results.labels import PrivateCutResult

pytest.importorskip("matplotlib")

PNG = b"\x89PNG\r\n\x1a\n"


def result_with(labels, *, total=120.0, upper_bound=None, entries=3, value=90.0):
    labels = np.array(labels, dtype=np.int8)
    nodes = tuple(range(len(labels)))
    ledger = tuple(LedgerEntry(f"{k} release", "Gaussian", 1.0, 5.0, 0.1, share=1 / entries) for k in range(entries))
    ledger += (LedgerEntry("cut weight", "Laplace", 1.0, 4.0 / np.sqrt(2)),)
    ledger += (LedgerEntry("gap", "good event", 0.0, 0.0, delta_share=1e-7),)
    privacy = PrivacyReport(1.0, 1e-6, 0.2367, "the weight of one vertex pair", ledger, seeded=False)
    return PrivateCutResult(
        partition=tuple(vertex_sets(nodes, labels, 2)),
        labels=labels,
        nodes=nodes,
        estimated_value=value,
        estimated_value_std=4.0,
        estimated_total_weight=total,
        upper_bound=upper_bound,
        mechanism="bounded-iterates",
        privacy=privacy,
    )


def texts(figure):
    found = [figure.get_suptitle()]
    for axes in figure.axes:
        found += [axes.get_title(loc="left"), axes.get_title()]
        found += [text.get_text() for text in axes.texts]
        found += [label.get_text() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    return "\n".join(found)


def test_the_published_picture_states_guarantee_sides_estimate_and_budget():
    figure = plot.plot_cut(result_with([0, 0, 1, 1, 1], upper_bound=101.0), title="o\udcfc")
    assert plot.figure_bytes(figure).startswith(PNG)
    shown = texts(figure)
    for expected in ("o\\udcfc", "ε = 1, δ = 1e-06", "2 + 3", "90 ± 8", "75.0% of all edges", "60", "101", "2 release"):
        assert expected in shown
    value = next(text for axes in figure.axes for text in axes.texts if "±" in text.get_text())
    assert value.xy[0] >= 90 + 8, "the end of the interval is drawn there"
    assert "NOT PRIVATE" not in shown
    assert "gap" not in shown  # a good event spends delta, not budget


@pytest.mark.parametrize(
    "arguments",
    [
        {"labels": [0] * 7},
        {"labels": [1]},
        {"labels": [0, 1], "total": float("nan")},
        {"labels": [0, 1], "value": float("nan"), "total": float("nan")},
        {"labels": [0, 1], "value": -3.0, "total": -2.0},
        {"labels": [0, 1], "entries": 40},
        {"labels": [0, 1], "upper_bound": float("inf")},
    ],
)
def test_unusual_results_still_give_a_picture(arguments):
    assert plot.figure_bytes(plot.plot_cut(result_with(**arguments))).startswith(PNG)


def test_pictures_are_written_in_the_format_of_the_file_name():
    figure = plot.plot_cut(result_with([0, 1]))
    assert plot.figure_bytes(figure, ".pdf").startswith(b"%PDF")
    assert b"<svg" in plot.figure_bytes(figure, ".SVG")
    for suffix in (".docx", ""):
        with pytest.raises(InvalidParameterError, match="must end in"):
            plot.figure_bytes(figure, suffix)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DPGraphError, match=r"pip install 'dpgraph\[plot\]'"):
        plot.plot_cut(result_with([0, 1]))


def test_a_spectrum_is_drawn_with_the_band_of_its_noise():
    G = datasets.load("planted-cut")
    result = dpgraph.private_spectrum(G, 5, epsilon=2.0, delta=1e-6, rng=0)
    figure = plot.plot_spectrum(result, title="office")
    shown = texts(figure)
    assert all(word in shown for word in ("office", "ε = 2", "τ = ", "SEEDED", "noise, 95 %"))
    axes = figure.axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), result.values)
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(result.values.max() + 1.959963985 * result.std)
    assert plot.figure_bytes(figure).startswith(PNG)


def test_the_spectrum_of_a_graph_whose_eigenvalues_are_certified_is_drawn():
    """Its ledger has a good event beside the released numbers."""
    result = dpgraph.private_spectrum(nx.gnm_random_graph(1500, 4500, seed=1), 2, epsilon=2.0, delta=1e-6, rng=0)
    assert [entry.name for entry in result.privacy.entries][1] == "eigenvalues, spectrum"
    assert plot.figure_bytes(plot.plot_spectrum(result)).startswith(PNG)


@pytest.mark.parametrize("value", [-90.0, 130.0])
def test_a_cut_of_less_than_nothing_or_more_than_all_edges_has_no_share(value):
    shown = texts(plot.plot_cut(result_with([0, 1], value=value)))
    assert f"{value:,.0f} ± 8" in shown
    assert "of all edges" not in shown


@pytest.mark.parametrize("name", ["a long name " * 15, "name" * 60])
def test_a_long_title_stays_within_the_picture(communities, name):
    figure = plot.plot_graph(communities, title=name)
    figure.draw_without_rendering()
    box = figure.texts[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
    assert "ε = 4" in texts(figure)


@pytest.fixture(scope="module")
def communities():
    return dpgraph.private_communities(nx.planted_partition_graph(3, 60, 0.5, 0.03, seed=1), epsilon=4.0, rng=0)


def test_communities_are_drawn_with_the_released_weights_and_sizes(communities):
    figure = plot.plot_communities(communities, title="office")
    shown = texts(figure)
    value, weights = communities.estimated_modularity, communities.block_weights
    for expected in (
        "office",
        "ε = 4, δ = 0",
        "SEEDED",
        f"modularity {value:.3f}",
        f"{weights[0, 1]:,.0f}",
        f"each ± {communities.block_stds[0, 1]:,.0f}",
        "% inside",
    ):
        assert expected in shown
    assert [bar.get_width() for bar in figure.axes[1].patches] == [len(one) for one in communities.communities]
    first, second = (plot.figure_bytes(plot.plot_communities(communities)) for _ in range(2))
    assert first == second
    assert first.startswith(PNG)


def test_names_of_communities_stand_on_no_line():
    graph = nx.planted_partition_graph(5, 60, 0.5, 0.03, seed=3)
    axes = plot.plot_graph(dpgraph.private_communities(graph, epsilon=6.0, rng=0)).axes[0]
    axes.figure.draw_without_rendering()
    assert axes.lines
    paths = [line.get_path().transformed(axes.transData) for line in axes.lines]
    assert not any(path.intersects_bbox(name.get_window_extent()) for name in axes.texts for path in paths)


def test_a_result_that_can_be_sampled_is_drawn_with_the_edges_of_one_sample(communities):
    names = ("labels", "nodes", "degrees", "block_weights", "privacy")
    sampled = nx.path_graph(180)
    model = SimpleNamespace(**{name: getattr(communities, name) for name in names}, sample=lambda rng: sampled)
    figure = plot.plot_graph(model, title="office")
    assert "A synthetic graph of office: 180 vertices, 179 edges" in texts(figure)
    assert len(figure.axes[0].collections[0].get_segments()) == 179
    with pytest.raises(InvalidParameterError, match="expected communities"):
        plot.plot_graph(result_with([0, 1]))


def test_results_of_another_kind_are_named():
    G = nx.path_graph(5)
    model, exact = dpgraph.private_synthetic_graph(G, epsilon=1.0), dpgraph.max_cut(G)
    degrees = dpgraph.private_degrees(G, epsilon=1.0)
    for draw, result in (
        (plot.plot_communities, model),
        (plot.plot_cut, exact),
        (plot.plot_spectrum, degrees),
        (plot.plot_degree_distribution, degrees),
        (plot.plot_report, model),
        (lambda found: plot.plot_marginal(found, [0, 1]), degrees),
    ):
        with pytest.raises(InvalidParameterError, match=f"expected .*; got a {type(result).__name__}, which has no"):
            draw(result)


def test_a_degree_distribution_is_drawn_with_the_band_of_its_noise():
    found = dpgraph.private_degree_distribution(nx.barabasi_albert_graph(500, 4, seed=1), epsilon=1.0, rng=0)
    figure = plot.plot_degree_distribution(found, title="web")
    assert all(word in texts(figure) for word in ("web", "500 vertices", "ε = 1", "SEEDED"))
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), found.ccdf[1:])
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    low, high = found.interval()[:, 1 : found.ccdf.size]
    assert np.isin(np.maximum(low, 0.5 / 500), band).all()
    assert np.isin(high, band).all()
    for graph in (nx.empty_graph(3), nx.path_graph(2)):
        small = dpgraph.private_degree_distribution(graph, epsilon=0.1)
        assert plot.figure_bytes(plot.plot_degree_distribution(small)).startswith(PNG)


#: Broken as a formula, as names of files are.
ODD = "x_$^$ $\\frac$"


@pytest.fixture(scope="module")
def pictures_of_odd_names():
    """Every picture, with such a name wherever it takes one."""
    G = nx.path_graph(4)
    noise = {"epsilon": 4.0, "rng": 0}
    table = private_marginals(
        np.array([[ODD, 0]] * 20, dtype=object), 2, categories={0: [ODD, "b"]}, epsilon=9.0, rng=0
    )
    communities = dpgraph.private_communities(G, communities=2, **noise)
    return {
        "plot_benchmark": plot.plot_benchmark([[Panel(ODD, "share", True, {ODD: [(1, 0.6, 0.1)]}, {})]]),
        "plot_communities": plot.plot_communities(communities, title=ODD),
        "plot_cut": plot.plot_cut(result_with([0, 1]), title=ODD),
        "plot_degree_distribution": plot.plot_degree_distribution(
            dpgraph.private_degree_distribution(G, **noise), title=ODD
        ),
        "plot_graph": plot.plot_graph(communities, title=ODD),
        "plot_marginal": plot.plot_marginal(table, [0, 1], names=[ODD, ODD]),
        "plot_report": plot.plot_report(dpgraph.report(G, title=ODD, **noise)),
        "plot_spectrum": plot.plot_spectrum(dpgraph.private_spectrum(G, 2, delta=1e-6, **noise), title=ODD),
    }


@pytest.mark.parametrize("name", [name for name in plot.__all__ if name.startswith("plot_")])
def test_names_are_drawn_as_they_are_written_and_never_parsed(pictures_of_odd_names, name):
    from matplotlib.text import Text

    figure = pictures_of_odd_names[name]
    assert plot.figure_bytes(figure).startswith(PNG)
    named = [text for text in figure.findobj(Text) if ODD in text.get_text()]
    assert named
    assert not any(text.get_parse_math() or text.get_usetex() for text in named)
