"""The search for the best assignment of a 2-CSP: depth-first branch and bound on what elimination has left.

Messages have moved costs between tables and labels, so that all is worth little beside a constant. A stage searches for
assignments of a cost below a limit. If there is none, the limit is a new bound, and the next stage has a larger one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from dpgraph.sos.csp.certificate import MessageProof
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.elimination import Core, reduced
from dpgraph.sos.csp.forests import move_forests
from dpgraph.sos.csp.messages import pass_messages
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels
from dpgraph.sos.csp.search_kernels import ALL, MOST_LABELS, Layout, explore
from dpgraph.sos.proofs import EliminationProof
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import is_optimal
from dpgraph.sos.watch import Watch
from dpgraph.threads import deadline, on_thread, time_is_up, within
from dpgraph.typing import IntArray

_PARTS = 256  # of a unit of the values, in which costs are moved
_HEADROOM = 2.0**57  # beyond, costs are moved in whole units
_MOST_BYTES = 2**28  # of the levels of a search: a quarter of a gigabyte
_ENTRIES_AT_ONCE = 1e7  # table entries that are copied between two looks at the clock: some hundredths of a second
_STAGES = 8
_SHARE_OF_ANNEALING = 0.1  # of the usual effort, and of the time for moves of forests
_SHARE_OF_ELIMINATION = 0.8  # of the time, at most: it ends sooner where it would not do


class ExactSearch:
    """A 2-CSP without its relaxation: elimination, messages, annealing, then branch and bound for as long as wanted.

    `labels` are the best so far, and no assignment is worth more than `bound`; if they are `alone`, no other is worth
    more than these as exact numbers, of which values are rounded.
    """

    @staticmethod
    def fits(objective: CSPObjective) -> bool:
        """Whether the levels of a search have room: n (n q + m q^2) numbers of 8 bytes."""
        n, q = objective.unary.shape
        return bool(8 * (n + 1) * (n * q + len(objective.pairs) * q * q) <= _MOST_BYTES)

    @staticmethod
    def eliminated(objective: CSPObjective) -> tuple[IntegerCosts, Core]:
        """The costs of an objective, and what elimination leaves of them: what a search begins with."""
        whole = IntegerCosts.of(objective)
        with within(_SHARE_OF_ELIMINATION * (deadline() - time.monotonic())):
            return whole, reduced(whole)

    def __init__(
        self, objective: CSPObjective, began: tuple[IntegerCosts, Core], options: SolverOptions,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self._objective, (self._whole, self._core) = objective, began
        self.alone, self._first, self._least = False, 0, 0
        self.proof: EliminationProof | MessageProof = MessageProof(objective)
        if self._core.kept.size == 0:
            self._solved()
            return
        costs, q = self._core.costs, objective.alphabet_size
        self._values = costs.objective()
        shares, first = pass_messages(self._values)
        exact = costs.exact and _PARTS * float(costs.pair.max(axis=(1, 2), initial=0).sum()) < _HEADROOM
        self._parts = _PARTS if exact else 1
        self._given = costs.in_parts(shares, self._parts)
        self._fine = costs.moved(self._given, self._parts)
        self._first = self._least = -(-self._fine.constant // self._parts)
        starts = rng.integers(q, size=(options.starts, len(costs.single)))
        starts[0] = first if options.initial is None else options.initial[self._core.kept]
        with within(_SHARE_OF_ANNEALING * (deadline() - time.monotonic())):
            starts[0] = move_forests(self._values, starts[0], rng, moves=options.sweeps, share=_SHARE_OF_ANNEALING)
        found = improve_labels(self._values, starts, rng, sweeps=options.sweeps, share=_SHARE_OF_ANNEALING)
        self.labels, self.bound = self._core.lift(found), math.inf

    def _solved(self) -> None:
        self.labels, more = self._core.best()
        others = self._whole.bound(self._whole.cost(self.labels) + more)
        self.alone = others <= self._objective.value(self.labels)
        self.bound = max(others, self._objective.value_rounded_up(self.labels))
        self.proof = EliminationProof(self._core.order)

    @property
    def gains(self) -> bool:
        """Whether the search has raised what every assignment costs at least: then it may as well go on."""
        return self._least > self._first

    def run(self, watch: Watch, *, entries: float = math.inf, deadline: float = math.inf) -> bool:
        """Search until the labels are proven, or so many table entries were copied; whether they are proven."""
        for labels, bound in self._search(entries, deadline) if self._core.kept.size else ():
            self.labels, self.bound = self._core.lift(labels), min(bound, self.bound)
            watch.found(self._objective.value(self.labels), self.bound)
            if watch.done():
                break
        value = self._objective.value(self.labels)
        watch.found(value, self.bound)
        return self.alone or is_optimal(self._objective, value, self.bound)

    def improved_by(self, labels: IntArray) -> None:
        """Start from better labels, if these are."""
        if self._objective.value(labels) > self._objective.value(self.labels):
            self.labels = self._core.lift(labels[self._core.kept])

    def _search(self, entries: float, deadline: float) -> Iterator[tuple[IntArray, float]]:
        """Labels of the core, and a bound, whenever one of them is better."""
        costs, labels = self._core.costs, self.labels[self._core.kept]
        known = costs.cost(labels)
        least, size = self._least, costs.single.size + costs.pair.size
        yield labels, costs.bound(min(least, known))
        if not self.fits(self._values):
            return
        search = _DepthFirst(self._fine, costs)
        for limit in _limits(least, known):
            search.begin(self._parts * (limit - 1) + 1 - self._fine.constant)
            while not search.done and entries > 0 and time.monotonic() < deadline and not time_is_up():
                search.go_on(int(min(entries, _ENTRIES_AT_ONCE) / size) + 1)
                entries -= _ENTRIES_AT_ONCE
            if (found := search.found()) is not None:
                self._least = costs.cost(found) if search.done else least
                yield found, costs.bound(self._least)
                return
            if not search.done:
                return
            least = self._least = limit
            yield labels, costs.bound(least)


def _limits(proven: int, known: int) -> list[int]:
    """Limits of the stages: equal steps from what every assignment is proven to cost to the cost of a known one."""
    steps = max(min(known - proven, _STAGES), 0)
    return [proven + -(-k * (known - proven) // steps) for k in range(1, steps + 1)]


class _DepthFirst:
    """The state of a search."""

    def __init__(self, fine: IntegerCosts, costs: IntegerCosts) -> None:
        (n, q), m = fine.single.shape, len(fine.pair)
        self._fine, self._costs = fine, costs
        objective = costs.objective()
        C = objective.constraints
        alike = q <= MOST_LABELS and objective.has_label_symmetry
        self._apart, self._interchangeable = 0 if alike else ALL, alike and objective.has_interchangeable_labels
        self._degree = np.diff(C.indptr)
        widest = int(self._degree.max(initial=1))
        self._layout = Layout.of(n, q, m, widest)
        self._path = np.zeros((n + 1, self._layout.size), np.int64)
        self._queue, self._at, self._found = np.zeros(2 * n + 2, np.int64), np.zeros(4, np.int64), np.full(n, -1)
        row, column = np.nonzero(np.arange(widest) < self._degree[:, None])
        self._near, self._via = np.zeros((n, widest), np.int64), np.zeros((n, widest), np.int64)
        self._near[row, column], self._via[row, column] = C.neighbour, C.number

    @property
    def done(self) -> bool:
        """Whether all assignments below the limit are known."""
        return bool(self._at[0] < 0)

    def begin(self, limit: int) -> None:
        """A search for costs below a limit."""
        n = len(self._fine.single)
        first = self._fine.pairs[:, 0]
        parts = self._fine.single, self._fine.pair, first, self._near, self._via, self._degree, np.full(n, -1)
        self._path[0] = np.concatenate([[0], *(part.ravel() for part in parts), [0, 0, self._apart]])
        self._queue[: 2 * n] = np.append(np.arange(n), np.ones(n, np.int64))
        self._queue[-2:] = 0, n
        self._limit, self._at[:] = limit, (0, limit, self._interchangeable, 0)

    def go_on(self, nodes: int) -> None:
        """Look at so many nodes."""
        self._at[3] = nodes
        on_thread(explore, self._path, self._queue, self._layout, self._at, self._found)

    def found(self) -> IntArray | None:
        """The best labels below the limit: those that the search has eliminated, beside the others."""
        if self._at[1] == self._limit:
            return None
        labels = self._found.copy()
        core = reduced(self._costs.conditioned(labels))
        if core.kept.size:  # time is up
            return None
        labels[labels < 0] = core.lift(np.empty(0, np.int64))
        return labels
