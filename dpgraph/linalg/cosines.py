"""Cosines of the rows of a matrix: rows of length 1, whose inner products they are."""

from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.typing import FloatArray


def unit_rows(rows: Any, lengths: FloatArray | None = None) -> Any:
    """Rows over their Euclidean lengths, exact to rounding, or over other `lengths`; a row of length 0 stays zero."""
    if lengths is None:
        rows = _scaled(rows)
        lengths = np.asarray(
            sparse.linalg.norm(rows, axis=1) if sparse.issparse(rows) else np.linalg.norm(rows, axis=1)
        )
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return sparse.diags_array(inverse) @ rows if sparse.issparse(rows) else rows * inverse[:, None]


def _scaled(rows: Any) -> Any:
    """Rows times powers of two, exactly, that bring their largest entries to 1/2 ... 1.

    Squares of entries below 1e-154 lose their digits, and a norm that is too small makes rows longer than 1, which no
    sensitivity bound covers.
    """
    if sparse.issparse(rows):
        if not rows.nnz:
            return rows
        exponents = np.frexp(abs(rows).max(axis=1).toarray().ravel())[1]
        data = np.ldexp(rows.data, -np.repeat(exponents, np.diff(rows.indptr)))
        return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
    return np.ldexp(rows, -np.frexp(np.abs(rows).max(axis=1, initial=0.0, keepdims=True))[1])
