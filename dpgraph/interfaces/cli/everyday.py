"""``communities``, ``degree-distribution``, ``count``, ``statistic``, ``densest``, ``synthesize`` and ``report``."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpgraph.datasets.writers import edge_columns
from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require
from dpgraph.interfaces.cli.graph_input import GraphRelease
from dpgraph.interfaces.cli.options import argument, auto_or, option, written
from dpgraph.interfaces.cli.outputs import STDOUT, Output, put
from dpgraph.interfaces.cli.release import Source, StrategyRelease, Table, picture
from dpgraph.results.files import save_result

_COMMUNITIES = "At most how many communities: auto (as many as the modularity asks for) or a number."
_RESOLUTION = "Above 1 for smaller communities, below 1 for larger ones."


def _communities(number: int) -> str:
    return "1 community" if number == 1 else f"{number} communities"


@dataclass(frozen=True, kw_only=True)
class Communities(GraphRelease, StrategyRelease):
    """Find groups of vertices with many edges inside and few between them, with edge-level differential privacy.

    Published are the community of each vertex, the weights between communities, and an estimate of the modularity.

    Example: `dpgraph communities ego-Facebook --epsilon 1 --output communities.csv --plot communities.png`
    """

    command = "communities"
    function = "private_communities"
    strategies = "dpgraph.problems.communities:COMMUNITY_STRATEGIES"
    reported = ("estimated_modularity", "estimated_modularity_std", "block_weights", "mechanism")

    communities: str = auto_or(int, _COMMUNITIES, "--communities")
    resolution: float = option(1.0, _RESOLUTION)
    output: Path | None = written("Write the communities as CSV with columns node, community (0 is the largest).")
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the weights between communities.", picture=True)
    graph_plot: Path | None = written(
        "Write a picture (PNG, PDF, SVG) of the vertices, laid out by published values only.", picture=True
    )

    def _table(self, source: Source, result: Any) -> Table:
        return ["node", "community"], [source.labels, result.labels.tolist()]

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | {"sizes": np.bincount(result.labels)}

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        yield picture(self.plot, "plot_communities", result, title=source.name)
        yield picture(self.graph_plot, "plot_graph", result, title=source.name)

    def _lines(self, source: Source, result: Any) -> list[str]:
        sizes = [f"{len(community):,}" for community in result.communities[:12]]
        more = [f"and {len(result.communities) - 12} smaller ones"] * (len(result.communities) > 12)
        low, high = result.modularity_interval
        value = f"{result.estimated_modularity:.4g}, with probability 95 % between {low:.4g} and {high:.4g}"
        if np.isnan(result.estimated_modularity):
            value = "none, for no weight stands out of the noise"
        groups = _communities(len(result.communities))
        return [f"{source.name}: {groups} of {', '.join([*sizes, *more])} vertices", f"modularity: {value}"]


@dataclass(frozen=True, kw_only=True)
class DegreeDistribution(GraphRelease):
    """Publish how many vertices have which degree, with edge-level differential privacy. Whose they are is not said.

    Example: `dpgraph degree-distribution wiki-Vote --epsilon 1 --output degrees.csv --plot degrees.png`
    """

    command = "degree-distribution"
    function = "private_degree_distribution"
    reported = ("mean_degree", "std", "counts")

    output: Path | None = written(
        "Write the distribution as CSV with columns degree, count, ccdf (share of vertices of at least this degree)."
    )
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the distribution and its noise.", picture=True)

    def _table(self, source: Source, result: Any) -> Table:
        return list(result.columns()), list(result.columns().values())

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        yield picture(self.plot, "plot_degree_distribution", result, title=source.name)

    def _lines(self, source: Source, result: Any) -> list[str]:
        size, largest = f"{len(source.labels):,} vertices", len(result.counts) - 1
        quartiles = np.quantile(result.degree_sequence, (0.25, 0.5, 0.75), method="inverted_cdf")
        quarters = ", ".join(str(degree) for degree in quartiles)
        return [
            f"{source.name}: {size}, mean degree {result.mean_degree:.4g}, quartiles {quarters}, largest {largest}",
            f"noise on each number of vertices of at least a degree: ± {result.std:.3g} (standard deviation)",
        ]


@dataclass(frozen=True, kw_only=True)
class Count(GraphRelease, StrategyRelease):
    """Publish how many triangles, or other small subgraphs, a graph has, with edge-level differential privacy.

    The budget is divided evenly among the patterns. Each comes with an interval that holds the exact count with
    probability 95 %, whatever the graph.

    Example: `dpgraph count ca-GrQc triangle wedge --epsilon 1 --output counts.csv`
    """

    command = "count"
    function = "private_subgraph_counts"
    strategies = "dpgraph.problems.counts.subgraphs:COUNTS"
    reported = ("counts", "std", "noise", "mechanism")

    patterns: list[str] | None = argument(
        "PATTERN", "edge, wedge, triangle (the default), 3-star, 4-cycle or 4-clique.", default=None
    )
    output: Path | None = written("Write the counts as CSV with columns pattern, count, std, low, high.")

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"patterns": tuple(self.patterns or ("triangle",))}

    def _table(self, source: Source, result: Any) -> Table:
        columns = result.columns()
        low, high = zip(*(result.interval(pattern) for pattern in columns["pattern"]), strict=True)
        return [*columns, "low", "high"], [*columns.values(), low, high]

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | {"intervals": {name: result.interval(name) for name in result.counts}}

    def _lines(self, source: Source, result: Any) -> list[str]:
        lines = [f"{source.name}: mechanism {result.mechanism}"]
        for pattern, count in result.counts.items():
            low, high = result.interval(pattern)
            lines.append(f"{pattern}: {max(count, 0):,}, with probability 95 % between {low:,.0f} and {high:,.0f}")
        return lines


@dataclass(frozen=True, kw_only=True)
class Statistic(GraphRelease):
    """Publish a number that one edge moves by at most one, with edge-level differential privacy.

    Example: `dpgraph statistic ca-GrQc components --epsilon 1`
    """

    command = "statistic"
    function = "private_statistic"
    reported = ("value",)

    statistic: str = argument("STATISTIC", "components, matching, degeneracy or edge-connectivity.")
    output: Path | None = written("Write the number as CSV with columns statistic, value, low, high.")

    def _arguments(self) -> dict[str, Any]:
        given = super()._arguments()
        if self.weight is not None:
            raise InvalidParameterError("--weight: these numbers count every edge once; leave it out")
        return {name: value for name, value in given.items() if name not in ("weight", "max_weight")}

    def _table(self, source: Source, result: Any) -> Table:
        return ["statistic", "value", "low", "high"], [[x] for x in (self.statistic, result.value, *result.interval())]

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | {"interval": result.interval()}

    def _lines(self, source: Source, result: Any) -> list[str]:
        low, high = result.interval()
        about = f"with probability 95 % between {low:,.0f} and {high:,.0f}"
        return [f"{source.name}: {self.statistic} {result.value:,.0f}, {about}"]


@dataclass(frozen=True, kw_only=True)
class Densest(GraphRelease):
    """Find the part of a graph with the most edges for its size, with edge-level differential privacy.

    Published are its vertices, and an estimate of its density: the edges inside over the vertices inside.

    Example: `dpgraph densest ca-HepPh --epsilon 1 --output densest.csv`
    """

    command = "densest"
    function = "private_densest_subgraph"
    reported = ("estimated_density", "estimated_density_std")

    output: Path | None = written("Write the vertices as CSV with columns node, inside (1 or 0).")

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | {"size": len(result.vertices), "interval": result.interval()}

    def _lines(self, source: Source, result: Any) -> list[str]:
        low, high = result.interval()
        density = min(max(result.estimated_density, low), high)
        return [
            f"{source.name}: {len(result.vertices):,} of {len(source.labels):,} vertices; edges among them for each: "
            f"{density:.4g}, with probability 95 % between {low:.4g} and {high:.4g}"
        ]


@dataclass(frozen=True, kw_only=True)
class Synthesize(GraphRelease):
    """Draw a synthetic graph with about the degrees, communities and triangles of a private one.

    Drawn graphs have the vertices of the graph. The model may be kept with --save; whatever is drawn from it is covered
    by its guarantee.

    Example: `dpgraph synthesize ego-Facebook --epsilon 2 --output twin.csv --plot twin.png`
    """

    command = "synthesize"
    function = "private_synthetic_graph"
    reported = ("degrees", "block_weights", "triangles", "clustering", "assortativity", "modularity", "tightness")

    communities: str = auto_or(int, _COMMUNITIES, "--communities")
    resolution: float = option(1.0, _RESOLUTION)
    draw: int = option(0, "Seed by which the graph is drawn from the model. Public: it protects nothing.")
    output: Path | None = written(
        "Write a drawn graph as CSV with columns source, target. A vertex without edges is a loop."
    )
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the drawn graph.", picture=True)
    save: Path | None = written("Write the model, with its ledger, to an .npz file for Python.", ".npz")

    def _table(self, source: Source, result: Any) -> Table:
        return ["source", "target"], edge_columns(result.adjacency(self.draw), source.labels)

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        yield picture(self.plot, "plot_graph", result, title=source.name, rng=self.draw)
        yield self.save, lambda path: save_result(replace(result, nodes=tuple(source.labels)), path)

    def _lines(self, source: Source, result: Any) -> list[str]:
        edges, groups = int(result.degrees.sum()) // 2, _communities(len(result.block_weights))
        return [
            f"{source.name}: drawn graphs have {len(source.labels):,} vertices and about {edges:,} edges in {groups}, "
            f"and {result.triangles:,} triangles"
        ]


@dataclass(frozen=True, kw_only=True)
class Page(GraphRelease):
    """Write a page about a private graph to show to others: communities, degrees, counts, the densest part, a twin.

    All of it is one release with edge-level differential privacy, and may be published.

    Example: `dpgraph report us-flights --epsilon 4 --output report.html`
    """

    command = "report"
    function = "report"

    cut: bool = option(False, "Also find two sides with many edges between them, for a fifth of epsilon.")
    title: str | None = option(None, "Name of the graph on the page. Default: that of the file or dataset.")
    output: Path | None = written(
        "Write the page, one file for browsers; or its numbers, or a picture of it.",
        *(".html", ".json", ".csv", ".png", ".pdf"),
    )
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the page.", picture=True)

    def run(self) -> None:
        """Refuse a picture that could not be drawn, too."""
        if self.output is not None and self.output.suffix.lower() in (".png", ".pdf"):
            require("matplotlib")
        super().run()

    def _arguments(self) -> dict[str, Any]:
        return super()._arguments() | {"title": self.graph if self.title is None else self.title}

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return {"facts": result.columns()}

    def _outputs(self, source: Source, result: Any, given: dict[str, Any]) -> Iterator[Output]:
        named = result.named(tuple(source.labels))
        if self.output == STDOUT:
            yield self.output, lambda path: put(path, named.to_csv())
        elif self.output is not None:
            yield self.output, getattr(named, f"to_{self.output.suffix[1:].lower()}")
        yield self.report, lambda path: put(path, self._report(source, result, given))
        yield picture(self.plot, "plot_report", named)

    def _lines(self, source: Source, result: Any) -> list[str]:
        found = len(result.communities.communities)
        groups = _communities(found) if found > 1 else "no division stands out"
        lines = [f"{source.name}: {len(source.labels):,} vertices, {groups}"]
        lines += [f"  {fact.name:<58} {fact.shown:>18}  {fact.interval}" for fact in result.facts]
        return [*lines, "ranges hold the exact number with probability 95 %"]
