"""``dpgraph max-cut``, ``max-bisection``, ``csp``, ``degrees``, ``spectrum`` and ``embed``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgraph.interfaces.cli.graph_input import GraphRelease, Planning, planned
from dpgraph.interfaces.cli.options import argument, auto_or, option, written
from dpgraph.interfaces.cli.outputs import Output, note
from dpgraph.interfaces.cli.release import Source, StrategyRelease, Table, picture

if TYPE_CHECKING:
    from dpgraph.privacy.report import PrivacyReport
    from dpgraph.problems.strategy import Registry

_CORRELATION = (
    "With --dry-run: how strong a planted cut you expect, from -1 (bipartite) to 0 (none). Edges across it: "
    "(1 - correlation) / 2."
)
#: Share of the constraints of a stand-in for --dry-run that its planted assignment satisfies.
_SATISFIABLE = 0.8
_REGULARIZATION = (
    "auto (a multiple of the average degree, released privately) or a public number, added to every degree. "
    "0 is the plain normalized adjacency and halts unless every degree is large."
)


@dataclass(frozen=True, kw_only=True)
class MaxCut(GraphRelease, StrategyRelease):
    """Split the vertices into two sides with many edges across, with edge-level differential privacy.

    What is published (partition, estimated value, report, picture) is (epsilon, delta)-differentially private: it
    hardly depends on whether any single edge is there. The vertices themselves are public.

    Example: `dpgraph max-cut wiki-Vote --epsilon 1 --delta 1e-6 --output cut.csv --report report.json`
    """

    command = "max-cut"
    function = "private_max_cut"
    strategies = "dpgraph.problems.cut.strategies:CUTS"
    reported = (
        "mechanism",
        "estimated_value",
        "estimated_value_std",
        "estimated_total_weight",
        "estimated_fraction",
        "upper_bound",
    )

    correlation: float = planned(0.0, _CORRELATION)
    output: Path | None = written("Write the partition as CSV with columns node, side (0 or 1).")
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the published values only.", picture=True)
    owner_plot: Path | None = written(
        "NOT PRIVATE: write the exact adjacency matrix ordered by the cut, for the data owner.", picture=True
    )
    rank: str | None = option(None, "Rank of the spectral mechanisms: auto or a number.")
    on_halt: str = option(
        "raise", "If a private test fails: raise (exit status 3) or fallback (a random cut that ignores the data)."
    )
    evaluate: bool = option(False, "NOT PRIVATE: also print the exact cut, for the data owner. Never publish it.")

    def _chosen(self, given: list[str]) -> Any:
        # --rank R is short for --option rank=R.
        return super()._chosen([*given, *([] if self.rank is None else [f"rank={self.rank}"])])

    def _rehearse(self, given: dict[str, Any]) -> tuple[list[str], PrivacyReport]:
        return self._planned(given, mechanisms=None if self.mechanism == "auto" else [given["mechanism"]])

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | {"side_sizes": [len(side) for side in result.partition]}

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        yield picture(self.plot, "plot_cut", result, title=source.name)
        exact = (source.data, result.labels)
        yield picture(self.owner_plot, "plot_adjacency", *exact, title=source.name, owner_only=True)
        if self.evaluate:
            yield Path("standard error"), lambda _: self._evaluate(source, result)

    def _evaluate(self, source: Source, result: Any) -> None:
        from dpgraph.evaluate import cut_fraction, cut_value

        value, fraction = cut_value(source.data, result.partition), cut_fraction(source.data, result.partition)
        note(f"NOT PRIVATE, for the data owner only: exact weight {value:g}, {fraction:.4f} of all edges")

    def _lines(self, source: Source, result: Any) -> list[str]:
        first, second = (len(side) for side in result.partition)
        value, deviation, fraction = result.estimated_value, result.estimated_value_std, result.estimated_fraction
        lines = [
            f"{source.name}: {first} + {second} vertices, mechanism {result.mechanism}",
            f"estimated weight of the cut: {value:.6g} ± {deviation:.3g} (standard deviation of the noise)",
        ]
        share = f"estimated share of all edges: {fraction:.3f} (a random cut has 0.5)"
        return [*lines, share] if math.isfinite(fraction) else lines


@dataclass(frozen=True, kw_only=True)
class MaxBisection(MaxCut):
    """Split the vertices into two halves with many edges across, with edge-level differential privacy.

    As `dpgraph max-cut`, with sides that differ by at most one vertex.

    Example: `dpgraph max-bisection planted-cut --epsilon 1 --delta 1e-6 --output halves.csv`
    """

    command = "max-bisection"
    function = "private_max_bisection"


@dataclass(frozen=True, kw_only=True)
class CSP(Planning, StrategyRelease):
    """Assign labels so that many constraints on pairs of variables hold, with private constraints.

    Variables and labels are public. For a graph: colour the vertices so that many edges have ends of two colours.

    Example: `dpgraph csp planted-cut --colours 3 --adjacency edge --epsilon 2 --delta 1e-6 --output colours.csv`
    """

    command = "csp"
    function = "private_max_2csp"
    reported = ("mechanism", "estimated_value", "estimated_value_std", "estimated_total_weight")

    graph: str = argument(
        "INSTANCE",
        'A file .json or .json.gz, {"variables": [...], "alphabet": [...], "constraints": [{"u": ..., "v": ..., '
        '"relation": [[...]], "weight": 1}]}, or a graph as for the other commands.',
    )
    colours: int = option(3, "For a graph: the number of labels; the ends of an edge should differ.")
    output: Path | None = written("Write the assignment as CSV with columns variable, label.")
    mechanism: str = option(
        "auto",
        "auto, bounded-iterates, or coherence (for label-edge); with --adjacency edge: auto, bounded-iterates "
        "or randomized-response.",
    )
    adjacency: str = option(
        "label-edge",
        "What is protected: label-edge (one entry of a constraint table), constraint (a whole table), or edge "
        "(that there is an edge, where all edges of a graph ask for two different labels: max-k-cut).",
    )
    max_weight: float = option(1.0, "Public upper bound on an entry of a constraint table.")

    def _registry(self) -> Registry:
        # Edges have other strategies than tables.
        from dpgraph.problems.csp.strategies import EDGES, TABLES

        return EDGES if self.adjacency == "edge" else TABLES

    def read(self) -> Source:
        """The instance, with the names of its variables."""
        from dpgraph.datasets import read_csp
        from dpgraph.datasets.csp_files import is_csp_file
        from dpgraph.instance import TwoCSP

        if is_csp_file(self.graph):
            problem = read_csp(self.graph)
            about = {"graph": {"source": self.graph, "n_vertices": problem.n_variables}}
            return Source(problem, problem.variables, self.graph, about)
        source = super().read()
        problem = TwoCSP.from_networkx(source.data, "max-k-cut", self.colours)
        return Source(problem, source.labels, source.name, source.description)

    def _rehearse(self, given: dict[str, Any]) -> tuple[list[str], PrivacyReport]:
        # Run the mechanism on a public random instance with a planted assignment, or colour a random graph.
        from dpgraph.datasets import planted_csp
        from dpgraph.evaluate import csp_value
        from dpgraph.instance import TwoCSP
        from dpgraph.interfaces.stand_ins import STAND_IN, expected_degrees, stand_in

        n, degree = self.public_size()
        if self.adjacency == "edge":
            problem = TwoCSP.from_networkx(stand_in(n, expected_degrees(degree, None, n)), "max-k-cut", self.colours)
            kind, at_random = "random graph", 1 - 1 / self.colours
        else:
            size = min(n, STAND_IN)
            problem = planted_csp(size, min(degree, size - 1.0), self.colours, _SATISFIABLE, rng=0)
            kind = f"random instance of which a planted assignment satisfies {_SATISFIABLE:g}"
            at_random = 1 / self.colours
        result, privacy = self._rehearsed(problem, given)
        share = csp_value(problem, result) / problem.total_weight
        line = (
            f"on a public {kind}, {problem.n_variables} variables with {self.colours} labels, {degree:g} constraints "
            f"on each: {share:.3f} satisfied (at random {at_random:.3f})"
        )
        return [line], privacy

    def _lines(self, source: Source, result: Any) -> list[str]:
        value, deviation, total = result.estimated_value, result.estimated_value_std, result.estimated_total_weight
        return [
            f"{source.name}: {len(source.labels)} variables, mechanism {result.mechanism}",
            f"estimated weight earned: {value:.6g} ± {deviation:.3g} of about {total:.6g}",
        ]


@dataclass(frozen=True, kw_only=True)
class Degrees(GraphRelease):
    """Publish every degree with noise. The noisy degrees are unbiased; some may be negative.

    Example: `dpgraph degrees ca-GrQc --epsilon 1 --output degrees.csv`
    """

    command = "degrees"
    function = "private_degrees"

    output: Path | None = written("Write the noisy degrees as CSV with columns node, degree.")
    mechanism: str = option("auto", "auto (the least noise), laplace (pure), or gaussian (needs --delta).")

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return {"noise_scale": result.privacy.entries[0].scale}

    def _lines(self, source: Source, result: Any) -> list[str]:
        scale = result.privacy.entries[0].scale
        return [f"{source.name}: {len(source.labels)} noisy degrees, noise scale {scale:.4g}"]


@dataclass(frozen=True, kw_only=True)
class Spectrum(GraphRelease):
    """Publish the largest |eigenvalues| of the regularised normalized adjacency with noise.

    Example: `dpgraph spectrum wiki-Vote --k 6 --epsilon 1 --delta 1e-6`
    """

    command = "spectrum"
    function = "private_spectrum"
    reported = ("values", "std", "regularization")

    k: int = option(8, "How many values, from the largest down. All cost what one costs.", "--k")
    regularization: str = auto_or(float, _REGULARIZATION, "--regularization")
    output: Path | None = written("Write the noisy values as CSV with columns index, value.")
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the noisy values and their noise.", picture=True)

    def _table(self, source: Source, result: Any) -> Table:
        return ["index", "value"], [range(1, self.k + 1), result.values.tolist()]

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        yield picture(self.plot, "plot_spectrum", result, title=source.name)

    def _lines(self, source: Source, result: Any) -> list[str]:
        return [
            f"{source.name}: |eigenvalues| of the normalized adjacency, each ± {result.std:.3g} (standard deviation)",
            " ".join(f"{value:.4f}" for value in result.values.tolist()),
        ]


@dataclass(frozen=True, kw_only=True)
class Embed(GraphRelease, StrategyRelease):
    """Publish a spectral embedding: a point for each vertex, ready for clustering.

    The coordinates are the leading eigenvectors of a private normalized adjacency.

    Example: `dpgraph embed planted-cut --epsilon 8 --delta 1e-6 --rank 2 --output points.csv`
    """

    command = "embed"
    function = "private_normalized_adjacency"
    strategies = "dpgraph.problems.embedding.strategies:EMBEDDINGS"
    reported = ("rank", "spectrum", "regularization")

    correlation: float = planned(0.0, _CORRELATION)
    rank: str = auto_or(int, "Number of coordinates: auto or a number.", "--rank")
    mechanism: str = option(
        "auto",
        "auto (one of the next two, never halts); noisy-power; randomized-response (pure, for a large epsilon "
        "or a small graph); coherence; or gaussian (up to 5000 vertices).",
    )
    regularization: str = auto_or(float, _REGULARIZATION, "--regularization")
    output: Path | None = written("Write the coordinates as CSV with columns node, x1, x2, ...")
    save: Path | None = written(
        "Write the whole private normalized adjacency, with its ledger, to an .npz file for Python.", ".npz"
    )

    def _rehearse(self, given: dict[str, Any]) -> tuple[list[str], PrivacyReport]:
        # Answers suit small graphs, as stand-ins are; "auto" of a larger graph stands for what does not grow with n.
        from dpgraph.interfaces.stand_ins import STAND_IN

        grows = self.mechanism == "auto" and self.public_size()[0] > STAND_IN
        if grows and self.delta > 0:
            given = given | {"mechanism": "noisy-power"}
        elif grows and self.rank in ("auto", 1):
            given = given | {"mechanism": "noisy-power", "rank": 1}
        return super()._rehearse(given)

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        from dpgraph.results.files import save_result

        yield self.save, lambda path: save_result(replace(result, nodes=source.labels), path)

    def _lines(self, source: Source, result: Any) -> list[str]:
        size = f"{len(source.labels)} vertices in {len(result.columns()) - 1} dimensions"
        return [f"{source.name}: {size}, mechanism {result.mechanism}"]
