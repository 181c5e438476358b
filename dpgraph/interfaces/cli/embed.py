"""``dpgraph embed``."""

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated

import typer

from dpgraph.datasets.writers import label_texts
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.dry_run import CutPlanning, print_plan
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.options import Budget, Regularization, Run, number_or_auto
from dpgraph.interfaces.cli.output import require_writable, write_report, write_table
from dpgraph.interfaces.cli.stages import stages

__all__ = ["embed"]

Output = Annotated[Path | None, typer.Option(help="Write the coordinates as CSV with columns node, x1, x2, ...")]
Save = Annotated[
    Path | None,
    typer.Option(help="Write the whole private normalized adjacency, with its ledger, to an .npz file for Python."),
]
Mechanism = Annotated[
    str,
    typer.Option(
        help="auto (one of the next two, never halts); noisy-power; randomized-response (pure, for a large epsilon "
        "or a small graph); coherence; or gaussian (up to 5000 vertices)."
    ),
]
Rank = Annotated[str, typer.Option(help="Number of coordinates: auto or a number.")]


@spelled_out
def embed(
    request: GraphRequest,
    budget: Budget,
    run: Run,
    planning: CutPlanning,
    rank: Rank = "auto",
    mechanism: Mechanism = "auto",
    regularization: Regularization = "auto",
    output: Output = None,
    save: Save = None,
) -> None:
    """Publish a spectral embedding: a point for each vertex, ready for clustering.

    The coordinates are the leading eigenvectors of a private normalized adjacency.

    Example: `dpgraph embed planted-cut --epsilon 8 --delta 1e-6 --rank 2 --output points.csv`
    """
    from dpgraph import private_normalized_adjacency
    from dpgraph.problems.cut.strategy import CUTS

    require_writable(output, save, run.report)
    if save is not None and save.suffix != ".npz":
        raise InvalidParameterError(f"--save writes an .npz file; got {save.name!r}")
    public = {
        "rank": number_or_auto(rank, "--rank", int),
        "regularization": number_or_auto(regularization, "--regularization", float),
    }
    settings = asdict(budget) | public | request.weights()
    if planning.dry_run:
        # Plans are made of cuts, on stand-ins that are smaller than the graph: the mechanism that does not grow with n.
        name = "noisy-power" if mechanism == "auto" else mechanism
        read = {field.name for field in fields(CUTS[name].options)} & public.keys()
        planned = CUTS[name].options(**{key: public[key] for key in read})
        print_plan(request, planning, budget, correlation=planning.correlation, mechanisms=[planned])
        return
    with stages(2, run.progress) as begin:
        begin("reading the graph")
        source = request.read()
        begin("eigenvectors and noise")
        result = private_normalized_adjacency(source.adjacency, **settings, mechanism=mechanism, rng=run.seed)
    result = replace(result, nodes=source.nodes)
    _, *coordinates = result.columns().items()
    header = ["node", *(name for name, _ in coordinates)]
    write_table(output, header, [label_texts(source.nodes), *(values for _, values in coordinates)])
    if save is not None:
        result.save(save)
    parameters = settings | {"mechanism": mechanism, "weight": request.weight, "seed": run.seed}
    summary = {"rank": result.rank, "spectrum": result.spectrum, "regularization": result.regularization}
    write_report(run.report, "embed", source, parameters, summary, result.privacy)
    size = f"{len(source.nodes)} vertices in {len(coordinates)} dimensions"
    typer.echo(f"{source.source}: {size}, mechanism {result.mechanism}")
    typer.echo(result.privacy.table())
