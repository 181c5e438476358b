"""``dpgraph spectrum``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.dry_run import Planning, print_plan
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.options import Budget, Regularization, Run, number_or_auto
from dpgraph.interfaces.cli.output import (
    require_pictures,
    require_writable,
    write_picture,
    write_report,
    write_table,
)
from dpgraph.interfaces.cli.stages import stages

__all__ = ["spectrum"]

Count = Annotated[int, typer.Option("--k", help="How many values, from the largest down. All cost what one costs.")]
Output = Annotated[Path | None, typer.Option(help="Write the noisy values as CSV with columns index, value.")]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (PNG, PDF, SVG) of the noisy values and their noise.")]


@spelled_out
def spectrum(
    request: GraphRequest,
    budget: Budget,
    run: Run,
    planning: Planning,
    k: Count = 8,
    regularization: Regularization = "auto",
    output: Output = None,
    plot: Plot = None,
) -> None:
    """Publish the largest |eigenvalues| of the regularised normalized adjacency with noise.

    Example: `dpgraph spectrum wiki-Vote --k 6 --epsilon 1 --delta 1e-6`
    """
    from dpgraph import private_spectrum

    require_writable(output, run.report, plot)
    require_pictures(plot)
    tau = number_or_auto(regularization, "--regularization", float)
    settings = asdict(budget) | {"k": k, "regularization": tau} | request.weights()
    if planning.dry_run:
        print_plan(request, planning, budget, mechanisms=["bounded-iterates"], repeats=1)
        return
    with stages(2, run.progress) as begin:
        begin("reading the graph")
        source = request.read()
        begin("eigenvalues and noise")
        result = private_spectrum(source.adjacency, **settings, rng=run.seed)
    values = result.values.tolist()
    write_table(output, ["index", "value"], [range(1, len(values) + 1), values])
    parameters = settings | {"weight": request.weight, "seed": run.seed}
    summary = {"values": values, "std": result.std, "regularization": result.regularization}
    write_report(run.report, "spectrum", source, parameters, summary, result.privacy)
    write_picture(plot, "plot_spectrum", result, title=source.source)
    typer.echo(
        f"{source.source}: |eigenvalues| of the normalized adjacency, each ± {result.std:.3g} (standard deviation)"
    )
    typer.echo(" ".join(f"{value:.4f}" for value in values))
    typer.echo(result.privacy.table())
