"""The only module of the attack that reaches into the package: what receives noise, as it receives it.

The replay (``tests/privacy/replay.py``) already sees every release. It takes the exact value from the *arguments* of a
primitive. Here it is checked against the arithmetic. The function that adds noise is called a second time with noise
zero, so that whatever it does to values before (rounding, clipping, coarsening) is in the recorded centre. Only where
the sum proves to be one that costs nothing (:mod:`dpgraph.privacy.grid`: one rounding of values + real noise, or a
coin with exactly the right probability) what receives noise are the values themselves.

Touch points
------------
1. :data:`SUMS`: the functions ``f(values, noise, unit)`` that put values on a grid and add noise to them.
2. ``NoiseSource._laplace`` and :data:`COINS`: draws of discrete Laplace noise, and coins.
3. ``NoiseSource.flipped_pairs`` and ``NoiseSource.noisy_best``: laws of answers that are no sums.
4. :data:`CERTIFICATE`: the function that relies on a failure probability.
5. :data:`STEPS`: the function that computes the number of steps of the stability test.

Everything else comes through ``open_doors`` and ``RecordingSource`` of the replay. When an implementation moves, change
the lines below and nothing else of the attack.
"""

from __future__ import annotations

import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpgraph.linalg import eigen
from dpgraph.privacy.exact_sampling import EXPONENT_BITS
from tests.privacy import replay
from tests.privacy.attack import laws
from tests.privacy.replay import RecordingSource, Release, last_hull, open_doors


