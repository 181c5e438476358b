"""The only module of the attack that reaches into the package: what receives noise, as it receives it.

The replay (``tests/privacy/replay.py``) already sees every release. It takes the exact value from the *arguments* of a
primitive. Here it is taken from the arithmetic itself: the function that adds noise is called a second time with noise
zero, so that whatever it does to values before (rounding, clipping, coarsening) is in the recorded centre.

Touch points
------------
1. :data:`SUMS`: the functions ``f(values, noise, unit)`` that put values on a grid and add noise to them.
2. ``NoiseSource.flipped_pairs`` and ``NoiseSource.noisy_best``: laws of answers that are no sums.
3. :data:`CERTIFICATE`: the method that relies on a failure probability.
4. :data:`STEPS`: the function that computes the number of steps of the stability test.

Everything else comes through ``open_doors`` and ``RecordingSource`` of the replay. When an implementation moves, change
the lines below and nothing else of the attack.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

from dpgraph.privacy.exact_sampling import EXPONENT_BITS
from dpgraph.privacy.noise import NoiseSource
from tests.privacy import replay
from tests.privacy.replay import RecordingSource, Release, open_doors


@dataclass(frozen=True)
class Touch:
    """A function f(values, noise, unit) of the package.

    Parameters
    ----------
    module, name : str
        Where it is; the name may be that of a method.
    order : tuple of str
        Its positional arguments.
    in_steps : bool
        Whether noise counts steps of the grid (or has the unit of the values).
    """

    module: str
    name: str
    order: tuple[str, str, str]
    in_steps: bool


SUMS = (
    Touch("dpgraph.privacy.noise", "NoiseSource.on_grid", ("values", "unit", "noise"), in_steps=True),
    Touch("dpgraph.mechanisms.grid", "add_on_grid", ("values", "noise", "unit"), in_steps=False),
)
CERTIFICATE = ("dpgraph.spectral.lanczos", "Lanczos", "excludes")
STEPS = ("dpgraph.mechanisms.stability_test", "steps_to_exit")

#: Steps of the grid by which an output that was drawn on G is sought on G'.
_NEARBY = (0, -1, 1, -2, 2, -3, 3)
#: Noise beyond so many scales is never drawn (probability e**-40), and floating point is exact below so many steps.
_REACH, _EXACT_BITS, _MOST_BITS = {"Laplace": 40.0, "K-norm": 40.0}, 50, 120
_GAUSSIAN_REACH = 9.0


@dataclass(frozen=True)
class Sum:
    """Values on their way to noise: what they are with noise zero, and the function that adds noise."""

    centre: np.ndarray
    unit: float
    in_steps: bool
    add: Callable[[np.ndarray], np.ndarray]

    @property
    def steps(self) -> np.ndarray:
        """The centre in steps of the grid: whole numbers, exact also where the step is no power of two."""
        with np.errstate(all="ignore"):
            return np.rint(self.centre / self.unit)

    def probes(self, kind: str, scale: float) -> Iterator[np.ndarray]:
        """Noise of this law that is drawn with a probability above e**-40, where floating point skips integers."""
        reach = scale / self.unit * _REACH.get(kind, _GAUSSIAN_REACH)
        bits = min(int(math.log2(reach)), _MOST_BITS) if 0 < reach < math.inf else 0
        for exponent in range(_EXACT_BITS, bits + 1):
            for steps in (0, 1, 2, 3):
                noise = 2.0**exponent + steps * max(1.0, float(np.spacing(2.0**exponent)))
                for sign in (1.0, -1.0):
                    yield np.full(np.shape(self.centre), sign * noise * (1.0 if self.in_steps else self.unit))

    def attains(self, output: np.ndarray) -> bool:
        """Whether some noise gives this output, bit by bit: if not, a likelihood ratio is infinite."""
        step = 1.0 if self.in_steps else self.unit
        with np.errstate(all="ignore"):
            wanted = np.rint(output / self.unit) - self.steps
            missing = np.ones(np.shape(output), dtype=bool)
            for near in _NEARBY:
                noise = wanted + near * np.maximum(1.0, np.spacing(np.abs(wanted)))
                missing &= self.add(noise * step) != output
                if not missing.any():
                    return True
        return False


class AttackSource(RecordingSource):
    """A recording source whose exact values are what really receives noise.

    ``unattainable`` lists the releases of the forced run that no noise could have made.
    """

    def __init__(self, seed: int, replayed: AttackSource | None = None) -> None:
        super().__init__(seed, replayed=replayed)
        self.sums: list[Sum | None] = []
        self.steps: list[tuple[Any, ...]] = []
        #: Of each certificate that was relied on: the object (kept, so that its id stays its own) and its failure.
        self.failures: dict[int, tuple[Any, float]] = {}
        self.unattainable: list[int] = []
        self._last: Sum | None = None

    def saw(self, last: Sum) -> None:
        """Remember the sum that a primitive has just made."""
        self._last = last

    def release(self, kind: str, exact: Any, scale: float, output: np.ndarray, **reading: Any) -> np.ndarray:
        last, self._last = self._last, None
        self.sums.append(last)
        if last is not None:
            exact = last.centre
        released = super().release(kind, exact, scale, output, **reading)
        # An index (of a noisy maximum) is no sum: any index can be drawn in either world.
        if self._replayed is not None and last is not None and np.shape(released) == np.shape(last.centre):
            number = len(self.releases) - 1
            there = self._replayed.sums[number]
            if not last.attains(released) or self._differ(there, last, kind, scale):
                self.unattainable.append(number)
        return released

    def _differ(self, first: Sum | None, second: Sum, kind: str, scale: float) -> bool:
        """Whether an output that one world makes with some probability is impossible in the other."""
        if first is None or np.shape(first.centre) != np.shape(second.centre) or first.unit != second.unit:
            return True
        if np.array_equal(first.centre, second.centre):
            return False
        here, there = first, second
        return any(not there.attains(here.add(n)) or not here.attains(there.add(n)) for n in first.probes(kind, scale))

    def flipped_pairs(self, pairs: np.ndarray, shares: np.ndarray, count: int, exponent: int) -> np.ndarray:
        exact, answers = np.zeros(count), np.zeros(count)
        exact[pairs] = shares
        apart = self._apart()

        def primitive() -> np.ndarray:
            answers[NoiseSource.flipped_pairs(apart, pairs, shares, count, exponent)] = 1.0
            return answers

        bits = self.door("randomized response", exact, self.lines[-1].scale, primitive)
        self.releases[-1].exponent = exponent  # type: ignore[attr-defined]
        return np.flatnonzero(bits)


def open_taps(patch: pytest.MonkeyPatch) -> None:
    """Let attack sources see what receives noise, and what is relied on."""
    for touch in SUMS:
        _tap(patch, touch)
    open_doors(patch)
    _record(patch, CERTIFICATE[0], CERTIFICATE[1], CERTIFICATE[2], _saw_certificate)
    _record(patch, STEPS[0], None, STEPS[1], _saw_steps)


def _running() -> AttackSource | None:
    source = replay._running[-1] if replay._running else None
    return source if isinstance(source, AttackSource) else None


def _tap(patch: pytest.MonkeyPatch, touch: Touch) -> None:
    owner: Any = importlib.import_module(touch.module)
    *path, name = touch.name.split(".")
    for part in path:
        owner = getattr(owner, part)
    original = getattr(owner, name)

    def tapped(*arguments: Any, **options: Any) -> Any:
        instance, arguments = (arguments[:1], arguments[1:]) if path else ((), arguments)
        named = dict(zip(touch.order, arguments, strict=False)) | options
        plain = np.asarray(named["noise"]).view(np.ndarray)

        def add(noise: np.ndarray) -> np.ndarray:
            return original(*instance, **(named | {"noise": noise}))

        output = add(plain)
        source = instance[0] if instance else _running()
        if isinstance(source, AttackSource):
            source.saw(Sum(add(np.zeros(np.shape(plain))), float(named["unit"]), touch.in_steps, add))
        return output

    patch.setattr(owner, name, tapped)
    if not path:  # modules that have imported the function by its name
        replay_modules = [m for m in list(importlib.sys.modules.values()) if getattr(m, name, None) is original]
        for module in replay_modules:
            if module.__name__.startswith("dpgraph."):
                patch.setattr(module, name, tapped)


def _record(
    patch: pytest.MonkeyPatch,
    module: str,
    owner: str | None,
    name: str,
    saw: Callable[[AttackSource, Any, Any, Any], None],
) -> None:
    holder: Any = importlib.import_module(module)
    holder = getattr(holder, owner) if owner else holder
    original = getattr(holder, name)

    def recorded(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        source = _running()
        if source is not None:
            saw(source, original, (arguments, options), result)
        return result

    patch.setattr(holder, name, recorded)


def _saw_certificate(source: AttackSource, _function: Any, call: Any, _result: Any) -> None:
    (lanczos, _x, failure), _options = call
    source.failures[id(lanczos)] = (lanczos, float(failure))


def _saw_steps(source: AttackSource, function: Any, call: Any, result: float) -> None:
    source.steps.append((function, call, result))


def change_of(source: AttackSource, copy: AttackSource, number: int) -> np.ndarray:
    """How far the exact value of a release has moved: in whole steps of its grid where there is one."""
    here, there = source.sums[number], copy.sums[number]
    if here is None or there is None:
        return source.releases[number].exact - copy.releases[number].exact
    return (here.steps - there.steps) * here.unit


def response_loss(release: Release, there: Release) -> float:
    """Largest log-likelihood ratio of the answers of randomised response, over either answer, from integers.

    The exponent g of the flip probability 1 - exp(-g) is an integer; fifty digits see an epsilon of 1e-30.
    """
    with localcontext() as context:
        context.prec = 60
        stay = (-Decimal(release.exponent) / Decimal(2**EXPONENT_BITS)).exp()  # type: ignore[attr-defined]
        flip, total = 1 - stay, Decimal(0)
        for k in np.flatnonzero(release.exact != there.exact):
            one = [Decimal(float(side.exact[k])) * (stay - flip) + flip for side in (release, there)]
            total += max(abs((p / q).ln()) if p and q else Decimal("inf") for p, q in (one, [1 - p for p in one]))
        return float(total)
