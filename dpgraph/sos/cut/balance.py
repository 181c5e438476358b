"""Cut objectives with a price on imbalance, for max-bisection.

A cut x with |sum x| = s has the penalised value ``cut - penalty s^2``. The relaxation of the penalised objective plus
``penalty k^2`` therefore bounds every cut with |sum x| <= k, for every penalty >= 0: the penalty is the multiplier of
the constraint <11', X> <= k^2. Conditioning, rounding and certificates of max-cut work on it unchanged.

With another constant the same objective is the cut of a sparse matrix plus a multiple of 11', which is not filled in.

References
----------
A. Frieze, M. Jerrum, Improved approximation algorithms for MAX k-CUT and MAX BISECTION, Algorithmica 18 (1997).
P. Raghavendra, N. Tan, Approximating CSPs with global cardinality constraints using SDP hierarchies, SODA 2012.
"""

from __future__ import annotations

import numpy as np

from dpgraph.compiled import njit
from dpgraph.sos import definiteness
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.kernels import move_row
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective
from dpgraph.sos.kernels import REORDER, Rows, accept
from dpgraph.sos.rounding_errors import rounding_slack
from dpgraph.typing import FloatArray, IntArray

__all__ = ["BalancedObjective", "penalise_imbalance"]


def penalise_imbalance(objective: CutObjective, penalty: float) -> CutObjective:
    """The objective with value ``cut - penalty (sum x)^2``, penalty >= 0."""
    n = objective.n_vertices
    constant = objective.constant - penalty * n
    if isinstance(objective, DenseObjective):
        dense = DenseObjective(objective.matrix + 4.0 * penalty, constant)
        magnitude = float(np.abs(dense.matrix).sum()) + abs(objective.constant) + penalty * n
        dense.slack = objective.slack + rounding_slack(2, magnitude)
        return dense
    if isinstance(objective, FactoredObjective):
        r = objective.core.shape[0]
        core = np.zeros((r + 1, r + 1))
        core[:r, :r] = objective.core
        core[r, r] = 4.0 * penalty
        factored = FactoredObjective(np.column_stack([objective.factor, np.ones(n)]), core, constant)
        factored.slack = objective.slack + rounding_slack(2, abs(objective.constant) + penalty * n)
        return factored
    if not isinstance(objective, SparseObjective):
        raise TypeError(f"cannot penalise the imbalance of a {type(objective).__name__}")
    return BalancedObjective(objective, np.ones(n), penalty)


