"""The best value and bound of a running solver, as they improve, and when it is to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, Self, TypeVar

from dpgraph.arguments import check_positive
from dpgraph.exceptions import InvalidParameterError
from dpgraph.progress import tqdm
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Objective, floored, is_optimal, relative_gap
from dpgraph.threads import deadline, within

_FEWEST_SWEEPS, _MOST_SWEEPS = 20, 2500  # of a search with a time limit
_MOST_PATIENT_SWEEPS = 12_500
_SHORT_SWEEPS = (20, 40, 80, 160, 320, 640, 1280)  # before a patient search without a limit

P = ParamSpec("P")
R = TypeVar("R")


def keeps_time_limit(solve: Callable[P, R]) -> Callable[P, R]:
    """A solver whose `time_limit`, a keyword, ends whatever runs in it: kernels, proofs, and reading the graph."""

    @wraps(solve)
    def timed(*args: P.args, **kwargs: P.kwargs) -> R:
        limit: Any = kwargs.get("time_limit")
        if limit is not None:
            check_positive("time_limit", limit)
        with within(limit):
            return solve(*args, **kwargs)

    return timed


class Watch:
    """Keeps the time, and calls back when the best value or the bound improves; as a context it shows a progress bar.

    The bar has one step for the relaxation, one for each seed and one for the local search.
    """

    def __init__(self, objective: Objective, options: SolverOptions, title: str) -> None:
        if options.search == "optimal":  # is what follows: dpgraph.sos.branching, dpgraph.sos.csp.search
            raise InvalidParameterError("search='optimal' is for max_cut and max_2csp with relaxation='lowrank'")
        self.objective = objective
        self.options = options
        self.value = -math.inf
        self.bound = math.inf
        self._began = time.monotonic()
        mine = math.inf if options.time_limit is None else self._began + options.time_limit
        self._deadline = min(mine, deadline())
        self._bar: Any = tqdm(total=options.seeds + 2, disable=not options.progress, desc=title, unit="stage")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def found(self, value: float = -math.inf, bound: float = math.inf) -> None:
        """Note a value that a solution has, and a bound on all solutions."""
        value, bound = max(self.value, value), max(value, min(self.bound, floored(self.objective, bound)))
        if (value, bound) == (self.value, self.bound):
            return
        self.value, self.bound = value, bound
        if self.options.callback is not None:
            self.options.callback(time.monotonic() - self._began, value, bound)

    def step(self, value: float = -math.inf, bound: float = math.inf) -> None:
        """As :meth:`found`, at the end of a stage."""
        self.found(value, bound)
        self._bar.update()

    def seed(self, bound: float) -> bool:
        """As :meth:`step`, after a seed; whether to stop."""
        self.step(bound=bound)
        return self.done()

    def until(self, share: float) -> float:
        """The time (of ``time.monotonic``) when this share of what is left will have passed."""
        now = time.monotonic()
        return now + share * max(self._deadline - now, 0.0)

    def done(self) -> bool:
        """Whether the time is up, or the gap is closed."""
        if time.monotonic() >= self._deadline or is_optimal(self.objective, self.value, self.bound):
            return True
        return relative_gap(self.value, self.bound) <= self.options.gap_tol

    def efforts(self, patient: int | None = None) -> Iterator[int | None]:
        """Annealing sweeps of the local searches in turn: without a time limit one search, of `options.sweeps`.

        A patient one, of so many sweeps, comes after short ones. With a limit they start short and double up to
        `options.sweeps`, as long as there is time.
        """
        if self._deadline == math.inf:
            for sweeps in (self.options.sweeps,) if patient is None else (*_SHORT_SWEEPS, patient):
                if self.done():
                    return
                yield sweeps
            return
        most = _MOST_SWEEPS if patient is None else _MOST_PATIENT_SWEEPS
        most = most if self.options.sweeps is None else self.options.sweeps
        effort = least = min(_FEWEST_SWEEPS, most)
        while not self.done():
            began = time.monotonic()
            yield effort
            now = time.monotonic()
            affordable = effort * (self._deadline - now) / max(now - began, 1e-9)
            if affordable < least:
                return
            effort = int(min(2 * effort, most, affordable))
