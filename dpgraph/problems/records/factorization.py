r"""Optimal factorizations of a query matrix, by alternating maximisation of the dual, with a certified gap.

**Trace norm problem.** Let a_1, ..., a_N (columns of `columns`, r x N, rank r) be the points that noise has to hide.
Gaussian noise of covariance S / mu^2 hides them at mu-GDP when a_i' S^{-1} a_i <= 1, and costs tr S / mu^2. So

    minimise tr S   over S > 0 with a_i' S^{-1} a_i <= 1.                                                     (P)

With S = A X^{-1} A', this is "minimise tr(A X^{-1} A') over X > 0, diag X <= 1" (docs/linear_queries-theory.md,
"Theorem"). Lagrangian duality (minimise tr S + tr(M S^{-1}) over S: S = M^{1/2}) gives the dual

    maximise t(p)^2 over the simplex,   t(p) = tr M^{1/2},   M = sum_i p_i a_i a_i',                          (D)

and every p certifies: with g_i = a_i' M^{-1/2} a_i, S = (max_i g_i) M^{1/2} is feasible for (P) with value
t max_i g_i, against the lower bound t^2.

**Ascent.** t(p) = max { sum_i sqrt(p_i) <a_i, q_i> : Q a contraction }, attained at the polar factor
q_i = sqrt(p_i) M^{-1/2} a_i, where <a_i, q_i> = sqrt(p_i) g_i. Maximising over Q and over p in turn therefore never
decreases t, and the best p for a fixed Q is p_i proportional to p_i g_i^2.

**Differences.** Where a record is replaced, the points to hide are all differences a_i - a_j. The weights are then a
symmetric N x N matrix P, M = 2 A (diag(P 1) - P) A' (a Laplacian), and g_ij = G_ii + G_jj - 2 G_ij with
G = A' M^{-1/2} A, so that N^2 points cost no more than products of matrices. There p_i proportional to p_i g_i^4 needs
half as many steps (two of those above at once); it is not proved to increase t, so that the best bounds seen count.

The two-sided problem (row weights too) is the factorization norm gamma_2, which brackets the hereditary discrepancy.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from dpgraph.typing import FloatArray

#: Eigenvalues of M below this share of the largest are lifted to it: the noise gets a floor in directions in which the
#: queries hardly vary, which keeps M^{-1/2} accurate and costs nothing that could be measured.
_FLOOR = 1e-14


@dataclass(frozen=True, eq=False)
class TraceFactorization:
    """Near-optimal solution of the trace problem (P) of this module."""

    #: S^{1/2}, symmetric positive definite, shape (r, r): noise `root` z, z standard normal.
    root: FloatArray
    #: tr S.
    value: float
    #: No feasible S has a smaller trace.
    lower_bound: float

    @property
    def gap(self) -> float:
        """Certified relative gap ``value / lower_bound - 1``."""
        return self.value / self.lower_bound - 1


def trace_factorization(
    columns: FloatArray, *, differences: bool = False, tol: float = 5e-3, max_iter: int = 500
) -> TraceFactorization:
    """Noise covariance of least trace that hides all columns, or all differences of two columns.

    Columns, or columns minus their mean for differences, are of rank r. `tol` is the relative gap in the trace (twice
    that in the error of an answer); where `max_iter` eigendecompositions do not reach it, the best covariance is
    returned. The problem and its dual: A. Edmonds, A. Nikolov, J. Ullman, STOC 2020; the fixed point p_i proportional
    to p_i g_i: S. Denisov et al., NeurIPS 2022, Theorem 3.2.
    """
    N = columns.shape[1]
    p = (np.ones((N, N)) - np.eye(N)) / (N * (N - 1)) if differences else np.full(N, 1.0 / N)
    best, g = _certify(columns, p)
    for _ in range(1, max_iter):
        if best.gap <= tol:
            break
        g = np.ldexp(g, -int(np.frexp(g.max())[1]))  # exactly: large powers of large units overflow
        p = p * g**2
        if differences:
            p *= g**2
        p /= p.sum()
        found, g = _certify(columns, p)
        lower = max(found.lower_bound, best.lower_bound)
        best = replace(found if found.value < best.value else best, lower_bound=lower)
    return best


def _certify(columns: FloatArray, p: FloatArray) -> tuple[TraceFactorization, FloatArray]:
    """The feasible covariance and the lower bound that weights p prove, and g = a' M^{-1/2} a for every point a."""
    differences = p.ndim == 2
    weighted = 2 * (columns * p.sum(axis=1) - columns @ p) if differences else columns * p
    eigenvalues, V = scipy.linalg.eigh(weighted @ columns.T)
    lengths = np.sqrt(np.maximum(eigenvalues, _FLOOR * eigenvalues[-1]))
    rotated = V.T @ columns
    if differences:
        products = (rotated / lengths[:, None]).T @ rotated
        squares = products.diagonal()
        g = np.maximum(squares[:, None] + squares - 2 * products, 0.0)
    else:
        g = np.einsum("ij,ij->j", rotated / lengths[:, None], rotated)
    scale = float(g.max())
    root = (V * np.sqrt(scale * lengths)) @ V.T
    # The floor enlarges t: the lower bound must use the eigenvalues of M itself.
    lower = float(np.sqrt(np.maximum(eigenvalues, 0.0)).sum()) ** 2
    return TraceFactorization(root, scale * float(lengths.sum()), lower), g


class FactorizationNorm(NamedTuple):
    """Bounds ``lower <= gamma_2(A) <= upper`` and the column weights that prove the lower one."""

    lower: float
    upper: float
    column_weights: FloatArray


def factorization_norm(A: FloatArray, *, tol: float = 1e-2) -> FactorizationNorm:
    """Factorization norm gamma_2(A): the least (longest row of B) times (longest column of C) over A = B C, not zero.

    By duality gamma_2(A) is the largest nuclear norm of D_q^{1/2} A D_p^{1/2} over distributions p on columns and q on
    rows (J. Matousek, A. Nikolov, K. Talwar, IMRN 2020); the same alternating maximisation as in the one-sided problem
    applies. It stops at a certified relative gap of `tol`, or after 300 singular value decompositions.
    """
    d, N = A.shape
    q, p = np.full(d, 1.0 / d), np.full(N, 1.0 / N)
    lower, upper = 0.0, np.inf
    for _ in range(300):
        left, singular, right = scipy.linalg.svd(np.sqrt(q)[:, None] * A * np.sqrt(p), full_matrices=False)
        total = float(singular.sum())
        rows = (left**2) @ singular  # q_j times the squared length of row j of B
        cols = singular @ right**2
        lower = max(lower, total)
        upper = min(upper, float(np.sqrt(_longest(rows, q) * _longest(cols, p))))
        if upper <= (1 + tol) * lower:
            break
        # rows sum to t, so both updates stay on the simplex; the geometric mean of the old weights and of the
        # one-sided step rows**2 / q keeps the pair from overshooting.
        q, p = rows / rows.sum(), cols / cols.sum()
    return FactorizationNorm(lower, upper, p)


def _longest(mass: FloatArray, weights: FloatArray) -> float:
    """Largest mass / weight; rows or columns of weight zero are zero rows or columns of A, of length zero."""
    positive = weights > 0
    return float((mass[positive] / weights[positive]).max())
