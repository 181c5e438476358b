"""What the commands write, checked before any budget is spent."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.writers import csv_text
from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require

if TYPE_CHECKING:
    from dpgraph.interfaces.cli.graph_input import GraphInput
    from dpgraph.interfaces.cli.table_input import TableInput
    from dpgraph.privacy.report import PrivacyReport

__all__ = [
    "require_pictures",
    "require_writable",
    "write_atomically",
    "write_picture",
    "write_report",
    "write_table",
]


def require_writable(*paths: Path | None) -> None:
    """Refuse an output that could not be written, before any privacy budget is spent on it."""
    wanted = [path for path in paths if path is not None]
    if len({path.absolute() for path in wanted}) < len(wanted):
        raise InvalidParameterError("two outputs have the same path; give each its own")
    for path in wanted:
        if path.is_dir():
            raise InvalidParameterError(f"cannot write {path}: it is a folder")
        if not path.absolute().parent.is_dir():
            raise InvalidParameterError(f"cannot write {path}: the folder {path.absolute().parent} does not exist")
        try:
            # Permissions do not tell everything: some file systems refuse a file only when asked.
            tempfile.NamedTemporaryFile(dir=path.absolute().parent, prefix=f".{path.name}.").close()
        except OSError as error:
            raise InvalidParameterError(f"cannot write {path}: {error.strerror or type(error).__name__}") from None


def require_pictures(*paths: Path | None) -> None:
    """Refuse a picture that could not be drawn, before any privacy budget is spent."""
    wanted = [path for path in paths if path is not None]
    if wanted:
        from dpgraph.plot import require_format

        require("matplotlib")
        for path in wanted:
            require_format(path.suffix)


def write_report(
    path: Path | None,
    command: str,
    source: GraphInput | TableInput,
    parameters: dict[str, Any],
    result: dict[str, Any],
    privacy: PrivacyReport,
) -> None:
    """JSON report of one command, if one was asked for: parameters, published values and the privacy ledger.

    Numbers that JSON does not have (infinities) become null.
    """
    if path is None:
        return
    report = {
        "program": "dpgraph",
        "version": version("dpgraph"),
        "command": command,
        **source.description(),
        "parameters": parameters,
        "result": result,
        "privacy": privacy.to_dict(),
    }
    write_atomically(path, json.dumps(_plain(report), indent=2, allow_nan=False) + "\n")


def write_table(path: Path | None, header: Sequence[str], columns: Sequence[Sequence[Any]]) -> None:
    """CSV, if it was asked for."""
    if path is not None:
        write_atomically(path, csv_text(header, columns))


def write_picture(path: Path | None, plot: str, *of: Any, **options: Any) -> None:
    """The picture that a function of :mod:`dpgraph.plot` draws, if it was asked for."""
    if path is not None:
        from dpgraph import plot as pictures

        write_atomically(path, pictures.figure_bytes(getattr(pictures, plot)(*of, **options), path.suffix))


def _plain(value: Any) -> Any:
    """Python objects of JSON from numpy scalars, paths, tuples and non-finite numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value
