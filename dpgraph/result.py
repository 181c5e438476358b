"""What all results have in common: a table and a small picture for notebooks, a table of pandas, equality by identity.

A result is a frozen dataclass with ``eq=False``: two results are equal only if they are the same object, so that ``==``
and ``hash`` never compare arrays. All its fields may be shown: a private result holds published values only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date
from decimal import Decimal
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.atomic_write import write_atomically
from dpgraph.exceptions import DPGraphError
from dpgraph.extras import require
from dpgraph.typing import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: Lines of a table that a notebook shows.
_SHOWN = 5
#: All whole numbers up to this are floats.
_EXACT = 2.0**53
#: Bars of its picture.
_BARS = 60
#: What is in a cell of comma-separated text that needs quotes; without them a # or % would begin a comment.
_QUOTED = re.compile(r'[",\r\n]|^[#%]')
#: What a spreadsheet would run as a formula, or take for one behind an apostrophe.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


class Result:
    """A result that a notebook shows as a small table and picture."""

    def _repr_html_(self) -> str:
        """The fields, the first lines of the table if there is one, and the lines of the privacy ledger."""
        names = (field.name for field in fields(cast(Any, self)))  # every result is a dataclass
        shown = [name for name in names if name != "privacy" and not name.startswith("_")]
        facts = [(name, text) for name in shown if (text := _brief(getattr(self, name)))]
        parts = [f"<b>{escape(type(self).__name__)}</b>", _html_table((), facts)]
        if (picture := self._bars()) is not None:
            parts.append(_html_bars(*picture))
        if isinstance(self, TableResult):
            columns = self.columns()
            parts.append(_html_table(columns, zip(*(values[:_SHOWN] for values in columns.values()), strict=True)))
        privacy = getattr(self, "privacy", None)
        if privacy is not None:
            seeded = "; SEEDED, not for publication" if privacy.seeded else ""
            parts.append(f"({privacy.epsilon:g}, {privacy.delta:g})-differentially private{seeded}; neighbours: ")
            parts.append(escape(privacy.adjacency))
            lines = ((line.name, line.mechanism, line.sensitivity, line.scale) for line in privacy.entries)
            parts.append(_html_table(("release", "mechanism", "sensitivity", "scale"), lines))
        return f"<div>{''.join(parts)}</div>"

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain Python numbers, texts, lists and dictionaries, with the guarantee and its ledger."""
        return {
            field.name: _plain(getattr(self, field.name))
            for field in fields(cast(Any, self))
            if not field.name.startswith("_")
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """:meth:`to_dict` as JSON, also written to a file if one is named. What is no finite number is null."""
        finite = json.loads(json.dumps(self.to_dict(), default=str), parse_constant=lambda _: None)
        return _written(json.dumps(finite, ensure_ascii=False) + "\n", path)

    def _bars(self) -> tuple[str, ArrayLike] | None:
        """Caption and heights of a small picture of published values, if there is one."""
        return None


class _Nodes:
    """Vertex labels of a result: those of a matrix, a range, become a tuple when they are first asked for."""

    def __get__(self, result: Any, owner: type | None = None) -> tuple[Hashable, ...]:
        if result is None or "nodes" not in vars(result):  # a field without a default, or none at all
            raise AttributeError("nodes")
        nodes = vars(result)["nodes"] = tuple(vars(result)["nodes"])
        return nodes

    def __set__(self, result: Any, labels: Sequence[Hashable]) -> None:
        vars(result)["nodes"] = labels


class TableResult(Result):
    """A result that is a table: a line for each vertex, variable, value or query."""

    if not TYPE_CHECKING:
        nodes = _Nodes()

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Name -> values of each column of the table, all of the same length."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The table as a ``pandas.DataFrame``.

        Raises
        ------
        DPGraphError
            pandas is not installed.
        """
        known = dict(self.columns())
        try:
            frame: pd.DataFrame = require("pandas").DataFrame(known)
        except UnicodeEncodeError:  # half of a surrogate pair
            frame = require("pandas").DataFrame(known, dtype=object)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """The table as a ``polars.DataFrame``; labels of several kinds become texts."""
        return polars_frame(self.columns())

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as comma-separated text, also written to a file; formulas of spreadsheets get an apostrophe."""
        return csv_table(self.columns(), path)


def polars_frame(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Columns as a frame; labels of several kinds become texts."""
    known = {name: _of_one_kind(values) for name, values in columns.items()}
    try:
        frame: pl.DataFrame = import_module("polars").DataFrame(known, strict=False)
    except UnicodeEncodeError:
        raise DPGraphError("a name holds half of a surrogate pair, which polars cannot; to_frame() can") from None
    return frame


def csv_table(columns: Mapping[str, Sequence[Any]], path: str | os.PathLike[str] | None) -> str:
    """Columns as comma-separated text, None as an empty cell, also written to a file if one is named."""
    return _written(csv_text(list(columns), [_csv_column(values) for values in columns.values()]), path)


def _csv_column(values: Sequence[Any]) -> list[str | None]:
    texts = iter(label_texts([value for value in values if value is not None]))
    return [None if value is None else next(texts) for value in values]


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_atomically(path, text)
    return text


def _of_one_kind(values: Sequence[Any]) -> Sequence[Any]:
    """Labels as they are, or as texts where polars has no type for them."""
    values = values if isinstance(values, np.ndarray) else list(map(_of_python, values))
    plain = isinstance(values, np.ndarray) or len(set(map(type, values))) < 2
    return values if plain and not (len(values) and isinstance(values[0], tuple)) else label_texts(values)


def _plain(value: Any) -> Any:
    """What a result holds without types of numpy, sets and reports."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else repr(_of_python(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, (set, frozenset, list, tuple)):
        return [_plain(one) for one in value]
    if hasattr(value, "to_dict"):
        return _plain(value.to_dict())
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def whole(values: FloatArray) -> list[Any]:
    """Released numbers for a table: Python integers where all are whole, as counts without weights are."""
    integral = bool(np.all(np.abs(values) < _EXACT)) and bool(np.all(values == np.rint(values)))
    return list((values.astype(np.int64) if integral else values).tolist())


def _brief(value: Any) -> str:
    """A number or text as it is, the size of anything larger; nothing for what is not there."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (bool, int, str, np.generic)):
        return str(value)
    if isinstance(value, tuple) and all(isinstance(part, (set, frozenset)) for part in value):
        return "sets of " + ", ".join(str(len(part)) for part in value)
    return f"{len(value)} entries" if isinstance(value, (tuple, list, dict)) else ""


def _html_table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Rows of escaped cells."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in header)
    lines = ("".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in (titles, *lines) if line) + "</table>"


def _html_bars(caption: str, heights: ArrayLike) -> str:
    """Bars with a caption, as SVG; of many heights, some of them."""
    values = np.maximum(np.nan_to_num(np.asarray(heights, dtype=np.float64)), 0.0)
    shown = values[np.linspace(0, values.size - 1, min(values.size, _BARS)).astype(int)]
    wide = 240 / max(shown.size, 1)
    tall = 40 * shown / (shown.max(initial=0.0) or 1.0)
    bars = "".join(f"M{i * wide:.1f} 40v{-height:.1f}h{0.85 * wide:.1f}V40" for i, height in enumerate(tall))
    svg = f'<svg width="240" height="40" role="img"><path fill="#0077BB" d="{bars}"/></svg>'
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def label_texts(nodes: Sequence[Hashable]) -> list[str]:
    """Vertex labels as text from which they can be told apart again.

    Numbers, texts and dates are written as they are, if all labels are of that one kind; otherwise every label is
    written as its ``repr`` (``1``, ``'1'``, ``(0, 1)``), which ``ast.literal_eval`` reads back. Types of numpy count as
    those of Python.
    """
    kinds = set(map(type, nodes))
    if not kinds <= {int, str}:
        nodes = list(map(_of_python, nodes))
        kinds = set(map(type, nodes))
    one = len(kinds) == 1 and issubclass(next(iter(kinds)), (int, str, date, Decimal, UUID))
    return list(map(str if one else repr, nodes))


def _of_python(label: Any) -> Any:
    """A label without types of numpy, whose names change between versions and say nothing to other programs."""
    if isinstance(label, (np.datetime64, np.timedelta64)):
        return str(label)
    if isinstance(label, np.generic):
        return label.item()
    return type(label)(map(_of_python, label)) if type(label) in (tuple, frozenset) else label


def csv_text(header: Sequence[str], columns: Sequence[Sequence[Any]]) -> str:
    """Columns as comma-separated text with a header line; texts that a spreadsheet would run get an apostrophe."""
    rows = zip(*map(_csv_cells, columns), strict=True)
    return "\n".join([*map(",".join, (_csv_cells(header), *rows)), ""])


def _csv_cells(values: Sequence[Any]) -> list[str]:
    """Cells of comma-separated text; a label that stands in many lines is looked at once."""
    if any(type(value) is not str for value in values):
        return [_csv_cell(value) for value in values]
    cells = {value: _csv_cell(value) for value in set(values)}
    return [cells[value] for value in values]


def _csv_cell(value: Any) -> str:
    text = "" if value is None else f"'{value}" if is_formula(value) else str(value)
    if not _QUOTED.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def is_formula(cell: Any) -> bool:
    """Whether a spreadsheet would run a text as a formula, which no number is."""
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False
