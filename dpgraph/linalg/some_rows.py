"""Sums over some rows of a matrix, at a cost of their entries: exact, in any order, of weights on their grid."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.compiled import OF_NUMPY, at_once, njit, worth_compiling
from dpgraph.typing import FloatArray, IntArray

#: Entries that a row is taken to have: whether a loop is compiled depends on public numbers.
_TYPICAL = 16.0
#: Rows of a matrix whose entries are counted at a time.
_AT_A_TIME = 2**14


class SomeRows(NamedTuple):
    """Where the entries of each row begin and end in two arrays, of columns and of weights."""

    starts: IntArray
    ends: IntArray
    columns: NDArray[np.integer]
    weights: FloatArray  # one number where all entries weigh the same

    @classmethod
    def of(cls, A: sparse.csr_array, rows: IntArray | slice = slice(None)) -> "SomeRows":
        """Those of a matrix."""
        ends = A.indptr[1:][rows].astype(np.int64, copy=False)
        return cls(A.indptr[:-1][rows].astype(np.int64, copy=False), ends, A.indices, A.data)


def row_products(rows: SomeRows, X: NDArray[np.floating], centre: float = 0.0) -> FloatArray:
    """Product with an (n, k) array, of which `centre` is subtracted at its rows that are not zero."""
    found = np.zeros((rows.starts.size, X.shape[1]))
    whole = np.ascontiguousarray(X, dtype=np.float64)
    if worth_compiling(_add_products, _TYPICAL * OF_NUMPY * found.size):
        _add_products(rows, whole, float(centre), found)
        return found
    owners, columns, weights = _entries(rows)
    near = whole[columns]
    for c in range(near.shape[1]):
        found[:, c] = np.bincount(owners, weights * near[:, c], len(found))
    if centre:
        found -= centre * np.bincount(owners, weights * near.any(axis=1), len(found))[:, None]
    return found


def row_counts(rows: SomeRows, labels: NDArray[np.integer], count: int) -> FloatArray:
    """Weight of the entries of each row in the columns of each label 0, ..., count - 1; -1 is no label."""
    size = rows.starts.size
    if worth_compiling(_add_counts, _TYPICAL * OF_NUMPY * size):
        found = np.zeros((size, count))
        _add_counts(rows, labels.astype(np.int32, copy=False), found)
        return found
    owners, columns, weights = _entries(rows)
    seen = labels[columns]
    member = seen >= 0
    counts = np.bincount((owners * count + seen)[member], (weights * member)[member], size * count)
    return np.asarray(counts, dtype=np.float64).reshape(size, count)


def _entries(rows: SomeRows) -> tuple[IntArray, NDArray[np.integer], FloatArray]:
    """The row, counted from 0, and the column of each entry of these rows, and their weights, or the one of all."""
    sizes = rows.ends - rows.starts
    owners = np.repeat(np.arange(sizes.size), sizes)
    places = np.arange(owners.size) + np.repeat(rows.starts - np.cumsum(sizes) + sizes, sizes)
    return owners, rows.columns[places], rows.weights[places] if rows.weights.size > 1 else rows.weights


def copy_rows(rows: SomeRows, places: IntArray, columns: NDArray[np.integer], weights: FloatArray) -> None:
    """Copy the entries of rows to where these places begin; weights only where there is more than one."""
    at_once(_copy, _TYPICAL * places.size)(rows, places, columns, weights)


def label_weights(
    rows: sparse.csr_array, own: NDArray[np.integer], labels: NDArray[np.integer], count: int
) -> FloatArray:
    """Weight of all entries by the label of the row, in `own`, and that of the column, shape (count, count)."""
    found = np.zeros(count * count)
    for first in range(0, own.size, _AT_A_TIME):
        pointers = rows.indptr[first : first + _AT_A_TIME + 1]
        here = slice(pointers[0], pointers[-1])
        place = np.repeat(own[first : first + _AT_A_TIME].astype(np.int64) * count, np.diff(pointers))
        place += labels[rows.indices[here]]
        found += np.bincount(place, weights=rows.data[here], minlength=count * count)
    return found.reshape(count, count)


@njit()
def _add_products(rows: SomeRows, X: FloatArray, centre: float, found: FloatArray) -> None:
    starts, ends, columns, weights = rows
    many = weights.size > 1
    for i in range(starts.size):
        for c in range(X.shape[1]):
            total = 0.0
            for k in range(starts[i], ends[i]):
                place = np.uint64(k)  # unsigned: a negative place would be looked for
                total += (weights[place] if many else weights[0]) * X[np.uint64(columns[place]), c]
            found[i, c] += total
        total = 0.0
        for k in range(starts[i], ends[i] if centre != 0.0 else starts[i]):
            for c in range(X.shape[1]):
                if X[columns[k], c] != 0.0:
                    total += weights[k] if many else weights[0]
                    break
        for c in range(X.shape[1]):
            found[i, c] -= centre * total


@njit()
def _add_counts(rows: SomeRows, labels: NDArray[np.integer], found: FloatArray) -> None:
    starts, ends, columns, weights = rows
    many = weights.size > 1
    for i in range(starts.size):
        for k in range(starts[i], ends[i]):
            place = np.uint64(k)
            label = labels[np.uint64(columns[place])]
            if label >= 0:
                found[i, label] += weights[place] if many else weights[0]


@njit()
def _copy(rows: SomeRows, places: IntArray, to_columns: NDArray[np.integer], to_weights: FloatArray) -> None:
    starts, ends, columns, weights = rows
    for i in range(starts.size):
        for k in range(starts[i], ends[i]):
            to_columns[places[i] + k - starts[i]] = columns[k]
            if to_weights.size > 1:
                to_weights[places[i] + k - starts[i]] = weights[k if weights.size > 1 else 0]
