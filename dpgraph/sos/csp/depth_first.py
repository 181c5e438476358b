"""Proofs that an assignment is the best, by depth-first branch and bound: `search="optimal"` for any number of labels.

What an assignment earns is written as the most that the tables could give, minus integer costs. A stage searches for
assignments of a cost below a limit. If there is none, the limit is a new bound, and the next stage has a larger one.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.soft_consistency import Network, Path, explore
from dpgraph.sos.cut.base import rounding_slack
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.threads import deadline as deadline_of_call
from dpgraph.threads import on_thread
from dpgraph.typing import IntArray

_BITS = 57  # of all costs together, where values have no unit
_MOST_BYTES = 10**9  # of the levels of a search
_ENTRIES_AT_ONCE = 5e7  # table entries that are copied between two looks at the clock: a third of a second
_STAGES = 8


@dataclass(frozen=True, eq=False)
class IntegerCosts:
    """Costs with ``value <= top - unit * cost + slack`` for every assignment; on a binary grid equal, without slack."""

    single: IntArray  # (n, q)
    pair: IntArray  # (m, q, q)
    top: float
    unit: float
    slack: float

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
        return cls(single, pair, top, unit, slack)

    def cost(self, objective: CSPObjective, labels: IntArray) -> int:
        """Cost of an assignment."""
        u, v = objective.pairs.T
        single = self.single[np.arange(labels.size), labels]
        return sum(map(int, single)) + sum(map(int, self.pair[np.arange(len(u)), labels[u], labels[v]]))

    def bound(self, cost: int) -> float:
        """Nothing that costs as much or more is worth more."""
        return math.fsum([self.top, -self.unit * cost]) + self.slack

    def least(self, bound: float) -> int:
        """About the cost of an assignment that is worth `bound`."""
        return max(math.floor((self.top - bound) / self.unit), 0)


def prove_assignment(objective: CSPObjective, solution: Solution, options: SolverOptions, began: float) -> Solution:
    """The solution, or a better one, with a bound from the stages that ended before the time limit.

    Instances with more than 1e9 bytes of levels, n (n q + m q^2) numbers of 8, stay as they are.
    """
    n, q = objective.unary.shape
    entries = n * q + len(objective.pairs) * q * q
    if 8 * (n + 1) * entries > _MOST_BYTES:
        return solution
    deadline = min(math.inf if options.time_limit is None else began + options.time_limit, deadline_of_call())
    costs = IntegerCosts.of(objective)
    search = _DepthFirst(objective, costs, max(1, int(_ENTRIES_AT_ONCE / entries)))
    known = costs.cost(objective, solution.labels)
    stages = _limits(min(costs.least(solution.upper_bound), known), known)
    with tqdm(total=len(stages), disable=not options.progress, desc="branch and bound", unit="stage") as bar:
        for limit in stages:
            cost, labels, done = search.below(limit, deadline)
            bound = costs.bound(cost) if done else math.inf
            after = solution.improved(objective, solution.labels if labels is None else labels, bound)
            if options.callback and (after.value, after.upper_bound) != (solution.value, solution.upper_bound):
                options.callback(time.monotonic() - began, after.value, after.upper_bound)
            solution = after
            bar.update()
            if not done or labels is not None or solution.status == "optimal" or solution.gap <= options.gap_tol:
                break
    return solution


def _limits(proven: int, known: int) -> list[int]:
    """Limits of the stages: equal steps from what every assignment is proven to cost to the cost of a known one."""
    steps = min(known - proven, _STAGES)
    return [proven + -(-k * (known - proven) // steps) for k in range(1, steps + 1)]


class _DepthFirst:
    """A search for assignments of small cost."""

    def __init__(self, objective: CSPObjective, costs: IntegerCosts, nodes: int) -> None:
        (n, q), m = costs.single.shape, len(costs.pair)
        C = objective.constraints
        spans = costs.pair.max(axis=(1, 2), initial=0).astype(np.float64)
        self._network = Network(C.indptr, C.neighbour, C.number, spans / max(float(spans.max(initial=0.0)), 1.0))
        self._costs, self._nodes = costs, nodes
        self._symmetric, self._interchangeable = objective.has_label_symmetry, objective.has_interchangeable_labels
        self._path = Path(
            least=np.zeros(n + 1, dtype=np.int64), single=np.empty((n + 1, n, q), dtype=np.int64),
            pair=np.empty((n + 1, m, q, q), dtype=np.int64), variable=np.zeros(n + 1, dtype=np.int64),
            usable=np.zeros(n + 1, dtype=np.int64), assigned=np.zeros(n, dtype=np.bool_),
            labels=np.zeros(n, dtype=np.int64), depth=np.zeros(1, dtype=np.int64),
        )  # fmt: skip

    def below(self, limit: int, deadline: float) -> tuple[int, IntArray | None, bool]:
        """The least cost below a limit with its assignment, or the limit and None; whether that is proven."""
        path, found = self._path, np.full(len(self._costs.single), -1)
        path.single[0], path.pair[0] = self._costs.single, self._costs.pair
        path.least[0], path.variable[0], path.depth[0] = 0, -1, 0
        path.assigned[:] = False
        path.usable[0] = 0 if self._symmetric else self._costs.single.shape[1]
        while path.depth[0] >= 0 and time.monotonic() < deadline:
            limit = on_thread(explore, self._network, path, self._interchangeable, limit, found, self._nodes)
        return limit, (found if found[0] >= 0 else None), bool(path.depth[0] < 0)
