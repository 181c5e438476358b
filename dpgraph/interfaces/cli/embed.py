"""``dpgraph embed``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgraph.datasets.writers import csv_text, label_texts
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.dry_run import AverageDegree, Correlation, DryRun, print_plan
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.output import privacy_report, require_writable, write_atomically
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


def embed(
    graph: options.GraphArgument,
    epsilon: options.Epsilon,
    delta: options.Delta,
    rank: Rank = "auto",
    mechanism: Mechanism = "auto",
    regularization: options.Regularization = "auto",
    output: Output = None,
    save: Save = None,
    report: options.Report = None,
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
    correlation: Correlation = 0.0,
) -> None:
    """Publish a spectral embedding: a point for each vertex, ready for clustering.

    The coordinates are the leading eigenvectors of a private normalized adjacency.

    Example: `dpgraph embed planted-cut --epsilon 8 --delta 1e-6 --rank 2 --output points.csv`
    """
    from dpgraph import private_normalized_adjacency

    require_writable(output, save, report)
    bound = options.weight_bound(weight, max_weight)
    if save is not None and save.suffix != ".npz":
        raise InvalidParameterError(f"--save writes an .npz file; got {save.name!r}")
    settings = {
        "epsilon": epsilon,
        "delta": delta,
        "rank": options.number_or_auto(rank, "--rank", int),
        "regularization": options.number_or_auto(regularization, "--regularization", float),
        "weight": options.declared(weight),
        "max_weight": bound,
    }
    request = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download)
    if dry_run:
        # Plans are made of cuts, on stand-ins that are smaller than the graph: the mechanism that does not grow with n.
        planned = "noisy-power" if mechanism == "auto" else mechanism
        print_plan(request, average_degree, correlation=correlation, mechanisms=[planned], **settings)
        return
    with stages(2, progress) as begin:
        begin("reading the graph")
        source = request.read()
        begin("eigenvectors and noise")
        result = private_normalized_adjacency(source.adjacency, **settings, mechanism=mechanism, rng=seed)
    points = result.embedding()
    if output is not None:
        header = ["node", *(f"x{j + 1}" for j in range(points.shape[1]))]
        write_atomically(output, csv_text(header, [label_texts(source.nodes), *points.T.tolist()]))
    if save is not None:
        from dataclasses import replace

        replace(result, nodes=source.nodes).save(save)
    if report is not None:
        parameters = settings | {"mechanism": mechanism, "weight": weight, "seed": seed}
        summary = {"rank": result.rank, "spectrum": result.spectrum, "regularization": result.regularization}
        write_atomically(report, privacy_report("embed", source, parameters, summary, result.privacy))
    typer.echo(f"{source.source}: {len(points)} vertices in {points.shape[1]} dimensions, mechanism {result.mechanism}")
    typer.echo(result.privacy.table())
