"""Private records, tables and histograms: what is public of them, and how they are read."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from dpgraph.arguments import as_reals, check_memory
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.arrays import as_frame, declared, is_null, read_array, table_shape
from dpgraph.linalg.edges import check_structure
from dpgraph.linalg.parities import CHUNK
from dpgraph.typing import FloatArray, IntArray

#: Declared types of columns of polars that no 0 and 1 have.
_NO_NUMBERS = ("String", "Categorical", "List", "Array", "Struct", "Date", "Datetime", "Duration", "Time")
#: Numbers of records up to here are counted exactly in double precision.
_MOST_RECORDS = 2.0**52


@dataclass(frozen=True)
class Schema:
    """Public description of a table."""

    columns: tuple[Hashable, ...]  # labels in the order of the data; 0, 1, ... for an array
    categories: tuple[tuple[Any, ...], ...]  # values of each attribute, in the order of the axes of its tables
    rows: int  # public when neighbours replace a record, not to be shown otherwise

    @property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of values of the attributes."""
        return tuple(len(values) for values in self.categories)

    @property
    def binary(self) -> bool:
        """Whether every attribute is a 0/1 column."""
        return all(values == (0, 1) for values in self.categories)


def read_schema(data: Any, categories: Mapping[Any, Sequence[Any]] | None, adjacency: str) -> Schema:
    """Shape, labels and declared categories, which are public; no entry of the data is looked at."""
    rows, width = table_shape(data, adjacency)
    check_memory(f"a table of {width} columns", columns=(30, width))
    table = declared(data)
    columns = tuple(table.columns) if hasattr(table, "columns") else tuple(range(width))
    if len(set(columns)) < len(columns):
        raise InvalidParameterError("column labels must differ")
    if categories is not None and not isinstance(categories, Mapping):
        raise InvalidParameterError(
            f"categories must map column labels to lists of values; got {type(categories).__name__}"
        )
    listed = dict(categories or {})
    unknown = [label for label in listed if label not in columns]
    if unknown:
        raise InvalidParameterError(f"categories are declared for columns that do not exist: {unknown[:5]}")
    values = tuple(_declared_values(table, label, listed.get(label)) for label in columns)
    return Schema(columns, values, rows)


def _declared_values(data: Any, label: Any, values: Sequence[Any] | None) -> tuple[Any, ...]:
    if values is None and hasattr(data, "columns"):
        # Those of pandas.CategoricalDtype or polars.Enum. polars.Categorical collects its own from the private entries.
        dtype = data[label].dtype
        values = None if type(dtype).__name__ == "Categorical" else getattr(dtype, "categories", None)
    if values is None:
        dtype = getattr(data[label] if hasattr(data, "columns") else data, "dtype", None)
        kind = getattr(dtype, "kind", "i")
        # Of texts, periods and other things that pandas has a type of its own for.
        special = kind in "OSU" and not isinstance(dtype, np.dtype)
        if special or kind in "cmMVT" or type(dtype).__name__ in _NO_NUMBERS:
            raise InvalidParameterError(
                f"column {label!r} must hold 0 and 1, or values that are declared and public; its type is {dtype}. "
                f"Pass categories={{{label!r}: [...]}}. No budget was spent"
            )
        return (0, 1)
    try:
        found = tuple(None if is_null(value) else value for value in ([values] if isinstance(values, str) else values))
        differ = len(set(found))
    except TypeError:  # a number, or lists
        raise InvalidParameterError(
            f"categories of column {label!r} must be a list of values, such as texts or numbers; got {values!r:.60}"
        ) from None
    if differ < max(2, len(found)):
        of = f"{len(found)}, of which {differ} differ"
        raise InvalidParameterError(f"column {label!r} needs at least two categories, all different; got {of}")
    return found


def read_records(data: Any, schema: Schema) -> Iterator[IntArray]:
    """Read every entry as the number of its value, in pieces (at most 4096, n); others are refused in fixed words."""
    try:
        yield from _read_records(data, schema)
    except MemoryError:  # says nothing of the entries
        raise
    except Exception:  # of entries of any kind, whose text may quote one
        raise InvalidParameterError(
            "every column must hold 0 and 1 only, or values of its declared categories, in rows of one length; at "
            "least one entry is something else. Declare the values of a categorical column, which must be public, in "
            "categories=; None among them stands for missing values"
        ) from None


