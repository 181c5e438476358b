"""A report: everything that was released for one page, and the files that it becomes."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

from dpgraph.atomic_write import write_atomically
from dpgraph.graph import vertex_sets
from dpgraph.interfaces.report.facts import LEVEL, Fact, facts_of
from dpgraph.interfaces.report.page import page, twin_of
from dpgraph.plot import figure_bytes, plot_report
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult, label_texts
from dpgraph.results.communities import PrivateCommunities
from dpgraph.results.counts import PrivateCounts
from dpgraph.results.degrees import PrivateDegreeDistribution
from dpgraph.results.densest import PrivateSubgraph
from dpgraph.results.graph_model import PrivateGraphModel
from dpgraph.results.labels import PrivateCutResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class Report(TableResult):
    """What may be published about a private graph, on one page.

    Parameters
    ----------
    title : str
        Name of the graph.
    communities : PrivateCommunities
        Groups of vertices.
    degrees : PrivateDegreeDistribution
        How many vertices have which degree.
    counts : PrivateCounts
        Edges and triangles.
    densest : PrivateSubgraph
        The densest part.
    cut : PrivateCutResult or None
        Two sides with many edges between them, if one was asked for.
    twin : PrivateGraphModel
        Draws synthetic graphs by the communities, the degrees and the counts: it costs nothing more.
    privacy : PrivacyReport
        The guarantee of all of it, with one line for each release and its share of the whole budget.
    """

    title: str
    communities: PrivateCommunities
    degrees: PrivateDegreeDistribution
    counts: PrivateCounts
    densest: PrivateSubgraph
    cut: PrivateCutResult | None
    twin: PrivateGraphModel
    privacy: PrivacyReport

    def __repr__(self) -> str:
        found = len(self.communities.communities)
        return f"Report({self.title!r}, {len(self.communities.nodes)} vertices, {found} communities, {self.privacy!r})"

    def named(self, nodes: tuple[Hashable, ...]) -> Report:
        """The same for other labels of the vertices, in their order."""

        def relabelled(result: Any, field: str, sets: Any) -> Any:
            return result and replace(result, nodes=nodes, **{field: sets(vertex_sets(nodes, result.labels))})

        return replace(
            self,
            communities=relabelled(self.communities, "communities", list),
            densest=relabelled(self.densest, "vertices", lambda sets: sets[-1]),
            cut=relabelled(self.cut, "partition", lambda sets: (sets[0], sets[1] if len(sets) > 1 else set())),
            twin=replace(self.twin, nodes=nodes),
        )

    @property
    def facts(self) -> list[Fact]:
        """All numbers, with 95 % intervals within what is possible."""
        return facts_of(self)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``name``, ``value``, ``low``, ``high`` and ``says`` ("too noisy to say", or the interval)."""
        rows = [(fact.name, fact.value, fact.low, fact.high, fact.interval or fact.shown) for fact in self.facts]
        names = ("name", "value", "low", "high", "says")
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python numbers and texts, ready for JSON: numbers, communities, degrees and the guarantee."""
        labels = label_texts(self.communities.nodes)
        about: dict[str, Any] = {"title": self.title, "vertices": len(labels), "level": LEVEL}
        about["facts"] = [
            dict(zip(self.columns(), row, strict=True)) for row in zip(*self.columns().values(), strict=True)
        ]
        about["communities"] = dict(zip(labels, self.communities.labels.tolist(), strict=True))
        about["degrees"] = {name: list(values) for name, values in self.degrees.columns().items()}
        about["densest"] = [label for label, inside in zip(labels, self.densest.labels, strict=True) if inside]
        if self.cut is not None:
            about["sides"] = dict(zip(labels, self.cut.labels.tolist(), strict=True))
        return about | {"privacy": self.privacy.to_dict()}

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one page that needs no other file, but for a large synthetic twin: that is a CSV file beside it."""
        twin = twin_of(self, path)
        if twin.file:
            write_atomically(os.path.join(os.path.dirname(os.fspath(path)), twin.file), twin.table)
        write_atomically(path, page(self, twin, inside=False))

    def to_png(self, path: str | os.PathLike[str]) -> None:
        """Write a picture of the map, the degrees and the numbers, with matplotlib."""
        self._draw(path, ".png")

    def to_pdf(self, path: str | os.PathLike[str]) -> None:
        """Write the same picture as PDF."""
        self._draw(path, ".pdf")

    def _draw(self, path: str | os.PathLike[str], suffix: str) -> None:
        write_atomically(path, figure_bytes(self.figure(), suffix))

    def figure(self) -> Figure:
        """The picture as a ``matplotlib.figure.Figure``."""
        return plot_report(self)

    def _repr_html_(self) -> str:
        style = "width:100%;height:46rem;border:1px solid #8886;border-radius:8px"
        return f'<iframe style="{style}" srcdoc="{escape(page(self, twin_of(self, "report.html")))}"></iframe>'
