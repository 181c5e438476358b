"""The number of edges after which a state has left the safe set at worst, computed from both sides.

:mod:`dpgraph.bounds.stability` defines D by the solution of x' = F(x) and proves that it has sensitivity 1. What is
released is a computed number, so it must be close to D *by proof*: no error estimate, no grid that might step over the
moment of exit. So the exit is bracketed: any chain of states, each worse than the last, is passed by the path no sooner
and no later than two times that follow from bounds on F in the boxes between them, and the chain is refined until both
times agree. The states come from a Runge-Kutta step and a cubic through its ends, cut into so many pieces that late -
early grows by no more than its share of the width; otherwise the step is halved. In floating point the bounds are
widened by 1e-9, and displacements from the start, not states, are subtracted. Proof, and why it ends: docs/proofs.md,
"The moment of exit". There, and below, latest(s) is s + remaining(rate(x(s))): the last moment at which the path may
still be at a rate that it has at s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.bounds.stability import DIRECTION, Rates, SpectralState
from dpgraph.typing import BoolArray, FloatArray

#: Relative rounding errors of speeds, and of rates; thousands of times what they are.
_ROUNDING, _RATE_ROUNDING = 1e-9, 1e-12
#: Shares of the width: late - early at the exit, the length of a piece, the rounding of what remains. The first may
#: exceed its share by the part of the time that the last step may take.
_GROWTH, _PIECE, _CURVE = 0.45, 0.2, 0.2
#: First and longest step, as shares of the time that may be left, and how steps grow.
_FIRST_STEP, _LONGEST_STEP, _LONGER = 1 / 32, 1 / 4, 1.5
#: Most pieces of a step, before and after they are cut. Fewer make more steps, more take more memory.
_MOST_PIECES, _MOST_PARTS = 1 << 13, 1 << 17
#: Pieces of a step are as many as bring late - early to its share, if F were linear, times this.
_SPARE = 1.5


@dataclass(frozen=True)
class SafeSet:
    """How fast the projector may move while so many steps remain, and the least gap; all public."""

    #: Steps that remain, 0 = steps[0] < steps[1] < ...
    steps: FloatArray
    #: Limits then, decreasing; between them and beyond the last two, logarithms are interpolated. One is constant.
    limits: FloatArray
    #: Of (sigma_r - sigma_{r+1})/e.
    least_gap: float

    def limit(self, remaining: float) -> float:
        """Limit while so many steps remain."""
        return float(np.exp(_piecewise(max(remaining, 0.0), self.steps, np.log(self.limits))))

    def remaining(self, rates: FloatArray) -> FloatArray:
        """Most steps that may remain at these speeds of the projector, none of which is above limits[0]."""
        if len(self.steps) == 1:
            return np.full(np.shape(rates), np.inf)
        logs = np.log(np.maximum(rates, 1e-300))
        return _piecewise(-logs, -np.log(self.limits), self.steps)

    def remaining_at(self, x: FloatArray, rates: Rates) -> tuple[FloatArray, FloatArray]:
        """Bounds from both sides on the steps that may remain in some states, whatever the rounding; 0 outside."""
        speeds, gap, worst = np.asarray(rates.projector(x)), x[0] - x[1], self.limits[0]

        def bound(rounding: float) -> FloatArray:
            rate = speeds * (1 + rounding)
            safe = (rate <= worst) & (gap * (1 - rounding) >= self.least_gap)
            return np.where(safe, self.remaining(np.minimum(rate, worst)), 0.0)

        return bound(_RATE_ROUNDING), bound(-_RATE_ROUNDING)

    def steepest(self) -> float:
        """Most steps for a change of the logarithm of the limit by 1."""
        return float(np.max(np.diff(self.steps) / -np.diff(np.log(self.limits)), initial=0.0))


def _piecewise(x: FloatArray | float, nodes: FloatArray, values: FloatArray) -> FloatArray:
    """Piecewise linear, the last piece extended."""
    inner = np.interp(x, nodes, values)
    if len(nodes) == 1:
        return np.asarray(inner)
    slope = (values[-1] - values[-2]) / (nodes[-1] - nodes[-2])
    return np.asarray(inner + slope * np.maximum(np.asarray(x) - nodes[-1], 0.0))


def steps_to_exit(state: SpectralState, rates: Rates, safe: SafeSet, *, cap: float, width: float) -> float:
    """D from below: the number of edges, at worst, after which the state has left the safe set; at most `cap`.

    The result lies between min(D, cap) - width and min(D, cap), which has the sensitivity of D. The state alone is
    private; where the curve or the cap leaves no room for rounding, 0 steps are counted for every state.
    """
    if not (2 * _RATE_ROUNDING * safe.steepest() <= _CURVE * width and 8 * _ROUNDING * cap <= _GROWTH * width):
        return 0.0
    start = state.array()
    most = min(cap, float(safe.remaining_at(start, rates)[1]))
    path, least = _Enclosure(start, rates), most
    step, longest = _FIRST_STEP * most, _MOST_PARTS * _PIECE * width
    while path.early < most:
        pieces, step = path.advance(min(step, _LONGEST_STEP * most, longest), _GROWTH * width / most)
        lower, most = pieces.exit(safe, rates, most, width)
        least = min(least, lower)
    return min(least, most)


@dataclass(frozen=True)
class _Pieces:
    """States p_0 <= ... <= p_k of one step, columns, and the times at which the path is at most, at least there."""

    states: FloatArray
    early: FloatArray
    late: FloatArray

    def exit(self, safe: SafeSet, rates: Rates, most: float, width: float) -> tuple[float, float]:
        """Bounds (lower, upper) on the exit if it is in this step; `most` is an upper bound that is known.

        The lower one is at least the upper one less `width`, and holds for the exits in this step only.
        """
        least, upper = self.bounds(safe, rates)
        most = min(most, upper)
        doubtful = (least < most - width) & (self.early[:-1] < most)
        lower = float(np.min(least[~doubtful], initial=math.inf))
        if doubtful.any():
            least, upper = self._cut(doubtful, width).bounds(safe, rates)
            lower, most = min(lower, float(least.min())), min(most, upper)
        return lower, most

    def bounds(self, safe: SafeSet, rates: Rates) -> tuple[FloatArray, float]:
        """For each piece a lower bound on latest(s) in it, and one upper bound on the exit."""
        least, most = safe.remaining_at(self.states, rates)
        return self.early[..., :-1] + least[..., 1:], float(np.min(self.late + most))

    def _cut(self, chosen: BoolArray, width: float) -> _Pieces:
        """Cut some pieces into parts that take no longer than their share of the width; along the last axis."""
        length = float(np.max(np.diff(self.late)[chosen]))
        weights = np.linspace(0.0, 1.0, max(1, math.ceil(length / (_PIECE * width))) + 1)
        cut = []
        for values in (self.states, self.early, self.late):
            first, last = values[..., :-1][..., chosen], values[..., 1:][..., chosen]
            cut.append(first[..., None] + weights * (last - first)[..., None])
        return _Pieces(*cut)


class _Enclosure:
    """The path from a state, as far as it has been enclosed."""

    def __init__(self, start: FloatArray, rates: Rates) -> None:
        self.start, self._rates = start, rates
        self.early = self.late = 0.0
        self._moved = np.zeros(4)  # displacement, in the direction of the path
        self._speeds = rates.speeds(start)

    def _at(self, moved: FloatArray) -> FloatArray:
        return (self.start + DIRECTION * moved.T).T

    def advance(self, step: float, share: float) -> tuple[_Pieces, float]:
        """Enclose one more step, of about this length; late - early grows by at most `share` of it. Also the next."""
        while True:
            end, speeds = self._runge_kutta(step)
            here, there = self._at(self._moved), self._at(end)
            growth = float(np.max(np.log(self._rates.speeds(there, here) / self._rates.speeds(here, there))))
            pieces = 1 + _SPARE * growth / share
            if pieces <= _MOST_PIECES:  # not if it is NaN
                count = math.ceil(pieces)
                moved = _cubic(self._moved, end, step * self._speeds, step * speeds, count)
                early, late = self._times(moved)
                if np.all(early > 0) and float(np.sum(late - early)) <= share * float(np.sum(early)):
                    break
            step /= 2
        times = [time + np.concatenate([[0.0], np.cumsum(d)]) for time, d in ((self.early, early), (self.late, late))]
        self.early, self.late = float(times[0][-1]), float(times[1][-1])
        self._moved, self._speeds = moved[:, -1], speeds
        return _Pieces(self._at(moved), *times), step * _LONGER

    def _runge_kutta(self, step: float) -> tuple[FloatArray, FloatArray]:
        """Where a step of the classical method leads, and the speeds there; its error is checked, not trusted."""
        a, first = self._moved, self._speeds
        second = self._rates.speeds(self._at(a + step / 2 * first))
        third = self._rates.speeds(self._at(a + step / 2 * second))
        fourth = self._rates.speeds(self._at(a + step * third))
        end = a + step / 6 * (first + 2 * second + 2 * third + fourth)
        return end, self._rates.speeds(self._at(end))

    def _times(self, moved: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Times in which the path is at most, and at least, at the end of each piece."""
        states, lengths = self._at(moved), np.diff(moved, axis=1)
        before, after = states[:, :-1], states[:, 1:]
        early = np.min(lengths / self._rates.speeds(after, before), axis=0)
        late = np.max(lengths / self._rates.speeds(before, after), axis=0)
        return early * (1 - _ROUNDING), late * (1 + _ROUNDING)


def _cubic(a: FloatArray, b: FloatArray, first: FloatArray, last: FloatArray, count: int) -> FloatArray:
    """Points of the cubics from a to b with these derivatives at their ends, shape (4, count + 1)."""
    u = np.linspace(0.0, 1.0, count + 1)
    d, first, last = (b - a)[:, None], first[:, None], last[:, None]
    return a[:, None] + u * (first + u * ((3 * d - 2 * first - last) + u * (first + last - 2 * d)))
