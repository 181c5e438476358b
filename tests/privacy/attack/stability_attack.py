"""The number of steps of the stability test, attacked directly on states and plans that public calls have met.

The theorem (:mod:`dpgraph.bounds.stability`) compares the paths of two neighbours. A neighbour's state is nowhere
worse than x(1), the worst path of G after one step, and the state of G nowhere worse than that of its neighbour. So for
every state x, and x' between x and x(1) in each coordinate, the computed D must differ by no more than the sensitivity
in the ledger. Here x(1) is integrated independently, by Runge-Kutta of order 8 with short steps.

A genome chooses a recorded plan, moves its state along its own path or a little off it, and looks at several neighbours
in a row; one more pair takes a part of the step only, another one in each coordinate.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from dpgraph.bounds import spectra
from dpgraph.exceptions import DPGraphError
from dpgraph.releases.eigenspaces import stability_test
from tests.privacy.attack.genes import Choice, Gene, Genome, Share, Whole, draw
from tests.privacy.attack.hooks import AttackSource
from tests.privacy.attack.search import Attack
from tests.privacy.attack.targets import Target
from tests.privacy.attack.trial import Comparison, run
from tests.spectral import test_exit_time

_DIRECTION = np.array([-1.0, 1.0, 1.0, 1.0])
_LINE = "steps to instability"
#: A step of the path is integrated in so many steps at least: to search, and to confirm.
_COARSE, _FINE = 4, 200
#: Plans with fewer steps have no room for a curve.
_LEAST_STEPS = 5.0
#: So many times more plans are recorded than are attacked: those with the most steps are the hardest to compute.
_SPARE = 4
#: Neighbours in a row, on one path.
_STRETCH = 3


@dataclass(frozen=True)
class Record:
    """One computation of D by a public call: function, arguments, result, and the sensitivity in the ledger."""

    function: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    steps: float | None
    sensitivity: float
    knobs: str

    @functools.cached_property
    def length(self) -> float:
        """D of the state itself."""
        return self.steps_of(self.arguments[0].array()) if self.steps is None else self.steps

    def steps_of(self, x: np.ndarray) -> float:
        """D of another state under the same plan."""
        state = type(self.arguments[0])(*x.tolist())
        return float(self.function(state, *self.arguments[1:], **self.options))

    def path(self, x: np.ndarray, times: np.ndarray, fine: int) -> np.ndarray:
        """The worst states after so many steps, shape (times, 4); at least `fine` Runge-Kutta steps in each."""
        rates = self.arguments[1]
        unit = np.where(np.isfinite(x) & (x != 0), np.abs(x), 1.0)
        finite = np.where(np.isfinite(x), x, 1.0)

        def motion(_: float, z: np.ndarray) -> np.ndarray:
            return _DIRECTION * rates.speeds(np.where(np.isfinite(x), z * unit, x)) / unit

        solved = solve_ivp(
            motion,
            (0.0, times[-1]),
            finite / unit,
            method="DOP853",
            t_eval=times,
            rtol=1e-10,
            atol=1e-13,
            max_step=1 / fine,
        )
        return np.where(np.isfinite(x), solved.y.T * unit, x)


def collect(
    target: Target, *, seed: int, records: int, trials: int = 100_000, seconds: float = math.inf
) -> list[Record]:
    """Plans and states of public calls of a function with random genes."""
    rng, found, start = np.random.default_rng(seed), [], time.process_time()
    for _ in range(trials):
        if len(found) >= _SPARE * records or time.process_time() - start > seconds:
            break
        genome = draw(target.genes, rng) | {"certificate": "stability", "n": int(rng.integers(60, 401))}
        source = AttackSource(genome["noise seed"])
        entry, more = target.arguments(genome)
        data, _ = target.inputs(genome, entry)
        arguments = {k: v for k, v in more.items() if k not in data.public}
        run(lambda s, e=entry, d=data, a=arguments, g=genome: e.call(d, rng=s, epsilon=g["epsilon"], **a), source)
        lines = [line for line in source.lines if line.name.startswith(_LINE)]
        for line, (function, (positional, options), steps) in zip(lines, source.steps, strict=False):
            if _LEAST_STEPS < steps < options.get("cap", math.inf):
                knobs = target.describe(genome)
                found.append(Record(function, positional, options, steps, line.sensitivity, knobs))
    return sorted(found, key=lambda record: -record.steps)[:records]


class DrawnPlans(Sequence[Record]):
    """Plans with stairs and cliffs, of states of all sizes, made when asked for: harder than most of public calls."""

    def __init__(self, plans: int) -> None:
        self._plans, self._made = plans, {}

    def __len__(self) -> int:
        return self._plans

    def __getitem__(self, seed: int) -> Record:
        if seed not in self._made:
            options = {"cap": stability_test._CAP, "width": stability_test._WIDTH}
            moved = spectra.stability_steps(test_exit_time.ERRORS.shift, stability_test._WIDTH)
            drawn = test_exit_time.drawn(seed)
            self._made[seed] = Record(stability_test.steps_to_exit, drawn, options, None, moved, f"drawn, seed {seed}")
        return self._made[seed]


def genes(records: Sequence[Record]) -> dict[str, Gene]:
    """Which plan, where on its path, how far off it, and how much of a step each coordinate takes."""
    return {
        "record": Whole(1, len(records)),
        "start": Share(),
        "first": Share(),
        "inside": Share(),
        "outside": Share(),
        "coherence": Share(),
        "off": Choice((0.0, 0.0, 1e-3, 0.03, 0.3)),
        **{f"part {k}": Share() for k in range(4)},
    }


@dataclass(frozen=True)
class StabilityTarget:
    """Stands where a public function stands in a search."""

    records: Sequence[Record]
    genes: dict[str, Gene]
    name: str = "stability test, directly"

    @classmethod
    def of(cls, records: Sequence[Record], **name: str) -> StabilityTarget:
        """Plans as a target."""
        return cls(records, genes(records), **name)

    def trial(self, genome: Genome) -> Comparison:
        """Largest |D(x) - D(x')| over the sensitivity in the ledger, along a stretch of a path and once beside it."""
        found = Comparison()
        try:
            ratio, error = self._ratio(genome, _COARSE)
            if ratio > 1:  # only what an accurate path confirms
                ratio = min(ratio, self._ratio(genome, _FINE)[0])
        except (DPGraphError, ArithmeticError, ValueError):
            found.status = "failed"
            return found
        found.add(f"{_LINE} (states)", ratio)
        found.add("guide: error of a whole step", error)
        return found

    def _ratio(self, genome: Genome, fine: int) -> tuple[float, float]:
        """The ratio, and how far a whole step is from costing one step: what a search can climb."""
        record = self._record(genome)
        x = record.arguments[0].array()
        off = np.array([genome["inside"], genome["outside"], genome["coherence"], 0.5])
        x = x * np.exp(genome["off"] * (2 * off - 1))
        last = max(min(record.length, 200.0), 1.0)
        first = min(genome["start"] * max(last - _STRETCH, 0.0) + genome["first"], last)
        times = first + np.arange(_STRETCH + 1)
        states = record.path(x, np.unique([0.0, *times]), fine)[-len(times) :]
        steps = np.array([record.steps_of(state) for state in states])
        part = np.array([genome[f"part {k}"] for k in range(4)])
        beside = np.where(np.isfinite(x), states[0] + part * (states[1] - states[0]), x)
        moves = [*np.abs(np.diff(steps)), abs(record.steps_of(beside) - steps[0])]
        error = float(np.abs(np.abs(np.diff(steps))[steps[1:] > 0] - 1).max(initial=0.0))
        return float(max(moves)) / record.sensitivity, error

    def describe(self, genome: Genome) -> str:
        """The public call whose plan it is, and the place on its path."""
        place = f"start {genome['start']:.6f}, first {genome['first']:.6f}, off by {genome['off']:g}"
        return f"plan of ({self._record(genome).knobs}), {place}"

    def _record(self, genome: Genome) -> Record:
        return self.records[genome["record"] - 1]


__all__ = ["Attack", "Record", "StabilityTarget", "collect"]
