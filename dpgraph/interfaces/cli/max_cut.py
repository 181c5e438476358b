"""``dpgraph max-cut`` and ``dpgraph max-bisection``."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from dpgraph.interfaces.cli import options
from dpgraph.interfaces.cli.dry_run import AverageDegree, Correlation, DryRun, print_plan
from dpgraph.interfaces.cli.graph_input import GraphInput, GraphRequest
from dpgraph.interfaces.cli.output import (
    privacy_report,
    require_pictures,
    require_writable,
    vertex_table,
    write_atomically,
)

__all__ = ["max_bisection", "max_cut"]

Output = Annotated[Path | None, typer.Option(help="Write the partition as CSV with columns node, side (0 or 1).")]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (PNG, PDF, SVG) of the published values only.")]
OwnerPlot = Annotated[
    Path | None,
    typer.Option(help="NOT PRIVATE: write the exact adjacency matrix ordered by the cut, for the data owner."),
]
Mechanism = Annotated[
    str,
    typer.Option(
        help="auto, coherence, gaussian, noisy-power, bounded-iterates, core-response, randomized-response or "
        "permute-and-flip. auto chooses by public and privately released quantities only."
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


def _cut_command(problem: Literal["max-cut", "max-bisection"], text: str) -> Callable[..., None]:
    """The command of a problem; the two have the same options."""

    def command(
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
        dry_run: DryRun = False,
        average_degree: AverageDegree = None,
        correlation: Correlation = 0.0,
    ) -> None:
        require_writable(output, report, plot, owner_plot)
        require_pictures(plot, owner_plot)
        bound = options.weight_bound(weight, max_weight)
        budget = {"epsilon": epsilon, "delta": delta, "weight": options.declared(weight), "max_weight": bound}
        settings = budget | {"mechanism": mechanism, "rank": options.number_or_auto(rank, "--rank", int)}
        request = GraphRequest(graph, format, nodes, labels, weight, symmetrize, data_dir, download)
        if dry_run:
            _dry_run(problem, request, average_degree, correlation, settings)
            return
        source = request.read()
        settings["on_halt"] = on_halt
        result = _solver(problem)(source.adjacency, **settings, rng=seed, progress=progress)
        if output is not None:
            write_atomically(output, vertex_table(source.nodes, "side", result.labels.tolist()))
        if report is not None:
            parameters = settings | {"weight": weight, "seed": seed}
            write_atomically(report, privacy_report(problem, source, parameters, _summary(result), result.privacy))
        _draw(result, source, plot, owner_plot)
        _print(result, source)
        if evaluate:
            _print_exact(result, source)

    command.__doc__ = text
    return command


max_cut = _cut_command(
    "max-cut",
    """Split the vertices into two sides with many edges across, with edge-level differential privacy.

    What is published (partition, estimated value, report, picture) is (epsilon, delta)-differentially private: it
    hardly depends on whether any single edge is there. The vertices themselves are public.

    Example: `dpgraph max-cut wiki-Vote --epsilon 1 --delta 1e-6 --output cut.csv --report report.json`
    """,
)

max_bisection = _cut_command(
    "max-bisection",
    """Split the vertices into two halves with many edges across, with edge-level differential privacy.

    As `dpgraph max-cut`, with sides that differ by at most one vertex.

    Example: `dpgraph max-bisection planted-cut --epsilon 1 --delta 1e-6 --output halves.csv`
    """,
)


def _solver(problem: str) -> Callable[..., Any]:
    from dpgraph import private_max_bisection, private_max_cut

    return private_max_cut if problem == "max-cut" else private_max_bisection


def _dry_run(
    problem: str,
    request: GraphRequest,
    average_degree: float | None,
    correlation: float,
    settings: dict[str, Any],
) -> None:
    mechanism = settings.pop("mechanism")
    chosen: dict[str, Any] = {} if mechanism == "auto" else {"mechanisms": [mechanism]}
    print_plan(request, average_degree, problem=problem, correlation=correlation, **settings, **chosen)


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
