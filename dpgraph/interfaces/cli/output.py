"""What the commands write, checked before any budget is spent."""

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dpgraph.atomic_write import write_atomically
from dpgraph.datasets.writers import csv_text, label_texts
from dpgraph.exceptions import InvalidParameterError
from dpgraph.extras import require

__all__ = ["require_outputs", "require_writable", "write_atomically", "write_picture", "write_report", "write_table"]


def require_outputs(command: Any) -> None:
    """Refuse the outputs of a command that could not be written or drawn, before any privacy budget is spent."""
    asked = [(one, getattr(command, one.name)) for one in fields(command) if "endings" in one.metadata]
    asked = [(one, path) for one, path in asked if path is not None]
    require_writable(*(path for _, path in asked))
    for one, path in asked:
        endings = one.metadata["endings"]
        if endings and path.suffix not in endings:
            raise InvalidParameterError(f"--{one.name} writes an {' or '.join(endings)} file; got {path.name!r}")
        if one.metadata["picture"]:
            require("matplotlib")
            from dpgraph.plot import require_format

            require_format(path.suffix)


def require_writable(*paths: Path) -> None:
    """Refuse files that could not be written."""
    if len({path.absolute() for path in paths}) < len(paths):
        raise InvalidParameterError("two outputs have the same path; give each its own")
    for path in paths:
        folder = path.absolute().parent
        if path.is_dir():
            raise InvalidParameterError(f"cannot write {path}: it is a folder")
        if not folder.is_dir():
            raise InvalidParameterError(f"cannot write {path}: the folder {folder} does not exist")
        try:
            # Permissions do not tell everything: some file systems refuse a file only when asked.
            tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}.").close()
        except OSError as error:
            raise InvalidParameterError(f"cannot write {path}: {error.strerror or type(error).__name__}") from None


def write_report(path: Path | None, **content: Any) -> None:
    """JSON report of one command, if one was asked for. Numbers that JSON does not have (infinities) become null."""
    if path is not None:
        report = _plain({"program": "dpgraph", "version": version("dpgraph"), **content})
        write_atomically(path, json.dumps(report, indent=2, allow_nan=False) + "\n")


def write_table(path: Path | None, table: Callable[[], tuple[Sequence[str], Sequence[Sequence[Any]]]]) -> None:
    """Header and columns as CSV, if it was asked for."""
    if path is not None:
        header, columns = table()
        write_atomically(path, csv_text(header, [label_texts(values) for values in columns]))


def write_picture(path: Path | None, plot: str, *of: Any, **options: Any) -> None:
    """The picture that a function of :mod:`dpgraph.plot` draws, if it was asked for."""
    if path is not None:
        from dpgraph import plot as pictures

        write_atomically(path, pictures.figure_bytes(getattr(pictures, plot)(*of, **options), path.suffix))


def _plain(value: Any) -> Any:
    """Python objects of JSON from numpy scalars, paths, tuples, options objects and non-finite numbers."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return repr(value) if is_dataclass(value) else str(value) if isinstance(value, Path) else value
