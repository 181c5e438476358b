"""``dpgraph degrees``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.dry_run import AverageDegree, DryRun, print_plan
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.output import privacy_report, require_writable, vertex_table, write_atomically

__all__ = ["degrees"]

Output = Annotated[Path | None, typer.Option(help="Write the noisy degrees as CSV with columns node, degree.")]
Mechanism = Annotated[str, typer.Option(help="auto (the least noise), laplace (pure), or gaussian (needs --delta).")]


def degrees(
    graph: options.GraphArgument,
    epsilon: options.Epsilon,
    delta: options.Delta = 0.0,
    output: Output = None,
    report: options.Report = None,
    mechanism: Mechanism = "auto",
    weight: options.WeightName = None,
    max_weight: options.MaxWeight = None,
    nodes: options.Nodes = "file",
    labels: options.Labels = "int",
    format: options.FileFormat = "auto",
    symmetrize: options.Symmetrize = False,
    seed: options.Seed = None,
    data_dir: options.DataDir = None,
    download: options.Download = True,
    dry_run: DryRun = False,
    average_degree: AverageDegree = None,
) -> None:
    """Publish every degree with noise. The noisy degrees are unbiased; some may be negative.

    Example: `dpgraph degrees ca-GrQc --epsilon 1 --output degrees.csv`
    """
    from dpgraph import private_degrees

    require_writable(output, report)
    bound = options.weight_bound(weight, max_weight)
    settings = {"epsilon": epsilon, "delta": delta, "mechanism": mechanism, "max_weight": bound}
    request = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download)
    if dry_run:
        if delta == 0:
            raise InvalidParameterError("--dry-run compares both mechanisms and needs --delta")
        only: dict[str, Any] = {"mechanisms": ["bounded-iterates"], "repeats": 1, "weight": options.declared(weight)}
        print_plan(request, average_degree, epsilon=epsilon, delta=delta, max_weight=bound, **only)
        return
    source = request.read()
    result = private_degrees(source.adjacency, **settings, rng=seed)
    scale = result.privacy.entries[0].scale
    if output is not None:
        write_atomically(output, vertex_table(source.nodes, "degree", result.values.tolist()))
    if report is not None:
        parameters = settings | {"weight": weight, "seed": seed}
        write_atomically(report, privacy_report("degrees", source, parameters, {"noise_scale": scale}, result.privacy))
    typer.echo(f"{source.source}: {len(source.nodes)} noisy degrees, noise scale {scale:.4g}")
    typer.echo(result.privacy.table())
