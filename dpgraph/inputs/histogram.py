"""Histograms: how the numbers of records of each type are read."""

import math
from typing import Any

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

__all__ = ["as_counted_histogram", "as_histogram"]


#: Numbers of records up to here are counted exactly in double precision.
_MOST_RECORDS = 2.0**52


def as_histogram(x: Any) -> FloatArray:
    """Read a histogram, with entries above 2**52 as 2**52.

    Raises
    ------
    InvalidParameterError
        The histogram is not numeric, finite and nonnegative.
    """
    # A cap moves no neighbour further away. A refusal would tell them apart.
    return np.minimum(_read(x), _MOST_RECORDS)


def as_counted_histogram(x: Any) -> tuple[FloatArray, float]:
    """Read a histogram whose number of records is public, because neighbours replace a record; return both.

    The count is the exact sum, rounded once, so that it is the same number for all neighbours. Entries are not clipped:
    clipping one end of a replacement only would move neighbours apart by a column in place of a difference of columns.

    Raises
    ------
    InvalidParameterError
        The histogram is not numeric, finite and nonnegative, or has more than 2**52 records.
    """
    histogram = _read(x)
    try:
        count = math.fsum(histogram.tolist())
    except OverflowError:
        count = math.inf
    if count > _MOST_RECORDS:
        raise InvalidParameterError("the histogram must have at most 2**52 records, which floating point can count")
    return histogram, count


def _read(x: Any) -> FloatArray:
    try:
        histogram = np.asarray(x)
        histogram = histogram.astype(np.float64, casting="unsafe" if histogram.dtype.kind in "OSU" else "same_kind")
    except (TypeError, ValueError) as error:
        raise InvalidParameterError("the histogram must be numeric") from error
    if not np.all(np.isfinite(histogram)) or np.any(histogram < 0):
        raise InvalidParameterError("the histogram must be finite and nonnegative: numbers of records of each type")
    return np.asarray(histogram, dtype=np.float64)