class BalancedObjective(CutObjective):
    """Objective of the sparse matrix M + 4 penalty (u u' - diag(u^2)), M that of `base`, penalty >= 0.

    The `sizes` u are signed sums of the vertices merged into each. By default a cut is worth its cut of M less its
    price; another `constant` is added to ``-x'(M + 4 penalty (u u' - diag(u^2)))x/4`` instead. `slack` bounds the
    rounding errors of the constant so far, beyond those of `base`.
    """

    def __init__(
        self,
        base: SparseObjective,
        sizes: FloatArray,
        penalty: float,
        constant: float | None = None,
        slack: float = 0.0,
    ) -> None:
        self.base = base
        self.sizes = sizes
        self.penalty = penalty
        self.n_vertices = base.n_vertices
        self.constant = base.constant - penalty * float(sizes @ sizes) if constant is None else constant
        # Sizes are whole numbers, hence exact; the constants, and M + 4 penalty u u' in a proof, are rounded.
        magnitude = abs(self.constant) + abs(base.constant) + 4.0 * penalty * float(np.abs(sizes).sum()) ** 2
        self.slack = base.slack + slack + rounding_slack(4, magnitude + float(np.abs(base.matrix.data).sum()))

    def multiply(self, block: FloatArray) -> FloatArray:
        """Product in O(nnz k)."""
        total = (self.sizes @ block) - (self.sizes * block.T).T
        return self.base.multiply(block) + 4.0 * self.penalty * (self.sizes * total.T).T

    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows."""
        u, c = self.sizes, 4.0 * self.penalty
        cross = 2.0 * c * u * self.base.multiply(u)
        square = self.base.row_norms() ** 2 + cross + c**2 * u**2 * (u @ u - u**2)
        return np.sqrt(np.maximum(square, 0.0))

    def absolute_row_sums(self) -> FloatArray:
        """An upper bound on the sums of the absolute entries of the rows."""
        u = np.abs(self.sizes)
        return np.asarray(self.base.absolute_row_sums() + 4.0 * self.penalty * u * (u.sum() - u))

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent that maintains u'V."""
        return _ascend(self.base.rows, self.sizes, 4.0 * self.penalty, vectors, sweeps, tol)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> None:
        """Metropolis sweeps with the penalty as given."""
        self.anneal_penalties(signs, temperatures, np.full(temperatures.size, self.penalty), tol, seed)

    def anneal_penalties(
        self, signs: FloatArray, temperatures: FloatArray, penalties: FloatArray, tol: float, seed: int
    ) -> None:
        """Metropolis sweeps with another penalty for each."""
        _anneal(self.base.rows, self.sizes, signs, temperatures, 4.0 * penalties, tol, np.uint64(seed))

    def flip_cost(self) -> float:
        """As without the penalty."""
        return self.base.flip_cost()

    def contract(self, group: IntArray, signs: FloatArray) -> BalancedObjective:
        """Objective on groups of vertices; sizes are summed with their signs."""
        sizes = np.bincount(group, weights=signs * self.sizes).astype(np.float64)
        base = self.base.contract(group, signs)
        merged = self.penalty * float(self.sizes @ self.sizes - sizes @ sizes)  # pairs inside groups are fixed
        constant = self.constant + base.constant - self.base.constant + merged
        return BalancedObjective(base, sizes, self.penalty, constant, self.slack - self.base.slack)

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by a dense Cholesky factorisation, or, for large matrices, without the help of the penalty."""
        u = self.sizes
        without = diagonal - self.penalty * u**2  # M + 4 penalty u u', the diagonal included, is at least M
        if self.n_vertices > definiteness.DENSE_LIMIT:
            return self.base.is_semidefinite(without) or None
        dense = self.base.matrix.toarray() + 4.0 * self.penalty * np.outer(u, u)
        return definiteness.dense_semidefinite(dense, diagonal)


@njit(fastmath=REORDER)
def _ascend(rows: Rows, u: FloatArray, c: float, V: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
    """Over-relaxed coordinate ascent on M + c (u u' - diag), as :func:`dpgraph.sos.cut.kernels.ascend_csr`."""
    indptr, indices, data = rows
    n, k = V.shape
    g = np.empty(k)
    old = np.empty(k)
    gain = 0.0
    for sweep in range(sweeps):
        total = np.dot(u, V)  # afresh in every sweep, so that rounding errors do not pile up
        gain = 0.0
        for i in range(n):
            for z in range(k):
                old[z] = V[i, z]
                g[z] = -c * u[i] * (total[z] - u[i] * V[i, z])
            for p in range(indptr[i], indptr[i + 1]):
                a = data[p]
                j = indices[p]
                for z in range(k):
                    g[z] -= a * V[j, z]
            gain += move_row(V, i, g)
            for z in range(k):
                total[z] += u[i] * (V[i, z] - old[z])
        if gain <= tol:
            return sweep + 1, gain
    return sweeps, gain


@njit(nogil=True)
def _anneal(
    rows: Rows, u: FloatArray, x: FloatArray, temperatures: FloatArray, prices: FloatArray, tol: float, seed: np.uint64
) -> None:
    """Metropolis annealing on M + c (u u' - diag), one temperature and one price c for each sweep."""
    indptr, indices, data = rows
    n = x.size
    state = np.array([seed], dtype=np.uint64)
    field = np.zeros(n)
    total = 0.0
    for i in range(n):
        total += u[i] * x[i]
        for p in range(indptr[i], indptr[i + 1]):
            field[i] += data[p] * x[indices[p]]
    for t in range(temperatures.size):
        flips = 0
        for i in range(n):
            gain = x[i] * (field[i] + prices[t] * u[i] * (total - u[i] * x[i]))
            if accept(gain, temperatures[t], tol, state):
                x[i] = -x[i]
                step = 2.0 * x[i]
                total += u[i] * step
                for p in range(indptr[i], indptr[i + 1]):
                    field[indices[p]] += data[p] * step
                flips += 1
        if flips == 0 and temperatures[t] == 0.0:
            return
