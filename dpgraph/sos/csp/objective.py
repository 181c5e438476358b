"""What a 2-CSP solver optimises: tables on pairs, values of single labels, and a constant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.kernels import Constraints
from dpgraph.sos.cut.base import common_divisor, on_binary_grid, rounding_slack
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.seed_search import shares
from dpgraph.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class CSPObjective:
    """Maximise constant + sum_i unary[i, x_i] + sum_e tables[e, x_u, x_v] over labels x, e on the pair (u, v)."""

    pairs: IntArray  # shape (m, 2), u < v
    tables: FloatArray  # shape (m, q, q), entries of any sign
    unary: FloatArray  # shape (n, q), values of single labels
    constant: float = 0.0
    #: Every assignment is worth a multiple of this, and all sums are exact; 0 where nobody knows.
    unit: float = 0.0
    #: No value is further from that of the instance, by the rounding errors of :meth:`condition`. Every upper bound
    #: contains it: what is conditioned on can cancel, and then no margin relative to the rest covers it.
    slack: float = 0.0

    @cached_property
    def constraints(self) -> Constraints:
        """What the kernels work on."""
        ends, others = self.pairs.T.ravel(), self.pairs[:, ::-1].T.ravel()
        order = np.argsort(ends, kind="stable")
        indptr = np.searchsorted(ends[order], np.arange(self.n_variables + 1)).astype(np.int64)
        return Constraints(indptr, others[order], order % max(len(self.pairs), 1), self.tables, self.unary)

    @classmethod
    def of(cls, instance: TwoCSP) -> CSPObjective:
        """The objective of an instance."""
        tables = np.array(instance.tables)
        unary = np.zeros((instance.n_variables, instance.alphabet_size))
        unit = common_divisor(tables) if on_binary_grid(tables) else 0.0
        return cls(np.array(instance.pairs), tables, unary, 0.0, unit)

    @property
    def n_variables(self) -> int:
        """Number of variables n."""
        return int(self.unary.shape[0])

    @property
    def alphabet_size(self) -> int:
        """Number of labels q."""
        return int(self.unary.shape[1])

    @cached_property
    def trivial_bound(self) -> float:
        """Sum of the largest entries, rounded up for rounding errors."""
        parts = np.concatenate([[self.constant], self.unary.max(axis=1), self.tables.max(axis=(1, 2), initial=0.0)])
        return math.fsum(parts) + (0.0 if self.unit else 1e-15 * math.fsum(np.abs(parts)) + self.slack)

    def _rounded(self, roundings: int) -> float:
        """The slack once every number of the objective has been rounded so often in sums."""
        if self.unit:
            return self.slack
        magnitude = abs(self.constant) + float(np.abs(self.unary).sum()) + float(np.abs(self.tables).sum())
        return self.slack + rounding_slack(roundings, magnitude)

    @cached_property
    def has_label_symmetry(self) -> bool:
        """Whether adding 1 modulo q to all labels never changes the value."""
        shifted = np.roll(self.tables, 1, axis=(1, 2))
        return bool(np.array_equal(shifted, self.tables) and np.all(self.unary == self.unary[:, :1]))

    @cached_property
    def has_interchangeable_labels(self) -> bool:
        """Whether no permutation of the labels changes the value: a shift and an exchange generate all."""
        exchanged = np.arange(self.alphabet_size)
        exchanged[:2] = 1, 0
        same = np.array_equal(self.tables[:, exchanged][:, :, exchanged], self.tables)
        return bool(same and self.has_label_symmetry)

    def least_weight(self) -> float:
        """Least difference above the rounding errors that two labels in one table make."""
        tables = self.tables.reshape(len(self.pairs), self.alphabet_size**2)
        sizes = np.concatenate([np.diff(np.sort(part, axis=1)).ravel() for part in (tables, self.unary)])
        return float(np.min(sizes[sizes > self.slack], initial=math.inf))

    @cached_property
    def magnitude(self) -> float:
        """About what values are sums of, in absolute terms: errors of rounding are relative to it."""
        parts = np.abs(self.unary).max(axis=1), np.abs(self.tables).max(axis=(1, 2), initial=0.0)
        return abs(self.constant) + float(sum(part.sum() for part in parts))

    def variable_weights(self) -> FloatArray:
        """Weights p of the global correlation: the shares of :meth:`spread`."""
        return shares(self.spread())

    def spread(self) -> FloatArray:
        """How far apart the labels of each variable can be, shape (n,): root sum of squared half ranges."""
        square = (0.5 * np.ptp(self.unary, axis=1)) ** 2
        of_tables = (0.5 * np.ptp(self.tables.reshape(-1, self.alphabet_size**2), axis=1)) ** 2
        for end in (0, 1):
            np.add.at(square, self.pairs[:, end], of_tables)
        return np.asarray(np.sqrt(square))

    def value(self, labels: IntArray) -> float:
        """Value of an assignment of label positions."""
        return math.fsum([self.constant, *self._parts(labels)])

    def value_rounded_up(self, labels: IntArray) -> float:
        """The same, or the next number where rounding has made it less."""
        parts, value = [self.constant, *self._parts(labels)], self.value(labels)
        return value if math.fsum([*parts, -value]) <= 0.0 else math.nextafter(value, math.inf)

    def rounded_value(self, labels: IntArray) -> float:
        """The same in a tenth of the time, up to rounding: to compare many assignments."""
        return self.constant + float(self._parts(labels).sum())

    def _parts(self, labels: IntArray) -> FloatArray:
        u, v = self.pairs.T
        single = self.unary[np.arange(labels.size), labels]
        return np.concatenate([single, self.tables[np.arange(len(u)), labels[u], labels[v]]])

    def condition(self, i: int, a: int) -> CSPObjective:
        """Objective of the other variables, in the same order, once variable i has label a."""
        u, v = self.pairs.T
        unary = self.unary.copy()
        np.add.at(unary, v[u == i], self.tables[u == i, a, :])
        np.add.at(unary, u[v == i], self.tables[v == i, :, a])
        keep = (u != i) & (v != i)
        pairs = self.pairs[keep] - (self.pairs[keep] > i)
        constant, rest = self.constant + float(unary[i, a]), np.delete(unary, i, axis=0)  # rounded sums of two numbers
        return CSPObjective(pairs, self.tables[keep], rest, constant, self.unit, self._rounded(2))

    def signed(self) -> SparseObjective:
        """For two labels: the same values as cuts of n + 1 vertices, vertex 0 on the side of label 0.

        A linear coefficient is a sum over the constraints of a variable, so its terms are rounded that often.
        """
        T, (u, v) = self.tables, self.pairs.T
        n = self.n_variables
        linear = 0.5 * (self.unary[:, 0] - self.unary[:, 1])
        np.add.at(linear, u, 0.25 * (T[:, 0].sum(axis=1) - T[:, 1].sum(axis=1)))
        np.add.at(linear, v, 0.25 * (T[:, :, 0].sum(axis=1) - T[:, :, 1].sum(axis=1)))
        quadratic = 0.25 * (T[:, 0, 0] + T[:, 1, 1] - T[:, 0, 1] - T[:, 1, 0])
        rows = np.concatenate([np.zeros(n, dtype=np.int64), u + 1])
        columns = np.concatenate([np.arange(1, n + 1), v + 1])
        upper = sparse.coo_array((-2.0 * np.concatenate([linear, quadratic]), (rows, columns)), shape=(n + 1, n + 1))
        M = (upper + upper.T).tocsr()
        M.eliminate_zeros()
        M.sort_indices()
        constant = self.constant + 0.5 * math.fsum(self.unary.ravel()) + 0.25 * math.fsum(T.ravel())
        objective = SparseObjective(M, constant)
        objective.unit = self.unit
        objective.slack = self._rounded(8 + int(np.diff(self.constraints.indptr).max(initial=0)))
        return objective
