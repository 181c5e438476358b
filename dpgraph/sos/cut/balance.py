"""Cut objectives with a price on imbalance, for max-bisection (Frieze, Jerrum 1997; Raghavendra, Tan 2012).

A cut x with |sum x| = s has the penalised value ``cut - penalty s^2``. The relaxation of the penalised objective plus
``penalty k^2`` therefore bounds every cut with |sum x| <= k, for every penalty >= 0: the penalty is the multiplier of
the constraint <11', X> <= k^2. Conditioning, rounding and certificates of max-cut work on it unchanged.
With another constant the same objective is the cut of a sparse matrix plus a multiple of 11', which is not filled in.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

from dpgraph.sos import definiteness
from dpgraph.sos.cut import kernels
from dpgraph.sos.cut.base import CutObjective, rounding_slack
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective
from dpgraph.typing import FloatArray, IntArray


def penalise_imbalance(objective: CutObjective, penalty: float) -> CutObjective:
    """The objective with value ``cut - penalty (sum x)^2``, penalty >= 0."""
    n = objective.n_vertices
    constant = objective.constant - penalty * n
    magnitude = abs(objective.constant) + penalty * n
    penalised: CutObjective
    if isinstance(objective, SparseObjective):
        return BalancedObjective(objective, np.ones(n), penalty)
    if isinstance(objective, DenseObjective):
        penalised = DenseObjective(objective.matrix + 4.0 * penalty, constant)
        magnitude = float(np.abs(penalised.matrix).sum()) + abs(objective.constant) + penalty * n
    elif isinstance(objective, FactoredObjective):
        core = block_diag(objective.core, 4.0 * penalty)
        penalised = FactoredObjective(np.column_stack([objective.factor, np.ones(n)]), core, constant)
    else:
        raise TypeError(f"cannot penalise the imbalance of a {type(objective).__name__}")
    penalised.slack = objective.slack + rounding_slack(2, magnitude)
    return penalised


class BalancedObjective(CutObjective):
    """Objective of the sparse matrix M + 4 penalty (u u' - diag(u^2)), M that of `base`, penalty >= 0.

    The `sizes` u are signed sums of the vertices merged into each. By default a cut is worth its cut of M less its
    price; another `constant` is added to ``-x'(M + 4 penalty (u u' - diag(u^2)))x/4`` instead. `slack` bounds the
    rounding errors of the constant so far, beyond those of `base`.
    """

    def __init__(
        self, base: SparseObjective, sizes: FloatArray, penalty: float, constant: float | None = None, slack: float = 0
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
        return kernels.ascend_sparse(self.base.rows, self.sizes, 4.0 * self.penalty, vectors, sweeps, tol)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> None:
        """Metropolis sweeps."""
        prices = np.full(temperatures.size, 4.0 * self.penalty)
        kernels.anneal_sparse(self.base.rows, self.sizes, signs, temperatures, prices, tol, np.uint64(seed))

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
        if self.n_vertices > definiteness.DENSE_LIMIT:  # M + 4 penalty u u', the diagonal included, is at least M
            return self.base.is_semidefinite(diagonal - self.penalty * u**2) or None
        dense = self.base.matrix.toarray() + 4.0 * self.penalty * np.outer(u, u)
        return definiteness.dense_semidefinite(dense, diagonal)
