"""``dpgraph csp``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from scipy import sparse

from dpgraph.datasets.writers import csv_text, label_texts
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.dry_run import AverageDegree, DryRun, public_size
from dpgraph.interfaces.cli.graph_input import GraphInput, GraphRequest
from dpgraph.interfaces.cli.output import privacy_report, require_writable, write_atomically

if TYPE_CHECKING:
    from dpgraph.instance import TwoCSP

__all__ = ["csp"]

Instance = Annotated[
    str,
    typer.Argument(
        metavar="INSTANCE",
        help='A .json file {"variables": [...], "alphabet": [...], "constraints": [{"u": ..., "v": ..., "relation": '
        '[[...]], "weight": 1}]}, a .csv file of weighted relations, clauses of at most two literals in DIMACS .cnf or '
        ".wcnf, a DIMACS graph .col (all of them .gz too), or a graph as for the other commands.",
        show_default=False,
    ),
]
Colours = Annotated[
    int, typer.Option(help="For a graph (.col too): the number of labels; the ends of an edge should differ.")
]
Adjacency = Annotated[
    str,
    typer.Option(
        help="What is protected: label-edge (one entry of a constraint table), constraint (a whole table), or edge "
        "(that there is an edge, where all edges of a graph ask for two different labels: max-k-cut)."
    ),
]
Mechanism = Annotated[
    str,
    typer.Option(
        help="auto, bounded-iterates, or coherence (for label-edge); with --adjacency edge: auto, bounded-iterates, "
        "core-response or randomized-response."
    ),
]
Output = Annotated[Path | None, typer.Option(help="Write the assignment as CSV with columns variable, label.")]
#: Share of the constraints of a stand-in for --dry-run that its planted assignment satisfies.
_SATISFIABLE = 0.8
Bound = Annotated[float, typer.Option(help="Public upper bound on an entry of a constraint table.")]


def csp(
    instance: Instance,
    epsilon: options.Epsilon,
    delta: options.Delta,
    colours: Colours = 3,
    output: Output = None,
    report: options.Report = None,
    mechanism: Mechanism = "auto",
    adjacency: Adjacency = "label-edge",
    max_weight: Bound = 1.0,
    weight: options.WeightName = None,
    nodes: options.Nodes = "file",
    labels: options.Labels = "int",
    format: options.FileFormat = "auto",
    symmetrize: options.Symmetrize = False,
    seed: options.Seed = None,
    data_dir: options.DataDir = None,
    download: options.Download = True,
    progress: options.Progress = False,
    dry_run: DryRun = False,
    average_degree: AverageDegree = None,
) -> None:
    """Assign labels so that many constraints on pairs of variables hold, with private constraints.

    Variables and labels are public. For a graph: colour the vertices so that many edges have ends of two colours.

    Example: `dpgraph csp planted-cut --colours 3 --adjacency edge --epsilon 2 --delta 1e-6 --output colours.csv`
    """
    from dpgraph import private_max_2csp

    require_writable(output, report)
    request = GraphRequest(instance, format, nodes, labels, weight, symmetrize, data_dir, download)
    settings: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "mechanism": mechanism,
        "adjacency": adjacency,
        "max_weight": max_weight,
    }
    if dry_run:
        _dry_run(*public_size(request, average_degree), colours, settings)
        return
    problem, source = _read(request, colours)
    result = private_max_2csp(problem, **settings, rng=seed, progress=progress)
    chosen = [problem.alphabet[label] for label in result.labels.tolist()]
    if output is not None:
        write_atomically(output, csv_text(["variable", "label"], [label_texts(source.nodes), label_texts(chosen)]))
    if report is not None:
        summary = {
            "mechanism": result.mechanism,
            "estimated_value": result.estimated_value,
            "estimated_value_std": result.estimated_value_std,
            "estimated_total_weight": result.estimated_total_weight,
        }
        parameters = settings | {"weight": weight, "seed": seed}
        write_atomically(report, privacy_report("csp", source, parameters, summary, result.privacy))
    typer.echo(f"{source.source}: {problem.n_variables} variables, mechanism {result.mechanism}")
    typer.echo(
        f"estimated weight earned: {result.estimated_value:.6g} ± {result.estimated_value_std:.3g} "
        f"of about {result.estimated_total_weight:.6g}"
    )
    typer.echo(result.privacy.table())


def _dry_run(n: int, degree: float, colours: int, settings: dict[str, Any]) -> None:
    """Run the mechanism on a public random instance with a planted assignment."""
    from dpgraph import evaluate, private_max_2csp
    from dpgraph.interfaces.planning import STAND_IN

    size = min(n, STAND_IN)
    edge = settings["adjacency"] == "edge"
    stand_in = _random_colouring(size, degree, colours) if edge else _planted(size, degree, colours)
    planned = private_max_2csp(stand_in, **settings, rng=0)
    share = evaluate.csp_value(stand_in, planned) / stand_in.total_weight
    typer.echo("DRY RUN: nothing was read, nothing was spent")
    kind = "random graph" if edge else f"random instance of which a planted assignment satisfies {_SATISFIABLE:g}"
    at_random = 1 - 1 / colours if edge else 1 / colours
    typer.echo(
        f"on a public {kind}, {size} variables with {colours} labels, {degree:g} constraints on each: "
        f"{share:.3f} satisfied (at random {at_random:.3f})"
    )
    typer.echo(planned.privacy.table())


def _planted(size: int, degree: float, colours: int) -> TwoCSP:
    from dpgraph.datasets import planted_csp

    return planted_csp(size, min(degree, size - 1.0), colours, _SATISFIABLE, rng=0)


def _random_colouring(size: int, degree: float, colours: int) -> TwoCSP:
    """Max-k-cut of a random graph."""
    import networkx as nx

    from dpgraph.inputs.csp_kinds import csp_from_graph

    return csp_from_graph(nx.gnm_random_graph(size, round(size * degree / 2), seed=0), "max-k-cut", colours)


def _read(request: GraphRequest, colours: int) -> tuple[TwoCSP, GraphInput]:
    """The instance, and a description of it with the names of its variables."""
    from dpgraph.datasets import read_csp
    from dpgraph.datasets.csp_files import is_csp_file
    from dpgraph.inputs.csp_kinds import csp_from_graph

    if not is_csp_file(request.graph):
        source = request.read()
        return csp_from_graph(source.adjacency, "max-k-cut", colours), source
    problem = read_csp(request.graph, colours=colours)
    nothing = sparse.csr_array((problem.n_variables, problem.n_variables))
    return problem, GraphInput(nothing, problem.variables, request.graph)
