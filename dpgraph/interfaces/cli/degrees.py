"""``dpgraph degrees``."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dpgraph.datasets.writers import label_texts
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.dry_run import Planning, print_plan
from dpgraph.interfaces.cli.graph_input import GraphRequest
from dpgraph.interfaces.cli.options import Budget, Run
from dpgraph.interfaces.cli.output import require_writable, write_report, write_table

__all__ = ["degrees"]

Output = Annotated[Path | None, typer.Option(help="Write the noisy degrees as CSV with columns node, degree.")]
Mechanism = Annotated[str, typer.Option(help="auto (the least noise), laplace (pure), or gaussian (needs --delta).")]


@spelled_out
def degrees(
    request: GraphRequest,
    budget: Budget,
    run: Run,
    planning: Planning,
    output: Output = None,
    mechanism: Mechanism = "auto",
) -> None:
    """Publish every degree with noise. The noisy degrees are unbiased; some may be negative.

    Example: `dpgraph degrees ca-GrQc --epsilon 1 --output degrees.csv`
    """
    from dpgraph import private_degrees

    require_writable(output, run.report)
    weights = request.weights()
    if planning.dry_run:
        print_plan(request, planning, budget, mechanisms=["bounded-iterates"], repeats=1)
        return
    source = request.read()
    settings = asdict(budget) | {"mechanism": mechanism, "max_weight": weights["max_weight"]}
    result = private_degrees(source.adjacency, **settings, rng=run.seed)
    scale = result.privacy.entries[0].scale
    write_table(output, ["node", "degree"], [label_texts(source.nodes), result.values.tolist()])
    parameters = settings | {"weight": request.weight, "seed": run.seed}
    write_report(run.report, "degrees", source, parameters, {"noise_scale": scale}, result.privacy)
    typer.echo(f"{source.source}: {len(source.nodes)} noisy degrees, noise scale {scale:.4g}")
    typer.echo(result.privacy.table())
