"""Private arrays of numbers: what is public of them, and the one reader that makes float64 of them after the debit.

Public are the type of the container, the type of its entries where it has one (``dtype``), and its shape. A list has no
type of entries; its shape is its length, and the length of its first row. Nothing else is looked at before the debit,
so no entry is turned into a number: text, a missing value or a huge integer in one record would show in the type of the
whole.
"""

from collections.abc import Sequence
from decimal import Decimal
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

#: Types that numpy calls by these letters are read: booleans, integers, floating-point numbers, and objects.
_READ = "biufO"


def public_shape(X: Any, dimensions: int = 2) -> tuple[int, ...]:
    """Shape of a dense private array of real numbers, of `dimensions` if it is a list; no entry is looked at."""
    shape = container_shape(X, dimensions)
    _check_numbers(X)
    return shape


def container_shape(X: Any, dimensions: int = 2) -> tuple[int, ...]:
    """Shape of an array, a frame or a list, whatever its entries are; a sparse array has one too.

    A masked array is refused: libraries disagree on whether a masked entry counts, and it must not count by accident.
    """
    refuse_masked(X)
    if is_arrow(X):
        return (len(X), len(X.schema)) if hasattr(X, "schema") else (len(X),)
    # A frame of Dask has a length that is not computed yet.
    if hasattr(X, "shape") and all(isinstance(length, Integral) for length in X.shape):
        return tuple(X.shape)
    if isinstance(X, (list, tuple)):
        return (len(X), *(_length(X[0]) if X and dimensions > 1 else ()))
    advice = next((f". Pass its {name}()" for name in ("collect", "compute") if hasattr(X, name)), "")
    raise InvalidParameterError(
        f"expected an array, a frame or a list of rows; got {type(X).__module__}.{type(X).__qualname__}{advice}"
    )


def table_shape(X: Any, adjacency: str, *, numbers: bool = False) -> tuple[int, int]:
    """Numbers of rows and columns of a private table of records, whatever its entries are, or of one of `numbers`.

    Where neighbours have a record more, how many there are is private: no error tells it. A list is refused there, as
    one without any record has no columns, and would be refused alone.
    """
    if adjacency == "add-remove" and isinstance(X, (list, tuple)):
        raise InvalidParameterError(
            "adjacency='add-remove' keeps the number of records private, and a list without a record would not have "
            "columns; got a list. Pass an array or a frame"
        )
    shape = container_shape(X)
    if numbers:
        _check_numbers(X)
    if len(shape) != 2 or shape[1] < 1:
        rows = "" if adjacency == "add-remove" or not shape else shape[0]
        got = f"0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required" if len(shape) == 2 else ""
        raise InvalidParameterError(
            f"expected a table with one record a row, and columns; got {got or f'{len(shape)} dimension(s)'}. Reshape "
            "your data, with X.reshape(-1, 1) if it is a single column"
        )
    return int(shape[0]), int(shape[1])


def _check_numbers(X: Any) -> None:
    """Refuse a sparse array, and what declares entries that are no real numbers; no entry is looked at."""
    if sparse.issparse(X):
        raise InvalidParameterError("expected a dense array; got a sparse one. Pass its toarray(), if that fits")
    for dtype in _entry_types(X):
        if not _is_real(dtype):
            start = "Complex data not supported: expected" if getattr(dtype, "kind", "") == "c" else "expected"
            raise InvalidParameterError(f"{start} an array of real numbers; got entries of type {dtype}")


def refuse_masked(X: Any) -> None:
    """Raise InvalidParameterError for an array with a mask."""
    if isinstance(X.data if sparse.issparse(X) and hasattr(X, "data") else X, np.ma.MaskedArray):
        raise InvalidParameterError(
            "expected an array without a mask; got a numpy masked array. Leave the masked entries out, or fill them: "
            "X.filled(0)"
        )


def is_arrow(X: Any) -> bool:
    """Whether something is a table or a column of pyarrow."""
    return type(X).__module__.startswith("pyarrow.") and (hasattr(X, "schema") or hasattr(X, "type"))


def declared(X: Any) -> Any:
    """What has the public declaration of a container: an empty frame of polars for pyarrow, else the container."""
    if not is_arrow(X):
        return X
    arrow, pl = import_module("pyarrow"), import_module("polars")
    schema = X.schema if hasattr(X, "schema") else arrow.schema([("", X.type)])
    try:
        return pl.from_arrow(schema.empty_table())
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        raise InvalidParameterError(
            "expected columns of different names that hold numbers, texts or dates; got a table of pyarrow with others"
        ) from None


def as_frame(X: Any) -> Any:
    """After the debit: a table or a column of pyarrow as one of polars, which shares its memory; else the container."""
    return import_module("polars").from_arrow(X) if is_arrow(X) else X


def _length(row: Any) -> tuple[int, ...]:
    if hasattr(row, "shape"):
        return tuple(row.shape)[:1]
    return (len(row),) if isinstance(row, Sequence) and not isinstance(row, (str, bytes)) else ()


def _entry_types(X: Any) -> list[Any]:
    """What a container declares of its entries, for each column if it has columns."""
    types = getattr(declared(X), "dtypes", None)  # of a frame
    if types is None or getattr(X, "ndim", 2) == 1:
        return [X.dtype] if hasattr(X, "dtype") else []
    return list(types)


def _is_real(dtype: Any) -> bool:
    if (kind := getattr(dtype, "kind", None)) is not None:  # numpy, and pandas; its text and categories are no objects
        return kind in _READ and (kind != "O" or dtype == np.dtype(object))
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) in ("Boolean", "Object")
    return True  # what does not say is asked when it is read


# --- after the debit -------------------------------------------------------------------------------------------------


def read_array(X: Any, shape: tuple[int, ...]) -> FloatArray:
    """Read a private array of this public shape as float64; anything else is refused in fixed words."""
    try:
        numbers = as_numbers(np.asarray(as_frame(X)))
        masked = isinstance(X, (list, tuple)) and any(isinstance(row, np.ma.MaskedArray) for row in X)
        fits = not masked and numbers.shape == tuple(shape) and bool(np.isfinite(numbers).all())
    except MemoryError:  # says nothing of the entries
        raise
    except Exception:  # of objects of any kind, whose text may quote an entry
        fits = False
    if not fits:
        raise InvalidParameterError(
            "expected finite real numbers, as many in every row; at least one entry is something else (NaN, infinite, "
            "missing, text, complex, masked), or a row has another length. Clean the data first, and pass a numeric "
            "array"
        )
    return numbers


def as_numbers(array: NDArray[Any]) -> FloatArray:
    """An array as float64; NaN stands for what is no real number."""
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind != "O":
        return np.full(array.shape, np.nan)
    values = np.fromiter(map(_number, array.ravel().tolist()), dtype=np.float64, count=array.size)
    return values.reshape(array.shape)


def _number(value: Any) -> float:
    if not isinstance(value, (Real, Decimal, np.bool_)):
        return np.nan
    try:
        return float(value)
    except (ArithmeticError, ValueError):  # an integer beyond all doubles, a signalling NaN
        return np.nan


def is_null(name: Any) -> bool:
    """Whether something is None, or NaN, NaT or NA of pandas, which alone are not equal to themselves."""
    try:
        return name is None or not bool(name == name)
    except (TypeError, ValueError):  # NA of pandas has no truth value
        return type(name).__name__ == "NAType"
