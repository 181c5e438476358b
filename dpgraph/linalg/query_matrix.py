"""The public side of a linear-query release: the query matrix A (d x N) that neighbours share, and its columns."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

from dpgraph.arguments import as_reals, check_memory
from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.edges import as_csr
from dpgraph.typing import FloatArray

#: Largest number of entries (d N) for which a query matrix is held as a dense array: 512 MB.
DENSE_LIMIT = 2**26
#: Columns of an array are taken so many entries at a time, at least so many columns: blocks that stay in the cache.
_BLOCK_ENTRIES, _LEAST_BLOCK = 2**16, 16
#: Lengths of the longest column whose square, and that of 2**-40 of it, is far from what floating point can hold.
_SMALLEST, _LARGEST = 1e-120, 1e120
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
    """A finite d x N query matrix, dense or sparse: one query a row, one type of record a column."""

    def __init__(self, A: Any) -> None:
        self._matrix = _as_matrix(A)
        self.shape: tuple[int, int] = (int(self._matrix.shape[0]), int(self._matrix.shape[1]))
        if min(self.shape) < 1:
            raise InvalidParameterError(f"the query matrix needs at least one row and one column; got {self.shape}")
        d, N = self.shape
        copies = 8 if self.fits_in_memory else 0 if scipy.sparse.issparse(self._matrix) else 3
        check_memory(f"a {d} x {N} query matrix", copies=(copies, d, N), columns=(8, N), answers=(8, d))
        if not np.all(np.isfinite(self.column_norms)):
            raise InvalidParameterError(
                "the query matrix must have finite entries, up to 1e120; it contains NaN or more"
            )
        if not np.any(self.column_norms > 0):
            raise InvalidParameterError("the query matrix is zero, or all below 1e-120: there is nothing to answer")
        if not _SMALLEST <= self.longest <= _LARGEST:
            raise InvalidParameterError(
                f"the longest column of the query matrix must have a length between 1e-120 and 1e120; got "
                f"{self.longest:.3g}. Ask the queries in other units"
            )

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
        if scipy.sparse.issparse(self._matrix):
            return np.sqrt(np.asarray(self._matrix.multiply(self._matrix).sum(axis=0), dtype=np.float64).ravel())
        return np.asarray(np.linalg.norm(self._matrix, axis=0))

    @cached_property
    def longest(self) -> float:
        """Upper bound on the Euclidean length of the longest column."""
        return float(self.column_norms.max()) * (1 + self._rounding)

    @property
    def _rounding(self) -> float:
        """Twice (d + 8) roundoffs: a computed length of d numbers is off by less than half of that, relatively."""
        return 2 * (self.shape[0] + 8) * 2.0**-53

    @cached_property
    def column_l1_norms(self) -> FloatArray:
        """Sums of the absolute values of the N columns."""
        return np.concatenate([np.asarray(abs(block).sum(axis=0)).ravel() for _, block in self.column_blocks()])

    @property
    def longest_l1(self) -> float:
        """Upper bound on the largest l1 norm of a column."""
        return float(self.column_l1_norms.max()) * (1 + self._rounding)

    @property
    def exponent(self) -> int:
        """The e for which :attr:`longest` lies in [2**(e - 1), 2**e)."""
        return math.frexp(self.longest)[1]

    @property
    def nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return bool(np.all((self._matrix.data if scipy.sparse.issparse(self._matrix) else self._matrix) >= 0))

    def distances(self, point: FloatArray) -> FloatArray:
        """Euclidean distances of the N columns from a point, rounded upwards."""
        if scipy.sparse.issparse(self._matrix):
            squares = self.column_norms**2 + point @ point
            rounding = 4 * self._rounding * squares
            return np.asarray(np.sqrt(np.maximum(squares - 2 * (self._matrix.T @ point), 0.0) + rounding))
        return np.asarray(np.linalg.norm(self._matrix - point[:, None], axis=0))

    @cached_property
    def dense(self) -> FloatArray:
        """The matrix as a dense array of at most ``DENSE_LIMIT`` entries."""
        if not self.fits_in_memory:
            raise InvalidParameterError(
                f"this needs the query matrix as a dense array of at most {DENSE_LIMIT} entries; got {self.shape[0]} x "
                f"{self.shape[1]}. Use mechanism='gaussian' with sparse=False, which never forms it"
            )
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

    def column_blocks(self) -> Iterator[tuple[slice, Any]]:
        """Ranges of columns, each with these columns as an array; a sparse matrix comes in one piece."""
        d, N = self.shape
        if scipy.sparse.issparse(self._matrix):
            yield slice(0, N), self._matrix
            return
        width = max(_LEAST_BLOCK, _BLOCK_ENTRIES // d)
        for start in range(0, N, width):
            columns = slice(start, min(start + width, N))
            yield columns, self._matrix[:, columns]


def _as_matrix(A: Any) -> Any:
    if scipy.sparse.issparse(A):
        if A.ndim != 2 or A.dtype.kind not in "biuf":
            raise InvalidParameterError(
                f"the query matrix must be two-dimensional (d x N) and hold numbers; got shape {A.shape} of {A.dtype}"
            )
        check_memory(f"a {A.shape[0]} x {A.shape[1]} query matrix", rows=(2, A.shape[0]))
        matrix = as_csr(A)
        if not matrix.has_canonical_format:  # an entry that is given in parts is their sum as computed, once
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix
    try:
        entries = np.asarray(A)
        # Of a frame numpy makes numbers of dates, and drops imaginary parts; of a masked array, its mask.
        if entries.dtype.kind not in "biufO" or isinstance(A, np.ma.MaskedArray):
            raise TypeError
        matrix = as_reals(entries)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameterError(
            "the query matrix must be a numeric d x N array or sparse array, of real numbers; got "
            f"{type(A).__name__} {getattr(A, 'dtype', '')}"
        ) from None
    if matrix.ndim != 2:
        raise InvalidParameterError(f"the query matrix must be two-dimensional (d x N); got shape {matrix.shape}")
    return matrix
