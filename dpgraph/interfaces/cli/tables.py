"""``dpgraph covariance`` and ``dpgraph marginals``."""

import csv
import io
import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpgraph.datasets.files import read_bytes, read_text
from dpgraph.datasets.rows import is_number
from dpgraph.exceptions import DatasetError, InvalidParameterError
from dpgraph.inputs.text_formats import other_text
from dpgraph.interfaces.cli.options import argument, option, written
from dpgraph.interfaces.cli.outputs import Output
from dpgraph.interfaces.cli.release import Release, Source, StrategyRelease, Table, picture

#: Characters of a table that tell whether it is another format.
_BEGINNING = 2**16


@dataclass(frozen=True, kw_only=True)
class TableRelease(Release):
    """A command that publishes something of a table of records."""

    table_file: Path = argument("TABLE", "CSV with a header line (.gz too) or .npy; a record a row.")
    adjacency: str = option("replace", "What is protected: replace (a record) or add-remove.")

    def read(self) -> Source:
        """Read ``.csv`` (with a header line, .gz too) or ``.npy``; numbers, or texts for CSV."""
        path = self.table_file
        if not path.is_file():
            raise DatasetError(f"no such file: {path}")
        values, names = _read_npy(path) if path.suffix == ".npy" else _read_csv(path)
        return Source(values, names, str(path), {"table": {"source": str(path), "columns": names}})


@dataclass(frozen=True, kw_only=True)
class Covariance(TableRelease, StrategyRelease):
    """Publish the covariance matrix of a table of numbers with pure differential privacy, unless --delta is given.

    One record more or less, or replaced, hardly changes what is published. The number of records is public unless
    --adjacency add-remove.

    Example: `dpgraph covariance survey.csv --epsilon 1 --max-norm 10 --centered --output covariance.csv`
    """

    command = "covariance"
    function = "private_covariance"
    strategies = "dpgraph.problems.records.covariance_noise:LAWS"
    reported = ("matrix", "mean", "trace_bound")

    max_norm: float = option(1.0, "Public bound on the Euclidean norm of a record; longer ones are scaled down to it.")
    centered: bool = option(False, "Subtract the mean, which is released too.")
    mechanism: str = option("auto", "auto, wishart-difference, nuclear-laplace, or (with --delta) gaussian.")
    n_records: int | None = option(
        None,
        "The public number to divide by: needed with --adjacency add-remove, an upper bound on the records.",
        "--records",
    )
    output: Path | None = written("Write the matrix as CSV with the names of the columns.")

    def _arguments(self) -> dict[str, Any]:
        if self.adjacency == "add-remove" and self.n_records is None:
            raise InvalidParameterError(
                "--adjacency add-remove keeps the number of records private, so it needs --records: a public number to "
                "divide by, at least as large as their number can be"
            )
        return super()._arguments()

    def read(self) -> Source:
        """The records as numbers."""
        source = super().read()
        # A text that is no number becomes NaN, which is refused after the debit: before it no record decides anything.
        texts = source.data.dtype == object
        return replace(source, data=np.vectorize(_number, otypes=[float])(source.data)) if texts else source

    def _table(self, source: Source, result: Any) -> Table:
        names = [str(name) for name in source.labels]
        return ["", *names], [names, *result.matrix.T.tolist()]

    def _summary(self, source: Source, result: Any) -> dict[str, Any]:
        return super()._summary(source, result) | {"columns": source.labels}

    def _lines(self, source: Source, result: Any) -> list[str]:
        variances = np.linalg.eigvalsh(result.matrix)[::-1]
        reached = f"the private mean square of a record's length is that of --max-norm {result.max_norm:g}: unless "
        reached += "records are scaled to this length, most of them were longer and have been shortened"
        return [
            f"{source.name}: {len(variances)} columns; principal variances, from the released matrix:",
            " ".join(f"{value:.4g}" for value in variances[:10]),
            *([reached] if result.at_max_norm else []),
        ]


