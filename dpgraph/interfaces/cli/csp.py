"""``dpgraph csp``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpgraph.interfaces.cli.graph_input import Planning
from dpgraph.interfaces.cli.options import argument, option, written
from dpgraph.interfaces.cli.release import Source, StrategyRelease

if TYPE_CHECKING:
    from dpgraph.privacy.report import PrivacyReport
    from dpgraph.problems.strategy import Registry

__all__ = ["CSP"]

#: Share of the constraints of a stand-in for --dry-run that its planted assignment satisfies.
_SATISFIABLE = 0.8


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
        'A .json file {"variables": [...], "alphabet": [...], "constraints": [{"u": ..., "v": ..., "relation": '
        '[[...]], "weight": 1}]}, clauses of at most two literals in DIMACS .cnf or '
        ".wcnf, a DIMACS graph .col (all of them .gz too), or a graph as for the other commands.",
    )
    colours: int = option(3, "For a graph (.col too): the number of labels; the ends of an edge should differ.")
    output: Path | None = written("Write the assignment as CSV with columns variable, label.")
    mechanism: str = option(
        "auto",
        "auto, bounded-iterates, or coherence (for label-edge); with --adjacency edge: auto, bounded-iterates, "
        "core-response or randomized-response.",
    )
    adjacency: str = option(
        "label-edge",
        "What is protected: label-edge (one entry of a constraint table), constraint (a whole table), or edge "
        "(that there is an edge, where all edges of a graph ask for two different labels: max-k-cut).",
    )
    max_weight: float = option(1.0, "Public upper bound on an entry of a constraint table.")

    def _registry(self) -> Registry:
        # Edges have other strategies than tables.
        from dpgraph.problems.csp.strategy import EDGES, TABLES

        return EDGES if self.adjacency == "edge" else TABLES

    def read(self) -> Source:
        """The instance, with the names of its variables."""
        from dpgraph.datasets import read_csp
        from dpgraph.datasets.csp_files import is_csp_file
        from dpgraph.instance import TwoCSP

        if is_csp_file(self.graph):
            problem = read_csp(self.graph, colours=self.colours)
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
        from dpgraph.interfaces.planning import STAND_IN, expected_degrees, stand_in

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
