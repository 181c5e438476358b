"""Local search among the cuts of a dense graph, or those near balance, until a time is up: two methods in turn.

Annealing from random cuts comes to good ones soonest, but for meshes, of which an evolution of multilevel cuts does. In
dense graphs better ones are found near these: by tabu search between two of them, or, near balance, by annealing the
best. Nobody can tell beforehand when: the method goes on that has spent the least time since it last found a better
cut. Where there is no limit, time is counted in operations: one seed, one cut.
"""

import math
import time
from typing import Any

import numpy as np

from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.kernels import search_past_losses
from dpgraph.sos.cut.multilevel_search import HOT, SWEEPS, WARM, Evolution, anneal_balanced
from dpgraph.sos.cut.objective import UNCOMPILED, SparseObjective
from dpgraph.sos.cut.rounding import Population, cooled
from dpgraph.sos.watch import Watch
from dpgraph.threads import deadline, on_thread, time_is_up, within
from dpgraph.typing import FloatArray

#: Of a search before the relaxation: the share of the time that is left, and how often it finds its best value again.
SHARE_OF_QUICK, REPEATS_OF_QUICK = 0.3, 10
_OFTEN = 10  # times as many searches that find the best value again, after which it is not worth the time either
_DENSE = 128  # vertices for each entry that a flip changes: more make the steps of a tabu search dear
_STEPS = 24  # of a tabu search, for each vertex
_FEWEST_SWEEPS, _LONG = 5, 2000  # of one annealed start; several shorter ones are worth more than longer ones
_SHARE_OF_FIRST = 0.03  # of the time, for the first one
_OPERATIONS, _SECONDS = 1e9, 0.5  # of a second, and these without a time limit


def found_often(count: int, repeats: float, soon: float) -> bool:
    """Whether the best value was found often enough again; before it is `soon`, too often to find another one."""
    return count >= repeats and (time.monotonic() >= soon or count >= _OFTEN * repeats)


class LocalSearch:
    """The best cuts so far, and the time that each method has spent in vain; all cuts with |sum x| <= largest."""

    def __init__(
        self, objective: SparseObjective, watch: Watch, rng: np.random.Generator, largest: int | None = None
    ) -> None:
        n, self._starts, self._sweeps = objective.n_vertices, watch.options.starts, watch.options.sweeps
        self._limited, self._work = watch.options.time_limit is not None, 0.0  # seconds of all operations
        self._most = math.inf if self._sweeps is None else self._sweeps
        self._objective, self._watch, self._rng = objective, watch, rng

        def anneal(signs: FloatArray, **given: Any) -> FloatArray:
            if largest is None:
                return cooled(objective, signs, rng, **given)
            return anneal_balanced(objective, signs, largest, rng, **given)

        self._anneal = anneal
        self.dense, bound = _is_dense(objective), n if largest is None else largest
        self._kept = Population(objective, np.empty((n, 0)), max((1 if self.dense else 2) * self._starts, 2))
        self._evolution, self._number = Evolution(objective, self._kept, bound, rng, watch), 0
        self._sweep = n * objective.flip_cost() / _OPERATIONS  # in seconds
        self._end = deadline() if self._limited else _SECONDS
        first = _SHARE_OF_FIRST * (self._end - self._now()) / self._sweep if self.dense else 0.0
        self._effort = int(np.clip(first, _FEWEST_SWEEPS, _LONG))  # sweeps times starts
        self._rate = 1e300  # of these, in a second
        other = self._warmed if largest is not None else self._past_losses
        self._vain = dict.fromkeys([self._annealed, other] if self.dense else [self._evolved, self._annealed], 0.0)
        self._takes = dict.fromkeys(self._vain, 0.0)

    def run(self, cuts: FloatArray, end: float, repeats: float = math.inf, soon: float = 0.0) -> FloatArray:
        """The best of `cuts` (n, c) and of what is found until the end, best first, or until it :func:`found_often`."""
        for cut in cuts.T:
            self._watch.found(self._kept.enter(cut))
        count, began, ready = 0, self._now(), list(self._vain)
        self._end = end if self._limited else began + _SECONDS
        while ready:
            method, before = min(ready, key=self._vain.__getitem__), self._watch.value
            with within(end - began):
                found = method()
            value = max(self._kept.enter(cut) for cut in found.T)
            self._watch.found(value)
            took, gained = self._now() - began, self._watch.value > before
            self._vain[method] = 0.0 if gained else self._vain[method] + took
            self._takes[method] = _FEWEST_SWEEPS / self._rate if method == self._annealed else took
            count = 0 if gained else count + (value == before)
            if self._watch.done() or found_often(count, repeats, soon):
                break
            began = self._now()
            ready = [method for method, takes in self._takes.items() if began + takes < self._end]
        return self._kept.in_order()

    def _now(self) -> float:
        return time.monotonic() if self._limited else self._work

    def _annealed(self) -> FloatArray:
        """Annealed from random cuts, twice as long as the last time unless there is no time for that."""
        began = self._now()
        effort = max(int(min(self._effort, self._rate * max(self._end - began, 0.0))), _FEWEST_SWEEPS)
        starts = self._starts if self.dense and effort >= _LONG else 1
        sweeps = int(min(effort // starts, self._most))
        cuts = np.where(self._rng.random((self._objective.n_vertices, starts)) < 0.5, 1.0, -1.0)
        found = self._anneal(cuts, sweeps=sweeps)
        self._work += effort * self._sweep
        self._rate = effort / max(self._now() - began, 1e-9)
        if effort == self._effort and sweeps < self._most:
            self._effort *= 2
        return found

    def _warmed(self) -> FloatArray:
        """The best cut, annealed from a random temperature."""
        self._work += (SWEEPS if self._sweeps is None else self._sweeps) * self._sweep
        return self._anneal(self._kept.in_order()[:, :1], sweeps=self._sweeps, hot=self._rng.uniform(WARM, HOT))

    def _evolved(self) -> FloatArray:
        """The next cut of the evolution."""
        self._number += 1
        return self._evolution.next(self._number - 1)[:, None]

    def _past_losses(self) -> FloatArray:
        """A tabu search from a mixture of two of the best, which has the sides of both where they agree.

        Elsewhere its sides are random (Lü, Glover, Hao 2010).
        """
        n, kept = self._objective.n_vertices, self._kept
        x = np.where(self._rng.random(n) < 0.5, 1.0, -1.0)
        if kept.values.size == kept.keep:
            one, other = kept.cuts[:, self._rng.choice(kept.keep, 2, replace=False)].T
            other = other if one @ other > 0.0 else -other
            x = np.where(one == other, one, x)
        seed = np.uint64(self._rng.integers(2**63))
        on_thread(search_past_losses, self._objective.rows, x, _STEPS * n, seed)
        self._work += 2 * _STEPS * n**2 / _OPERATIONS
        return x[:, None]


def _is_dense(objective: SparseObjective) -> bool:
    """Whether a look at all vertices costs little beside a flip."""
    return UNCOMPILED < objective.n_vertices <= _DENSE * objective.flip_cost()


def local_search(
    objective: CutObjective, watch: Watch, rng: np.random.Generator, largest: int | None = None
) -> LocalSearch | None:
    """The search of a dense graph, or, near balance and within a time limit, of any one, if there is time for it."""
    if not watch.options.local_search or not isinstance(objective, SparseObjective) or time_is_up():
        return None
    if _is_dense(objective) or (largest is not None and watch.options.time_limit is not None):
        return LocalSearch(objective, watch, rng, largest)
    return None
