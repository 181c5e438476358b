"""The interface of a cut objective: solvers, certificates and roundings see no more of it.

A cut objective is a symmetric matrix M with zero diagonal; the cut x in {-1, 1}^n has the value

    1'M1/4 - x'Mx/4 = sum over pairs i < j with x_i != x_j of M_ij.

Entries may be negative.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from dpgraph.typing import FloatArray, IntArray

__all__ = ["CutObjective"]


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
        return np.asarray(self.constant - 0.25 * np.sum(signs * self.multiply(signs), axis=0))

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
        return np.asarray(np.sqrt(self.n_vertices) * self.row_norms())

    def least_weight(self) -> float:
        """Least absolute entry of M above its rounding errors; infinite here, where nobody lists the entries."""
        return math.inf

    def vertex_weights(self) -> FloatArray:
        """Default vertex weights p of the global correlation: row norms scaled to sum 1 (uniform if M = 0)."""
        norms = self.row_norms()
        total = float(norms.sum())
        return norms / total if total > 0 else np.full(self.n_vertices, 1.0 / self.n_vertices)
