"""``dpgraph spectrum``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpgraph.datasets.writers import csv_text
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.dry_run import AverageDegree, DryRun, print_plan
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.output import privacy_report, require_pictures, require_writable, write_atomically
from dpgraph.interfaces.cli.stages import stages

__all__ = ["spectrum"]

Count = Annotated[int, typer.Option("--k", help="How many values, from the largest down. All cost what one costs.")]
Output = Annotated[Path | None, typer.Option(help="Write the noisy values as CSV with columns index, value.")]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (PNG, PDF, SVG) of the noisy values and their noise.")]


def spectrum(
    graph: options.GraphArgument,
    epsilon: options.Epsilon,
    delta: options.Delta,
    k: Count = 8,
    regularization: options.Regularization = "auto",
    output: Output = None,
    report: options.Report = None,
    plot: Plot = None,
    weight: options.WeightName = None,
    max_weight: options.MaxWeight = None,
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
    """Publish the largest |eigenvalues| of the regularised normalized adjacency with noise.

    Example: `dpgraph spectrum wiki-Vote --k 6 --epsilon 1 --delta 1e-6`
    """
    from dpgraph import private_spectrum

    require_writable(output, report, plot)
    require_pictures(plot)
    bound = options.weight_bound(weight, max_weight)
    settings = {
        "epsilon": epsilon,
        "delta": delta,
        "k": k,
        "regularization": options.number_or_auto(regularization, "--regularization", float),
        "weight": options.declared(weight),
        "max_weight": bound,
    }
    request = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download)
    if dry_run:
        only: dict[str, Any] = {"mechanisms": ["bounded-iterates"], "repeats": 1, "weight": settings["weight"]}
        print_plan(request, average_degree, epsilon=epsilon, delta=delta, max_weight=bound, **only)
        return
    with stages(2, progress) as begin:
        begin("reading the graph")
        source = request.read()
        begin("eigenvalues and noise")
        result = private_spectrum(source.adjacency, **settings, rng=seed)
    values = result.values.tolist()
    if output is not None:
        write_atomically(output, csv_text(["index", "value"], [range(1, len(values) + 1), values]))
    if report is not None:
        parameters = settings | {"weight": weight, "seed": seed}
        summary = {"values": values, "std": result.std, "regularization": result.regularization}
        write_atomically(report, privacy_report("spectrum", source, parameters, summary, result.privacy))
    if plot is not None:
        from dpgraph.plot import figure_bytes, plot_spectrum

        write_atomically(plot, figure_bytes(plot_spectrum(result, title=source.source), plot.suffix))
    typer.echo(
        f"{source.source}: |eigenvalues| of the normalized adjacency, each ± {result.std:.3g} (standard deviation)"
    )
    typer.echo(" ".join(f"{value:.4f}" for value in values))
    typer.echo(result.privacy.table())
