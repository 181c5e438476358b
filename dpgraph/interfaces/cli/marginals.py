"""``dpgraph marginals``."""

import itertools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpgraph.datasets.files import read_text
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.interfaces.cli.bundles import spelled_out
from dpgraph.interfaces.cli.options import Budget, Run
from dpgraph.interfaces.cli.output import (
    require_pictures,
    require_writable,
    write_picture,
    write_report,
    write_table,
)
from dpgraph.interfaces.cli.stages import stages
from dpgraph.interfaces.cli.table_input import TableInput, TableRequest, read_table

__all__ = ["marginals"]

Order = Annotated[int, typer.Option("--k", help="Tables of up to this many columns.")]
Categories = Annotated[
    Path | None,
    typer.Option(help='JSON {"column": ["value", ...]}: the public values of columns that are not 0/1.'),
]
Output = Annotated[
    Path | None, typer.Option(help="Write all tables as CSV with columns columns, values, count (one line a cell).")
]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (PNG, PDF, SVG) of the table of two columns.")]
Pair = Annotated[tuple[str, str] | None, typer.Option("--pair", help="The two columns of --plot.")]


@spelled_out
def marginals(
    request: TableRequest,
    budget: Budget,
    run: Run,
    k: Order = 2,
    categories: Categories = None,
    output: Output = None,
    plot: Plot = None,
    pair: Pair = None,
) -> None:
    """Publish all tables of counts of up to k columns: nonnegative, consistent with each other, and private.

    Pure differential privacy, unless --delta is given and Gaussian noise is smaller.

    Example: `dpgraph marginals survey.csv --k 2 --epsilon 1 --delta 1e-6 --output tables.csv`
    """
    from dpgraph import private_marginals

    require_writable(output, run.report, plot)
    require_pictures(plot)
    if (plot is None) != (pair is None):
        raise InvalidParameterError("--plot and --pair go together: a picture shows the table of two columns")
    declared = _declared(categories)
    settings: dict[str, Any] = {"k": k} | asdict(budget) | {"adjacency": request.adjacency}
    if request.dry_run:
        _dry_run(request.shape, declared, settings)
        return
    with stages(2, run.progress) as begin:
        begin("reading the table")
        source, position, values = _read(request.table, declared, pair)
        begin("noise and projection")
        result = private_marginals(source.values, **settings, categories=values, rng=run.seed)
    write_table(output, ["columns", "values", "count"], _cells(result, source))
    parameters = settings | {"categories": declared, "seed": run.seed}
    summary = {"count": result.count, "expected_rmse": result.expected_rmse, "converged": result.converged}
    write_report(run.report, "marginals", source, parameters, summary, result.privacy)
    if pair is not None:
        write_picture(plot, "plot_marginal", result, [position[name] for name in pair], names=pair)
    typer.echo(
        f"{source.source}: tables of up to {k} of {len(source.nodes)} columns; the noise alone would move a cell of a "
        f"{k}-column table by {result.expected_rmse:.4g} records (root mean square)"
    )
    typer.echo(result.privacy.table())


def _read(
    table: Path, declared: dict[str, list[str]], pair: tuple[str, str] | None
) -> tuple[TableInput, dict[str, int], dict[int, list[str]]]:
    """The table, the place of each column, and the declared categories by place."""
    source = read_table(table)
    unknown = [name for name in (*declared, *(pair or ())) if name not in source.nodes]
    if unknown:
        raise InvalidParameterError(f"there is no column {unknown[0]!r}; the columns are {', '.join(source.nodes)}")
    position = {name: j for j, name in enumerate(source.nodes)}
    return source, position, {position[name]: values for name, values in declared.items()}


def _dry_run(shape: tuple[int, int] | None, declared: dict[str, list[str]], settings: dict[str, Any]) -> None:
    """The noise does not depend on the records: a public table shows it, its columns those declared, then 0/1."""
    from dpgraph.problems.records.marginals import private_marginals

    if shape is None or shape[1] < len(declared):
        raise InvalidParameterError(
            "--dry-run reads nothing, so it needs --shape RECORDS COLUMNS, with at least the columns of --categories"
        )
    values = dict(enumerate(declared.values()))
    data = np.zeros(shape, dtype=object)
    for j, allowed in values.items():
        data[:, j] = allowed[0]
    planned = private_marginals(data, **settings, categories=values)
    typer.echo("DRY RUN: nothing was read, nothing was spent")
    typer.echo(f"the noise alone would move a cell by {planned.expected_rmse:.4g} records (root mean square)")
    typer.echo(planned.privacy.table())


def _declared(path: Path | None) -> dict[str, list[str]]:
    """Categories as texts, as they stand in the CSV file."""
    if path is None:
        return {}
    try:
        content = json.loads(read_text(path))
        return {str(column): [str(value) for value in values] for column, values in content.items()}
    except (ValueError, TypeError, AttributeError):
        raise DatasetError(f'{path}: expected JSON of the form {{"column": ["value", "value", ...]}}') from None


def _cells(result: Any, source: TableInput) -> list[tuple[Any, ...]]:
    rows: list[tuple[str, str, float]] = []
    for places, table in result.tables().items():
        names = " x ".join(source.nodes[j] for j in places)
        values = itertools.product(*(result.categories[j] for j in places))
        rows += [
            (names, " x ".join(map(str, cell)), count)
            for cell, count in zip(values, table.ravel().tolist(), strict=True)
        ]
    return list(zip(*rows, strict=True))
