"""``dpgraph max-cut``, ``max-bisection``, ``csp``, ``degrees``, ``spectrum`` and ``embed``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgraph.interfaces.cli.graph_input import GraphRelease, Rehearsal
from dpgraph.interfaces.cli.options import argument, auto_or, option, written
from dpgraph.interfaces.cli.outputs import Output, note
from dpgraph.interfaces.cli.release import Source, StrategyRelease, Table, picture

if TYPE_CHECKING:
    from scipy import sparse

    from dpgraph.instance import TwoCSP
    from dpgraph.problems.driver import Registry

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
    strategies = "dpgraph.problems.labels:CUTS"
    reported = (
        "mechanism",
        "estimated_value",
        "estimated_value_std",
        "estimated_total_weight",
        "estimated_fraction",
        "upper_bound",
    )

    output: Path | None = written("Write the partition as CSV with columns node, side (0 or 1).")
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the published values only.", picture=True)
    on_halt: str = option(
        "raise", "If a private test fails: raise (exit status 3) or fallback (a random cut that ignores the data)."
    )
    evaluate: bool = option(False, "NOT PRIVATE: also print the exact cut, for the data owner. Never publish it.")

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | _intervals(result) | {"side_sizes": [*map(len, result.partition)]}

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        yield picture(self.plot, "plot_cut", result, title=source.name)
        if self.evaluate:
            yield Path("standard error"), lambda _: self._evaluate(source, result)

    def _evaluate(self, source: Source, result: Any) -> None:
        from dpgraph.evaluate import cut_fraction, cut_value

        value, fraction = cut_value(source.data, result.partition), cut_fraction(source.data, result.partition)
        note(f"NOT PRIVATE, for the data owner only: exact weight {value:g}, {fraction:.4f} of all edges")

    def _lines(self, source: Source, result: Any) -> list[str]:
        first, second = (len(side) for side in result.partition)
        return [
            f"{source.name}: {first} + {second} vertices, mechanism {result.mechanism}",
            *_worth(result, "weight of the cut", "a random cut has 0.5"),
        ]


@dataclass(frozen=True, kw_only=True)
class MaxBisection(MaxCut):
    """Split the vertices into two halves with many edges across, with edge-level differential privacy.

    As `dpgraph max-cut`, with sides that differ by at most one vertex.

    Example: `dpgraph max-bisection planted-cut --epsilon 1 --delta 1e-6 --output halves.csv`
    """

    command = "max-bisection"
    function = "private_max_bisection"


@dataclass(frozen=True, kw_only=True)
class CSP(Rehearsal, StrategyRelease):
    """Assign labels so that many constraints on pairs of variables hold, with private constraints.

    Variables and labels are public. For a graph: colour the vertices so that many edges have ends of two colours.

    Example: `dpgraph csp planted-cut --colours 3 --adjacency edge --epsilon 2 --delta 1e-6 --output colours.csv`
    """

    command = "csp"
    function = "private_max_2csp"
    reported = ("mechanism", "estimated_value", "estimated_value_std", "estimated_total_weight", "estimated_fraction")

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
        from dpgraph.problems.labels import EDGES, TABLES

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

    def _made_up(self, A: sparse.csr_array) -> TwoCSP:
        """Colours of a public graph."""
        from dpgraph.instance import TwoCSP

        return TwoCSP.from_networkx(A, "max-k-cut", self.colours)

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | _intervals(result)

    def _lines(self, source: Source, result: Any) -> list[str]:
        return [
            f"{source.name}: {len(source.labels)} variables, mechanism {result.mechanism}",
            *_worth(result, "weight earned", f"{len(result.alphabet)} labels"),
        ]


def _intervals(result: Any) -> dict[str, Any]:
    return {"value_interval": result.value_interval(), "fraction_interval": result.fraction_interval()}


def _worth(result: Any, what: str, note: str) -> list[str]:
    """What a cut or an assignment is worth, with 95 % intervals."""
    low, high = result.value_interval()
    value = min(max(result.estimated_value, low), high)  # an unbiased estimate may be impossible
    lines = [f"{what}: {value:.6g}, with probability 95 % between {low:.6g} and {high:.6g}"]
    if math.isfinite(result.estimated_fraction):
        low, high = result.fraction_interval()
        share = f"share of all: {result.estimated_fraction:.3f}, with probability 95 % between {low:.3f} and {high:.3f}"
        lines.append(f"{share} ({note})")
    return lines


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

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        from dpgraph.results.files import save_result

        yield self.save, lambda path: save_result(replace(result, nodes=source.labels), path)

    def _lines(self, source: Source, result: Any) -> list[str]:
        size = f"{len(source.labels)} vertices in {len(result.columns()) - 1} dimensions"
        return [f"{source.name}: {size}, mechanism {result.mechanism}"]
