"""Sums over the entries of some rows of a matrix, at a cost of these entries: nothing passes over all columns.

Weights are multiples of a public step, and so is what they are multiplied with: sums are exact, in any order.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.compiled import Rows
from dpgraph.typing import FloatArray, IntArray

#: Rows of a matrix whose entries are counted at a time.
_AT_A_TIME = 2**14
#: Up to so many rows, numpy takes them in a fifth to a half of the time of scipy, which checks every index.
_FEW = 2**6


def taken(A: sparse.csr_array, rows: IntArray) -> sparse.csr_array | Rows:
    """``A[rows]``."""
    if rows.size > _FEW:
        return sparse.csr_array(A[rows])
    starts = A.indptr[rows]
    lengths = A.indptr[rows + 1] - starts
    indptr = np.zeros(rows.size + 1, dtype=A.indptr.dtype)
    np.cumsum(lengths, out=indptr[1:])
    places = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], lengths)
    return Rows(indptr, A.indices[places], A.data[places])


def products(rows: sparse.csr_array | Rows, X: NDArray[np.floating], centre: float = 0.0) -> FloatArray:
    """Product with an (n, k) array, of which `centre` is subtracted at its rows that are not zero."""
    if not centre and not isinstance(rows, Rows):
        return np.asarray(rows @ X)
    here = X[rows.indices].astype(np.float64, copy=False)
    if centre:
        here -= centre * here.any(axis=1, keepdims=True)
    if isinstance(rows, Rows):
        return _sums(here * rows.data[:, None], rows.indptr)
    places = np.arange(here.shape[0], dtype=rows.indices.dtype)
    return np.asarray(sparse.csr_array((rows.data, places, rows.indptr), (rows.shape[0], len(here))) @ here)


def _sums(terms: FloatArray, indptr: NDArray[np.integer]) -> FloatArray:
    """Sums of the terms of each row; reduceat would give a row without any the term of the next."""
    found = np.zeros((indptr.size - 1, terms.shape[1]))
    some = np.flatnonzero(np.diff(indptr))
    if some.size:
        found[some] = np.add.reduceat(terms, indptr[some])
    return found


def counts(rows: sparse.csr_array | Rows, labels: NDArray[np.integer], count: int) -> FloatArray:
    """Weight of the entries of each row in the columns of each label 0, ..., count - 1; -1 is no label."""
    number = rows.indptr.size - 1
    place = np.repeat(np.arange(number) * (count + 1) + 1, np.diff(rows.indptr))
    place += labels[rows.indices]
    found = np.bincount(place, weights=rows.data, minlength=number * (count + 1))
    return np.ascontiguousarray(found.reshape(-1, count + 1)[:, 1:])


def between(rows: sparse.csr_array, own: NDArray[np.integer], labels: NDArray[np.integer], count: int) -> FloatArray:
    """Weight of all entries by the label of the row, in `own`, and that of the column, shape (count, count)."""
    found = np.zeros(count * count)
    for first in range(0, own.size, _AT_A_TIME):
        pointers = rows.indptr[first : first + _AT_A_TIME + 1]
        here = slice(pointers[0], pointers[-1])
        place = np.repeat(own[first : first + _AT_A_TIME].astype(np.int64) * count, np.diff(pointers))
        place += labels[rows.indices[here]]
        found += np.bincount(place, weights=rows.data[here], minlength=count * count)
    return found.reshape(count, count)
