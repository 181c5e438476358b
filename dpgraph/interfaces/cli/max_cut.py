"""``dpgraph max-cut`` and ``dpgraph max-bisection``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dpgraph.datasets.writers import label_texts
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.dry_run import CutPlanning, print_plan
from dpgraph.interfaces.cli.graph_input import GraphInput, GraphRequest
from dpgraph.interfaces.cli.options import Budget, Run
from dpgraph.interfaces.cli.output import (
    require_pictures,
    require_writable,
    write_picture,
    write_report,
    write_table,
)
from dpgraph.interfaces.cli.strategy_options import Options, described, with_options
from dpgraph.problems.strategy import names_in

if TYPE_CHECKING:
    from dpgraph.problems.strategy import Registry

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
        help=f"auto, {', '.join(names_in('dpgraph.problems.cut.strategies'))}. auto chooses by public and privately "
        "released quantities only, among those that are pure."
    ),
]
Rank = Annotated[str | None, typer.Option(help="Rank of the spectral mechanisms: auto or a number.")]
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
        request: GraphRequest,
        budget: Budget,
        run: Run,
        planning: CutPlanning,
        output: Output = None,
        plot: Plot = None,
        owner_plot: OwnerPlot = None,
        mechanism: Mechanism = "auto",
        option: Options = None,
        rank: Rank = None,
        on_halt: OnHalt = "raise",
        evaluate: Evaluate = False,
    ) -> None:
        require_writable(output, run.report, plot, owner_plot)
        require_pictures(plot, owner_plot)
        given = [*(option or ()), *([] if rank is None else [f"rank={rank}"])]  # --rank R is short for --option rank=R
        asked = with_options(_strategies(), mechanism, given)
        settings = asdict(budget) | request.weights() | {"mechanism": asked}
        if planning.dry_run:
            only: dict[str, Any] = {} if mechanism == "auto" else {"mechanisms": [asked]}
            print_plan(request, planning, budget, problem=problem, correlation=planning.correlation, **only)
            return
        source = request.read()
        settings["on_halt"] = on_halt
        result = _solver(problem)(source.adjacency, **settings, rng=run.seed, progress=run.progress)
        write_table(output, ["node", "side"], [label_texts(source.nodes), result.labels.tolist()])
        parameters = settings | {"mechanism": described(asked), "weight": request.weight, "seed": run.seed}
        write_report(run.report, problem, source, parameters, _summary(result), result.privacy)
        write_picture(plot, "plot_cut", result, title=source.source)
        write_picture(owner_plot, "plot_adjacency", source.adjacency, result.labels, title=source.source)
        _print(result, source)
        if evaluate:
            _print_exact(result, source)

    command.__name__, command.__doc__ = problem, text
    return spelled_out(command)


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


def _strategies() -> Registry:
    from dpgraph.problems.cut.strategy import CUTS

    return CUTS


def _solver(problem: str) -> Callable[..., Any]:
    from dpgraph import private_max_bisection, private_max_cut

    return private_max_cut if problem == "max-cut" else private_max_bisection


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
