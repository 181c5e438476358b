"""``--dry-run``: what a command would do, from public quantities, without reading an edge."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from dpgraph import datasets
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli.graph_input import GraphFile, GraphRequest
from dpgraph.interfaces.cli.options import Budget

__all__ = ["CutPlanning", "Planning", "print_plan", "public_size"]

#: Group of these options in the help.
PLANNING = "Before you spend anything"

DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print the noise scales and the expected utility, and stop: no edge is read, no budget is spent. "
        "Needs the number of vertices (--nodes N) and --average-degree, unless GRAPH is a dataset of known size.",
        rich_help_panel=PLANNING,
    ),
]
AverageDegree = Annotated[
    float | None,
    typer.Option(help="With --dry-run: a public guess of the average (weighted) degree.", rich_help_panel=PLANNING),
]
Correlation = Annotated[
    float,
    typer.Option(
        help="With --dry-run: how strong a planted cut you expect, from -1 (bipartite) to 0 (none). Edges across it: "
        "(1 - correlation) / 2.",
        rich_help_panel=PLANNING,
    ),
]


@dataclass(frozen=True)
class Planning:
    """What is to be planned before anything is spent."""

    dry_run: DryRun = False
    average_degree: AverageDegree = None


@dataclass(frozen=True)
class CutPlanning(Planning):
    """The same, for what is like a cut."""

    correlation: Correlation = 0.0


def print_plan(request: GraphRequest, planning: Planning, budget: Budget, **options: Any) -> None:
    """Print what :func:`dpgraph.interfaces.planning.plan` says, and the ledger that a run would have."""
    from dpgraph.interfaces.planning import plan
    from dpgraph.privacy.relation import Edge
    from dpgraph.privacy.report import PrivacyReport

    if budget.delta == 0:
        raise InvalidParameterError("--dry-run compares mechanisms of which some need a delta: pass --delta, say 1e-6")
    n, degree = public_size(request, planning)
    weights = request.weights()
    if weights["max_weight"] is None:
        weights["max_weight"] = 1.0
    planned = plan(n=n, average_degree=degree, epsilon=budget.epsilon, delta=budget.delta, **weights, **options)
    typer.echo("DRY RUN: nothing was read, nothing was spent")
    typer.echo(planned.table())
    chosen = planned[planned.recommended]
    typer.echo(f"\nreleases of {chosen.mechanism}:")
    typer.echo(
        PrivacyReport(budget.epsilon, chosen.delta, None, Edge().words, chosen.ledger, relation=Edge().key).table()
    )


def public_size(request: GraphFile, planning: Planning) -> tuple[int, float]:
    """Number of vertices and average degree, from the options or from what the publisher of a dataset states."""
    known = datasets.available(request.data_dir).get(request.graph)
    n, average_degree = request.public_vertices(), planning.average_degree
    if n is None and known is not None:
        n = known.nodes
    if average_degree is None and known is not None and known.edges is not None and known.nodes:
        average_degree = 2 * known.edges / known.nodes
    if n is None or average_degree is None:
        raise InvalidParameterError(
            "--dry-run reads no edge, so it needs --nodes N (or --nodes @FILE) and --average-degree for this graph"
        )
    return n, average_degree
