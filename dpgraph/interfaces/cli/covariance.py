"""``dpgraph covariance``."""

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.options import Budget, Run
from dpgraph.interfaces.cli.output import require_writable, write_report, write_table
from dpgraph.interfaces.cli.stages import stages
from dpgraph.interfaces.cli.table_input import TableRequest, read_table

__all__ = ["covariance"]

MaxNorm = Annotated[
    float,
    typer.Option(help="Public bound on the Euclidean norm of a record; longer ones are scaled down to it."),
]
Mechanism = Annotated[str, typer.Option(help="auto, wishart-difference, nuclear-laplace, or (with --delta) gaussian.")]
Centered = Annotated[bool, typer.Option("--centered", help="Subtract the mean, which is released too.")]
Records = Annotated[
    int | None,
    typer.Option(
        help="The public number to divide by: needed with --adjacency add-remove, an upper bound on the records."
    ),
]
Output = Annotated[Path | None, typer.Option(help="Write the matrix as CSV with the names of the columns.")]


@spelled_out
def covariance(
    request: TableRequest,
    budget: Budget,
    run: Run,
    max_norm: MaxNorm = 1.0,
    centered: Centered = False,
    mechanism: Mechanism = "auto",
    records: Records = None,
    output: Output = None,
) -> None:
    """Publish the covariance matrix of a table of numbers with pure differential privacy, unless --delta is given.

    One record more or less, or replaced, hardly changes what is published. The number of records is public unless
    --adjacency add-remove.

    Example: `dpgraph covariance survey.csv --epsilon 1 --max-norm 10 --centered --output covariance.csv`
    """
    from dpgraph import private_covariance

    require_writable(output, run.report)
    settings: dict[str, Any] = {
        **asdict(budget),
        "mechanism": mechanism,
        "adjacency": request.adjacency,
        "centered": centered,
        "max_norm": max_norm,
        "n_records": records,
    }
    if request.adjacency == "add-remove" and records is None:
        raise InvalidParameterError(
            "--adjacency add-remove keeps the number of records private, so it needs --records: a public number to "
            "divide by, at least as large as their number can be"
        )
    if request.dry_run:
        _dry_run(request.shape, settings)
        return
    with stages(2, run.progress) as begin:
        begin("reading the table")
        source = read_table(request.table)
        begin("second moments and noise")
        result = private_covariance(source.numbers(), **settings, rng=run.seed)
    write_table(output, ["", *source.nodes], [source.nodes, *result.matrix.T.tolist()])
    summary = {"matrix": result.matrix, "columns": source.nodes, "mean": result.mean, "trace_bound": result.trace_bound}
    write_report(run.report, "covariance", source, settings | {"seed": run.seed}, summary, result.privacy)
    variances = np.linalg.eigvalsh(result.matrix)[::-1]
    typer.echo(f"{source.source}: {len(variances)} columns; principal variances, from the released matrix:")
    typer.echo(" ".join(f"{value:.4g}" for value in variances[:10]))
    typer.echo(result.privacy.table())


def _dry_run(shape: tuple[int, int] | None, settings: dict[str, Any]) -> None:
    """The noise does not depend on the records, so a public table of zeros shows it."""
    from dpgraph import private_covariance
    from dpgraph.problems.records.covariance_noise import choose_noise
    from dpgraph.releases.records.moments import SecondMoments

    if shape is None:
        raise InvalidParameterError("--dry-run reads nothing, so it needs --shape RECORDS COLUMNS")
    planned = private_covariance(np.zeros(shape), **settings)
    n = shape[0] if settings["n_records"] is None else settings["n_records"]
    moments = SecondMoments(n, settings["adjacency"], shape[1] + settings["centered"])
    law = choose_noise(settings["mechanism"], moments, settings["epsilon"], settings["delta"])
    share = sum(entry.share for entry in planned.privacy.entries[:-1])
    size = math.sqrt(law.size(settings["epsilon"], share).square) * settings["max_norm"] ** 2
    typer.echo("DRY RUN: nothing was read, nothing was spent")
    typer.echo(
        f"the noise of the matrix has Frobenius norm {size:.3g} (root mean square); the projection to covariance "
        "matrices lowers it"
    )
    typer.echo(planned.privacy.table())
