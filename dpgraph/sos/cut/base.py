"""The interface of a cut objective: solvers, certificates and roundings see no more of it.

A cut objective is a symmetric matrix M with zero diagonal; the cut x in {-1, 1}^n has the value

    1'M1/4 - x'Mx/4 = sum over pairs i < j with x_i != x_j of M_ij.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np

from dpgraph.sos.cut.ascent import ascend_rows
from dpgraph.sos.seed_search import shares
from dpgraph.sos.units import are_whole, distinct, parts_of, size_of
from dpgraph.typing import FloatArray, IntArray

_MOST_COORDINATES = 40_000_000  # of all vectors of a relaxation: 320 MB


class CutObjective(ABC):
    """Maximise ``constant - x'Mx/4`` over x in {-1, 1}^n; relaxed: ``constant + <W, X>``, W = -M/4, X_ii = 1.

    Entries of M may be negative. The `constant` is 1'M1/4 plus the value of pairs fixed by :meth:`contract`.
    """

    n_vertices: int
    constant: float
    #: Every cut is worth a multiple of this; 0 where nobody knows.
    unit: float = 0.0
    #: Whether sums of entries of M are free of rounding errors.
    exact_sums: bool = False
    #: No value is further from that of the objective that this one stands for, by the rounding errors of
    #: :meth:`contract` and of the sums that made M. Every upper bound contains it.
    slack: float = 0.0
    #: Whether a start costs a fifth where many are annealed at once.
    side_by_side: bool = False

    @abstractmethod
    def multiply(self, block: FloatArray) -> FloatArray:
        """M times an array of shape (n,) or (n, k)."""

    def as_array(self) -> FloatArray:
        """M itself, for few vertices."""
        return self.multiply(np.eye(self.n_vertices))

    @property
    @abstractmethod
    def row_norms(self) -> FloatArray:
        """Euclidean norms of the rows of M, shape (n,): zero exactly at isolated vertices."""

    def ascend(self, vectors: FloatArray, sweeps: int, tol: float) -> tuple[int, float]:
        """Ascent on unit rows, in place, until a step gains at most `tol`: steps done, gain of the last."""
        return ascend_rows(self.multiply, vectors, sweeps, tol)

    @abstractmethod
    def anneal(self, signs: FloatArray, temperatures: FloatArray, tol: float, seed: int) -> FloatArray:
        """Copies of cuts (n,) or (n, c) after Metropolis sweeps; temperature 0 stops at a 1-opt local optimum."""

    @abstractmethod
    def flip_cost(self) -> float:
        """Elementary operations of one trial of :meth:`anneal`, on average."""

    @abstractmethod
    def contract(self, group: IntArray, signs: FloatArray) -> CutObjective:
        """Objective on groups of vertices: x_i = signs_i z_{group_i}, with the same values up to the growth of `slack`.

        Large entries can cancel: no margin relative to what is left covers the rounding errors of their sums.
        """

    @abstractmethod
    def is_semidefinite(self, diagonal: FloatArray) -> bool | None:
        """Whether Diag(diagonal) + M/4 is *proven* positive semidefinite, rounding errors included.

        False when it is not (or too close to call), None when a proof would cost too much.
        """

    def connected_groups(self, pattern: IntArray) -> IntArray:
        """Numbers 0, 1, ... of groups of vertices with equal `pattern`, split into connected parts where known."""
        return np.unique(pattern, return_inverse=True)[1].astype(np.int64)

    def reduced(self, most: int = 3) -> tuple[CutObjective, IntArray, Callable[[FloatArray], FloatArray]]:
        """An objective without vertices of degree up to `most`, where known, what is kept, the best extension of cuts.

        Extended cuts are worth the same, up to the growth of `slack`.
        """
        del most  # nothing is known here
        return self, np.arange(self.n_vertices), np.copy

    def unfrustrated(self) -> FloatArray | None:
        """Signs (n,) that meet the sum of the positive entries, if there are such, where that is easily known."""
        return None

    def values(self, signs: FloatArray) -> FloatArray:
        """Cut values of the columns of `signs` (n,) or (n, c)."""
        return np.asarray(self.constant - 0.25 * np.sum(signs * self.multiply(signs), axis=0))

    def cut_value(self, signs: FloatArray) -> float:
        """Value of one cut (n,), as exactly as the objective is known."""
        return float(self.values(signs))

    def value(self, labels: IntArray) -> float:
        """Value of the cut between labels 0 and 1."""
        return self.cut_value(np.where(labels == 1, -1.0, 1.0))

    def ranks(self) -> tuple[int, int]:
        """Ranks at which the low-rank relaxation starts, and beyond which it need not be widened."""
        n = self.n_vertices  # random sparse graphs need more than rank 32 from 20,000 vertices on
        most = min(math.isqrt(2 * n) + 1, max(32, _MOST_COORDINATES // n))
        return min(most, max(32, math.ceil(1.6 * n ** (1 / 3)))), most

    @cached_property
    def absolute_row_sums(self) -> FloatArray:
        """Sums of the absolute entries of the rows of M, or an upper bound on them."""
        return np.asarray(np.sqrt(self.n_vertices) * self.row_norms)

    def least_weight(self) -> float:
        """Least absolute entry of M above its rounding errors; infinite here, where nobody lists the entries."""
        return math.inf

    @cached_property
    def magnitude(self) -> float:
        """About what values are sums of, in absolute terms: errors of rounding are relative to it."""
        return abs(self.constant) + 0.5 * self.total_size

    @cached_property
    def total_size(self) -> float:
        """Sum of the absolute entries of M, or an upper bound on it."""
        return float(self.absolute_row_sums.sum())

    def vertex_weights(self) -> FloatArray:
        """Default vertex weights p of the global correlation: the shares of the row norms."""
        return shares(self.row_norms)


def rounding_slack(roundings: int, magnitude: float) -> float:
    """Bound on the error of a sum of terms of total size `magnitude`, each of which is rounded `roundings` times.

    The error is at most ``gamma magnitude`` with ``gamma = k u/(1 - k u)``, k the number of roundings and u = 2^-53
    (Higham 2002, Lemma 3.1). Sixteen times ``k u`` also covers the rounding of `magnitude` and of the slack itself.
    """
    return 16.0 * roundings * 2.0**-53 * magnitude


def common_divisor(numbers: FloatArray) -> float:
    """The largest number that all of `numbers`, multiples of 2**-12, are multiples of; 0 if all are 0."""
    parts = ((np.abs(part) * 2.0**12).astype(np.int64) for part in parts_of(distinct(numbers)[0]))
    return math.gcd(*(int(np.gcd.reduce(part)) for part in parts)) * 2.0**-12


def on_binary_grid(numbers: FloatArray) -> bool:
    """Multiples of 2**-12 whose sums, and quarters of sums, are exact in double precision."""
    some, count = distinct(numbers)
    return are_whole(some, 2.0**12) and count * size_of(some) < 2.0**38
