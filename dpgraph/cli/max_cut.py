"""``dpgraph max-cut``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from dpgraph.cli import options
from dpgraph.cli.graph_input import GraphInput, GraphRequest
from dpgraph.cli.output import privacy_report, require_writable, vertex_table, write_atomically
from dpgraph.exceptions import InvalidParameterError

__all__ = ["max_cut"]

Output = Annotated[Path | None, typer.Option(help="Write the partition as CSV with columns node, side (0 or 1).")]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (PNG, PDF, SVG) of the published values only.")]
OwnerPlot = Annotated[
    Path | None,
    typer.Option(help="NOT PRIVATE: write the exact adjacency matrix ordered by the cut, for the data owner."),
]
Mechanism = Annotated[
    str,
    typer.Option(
        help="auto, coherence, gaussian, noisy-power, bounded-iterates or randomized-response. auto chooses by "
        "public and privately released quantities only."
    ),
]
Rank = Annotated[str, typer.Option(help="Rank of the spectral mechanisms: auto or a number.")]
OnHalt = Annotated[
    str,
    typer.Option(
        help="If a private test fails: raise (exit status 3) or fallback (a random cut that ignores the data)."
    ),
]
Evaluate = Annotated[
    bool,
    typer.Option("--evaluate", help="NOT PRIVATE: also print the exact cut, for the data owner. Never publish it."),
]


def max_cut(
    graph: options.GraphArgument,
    epsilon: options.Epsilon,
    delta: options.Delta,
    output: Output = None,
    report: options.Report = None,
    plot: Plot = None,
    owner_plot: OwnerPlot = None,
    mechanism: Mechanism = "auto",
    rank: Rank = "auto",
    on_halt: OnHalt = "raise",
    weight: options.WeightName = None,
    max_weight: options.MaxWeight = None,
    nodes: options.Nodes = "file",
    labels: options.Labels = "int",
    format: options.FileFormat = "auto",
    symmetrize: options.Symmetrize = False,
    seed: options.Seed = None,
    evaluate: Evaluate = False,
    data_dir: options.DataDir = None,
    download: options.Download = True,
    progress: options.Progress = False,
) -> None:
    """Split the vertices into two sides with many edges across, with edge-level differential privacy.

    What is published (partition, estimated value, report, picture) is (epsilon, delta)-differentially private: it
    hardly depends on whether any single edge is there. The vertices themselves are public.

    Example: `dpgraph max-cut wiki-Vote --epsilon 1 --delta 1e-6 --output cut.csv --report report.json`
    """
    from dpgraph import private_max_cut

    require_writable(output, report, plot, owner_plot)
    _require_pictures(plot, owner_plot)
    bound = options.weight_bound(weight, max_weight)
    settings = {
        "epsilon": epsilon,
        "delta": delta,
        "mechanism": mechanism,
        "rank": _rank(rank),
        "on_halt": on_halt,
        "max_weight": bound,
    }
    source = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download).read()
    result = private_max_cut(source.adjacency, **settings, rng=seed, progress=progress)
    if output is not None:
        write_atomically(output, vertex_table(source.nodes, "side", result.labels.tolist()))
    if report is not None:
        parameters = settings | {"weight": weight, "seed": seed}
        write_atomically(report, privacy_report("max-cut", source, parameters, _summary(result), result.privacy))
    _draw(result, source, plot, owner_plot)
    _print(result, source)
    if evaluate:
        _print_exact(result, source)


def _require_pictures(*paths: Path | None) -> None:
    """Refuse a picture that could not be drawn, before any privacy budget is spent."""
    wanted = [path for path in paths if path is not None]
    if wanted:
        from dpgraph.plot import require_format, require_matplotlib

        require_matplotlib()
        for path in wanted:
            require_format(path.suffix)


def _rank(rank: str) -> Any:
    if rank == "auto":
        return rank
    try:
        return int(rank)
    except ValueError:
        raise InvalidParameterError(f"--rank must be auto or a number; got {rank!r}") from None


def _summary(result: Any) -> dict[str, Any]:
    return {
        "mechanism": result.mechanism,
        "estimated_value": result.estimated_value,
        "estimated_value_std": result.estimated_value_std,
        "estimated_total_weight": result.estimated_total_weight,
        "estimated_fraction": result.estimated_fraction,
        "upper_bound": result.upper_bound,
        "side_sizes": [len(side) for side in result.partition],
    }


def _draw(result: Any, source: GraphInput, plot: Path | None, owner_plot: Path | None) -> None:
    if plot is not None:
        from dpgraph.plot import figure_bytes, plot_cut

        write_atomically(plot, figure_bytes(plot_cut(result, title=source.source), plot.suffix))
    if owner_plot is not None:
        from dpgraph.plot import figure_bytes, plot_adjacency

        figure = plot_adjacency(source.adjacency, result.labels, title=source.source)
        write_atomically(owner_plot, figure_bytes(figure, owner_plot.suffix))


def _print(result: Any, source: GraphInput) -> None:
    first, second = (len(side) for side in result.partition)
    typer.echo(f"{source.source}: {first} + {second} vertices, mechanism {result.mechanism}")
    value, deviation, fraction = result.estimated_value, result.estimated_value_std, result.estimated_fraction
    typer.echo(f"estimated weight of the cut: {value:.6g} ± {deviation:.3g} (standard deviation of the noise)")
    if math.isfinite(fraction):
        typer.echo(f"estimated share of all edges: {fraction:.3f} (a random cut has 0.5)")
    typer.echo(result.privacy.table())


def _print_exact(result: Any, source: GraphInput) -> None:
    from dpgraph import evaluate

    value = evaluate.cut_value(source.adjacency, result.partition)
    fraction = evaluate.cut_fraction(source.adjacency, result.partition)
    typer.echo(f"NOT PRIVATE, for the data owner only: exact weight {value:g}, {fraction:.4f} of all edges", err=True)
