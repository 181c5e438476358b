"""Proofs that a matrix Diag(t) + M/4 is positive semidefinite, rounding errors included.

All proofs follow Rump (2006): if a floating-point Cholesky factorisation of A - c I runs to completion and c bounds
its backward error, then A is positive definite. The backward error of a Cholesky (or LDL') factorisation without
pivoting is at most ``gamma tr(A)`` in norm, ``gamma = (n + 2) u/(1 - (n + 2) u)``, whatever the order of the sums,
the blocking or the elimination order (Higham 2002, Theorem 10.3, and |L||L'| <= sqrt(a_ii a_jj) entrywise).
"""

import time

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from dpgraph.compiled import Rows
from dpgraph.sos.elimination import DENSE, DENSE_SHARE, LARGEST_PIVOT_DEGREE, TOO_LARGE, eliminate_low_degree
from dpgraph.threads import deadline, time_is_up
from dpgraph.typing import FloatArray

#: Largest matrix handed to a dense Cholesky factorisation (n^3/3 operations, 8 n^2 bytes).
DENSE_LIMIT = 6000

#: A sparse matrix of up to that order is factorised as it is: that takes less than to compile an elimination.
_SMALL = 1000
#: Larger matrices with more entries in a row are not eliminated.
_LARGE, _MOST_MEAN_DEGREE = 50_000, 10
_PANEL = 256  # columns: up to that many one call of LAPACK does it
_OPERATIONS = 3e10  # cubes of the order in a second of a fast core: slower ones are stopped between panels
_UNIT_ROUNDOFF = 2.0**-53


def _shifted(diagonal: FloatArray) -> FloatArray:
    """The diagonal less a bound on the backward error; twice Rump's, which covers the rounding of the shift as well."""
    gamma = (diagonal.size + 4) * _UNIT_ROUNDOFF
    return diagonal - 2.0 * gamma / (1.0 - gamma) * float(diagonal.sum())


def there_is_time(order: float) -> bool:
    """Whether a dense factorisation may end before the time limit."""
    return bool(time.monotonic() + order**3 / _OPERATIONS <= deadline())


def _cholesky_completes(A: FloatArray) -> bool | None:
    """Factorise in place, a panel at a time: an interrupt does not wait for all of a large matrix. None: no time."""
    if not np.all(A.diagonal() > 0.0):
        return False
    if not there_is_time(len(A)):
        return None
    for first in range(0, len(A), _PANEL):
        if time_is_up():
            return None
        panel, below = slice(first, first + _PANEL), slice(first + _PANEL, None)
        A[first:, panel] -= A[first:, :first] @ A[panel, :first].T
        factor, info = lapack.dpotrf(A[panel, panel], lower=1)
        if info != 0:
            return False
        A[panel, panel] = factor
        A[below, panel] = solve_triangular(factor, A[below, panel].T, lower=True, check_finite=False).T
    return True


def dense_semidefinite(M: FloatArray, diagonal: FloatArray) -> bool | None:
    """Whether Diag(diagonal) + M/4 is proven positive semidefinite (M dense; its diagonal is ignored)."""
    if np.any(diagonal < 0.0):
        return False
    live = np.flatnonzero(np.any(M != 0.0, axis=1))  # the other vertices are 1 x 1 blocks, checked above
    if live.size > DENSE_LIMIT:
        return None
    A = 0.25 * M[np.ix_(live, live)]
    np.fill_diagonal(A, _shifted(diagonal[live]))
    return _cholesky_completes(A)


def sparse_semidefinite(M: sparse.csr_array, diagonal: FloatArray) -> bool | None:
    """Whether Diag(diagonal) + M/4 is proven positive semidefinite (M sparse).

    Vertices of low degree are eliminated in sparse arithmetic, the rest by LAPACK. None when the rest is larger than
    :data:`DENSE_LIMIT` or would be too costly to reach.
    """
    if np.any(diagonal < 0.0):
        return False
    degrees = np.diff(M.indptr)
    live = np.flatnonzero(degrees)
    if live.size == 0:
        return True
    hopeless = live.size > DENSE_LIMIT and degrees[live].min() > LARGEST_PIVOT_DEGREE
    if hopeless or (live.size > _LARGE and M.nnz > _MOST_MEAN_DEGREE * live.size):
        return None  # what elimination would say, without its copies, or after it has filled memory
    A = M if live.size == degrees.size else M[live][:, live].tocsr()
    if live.size <= _SMALL or (live.size <= DENSE_LIMIT and degrees[live].min() >= DENSE_SHARE * live.size):
        return dense_semidefinite(A.toarray(), diagonal[live])
    A = A.sorted_indices()
    rows = Rows.of(A)._replace(data=0.25 * A.data)
    outcome, rest = eliminate_low_degree(rows, _shifted(diagonal[live]), DENSE_LIMIT)
    if outcome == TOO_LARGE:
        return None
    return outcome == DENSE and _cholesky_completes(rest)


def factored_semidefinite(U: FloatArray, B: FloatArray, h: FloatArray) -> bool | None:
    """Whether Diag(h) + U B U'/4 is proven positive semidefinite, in O(n r^2).

    With the eigenvalues of B split off as signs J, U B U'/4 = F J F', Sylvester's law applied to the two Schur
    complements of [[H, F], [F', -J]] gives, n_- and n_+ counting negative and positive eigenvalues,

        n_-(H + F J F') = n_-(H) + n_+(J + F' H^{-1} F) - n_+(J).

    Eigenvalues of J + F'H^{-1}F that rounding errors could move across zero make the answer False.
    """
    live = np.any(U != 0.0, axis=1)  # the other vertices are 1 x 1 blocks
    if np.any(h[~live] < 0.0):
        return False
    U, h = U[live], h[live]
    n, r = U.shape
    eigenvalues, basis = np.linalg.eigh(B)
    scale = float(np.abs(eigenvalues).max(initial=0.0))
    if n == 0 or scale == 0.0:
        return bool(np.all(h >= 0.0))
    keep = np.abs(eigenvalues) > 4.0 * r * _UNIT_ROUNDOFF * scale
    F = 0.5 * (U @ basis[:, keep]) * np.sqrt(np.abs(eigenvalues[keep]))
    J = np.sign(eigenvalues[keep])
    # Rounding in B's decomposition, in F and in the diagonal moves the matrix by at most this much in norm.
    h = h - 32.0 * (r + 1) * _UNIT_ROUNDOFF * scale * float(np.sum(U**2))
    if np.any(h == 0.0):
        return False
    spectrum = np.linalg.eigvalsh(np.diag(J) + F.T @ (F / h[:, None]))
    products = np.abs(F).T @ (np.abs(F) / np.abs(h)[:, None])
    error = 4.0 * (n + r) * _UNIT_ROUNDOFF * (1.0 + float(np.linalg.norm(products)))
    if np.any(np.abs(spectrum) <= error):
        return False
    negative = int(np.sum(h < 0.0)) + int(np.sum(spectrum > 0.0)) - int(np.sum(J > 0.0))
    return negative == 0