@dataclass(frozen=True)
class Touch:
    """A function f(values, noise, unit) of the package.

    Parameters
    ----------
    module, name : str
        Where it is.
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
    Touch("dpgraph.privacy.grid", "sum_on_grid", ("values", "noise", "unit"), in_steps=True),
    Touch("dpgraph.privacy.grid", "add_on_grid", ("values", "noise", "unit"), in_steps=False),
)
COINS = ("dpgraph.privacy.noise", "coins")
CERTIFICATE = ("dpgraph.linalg.eigen", "_largest_value")
STEPS = ("dpgraph.releases.eigenspaces.stability_test", "steps_to_exit")

#: Steps of the grid by which an output that was drawn on G is sought on G'.
_NEARBY = (0, -1, 1, -2, 2, -3, 3)
#: Noise beyond so many scales is never drawn (probability e**-40), and floating point is exact below so many steps.
_REACH, _EXACT_BITS, _MOST_BITS = {"Laplace": 40.0, "K-norm": 40.0}, 50, 120
_GAUSSIAN_REACH = 9.0
#: Centres of fewer steps are exact.
_COUNTED = 2.0**52


@dataclass(frozen=True)
class Sum:
    """Values on their way to noise: what they are with noise zero, and the function that adds noise.

    `noise` was added to the sum of `terms`. A sum is `free` if the grid costs nothing.
    """

    centre: np.ndarray
    unit: float
    in_steps: bool
    add: Callable[[np.ndarray], np.ndarray]
    noise: np.ndarray
    terms: tuple[np.ndarray, ...]
    free: bool = False
    #: What receives noise where that is not `terms`: values before a coin has rounded them to a coarser grid.
    values: tuple[np.ndarray, ...] = ()

    @property
    def exact(self) -> tuple[np.ndarray, ...]:
        """The values of a free sum."""
        return self.values or self.terms

    @property
    def steps(self) -> np.ndarray:
        """The centre in steps of the grid: whole numbers, exact also where the step is no power of two."""
        with np.errstate(all="ignore"):
            return np.rint(self.centre / self.unit)

    def _wanted(self, output: np.ndarray) -> np.ndarray:
        """Steps from the values to an output."""
        if not (self.free or self.in_steps):
            return np.asarray(np.rint(output / self.unit) - self.steps)
        total = np.asarray(output, dtype=np.longdouble)
        for term in self.terms:
            total = total - term
        steps = total / np.longdouble(self.unit)
        return np.asarray(np.rint(steps) if self.in_steps else steps, dtype=np.float64)

    def reach(self, kind: str, scale: float) -> float:
        """Steps beyond which noise of this law is never drawn."""
        return scale / self.unit * _REACH.get(kind, _GAUSSIAN_REACH)

    def probes(self, kind: str, scale: float) -> Iterator[np.ndarray]:
        """Noise of this law that is drawn with a probability above e**-40, where floating point skips integers."""
        reach = self.reach(kind, scale)
        bits = min(int(math.log2(reach)), _MOST_BITS) if 0 < reach < math.inf else 0
        for exponent in range(_EXACT_BITS, bits + 1):
            for steps in (0, 1, 2, 3):
                noise = 2.0**exponent + steps * max(1.0, float(np.spacing(2.0**exponent)))
                for sign in (1.0, -1.0):
                    yield np.full(np.shape(self.centre), sign * noise * (1.0 if self.in_steps else self.unit))

    def attains(self, output: np.ndarray, kind: str, scale: float) -> bool:
        """Whether some noise gives this output, bit by bit: if not, a likelihood ratio is infinite.

        Noise of more steps than doubles count (thousandths of real steps), and never drawn either, is left out.
        """
        step = 1.0 if self.in_steps else self.unit
        most = max(2.0 ** (53 if self.in_steps else 43), self.reach(kind, scale))
        with np.errstate(all="ignore"):
            wanted = self._wanted(output)
            missing = np.abs(wanted) <= most
            # Real noise falls between the points, where half-way values are rounded to even ones.
            for near in _NEARBY if self.in_steps else (*_NEARBY, 0.25, -0.25, 0.75, -0.75):
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
        #: Of each release: what its noise was drawn with, and numbers that are uniform if that is its law.
        self.drawn_scales: list[float] = []
        self.uniforms: list[np.ndarray] = []
        self._spread = np.random.default_rng([seed, 1])
        self._last: Sum | None = None
        self._laplace_drawn: tuple[float, np.ndarray] | None = None
        self._tossed: tuple[np.ndarray, np.ndarray] | None = None
        self._values: tuple[np.ndarray, ...] = ()

    def saw(self, last: Sum) -> None:
        """Remember the sum that a primitive has just made."""
        self._last = last

    def saw_coins(self, probabilities: np.ndarray, heads: np.ndarray) -> None:
        """Remember the coins that a primitive has just tossed."""
        self._tossed = (probabilities, heads)

    def _laplace(self, shape: Any, scale: float) -> np.ndarray:
        draws = super()._laplace(shape, scale)
        self._laplace_drawn = (float(scale), np.array(draws))
        return draws

    def laplace_on_grid(self, values: Any, unit: float, scale: float) -> np.ndarray:
        self._values = _terms(values)
        return super().laplace_on_grid(values, unit, scale)

    def _coarsened(self, last: Sum, scale: float) -> Sum:
        """The same sum, free if data were rounded by a coin as the proof in the head of privacy/grid.py wants it."""
        if self._tossed is None or self._laplace_drawn is None:
            return last
        (chances, heads), (parameter, draws) = self._tossed, self._laplace_drawn
        with np.errstate(all="ignore"):
            left = _exactly(self._values, last.terms) / last.unit
            carried = np.copysign(heads, left)
            proper = np.array_equal(np.abs(left), chances) and np.array_equal(carried + draws, last.noise)
        if not proper or (parameter - 1) * last.unit < scale * (1 - 1e-9):
            return last
        return replace(last, values=self._values, free=True)

    def release(self, kind: str, exact: Any, scale: float, output: np.ndarray, **query: Any) -> np.ndarray:
        last, self._last = self._last, None
        if last is not None and kind == "Laplace":
            last = self._coarsened(last, scale)
        self._tossed, self._values = None, ()
        self.sums.append(last)
        self._saw_noise(kind, scale, last, query)
        if last is not None and last.free:
            exact = sum(last.exact[1:], start=last.exact[0])
        elif last is not None:
            exact = last.centre
        released = super().release(kind, exact, scale, output, **query)
        # An index (of a noisy maximum) is no sum: any index can be drawn in either world.
        if self._replayed is not None and last is not None and np.shape(released) == np.shape(last.centre):
            number = len(self.releases) - 1
            there = self._replayed.sums[number]
            if not last.attains(released, kind, scale) or self._differ(there, last, kind, scale):
                self.unattainable.append(number)
        return released

    def _saw_noise(self, kind: str, scale: float, last: Sum | None, query: dict[str, Any]) -> None:
        drawn, self._laplace_drawn = self._laplace_drawn, None
        paid, uniforms = scale, np.zeros(0)
        if last is not None and kind in ("Laplace", "noisy maximum") and drawn is not None:
            paid = (drawn[0] - last.free) * last.unit
            uniforms = laws.discrete_laplace(drawn[1], scale / last.unit + last.free, self._spread)
        elif last is not None:
            noise = last.noise * (last.unit if last.in_steps else 1.0)
            norm = last_hull() if kind == "K-norm" and "norm" not in query else query.get("norm")
            uniforms = laws.uniforms(kind, noise, scale, first=query.get("first"), norm=norm)
        self.drawn_scales.append(paid)
        self.uniforms.append(uniforms)

    def _differ(self, first: Sum | None, second: Sum, kind: str, scale: float) -> bool:
        """Whether an output that one world makes with some probability is impossible in the other."""
        if first is None or np.shape(first.centre) != np.shape(second.centre) or first.unit != second.unit:
            return True
        if np.array_equal(first.centre, second.centre):
            return False
        here, there = first, second
        return any(
            not there.attains(here.add(noise), kind, scale) or not here.attains(there.add(noise), kind, scale)
            for noise in first.probes(kind, scale)
        )

    def flipped_pairs(self, pairs: np.ndarray, shares: np.ndarray, count: int, exponent: int) -> np.ndarray:
        released = self.answers(pairs, shares, count, exponent)
        self.releases[-1].exponent = exponent  # type: ignore[attr-defined]
        return released


def open_taps(patch: pytest.MonkeyPatch) -> None:
    """Let attack sources see what receives noise, and what is relied on."""
    for touch in SUMS:
        _tap(patch, touch)
    open_doors(patch)
    _record(patch, *CERTIFICATE, _saw_certificate)
    _record(patch, *STEPS, _saw_steps)
    _record(patch, *COINS, _saw_coins)


def _running() -> AttackSource | None:
    source = replay._running[-1] if replay._running else None
    return source if isinstance(source, AttackSource) else None


def everywhere(patch: pytest.MonkeyPatch, original: Any, replacement: Any) -> None:
    """Replace a function of the package in all modules that know it by its name."""
    name = original.__name__
    for module in [m for m in list(sys.modules.values()) if getattr(m, name, None) is original]:
        if module.__name__.startswith("dpgraph."):
            patch.setattr(module, name, replacement)


def _tap(patch: pytest.MonkeyPatch, touch: Touch) -> None:
    original = getattr(importlib.import_module(touch.module), touch.name)
    names = list(inspect.signature(original).parameters)

    def by_position(named: dict[str, Any]) -> dict[str, Any]:
        """The arguments under the names that the function has for them."""
        return {name: named[argument] for name, argument in zip(names, touch.order, strict=False)}

    def tapped(*arguments: Any, **options: Any) -> Any:
        named = dict(zip(touch.order, arguments, strict=False)) | options
        plain = np.asarray(named["noise"]).view(np.ndarray)

        def add(noise: np.ndarray) -> np.ndarray:
            return original(**by_position(named | {"noise": np.array(noise)}))  # which is not kept

        output, source = add(plain), _running()
        if source is not None:
            terms, unit = _terms(named["values"]), float(named["unit"])
            free = not touch.in_steps and _rounded_once(output, terms, plain, unit)
            source.saw(Sum(add(np.zeros(np.shape(plain))), unit, touch.in_steps, add, plain, terms, free))
        return output

    tapped.__name__ = touch.name
    everywhere(patch, original, tapped)


def _terms(values: Any) -> tuple[np.ndarray, ...]:
    """One array, or several that stand for their exact sum."""
    return tuple(np.asarray(part) for part in (values if isinstance(values, tuple) else (values,)))


def _exactly(terms: tuple[np.ndarray, ...], minus: tuple[np.ndarray, ...]) -> np.ndarray:
    """Sum of differences; each of them is exact where its terms are near each other, as those of neighbours are."""
    with np.errstate(all="ignore"):
        if len(terms) == len(minus):
            parts = [a - b for a, b in zip(terms, minus, strict=True)]
        else:
            parts = [*terms, *(-b for b in minus)]
        return np.asarray(sum(parts[1:], start=parts[0]))


def _exact_change(terms: tuple[np.ndarray, ...], minus: tuple[np.ndarray, ...]) -> np.ndarray:
    """The exact difference of two exact sums, rounded once."""
    change = np.zeros(terms[0].shape)
    for place in np.ndindex(change.shape):
        parts = [Fraction(float(part[place])) for part in (*terms, *(-b for b in minus))]
        change[place] = float(sum(parts))
    return change


def _rounded_once(output: np.ndarray, terms: tuple[np.ndarray, ...], noise: np.ndarray, unit: float) -> bool:
    """Whether this is the point of the grid that is nearest to the exact sum of the terms and of the noise."""
    with np.errstate(all="ignore"):
        total = sum((np.asarray(part, dtype=np.longdouble) for part in terms), start=np.longdouble(noise))
        wrong = np.abs(np.asarray(output, dtype=np.longdouble) - total)
        far = wrong > 0.501 * unit + np.spacing(np.abs(output))
        return not bool(np.any(far & (np.abs(output) < np.finfo(np.float64).max)))


def _record(
    patch: pytest.MonkeyPatch, module: str, name: str, saw: Callable[[AttackSource, Any, Any, Any], None]
) -> None:
    original = getattr(importlib.import_module(module), name)

    def recorded(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        source = _running()
        if source is not None:
            saw(source, original, (arguments, options), result)
        return result

    patch.setattr(importlib.import_module(module), name, recorded)


def _saw_certificate(source: AttackSource, _function: Any, call: Any, _result: Any) -> None:
    """Certificates of values (`width`) are relied on; those of vectors (`level`) only say that none is missed."""
    (operator, *_), options = call
    if options.get("width"):
        failure = eigen._ATTEMPTS * float(options["failure"])  # whatever is tried: all tries must hold
        source.failures[id(operator)] = (operator, failure)


def _saw_coins(source: AttackSource, _function: Any, call: Any, result: np.ndarray) -> None:
    source.saw_coins(call[0][0], result)


def _saw_steps(source: AttackSource, function: Any, call: Any, result: float) -> None:
    source.steps.append((function, call, result))


def change_of(source: AttackSource, copy: AttackSource, number: int) -> np.ndarray:
    """How far the exact value of a release has moved: in whole steps of its grid where there is one."""
    here, there = source.sums[number], copy.sums[number]
    if here is None or there is None:
        return source.releases[number].exact - copy.releases[number].exact
    if here.free and there.free:  # the grid costs nothing
        return _exactly(here.exact, there.exact)
    largest = np.maximum(np.abs(here.steps), np.abs(there.steps)).max(initial=0.0)
    if here.in_steps and there.in_steps and largest >= _COUNTED:
        # Centres are rounded. test_grid.py checks that nothing else happens to the terms.
        return _exact_change(here.terms, there.terms)
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