def _read_records(data: Any, schema: Schema) -> Iterator[IntArray]:
    data = table = as_frame(data)
    if scipy.sparse.issparse(data):
        check_structure(data)
        table = data.tocsr()
    elif isinstance(data, (list, tuple)):
        table = np.array(data, dtype=object)
    elif not hasattr(data, "columns"):
        table = np.asarray(data)
    if tuple(table.shape) != (schema.rows, len(schema.columns)):
        raise ValueError("rows of several lengths")
    for start in range(0, schema.rows, CHUNK):
        piece = getattr(table, "iloc", table)[start : start + CHUNK]
        piece = piece.toarray() if scipy.sparse.issparse(piece) else piece
        records = np.empty((len(piece), len(schema.columns)), dtype=np.int64)
        for g, (label, values) in enumerate(zip(schema.columns, schema.categories, strict=True)):
            column = np.asarray(piece[label] if hasattr(piece, "columns") else piece[:, g])
            records[:, g] = _binary(column) if values == (0, 1) else _categorical(column, values)
        yield records


def _binary(column: NDArray[Any]) -> IntArray:
    """Numbers, or texts of numbers."""
    numbers = as_reals(column) if column.dtype.kind in "OSU" else column.astype(np.float64, casting="same_kind")
    if not np.all((numbers == 0) | (numbers == 1)):
        raise ValueError("neither 0 nor 1")
    return numbers.astype(np.int64)


def _categorical(column: NDArray[Any], values: tuple[Any, ...]) -> IntArray:
    if column.dtype.kind in "mM":  # dates and times: in nanoseconds, numpy gives numbers for them
        unit = np.dtype(f"{column.dtype.kind}8[{'ns' if np.datetime_data(column.dtype)[0] == 'ns' else 'us'}]")
        values, column = tuple(np.array(values, dtype=unit).astype(np.int64).tolist()), column.astype(unit)
        column = column.astype(np.int64)
    number = {value: i for i, value in enumerate(values)}
    for kind in (np.float32, np.float16):  # 0.1 in a column of these is another number, which means 0.1 if no other
        rounded = [float(kind(value)) if isinstance(value, float) else value for value in values]
        if len(set(rounded)) == len(values):
            number = {value: i for i, value in enumerate(rounded)} | number
    absent = number.get(None, -1)
    codes = np.array([absent if is_null(value) else number.get(value, -1) for value in column.tolist()])
    if np.any(codes < 0):
        raise ValueError("no declared value")
    return codes.astype(np.int64)


def truncate_rows(records: IntArray, limit: int) -> IntArray:
    """Keep the first `limit` ones of every record, in column order: a rule that sees that record alone."""
    return records * (np.cumsum(records, axis=1) <= limit)


def as_histogram(x: Any, shape: tuple[int, ...]) -> FloatArray:
    """Read a histogram, with entries above 2**52 as 2**52: a cap moves no neighbour further away; a refusal tells."""
    return np.minimum(_read_histogram(x, shape), _MOST_RECORDS)


def as_counted_histogram(x: Any, shape: tuple[int, ...]) -> tuple[FloatArray, float]:
    """Read a histogram whose number of records is public, because neighbours replace a record; return both.

    The count is the exact sum, rounded once, so that it is the same number for all neighbours. Entries are not clipped:
    clipping one end of a replacement only would move neighbours apart by a column in place of a difference of columns.
    """
    histogram = _read_histogram(x, shape)
    try:
        count = math.fsum(histogram.tolist())
    except OverflowError:
        count = math.inf
    if count > _MOST_RECORDS:
        raise InvalidParameterError("the histogram must have at most 2**52 records, which floating point can count")
    return histogram, count


def _read_histogram(x: Any, shape: tuple[int, ...]) -> FloatArray:
    try:
        histogram = read_array(x, shape)
        fits = bool(np.all(histogram >= 0))
    except InvalidParameterError:
        fits = False
    if not fits:
        raise InvalidParameterError(
            "the histogram must hold finite nonnegative numbers, of records of each type; at least one entry is "
            "something else. Clean the data first, and pass a numeric array"
        )
    return histogram
