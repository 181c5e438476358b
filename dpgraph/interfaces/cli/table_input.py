"""Tables of records: CSV with a header line, or a numpy ``.npy`` matrix."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from dpgraph.datasets.files import read_text
from dpgraph.exceptions import DatasetError

__all__ = ["TableInput", "TableRequest", "read_table"]

Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE", help="CSV with a header line (.gz too) or .npy; a record a row.", show_default=False
    ),
]
Adjacency = Annotated[str, typer.Option(help="What is protected: replace (a record) or add-remove.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print the noise for a table of --shape and stop; TABLE is not read."),
]
Shape = Annotated[
    tuple[int, int] | None, typer.Option(help="With --dry-run: the public numbers of records and of columns.")
]


@dataclass(frozen=True)
class TableRequest:
    """What the command line says about its table."""

    table: Table
    adjacency: Adjacency = "replace"
    dry_run: DryRun = False
    shape: Shape = None


@dataclass(frozen=True)
class TableInput:
    """Records and what the user called them.

    Parameters
    ----------
    values : ndarray, shape (N, d)
        Numbers, or texts (type object) for CSV.
    nodes : tuple of str
        Names of the columns.
    source : str
        The file.
    """

    values: NDArray[Any]
    nodes: tuple[str, ...]
    source: str

    def description(self) -> dict[str, dict[str, Any]]:
        """What a report says about it (public)."""
        return {"table": {"source": self.source, "columns": list(self.nodes)}}

    def numbers(self) -> NDArray[np.float64]:
        """The records as numbers.

        Raises
        ------
        DatasetError
            An entry is not a number.
        """
        try:
            return self.values.astype(np.float64)
        except ValueError:
            # The entry itself is private, so it is not shown.
            raise DatasetError(f"{self.source}: expected numbers only; at least one entry is something else") from None


def read_table(path: Path) -> TableInput:
    """Read ``.csv`` (with a header line, .gz too) or ``.npy``."""
    if not path.is_file():
        raise DatasetError(f"no such file: {path}")
    if path.suffix == ".npy":
        return _read_npy(path)
    rows = [row for row in csv.reader(io.StringIO(read_text(path))) if row]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise DatasetError(f"{path}: expected CSV with a header line and as many entries in every row")
    names = tuple(name.strip() for name in rows[0])
    if len(set(names)) < len(names):
        raise DatasetError(f"{path}: column names in the header line must differ")
    values = np.array([[entry.strip() for entry in row] for row in rows[1:]], dtype=object)
    return TableInput(values.reshape(-1, len(names)), names, str(path))


def _read_npy(path: Path) -> TableInput:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, EOFError):
        raise DatasetError(f"{path} is no .npy file of numbers, or it is damaged") from None
    if values.ndim != 2:
        raise DatasetError(f"{path}: expected one record a row; got an array with {values.ndim} dimensions")
    return TableInput(values, tuple(str(j) for j in range(values.shape[1])), str(path))
