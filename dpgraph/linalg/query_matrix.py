"""The public side of a linear-query release: the query matrix, its columns, its column space.

Nothing here is private: the matrix A (d x N) is an argument that neighbours share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray

__all__ = ["DENSE_LIMIT", "QueryMatrix", "RowSpace"]

#: Largest number of entries (d N) for which a query matrix is held as a dense array: 512 MB.
DENSE_LIMIT = 2**26

#: Columns of an operator are materialised this many at a time.
_BLOCK = 256

#: Singular values below this share of the largest one count as zero.
_RANK_TOLERANCE = 1e-12


@dataclass(frozen=True)
class RowSpace:
    """A = basis @ columns with orthonormal `basis` (d x r) and full-rank `columns` (r x N), r the rank of A."""

    basis: FloatArray
    columns: FloatArray

    @property
    def rank(self) -> int:
        """Rank r of the query matrix."""
        return int(self.columns.shape[0])


class QueryMatrix:
    """A d x N query matrix given as a dense array, a sparse array or a linear operator.

    Parameters
    ----------
    A : array_like, scipy.sparse array or matrix, or scipy.sparse.linalg.LinearOperator
        One query a row, one type of record a column.

    Raises
    ------
    InvalidParameterError
        `A` is not two-dimensional, is empty, has an entry that is not finite, or has no nonzero entry.
    """

    def __init__(self, A: Any) -> None:
        self._matrix = _as_matrix(A)
        self.shape: tuple[int, int] = (int(self._matrix.shape[0]), int(self._matrix.shape[1]))
        if min(self.shape) < 1:
            raise InvalidParameterError(f"the query matrix needs at least one row and one column; got {self.shape}")
        if not np.all(np.isfinite(self.column_norms)):
            raise InvalidParameterError("the query matrix must have finite entries; it contains NaN or infinity")
        if not np.any(self.column_norms > 0):
            raise InvalidParameterError("the query matrix is zero: there is nothing to answer")

    @property
    def fits_in_memory(self) -> bool:
        """Whether the dense matrix may be formed."""
        return self.shape[0] * self.shape[1] <= DENSE_LIMIT

    def apply(self, x: FloatArray) -> FloatArray:
        """Return A x for a vector or an N x k block."""
        return np.asarray(self._matrix @ x, dtype=np.float64)

    @cached_property
    def column_norms(self) -> FloatArray:
        """Euclidean norms of the N columns."""
        if isinstance(self._matrix, LinearOperator):
            return np.concatenate([np.linalg.norm(block, axis=0) for block in self._blocks()])
        if scipy.sparse.issparse(self._matrix):
            return np.sqrt(np.asarray(self._matrix.multiply(self._matrix).sum(axis=0), dtype=np.float64).ravel())
        return np.asarray(np.linalg.norm(self._matrix, axis=0))

    @cached_property
    def nonnegative(self) -> bool:
        """Whether no entry is negative; False for an operator, whose entries nobody lists."""
        if isinstance(self._matrix, LinearOperator):
            return False
        entries = self._matrix.data if scipy.sparse.issparse(self._matrix) else self._matrix
        return bool(np.all(entries >= 0))

    def distances(self, point: FloatArray) -> FloatArray:
        """Euclidean distances of the N columns from a point, rounded upwards."""
        if isinstance(self._matrix, LinearOperator):
            return np.concatenate([np.linalg.norm(block - point[:, None], axis=0) for block in self._blocks()])
        if scipy.sparse.issparse(self._matrix):
            squares = self.column_norms**2 + point @ point
            rounding = 8 * (self.shape[0] + 8) * 2.0**-53 * squares
            return np.asarray(np.sqrt(np.maximum(squares - 2 * (self._matrix.T @ point), 0.0) + rounding))
        return np.asarray(np.linalg.norm(self._matrix - point[:, None], axis=0))

    @cached_property
    def dense(self) -> FloatArray:
        """The matrix as a dense array.

        Raises
        ------
        InvalidParameterError
            It would have more than ``DENSE_LIMIT`` entries.
        """
        if not self.fits_in_memory:
            raise InvalidParameterError(
                f"this needs the query matrix as a dense array of at most {DENSE_LIMIT} entries; got {self.shape[0]} x "
                f"{self.shape[1]}. Use mechanism='gaussian' with sparse=False, which never forms it"
            )
        if isinstance(self._matrix, LinearOperator):
            return np.hstack(list(self._blocks()))
        return np.asarray(self._matrix.toarray() if scipy.sparse.issparse(self._matrix) else self._matrix)

    @cached_property
    def row_space(self) -> RowSpace:
        """Orthonormal basis of the column space and the coordinates of the columns in it."""
        d, N = self.shape
        # The Gram matrix would square the condition number, so the short side is reduced by an orthogonal factor.
        reduced = scipy.linalg.qr(self.dense, mode="r")[0][:N] if d > N else self.dense
        left, singular, right = scipy.linalg.svd(reduced, full_matrices=False, lapack_driver="gesdd")
        rank = int(np.count_nonzero(singular > _RANK_TOLERANCE * singular[0]))
        columns = singular[:rank, None] * right[:rank]
        basis = left[:, :rank] if d <= N else self.dense @ (right[:rank].T / singular[:rank])
        return RowSpace(np.ascontiguousarray(basis), np.ascontiguousarray(columns))

    def _blocks(self) -> Any:
        N = self.shape[1]
        for start in range(0, N, _BLOCK):
            stop = min(start + _BLOCK, N)
            unit = np.zeros((N, stop - start))
            unit[np.arange(start, stop), np.arange(stop - start)] = 1.0
            yield self.apply(unit)


def _as_matrix(A: Any) -> Any:
    if getattr(getattr(A, "dtype", None), "kind", None) == "c":
        raise InvalidParameterError("the query matrix must be real; it has complex entries")
    if isinstance(A, LinearOperator):
        return A
    if scipy.sparse.issparse(A):
        return scipy.sparse.csr_array(A, dtype=np.float64)
    try:
        matrix = np.asarray(A, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"the query matrix must be a numeric d x N array, sparse array or LinearOperator; got {type(A).__name__}"
        ) from error
    if matrix.ndim != 2:
        raise InvalidParameterError(f"the query matrix must be two-dimensional (d x N); got shape {matrix.shape}")
    return matrix
