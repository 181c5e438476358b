"""Quadratic cut objectives behind one interface: sparse, dense and factored.

A cut objective is a symmetric matrix M with zero diagonal; the cut x in {-1, 1}^n has the value

    1'M1/4 - x'Mx/4 = sum over pairs i < j with x_i != x_j of M_ij.

Entries may be negative. Solvers, certificates and roundings see an objective only through :class:`CutObjective`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.sos import definiteness
from dpgraph.sos.cut import kernels
from dpgraph.sos.reduction import reduce_low_degree

__all__ = [
    "CutObjective",
    "DenseObjective",
    "FactoredObjective",
    "SparseObjective",
    "on_binary_grid",
    "rounding_slack",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class CutObjective(ABC):
    """Maximise ``constant - x'Mx/4`` over x in {-1, 1}^n; relaxed: ``constant + <W, X>``, W = -M/4, X_ii = 1.

    Attributes
    ----------
    n_vertices : int
        Number of vertices n.
    constant : float
        1'M1/4 plus the value of pairs fixed by :meth:`contract`.
    integral : bool
        Whether every cut has an integer value.
    exact_sums : bool
        Whether sums of entries of M are free of rounding errors.
    slack : float
        A bound on the rounding errors of :meth:`contract` and of the sums that made M: no value of this objective is
        further from that of the objective it stands for. Every upper bound contains it.
    """

    n_vertices: int
    constant: float
    integral: bool = False
    exact_sums: bool = False
    slack: float = 0.0

    @abstractmethod
    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k)."""

    @abstractmethod
    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M, shape (n,): zero exactly at isolated vertices."""

    @abstractmethod
    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent on unit rows, in place, until one sweep gains at most `tol`.

        Returns the number of sweeps done and the gain of the last one.
        """

    @abstractmethod
    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> None:
        """Metropolis sweeps on a float array of signs, in place; temperature 0 stops at a 1-opt local optimum."""

    @abstractmethod
    def flip_cost(self) -> float:
        """Elementary operations of one trial of :meth:`anneal`, on average."""

    @abstractmethod
    def contract(self, group: IntArray, signs: FloatArray) -> CutObjective:
        """Objective on groups of vertices: x_i = signs_i z_{group_i}, with the same values up to the growth of `slack`.

        Large entries can cancel, and then the rounding errors of their sums are large beside all that is left: no
        margin relative to what is left covers them.
        """

    @abstractmethod
    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Whether Diag(diagonal) + M/4 is *proven* positive semidefinite, rounding errors included.

        False when it is not (or too close to call), None when a proof would cost too much.
        """

    def connected_groups(self, pattern: IntArray) -> IntArray:
        """Numbers 0, 1, ... of groups of vertices with equal `pattern`, split into connected parts where known."""
        return np.unique(pattern, return_inverse=True)[1].astype(np.int64)

    def reduced(self) -> tuple[CutObjective, IntArray, Callable[[FloatArray], FloatArray]]:
        """An objective on fewer vertices, their numbers, and the best extension of its cuts to all vertices.

        Values differ by a constant. Here: nothing is left out.
        """
        return self, np.arange(self.n_vertices), np.copy

    def values(self, signs: FloatArray) -> FloatArray:
        """Cut values of the columns of `signs` (n,) or (n, c)."""
        return self.constant - 0.25 * np.sum(signs * self.multiply(signs), axis=0)

    def cut_value(self, signs: FloatArray) -> float:
        """Value of one cut (n,), as exactly as the objective is known."""
        return float(self.values(signs))

    def ranks(self) -> tuple[int, int]:
        """Ranks at which the low-rank relaxation starts, and beyond which it need not be widened.

        Random sparse graphs need more than 32 from 20,000 vertices on.
        """
        n = self.n_vertices
        most = math.isqrt(2 * n) + 1
        return min(most, max(32, math.ceil(1.6 * n ** (1 / 3)))), most

    def absolute_row_sums(self) -> FloatArray:
        """Sums of the absolute entries of the rows of M, or an upper bound on them."""
        return np.sqrt(self.n_vertices) * self.row_norms()

    def vertex_weights(self) -> FloatArray:
        """Default vertex weights p of the global correlation: row norms scaled to sum 1 (uniform if M = 0)."""
        norms = self.row_norms()
        total = float(norms.sum())
        return norms / total if total > 0 else np.full(self.n_vertices, 1.0 / self.n_vertices)


class SparseObjective(CutObjective):
    """Objective of a sparse symmetric matrix with zero diagonal.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array, shape (n, n)
        Exactly symmetric, zero diagonal (as :attr:`dpgraph.graph.Graph.adjacency`).
    constant : float, optional
        Value added to ``-x'Mx/4``; 1'M1/4 by default.
    """

    def __init__(self, matrix: sparse.csr_array, constant: float | None = None) -> None:
        self.matrix = matrix.astype(np.float64).tocsr()
        self.n_vertices = int(matrix.shape[0])
        self._counts_crossing = constant is None
        self.constant = 0.25 * math.fsum(self.matrix.data) if constant is None else constant
        self.exact_sums = on_binary_grid(self.matrix.data)
        self.integral = self.exact_sums and bool(np.all(self.matrix.data == np.rint(self.matrix.data)))

    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k)."""
        return np.asarray(self.matrix @ block, dtype=np.float64)

    def cut_value(self, signs: FloatArray) -> float:
        """Correctly rounded: ``constant - x'Mx/4`` would cancel where weights are of mixed scales."""
        row = np.repeat(signs, np.diff(self.matrix.indptr))
        same = row * signs[self.matrix.indices]
        if self._counts_crossing:
            return 0.5 * math.fsum(self.matrix.data[same < 0.0])
        return math.fsum(np.append(-0.25 * self.matrix.data * same, self.constant))

    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M."""
        return np.sqrt(np.asarray((self.matrix**2).sum(axis=1), dtype=np.float64).ravel())

    def absolute_row_sums(self) -> FloatArray:
        """Sums of the absolute entries of the rows of M."""
        return np.asarray(abs(self.matrix).sum(axis=1), dtype=np.float64).ravel()

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent, O(nnz k) for a sweep."""
        A = self.matrix
        return kernels.ascend_csr(A.indptr, A.indices, A.data, vectors, sweeps, tol)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> None:
        """Metropolis sweeps, O(degree) for an accepted flip."""
        A = self.matrix
        kernels.anneal_csr(A.indptr, A.indices, A.data, signs, temperatures, tol, np.uint64(seed))

    def connected_groups(self, pattern: IntArray) -> IntArray:
        """Connected parts of the vertices with equal `pattern`."""
        entries = self.matrix.tocoo()
        row, col = entries.coords
        same = pattern[row] == pattern[col]
        inside = sparse.coo_array((np.ones(int(same.sum())), (row[same], col[same])), shape=entries.shape)
        return sparse.csgraph.connected_components(inside, directed=False)[1].astype(np.int64)

    def flip_cost(self) -> float:
        """One trial; one in ten is taken to be accepted."""
        return 1.0 + 0.1 * self.matrix.nnz / self.n_vertices

    def contract(self, group: IntArray, signs: FloatArray) -> SparseObjective:
        """Objective on groups of vertices, as a sparse matrix."""
        rows = np.arange(self.n_vertices)
        P = sparse.csr_array((signs, (rows, group)), shape=(self.n_vertices, int(group.max()) + 1))
        inner = (P.T @ self.matrix @ P).tocsr()
        constant = self.constant - 0.25 * math.fsum(inner.diagonal())
        upper = sparse.triu(inner, k=1)  # the triangles may differ by rounding errors
        symmetric = (upper + upper.T).tocsr()
        symmetric.eliminate_zeros()
        merged = SparseObjective(symmetric, constant)
        merged.slack = self.slack + _contraction_slack(self, self.matrix.data, group)
        return merged

    def reduced(self) -> tuple[CutObjective, IntArray, Callable[[FloatArray], FloatArray]]:
        """The objective without vertices of degree at most three."""
        reduction = reduce_low_degree(self.matrix)
        return SparseObjective(reduction.matrix), reduction.kept, reduction.lift

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by sparse elimination and a Cholesky factorisation of what remains."""
        return definiteness.sparse_semidefinite(self.matrix, diagonal)


class DenseObjective(CutObjective):
    """Objective of a dense symmetric matrix; its diagonal is ignored.

    Parameters
    ----------
    matrix : numpy.ndarray, shape (n, n)
    constant : float, optional
        Value added to ``-x'Mx/4``; 1'M1/4 by default.
    """

    def __init__(self, matrix: FloatArray, constant: float | None = None) -> None:
        self.matrix = np.array(matrix, dtype=np.float64, order="C")
        np.fill_diagonal(self.matrix, 0.0)
        self.n_vertices = int(matrix.shape[0])
        self.constant = 0.25 * math.fsum(self.matrix.sum(axis=1)) if constant is None else constant
        self.exact_sums = on_binary_grid(self.matrix)
        self.integral = self.exact_sums and bool(np.all(self.matrix == np.rint(self.matrix)))
        if constant is None and not self.exact_sums:  # the rows are summed in blocks of 128 terms, then pairwise
            self.slack = rounding_slack(4, float(np.abs(self.matrix).sum()))

    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k)."""
        return np.asarray(self.matrix @ block)

    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M."""
        return np.linalg.norm(self.matrix, axis=1)

    def absolute_row_sums(self) -> FloatArray:
        """Sums of the absolute entries of the rows of M."""
        return np.abs(self.matrix).sum(axis=1)

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent, O(n^2 k) for a sweep."""
        return kernels.ascend_dense(self.matrix, vectors, sweeps, tol)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> None:
        """Metropolis sweeps, O(n) for an accepted flip."""
        kernels.anneal_dense(self.matrix, signs, temperatures, tol, np.uint64(seed))

    def flip_cost(self) -> float:
        """One trial; one in ten is taken to be accepted."""
        return 1.0 + 0.1 * self.n_vertices

    def contract(self, group: IntArray, signs: FloatArray) -> DenseObjective:
        """Objective on groups of vertices, as a dense matrix."""
        P = np.zeros((self.n_vertices, int(group.max()) + 1))
        P[np.arange(self.n_vertices), group] = signs
        inner = P.T @ self.matrix @ P
        merged = DenseObjective(inner, self.constant - 0.25 * math.fsum(inner.diagonal()))
        merged.slack = self.slack + _contraction_slack(self, self.matrix, group)
        return merged

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by a Cholesky factorisation."""
        return definiteness.dense_semidefinite(self.matrix, diagonal)


class FactoredObjective(CutObjective):
    """Objective of M = U B U' with its diagonal set to zero; no n x n array is ever formed.

    Parameters
    ----------
    factor : numpy.ndarray, shape (n, r)
        U; for a private normalized adjacency, ``sqrt(degrees)[:, None] * basis``.
    core : numpy.ndarray, shape (r, r)
        B, symmetric.
    constant : float, optional
        Value added to ``-x'Mx/4``; 1'M1/4 by default.
    """

    def __init__(self, factor: FloatArray, core: FloatArray, constant: float | None = None) -> None:
        self.factor = np.ascontiguousarray(factor, dtype=np.float64)
        self.core = np.asarray(core, dtype=np.float64)
        self.core = 0.5 * (self.core + self.core.T)
        if self.factor.ndim != 2 or self.core.shape != (self.factor.shape[1],) * 2:
            raise InvalidParameterError(
                f"expected a factor (n, r) and a core (r, r); got {self.factor.shape} and {self.core.shape}"
            )
        self.n_vertices = int(self.factor.shape[0])
        self.scaled_factor = self.factor @ self.core  # U B
        self.diagonal = np.sum(self.scaled_factor * self.factor, axis=1)  # of U B U', to be taken off
        total = self.factor.sum(axis=0)
        self.constant = (
            0.25 * (float(total @ self.core @ total) - math.fsum(self.diagonal)) if constant is None else constant
        )

    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k), in O(n r k)."""
        product = self.scaled_factor @ (self.factor.T @ block)
        return product - (self.diagonal * block.T).T

    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M, in O(n r^2)."""
        gram = self.factor.T @ self.factor
        squares = np.sum((self.scaled_factor @ gram) * self.scaled_factor, axis=1) - self.diagonal**2
        return np.sqrt(np.maximum(squares, 0.0))

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Coordinate ascent that maintains U'V, O(n r k) for a sweep."""
        return kernels.ascend_factored(self.factor, self.scaled_factor, self.diagonal, vectors, sweeps, tol)

    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> None:
        """Metropolis sweeps, O(r) for a trial."""
        kernels.anneal_factored(
            self.factor, self.scaled_factor, self.diagonal, signs, temperatures, tol, np.uint64(seed)
        )

    def flip_cost(self) -> float:
        """One inner product."""
        return 1.0 + self.factor.shape[1]

    def ranks(self) -> tuple[int, int]:
        """More than r: V lies in the kernel of Diag(y) + U B U', of r dimensions at most if y > 0 in a critical point.

        A rank-deficient second-order critical point is a global optimum (Burer, Monteiro 2005).
        """
        enough = min(super().ranks()[0], max(8, 2 * self.factor.shape[1]))
        return enough, enough

    def contract(self, group: IntArray, signs: FloatArray) -> FactoredObjective:
        """Objective on groups of vertices: the rows of U are summed with their signs."""
        factor = np.zeros((int(group.max()) + 1, self.factor.shape[1]))
        np.add.at(factor, group, signs[:, None] * self.factor)
        merged = FactoredObjective(factor, self.core, 0.0)
        merged.constant = self.constant - 0.25 * (math.fsum(merged.diagonal) - math.fsum(self.diagonal))
        # U B U' is rounded by the sums of rows of U; a diagonal is a product of length r, twice, before and after.
        sums = np.abs(self.factor).sum(axis=0)
        magnitude = float(sums @ np.abs(self.core) @ sums) + abs(self.constant)
        merged.slack = self.slack + rounding_slack(2 * _largest(group) + 4 * sums.size, magnitude)
        return merged

    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Proof by the inertia of diagonal + low rank, in O(n r^2)."""
        return definiteness.factored_semidefinite(self.factor, self.core, diagonal - 0.25 * self.diagonal)


def rounding_slack(roundings: int, magnitude: float) -> float:
    """Bound on the error of a sum of terms of total size `magnitude`, each of which is rounded `roundings` times.

    The error is at most ``gamma magnitude`` with ``gamma = k u/(1 - k u)``, k the number of roundings and u = 2^-53
    (Higham 2002, Lemma 3.1). Sixteen times ``k u`` also covers the rounding of `magnitude` and of the slack itself.
    """
    return 16.0 * roundings * 2.0**-53 * magnitude


def _largest(group: IntArray) -> int:
    """Size of the largest group."""
    return int(np.bincount(group).max())


def _contraction_slack(objective: CutObjective, entries: FloatArray, group: IntArray) -> float:
    """By how much P'MP and its constant can miss the values of M, `entries` being those of M.

    With g vertices in the largest group, an entry of P'(MP) is a sum of entries of M (times signs, which is exact),
    each rounded at most 2 (g - 1) times. Their errors reach a value x'Mx/4 with a quarter of their sum. The constant
    is rounded when it is made, in the sum of the diagonal, and in the difference. Hence at most
    ``2 g u (sum |M| + |constant|)`` for g >= 2; :func:`rounding_slack` makes that 64 u for a pair. Nothing is rounded
    where nothing is merged, or where all sums are exact.
    """
    g = _largest(group)
    if g == 1 or (objective.exact_sums and on_binary_grid(np.array([objective.constant]))):
        return 0.0
    return rounding_slack(2 * g, float(np.abs(entries).sum()) + abs(objective.constant))


def on_binary_grid(numbers: FloatArray) -> bool:
    """Multiples of 2**-12 whose sums, and quarters of sums, are exact in double precision."""
    scaled = numbers * 2.0**12
    return bool(np.all(scaled == np.rint(scaled))) and float(np.abs(scaled).sum()) < 2.0**50