@dataclass(frozen=True, kw_only=True)
class Marginals(TableRelease):
    """Publish all tables of counts of up to k columns: nonnegative, consistent with each other, and private.

    Pure differential privacy, unless --delta is given and Gaussian noise is smaller.

    Example: `dpgraph marginals survey.csv --k 2 --epsilon 1 --delta 1e-6 --output tables.csv`
    """

    command = "marginals"
    function = "private_marginals"
    reported = ("count", "expected_rmse", "converged")

    k: int = option(2, "Tables of up to this many columns.", "--k")
    categories: Path | None = option(
        None, 'JSON {"column": ["value", ...]}: the public values of columns that are not 0/1.'
    )
    output: Path | None = written("Write all tables as CSV with columns columns, values, count (one line a cell).")
    plot: Path | None = written("Write a picture (PNG, PDF, SVG) of the table of two columns.", picture=True)
    pair: tuple[str, str] | None = option(None, "The two columns of --plot.")

    def _arguments(self) -> dict[str, Any]:
        # Categories as texts, as they stand in the CSV file.
        if (self.plot is None) != (self.pair is None):
            raise InvalidParameterError("--plot and --pair go together: a picture shows the table of two columns")
        return super()._arguments() | {"categories": _declared(self.categories)}

    def read(self) -> Source:
        """A table that has the columns which options name."""
        source = super().read()
        unknown = [name for name in (*_declared(self.categories), *(self.pair or ())) if name not in source.labels]
        if unknown:
            names = ", ".join(map(str, source.labels))
            raise InvalidParameterError(f"there is no column {unknown[0]!r}; the columns are {names}")
        return source

    def _given(self, source: Source, given: dict[str, Any]) -> dict[str, Any]:
        # Columns are known by their place.
        places = {source.labels.index(name): values for name, values in given["categories"].items()}
        return given | {"categories": places}

    def _table(self, source: Source, result: Any) -> Table:
        rows: list[tuple[str, str, float]] = []
        for places, table in result.tables().items():
            names = " x ".join(str(source.labels[j]) for j in places)
            cells = itertools.product(*(result.categories[j] for j in places))
            values = (" x ".join(map(str, cell)) for cell in cells)
            rows += zip(itertools.repeat(names), values, table.ravel().tolist(), strict=False)
        return ["columns", "values", "count"], list(zip(*rows, strict=True))

    def _files(self, source: Source, result: Any) -> Iterator[Output]:
        if self.pair is not None:
            places = [source.labels.index(name) for name in self.pair]
            yield picture(self.plot, "plot_marginal", result, places, names=self.pair)

    def _lines(self, source: Source, result: Any) -> list[str]:
        noise = f"{self.k}-column table by {result.expected_rmse:.4g} records (root mean square)"
        tables = f"{source.name}: tables of up to {self.k} of {len(source.labels)} columns"
        return [f"{tables}; the noise alone would move a cell of a {noise}"]


def _declared(path: Path | None) -> dict[str, list[str]]:
    if path is None:
        return {}
    try:
        content = json.loads(read_text(path))
        if not all(isinstance(values, list) for values in content.values()):
            raise TypeError
        return {str(column): [_category(value) for value in values] for column, values in content.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise DatasetError(f'{path}: expected JSON of the form {{"column": ["value", "value", ...]}}') from None


def _category(value: Any) -> str:
    """As an entry of the file is read: null is an empty one, and there are no blanks around it."""
    return "" if value is None else str(value).strip()


def _read_csv(path: Path) -> tuple[Any, tuple[str, ...]]:
    text = read_bytes(path, records=True).decode(errors="replace")  # odd bytes in a record are refused after the debit
    if refused := other_text(text[:_BEGINNING].encode()):
        raise DatasetError(f"{path}: {refused}")
    rows = _csv_rows(text, path)
    header = next((row for row in rows if row), None)
    if not header:
        raise DatasetError(f"{path}: expected CSV with a header line")
    names = tuple(name.strip() for name in header)
    if len(set(names)) < len(names) or "\ufffd" in "".join(names):
        raise DatasetError(f"{path}: column names in the header line must differ, and be UTF-8: save the file as that")
    if "" in names:
        raise DatasetError(
            f"{path}: column {names.index('') + 1} has no name in the header line. Give it one; or leave it out, if it "
            "only numbers the records (pandas writes it unless index=False)"
        )
    if all(map(is_number, names)) and not _counts(names):  # a record that is published as names would be no secret
        raise DatasetError(
            f"{path}: expected the names of the columns in the first line; it holds numbers only. Write a header line, "
            "such as 0,1,2"
        )
    # A row of another length is a record like others until the budget is debited: then it is refused.
    odd = [None] * len(names)
    entries = [
        [entry.strip() for entry in row] if row is not None and len(row) == len(names) else odd
        for row in rows
        if row != []
    ]
    return np.array(entries, dtype=object).reshape(-1, len(names)), names


def _csv_rows(text: str, path: Path) -> Iterator[list[str] | None]:
    """The rows; None for one that is no CSV, as an entry of it is too long."""
    header, _, below = text.lstrip().partition("\n")  # which is public: no record says where columns end
    marks = [mark for mark in ",;\t" if mark in re.sub('"[^"]*"', "", header)]
    if header[:4].lower() == "sep=" and len(header.rstrip("\r")) == 5:  # a word of spreadsheets to each other
        marks, text = [header[4]], below
    if len(marks) > 1:
        raise DatasetError(
            f"{path}: columns of the header line may end at commas, semicolons or tabs. Put double quotes around the "
            "names that hold another of them"
        )
    reader = csv.reader(io.StringIO(text), delimiter=marks[0] if marks else ",")
    while True:
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield None


def _number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def _counts(names: tuple[str, ...]) -> bool:
    """Whether names are numbers in a row, as a table has them whose columns have no others."""
    return all(name.isascii() and name.isdigit() for name in names) and [int(name) for name in names] == list(
        range(int(names[0]), int(names[0]) + len(names))
    )


def _read_npy(path: Path) -> tuple[Any, tuple[str, ...]]:
    try:
        values = np.array(np.lib.format.open_memmap(path, mode="r"))  # a header that announces more than there is fails
    except OSError:
        raise
    except Exception:  # damaged headers raise errors of many kinds
        raise DatasetError(f"{path} is no .npy file of numbers, or it is damaged") from None
    if values.ndim != 2:
        raise DatasetError(f"{path}: expected one record a row; got an array with {values.ndim} dimensions")
    return values, tuple(str(j) for j in range(values.shape[1]))
