"""A 2-CSP as integer costs, which add without rounding: what elimination and the search work on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.cut.base import rounding_slack
from dpgraph.typing import FloatArray, IntArray

_BITS = 57  # of all costs together, where values have no unit
_HEADROOM = 2.0**60  # more is not moved: sums of all costs are below 2**61


@dataclass(frozen=True, eq=False)
class IntegerCosts:
    """Costs with ``value <= top - unit * cost + slack`` for every assignment; on a binary grid equal, without slack."""

    pairs: IntArray  # (m, 2)
    single: IntArray  # (n, q)
    pair: IntArray  # (m, q, q)
    constant: int
    top: float
    unit: float
    slack: float
    exact: bool  #: every assignment costs a whole number of units of the values

    @classmethod
    def of(cls, objective: CSPObjective) -> IntegerCosts:
        """Differences to the largest entries, in units of the objective or rounded down to 57 bits for their total."""
        most, entries = objective.unary.max(axis=1), objective.tables.max(axis=(1, 2), initial=-math.inf)
        single, pair = most[:, None] - objective.unary, entries[:, None, None] - objective.tables
        top = math.fsum([objective.constant, *most, *entries])
        total = math.fsum(single.max(axis=1)) + math.fsum(pair.max(axis=(1, 2), initial=0.0))
        unit, slack = objective.unit, objective.slack
        if not unit:
            unit = math.ldexp(1.0, math.frexp(total)[1] - _BITS)
            slack += rounding_slack(4, total + math.fsum(np.abs([objective.constant, *most, *entries])))
        single, pair = (np.floor(costs / unit).astype(np.int64) for costs in (single, pair))
        return cls(objective.pairs, single, pair, 0, top, unit, slack, bool(objective.unit))

    def objective(self) -> CSPObjective:
        """The same as values, up to rounding: for heuristics."""
        unit = np.float64(self.unit)
        top = self.top - self.unit * self.constant
        return CSPObjective(self.pairs, -unit * self.pair, -unit * self.single, top, self.exact * self.unit)

    def in_parts(self, shares: FloatArray, parts: int) -> IntArray:
        """Shares (2, m, q) of values that are moved from tables to labels, as costs in so many parts of the unit."""
        given = np.rint((shares.max(axis=2, initial=-math.inf, keepdims=True) - shares) * (parts / self.unit))
        return np.asarray(given if float(given.sum()) < _HEADROOM else np.zeros_like(given), dtype=np.int64)

    def moved(self, given: IntArray, parts: int) -> IntegerCosts:
        """The same in parts of the unit, once so many are moved from tables to labels.

        No cost becomes negative: what the labels or a table have in common is moved to the constant.
        """
        (u, v), single, (first, second) = self.pairs.T, parts * self.single, given
        pair = parts * self.pair - first[:, :, None] - second[:, None, :]
        np.add.at(single, u, first)
        np.add.at(single, v, second)
        least, lowest = pair.min(axis=(1, 2), initial=2**62), single.min(axis=1)
        constant = parts * self.constant + int(least.sum()) + int(lowest.sum())
        return replace(
            self, single=single - lowest[:, None], pair=pair - least[:, None, None], constant=constant,
            unit=self.unit / parts,
        )  # fmt: skip

    def conditioned(self, labels: IntArray) -> IntegerCosts:
        """Those of the variables whose label is -1, in their order, beside those that have one."""
        (u, v), free = self.pairs.T, labels < 0
        single, given = self.single.copy(), ~free
        np.add.at(single, v[given[u]], self.pair[given[u], labels[u[given[u]]]])
        np.add.at(single, u[given[v]], self.pair[given[v], :, labels[v[given[v]]]])
        inside = free[u] & free[v]
        pairs = (np.cumsum(free) - 1)[self.pairs[inside]]
        return replace(self, pairs=pairs, single=single[free], pair=self.pair[inside])

    def cost(self, labels: IntArray) -> int:
        """Cost of an assignment."""
        u, v = self.pairs.T
        single = self.single[np.arange(labels.size), labels]
        return self.constant + int(single.sum()) + int(self.pair[np.arange(len(u)), labels[u], labels[v]].sum())

    def bound(self, cost: int) -> float:
        """Nothing that costs as much or more is worth more."""
        return math.fsum([self.top, -self.unit * cost]) + self.slack
