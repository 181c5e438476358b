"""``dpgraph spectrum``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgraph.cli import options
from dpgraph.cli.graph_input import GraphRequest
from dpgraph.cli.output import privacy_report, require_writable, write_atomically
from dpgraph.datasets.writers import csv_text
from dpgraph.exceptions import InvalidParameterError

__all__ = ["spectrum"]

Count = Annotated[int, typer.Option("--k", help="How many values, from the largest down. All cost what one costs.")]
Output = Annotated[Path | None, typer.Option(help="Write the noisy values as CSV with columns index, value.")]
Regularization = Annotated[
    str,
    typer.Option(
        help="auto (about the average degree, released privately) or a public number, added to every degree. "
        "0 is the plain normalized adjacency and halts unless every degree is large."
    ),
]


def spectrum(
    graph: options.GraphArgument,
    epsilon: options.Epsilon,
    delta: options.Delta,
    k: Count = 8,
    regularization: Regularization = "auto",
    output: Output = None,
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
) -> None:
    """Publish the largest |eigenvalues| of the regularised normalized adjacency with noise.

    Example: `dpgraph spectrum wiki-Vote --k 6 --epsilon 1 --delta 1e-6`
    """
    from dpgraph import private_spectrum

    require_writable(output, report)
    bound = options.weight_bound(weight, max_weight)
    settings = {
        "epsilon": epsilon,
        "delta": delta,
        "k": k,
        "regularization": _regularization(regularization),
        "max_weight": bound,
    }
    source = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download).read()
    result = private_spectrum(source.adjacency, **settings, rng=seed)
    values = result.values.tolist()
    if output is not None:
        write_atomically(output, csv_text(["index", "value"], [range(1, len(values) + 1), values]))
    if report is not None:
        parameters = settings | {"weight": weight, "seed": seed}
        summary = {"values": values, "std": result.std, "regularization": result.regularization}
        write_atomically(report, privacy_report("spectrum", source, parameters, summary, result.privacy))
    typer.echo(
        f"{source.source}: |eigenvalues| of the normalized adjacency, each ± {result.std:.3g} (standard deviation)"
    )
    typer.echo(" ".join(f"{value:.4f}" for value in values))
    typer.echo(result.privacy.table())


def _regularization(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InvalidParameterError(f"--regularization must be auto or a number; got {text!r}") from None
