r"""Intervals of released counts, and of quotients of two, from the public laws of their noise.

The noise of a ladder and of smooth sensitivity depends on widths c that are private. They were released as well, by
ladders, as C. For each c let E_c(C) be a function with mean at most 1 over the C that are released at widths c. Let
T_c(h) bound the probability that noise of these widths exceeds h. A distance h is *plausible* if

    T_c(h) >= miss E_c(C)    for some c.                                                                           (1)

The noise of the count is drawn apart from C. So it exceeds every plausible distance with probability `miss` at most,
whatever the widths: T_c(noise) < miss E_c(C) has probability at most miss E_c(C), given C; that has mean `miss`.

E_c is a product over the widths, each from the signed rung K at which the released width lies below c_j, and from a
slope mu: e^(mu K)/M(mu), M the mean of e^(mu K). Proof and choice of mu: docs/counts-theory.md, "Intervals".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpgraph.bounds.ladder import RATE_BITS, local_growth, smooth_scales
from dpgraph.typing import BoolArray, FloatArray

#: The probability that a number which is not 0 is not released.
MISSED = 1e-10
#: Noise laws as PrivateCounts.noise states them.
Noise = Mapping[str, Any]
#: Cells of widths: from one end to the next by this factor.
_STEP = 1.04
#: E_c is a mean of two: the steepest slope weighs this much, the slope of this width the rest.
_MIXED = 0.02
#: The steepest slope, as a part of the rate of the ladder of the width; no more than 1, where M is below 11.
_STEEPEST = 0.6
#: Places at which the noise of one count is rounded up before that of the other is added.
_PLACES = 64
#: Relative allowance for floating point.
_ROUNDING = 1e-9
#: Halvings of the way to an end of an interval of quotients, and how far below a distance it is tested.
_HALVINGS, _BELOW = 20, 1 - 1e-9
#: Newton's steps to a rung, at most, and the last one.
_NEWTON, _CLOSE = 60, 1e-6
#: What one pair adds at most, c_0, by c_1: the edges between A vertices, stars at two vertices of degree D.
MOST: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "4-clique": lambda A: A * (A - 1) / 2,
    "3-star": lambda D: D * (D - 1),
    "4-cycle": lambda A: np.full(A.shape, np.inf),
}
#: Rungs beyond this many times 1/g weigh nothing.
_FAR = 80.0
_MOST_RUNGS = 20_000


class Cells(NamedTuple):
    """Boxes that hold all widths which (1) does not rule out: their ends, shape (3, cells), and ln E_c at least."""

    low: FloatArray
    high: FloatArray
    evidence: FloatArray

    def only(self, kept: BoolArray) -> "Cells":
        """Those of the cells."""
        return Cells(self.low[:, kept], self.high[:, kept], self.evidence[kept])


def standard_deviation(noise: Noise) -> float:
    """Standard deviation of a law as :attr:`dpgraph.PrivateCounts.noise` states it, at the released widths."""
    if noise["law"] == "ladder":
        probabilities, ends = _rungs(noise["widths"], noise["exponents"][0])
        inner = np.concatenate([[0.0], ends[:-1]])
        # The mean square of the integers inner + 1, ..., ends; rung 0 is 0 alone.
        squares = (2 * (inner**2 + inner * ends + ends**2) + 3 * (inner + ends) + (ends > 0)) / 6
        return math.sqrt(float(probabilities @ squares))
    return math.sqrt(2.0) * noise["scale"] if noise["law"] == "Laplace" else math.inf


def half_width(noise: Noise, miss: float, pattern: str = "") -> float:
    """Half-width of an interval around the released count that misses the count with probability at most `miss`."""
    if noise["law"] == "Laplace":
        return float(laplace_half_width(noise["scale"], miss))
    cells = plausible_widths(noise, miss, pattern)

    def still(cells: Cells, h: int) -> Cells:
        """Cells of which some widths make h plausible."""
        return cells.only(tails(noise, cells, np.array([float(h)]))[:, 0] >= miss * np.exp(cells.evidence))

    low, high = -1, 1
    while (left := still(cells, high)).evidence.size:
        cells, low, high = left, high, 2 * high
    while high - low > max(1, high >> 20):
        middle = (low + high) // 2
        left = still(cells, middle)
        cells, low, high = (left, middle, high) if left.evidence.size else (cells, low, middle)
    return float(high)


def quotient_limits(
    counts: tuple[int, int], laws: tuple[Noise, Noise], most: float, miss: float
) -> tuple[float, float]:
    """Ends of an interval that misses a/b, of two counts, with probability at most `miss`; a/b is within [0, `most`].

    For r = a/b the difference of a' and r b', as released, is noise alone: X - r Y. A quotient r is plausible where
    that exceeds abs(a' - r b') with probability `miss` E_c E_d or more, at some widths c of a and d of b. Negative
    releases count as 0, which makes more quotients plausible. Then those below a'/b' are the plausible ones down to
    an end, and those above up to an end: the distance, over r above a'/b', grows, and the noise over r shrinks.
    """
    a, b = (max(float(count), 0.0) for count in counts)
    first, second = (plausible_widths(law, miss) for law in laws)

    def end(inside: float, outside: float) -> float:
        """The last plausible quotient from one that is towards one that may not be, or a little further."""
        pair = first, second
        if _plausible_pairs(laws, pair, outside, abs(a - outside * b) * _BELOW, miss):
            return outside
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            left = _plausible_pairs(laws, pair, middle, abs(a - middle * b) * _BELOW, miss)
            inside, outside, pair = (middle, outside, left) if left else (inside, middle, pair)
        return outside

    centre = min(a / b, most) if b else most
    return end(centre, 0.0), end(centre, most)


def _plausible_pairs(
    laws: tuple[Noise, Noise], cells: tuple[Cells, Cells], r: float, h: float, miss: float
) -> tuple[Cells, Cells] | None:
    """Cells of the widths of X and of Y at which X - r Y may exceed h as often as (1) says; None if there are none."""
    places = h * np.arange(1, _PLACES + 1) / _PLACES
    one = tails(laws[0], cells[0], places)
    if r:
        near, far = (tails(laws[1], cells[1], ends / r) for ends in (h - places, h + places))
        # P[abs(x - r Y) > h] at each place x: it grows with x, as Y is symmetric and unimodal.
        two = np.maximum.accumulate((near + far) / 2, axis=1)
    else:
        two = np.zeros((cells[1].evidence.size, _PLACES))
    beyond = one[:, -1:] * (1 - two[:, -1]) + two[:, 0] + one[:, :-1] @ np.diff(two, axis=1).T
    kept = beyond >= miss * np.exp(cells[0].evidence[:, None] + cells[1].evidence)
    return (cells[0].only(kept.any(axis=1)), cells[1].only(kept.any(axis=0))) if kept.any() else None


def laplace_half_width(scale: float, miss: float) -> int:
    """An integer that discrete Laplace noise of this scale exceeds, on either side, with probability `miss` at most.

    With x = e^-g, g its rate, P[abs(K) >= m] is 2 x^m/(1 + x) <= x^(m - 1/2). The rate is rounded down by less than
    2^-10 of itself. From a scale of 2^29 on (:mod:`dpgraph.privacy.grid`) the noise lies on a grid of G units, G at
    most 2^-28 scales; then it is one step wider, and the value is rounded to the grid, by less than a step.
    """
    wide, more = _laplace(scale)
    return max(math.ceil(wide * math.log(1 / miss) + more), 0)


def _laplace(scale: float) -> tuple[float, float]:
    """The s and d with P[abs(K) > h] <= e^(-(h - d)/s) of :func:`laplace_half_width`."""
    step = scale * 2.0**-28 if scale >= 2.0**29 else 0.0
    return (scale + step) * (1 + 2.0**-10), 1.5 * step - 0.5 * (step == 0)


def decreasing_half_width(scale: float, miss: float) -> float:
    """How far isotonic regression of noisy decreasing numbers is from any one of them, but with probability `miss`.

    Numbers N_1 >= N_2 >= ... get independent discrete Laplace noise X_k of this scale. The nearest decreasing numbers
    are min over a <= d of max over b >= d of the means of N + X over a, ..., b. So the d-th is above N_d + h only if
    the mean of X_d, ..., X_b is above h for some b: a random walk with steps X - h passes 0. Let p = e^(-1/scale), and
    E e^(t (X - h)) = 1. A step beyond some place is a geometric variable Y beyond it, and more, as X has no memory. So
    stopping there gives 1 >= P[passes 0] E e^(t Y), with E e^(t Y) = (1 - p)/(1 - p e^t). This is `miss`/2 for the t
    below; then h = ln E e^(t X)/t. Below N_d it is the same.

    With Laplace noise proper the bound is sharp, and h at 95 % is 3.09 scales: 3.00 are for a single number.
    """
    if scale >= 2.0**29:  # the noise lies on a coarser grid
        return math.inf
    p, side = math.exp(-1 / (scale * (1 + 2.0**-10))), miss / 2
    if p == 0:
        return 0.0
    t = math.log1p(-side * (1 - p)) - math.log(p)
    return (math.log1p(-p) - math.log(side) - math.log1p(-p * math.exp(-t))) / t


def wanted_tails(found: FloatArray, scale: float) -> int:
    """How many of the decreasing whole numbers N_1, N_2, ... to release, given the first, with noise of this scale.

    Twice as many as before, until the mean of the second half of them is below 1/2: then all that follow are 0, but
    with probability `MISSED` in all. For had the last of m numbers been 1 or more, then the noise X of m/2 of them
    would have a mean below -1/2. That has probability e^(-r m/2) at most, r = t/2 - ln E e^(t X) for any t, with
    E e^(t X) = 1/(1 - q^2), q = sinh(t/2)/sinh(1/(2 scale)). The first m makes this `MISSED`/2, and it is squared
    whenever m is doubled.
    """
    if found.size:
        return 2 * found.size if found[found.size // 2 :].mean() >= 0.5 else found.size
    wide = max(scale, 0.01) * (1 + 2.0**-10)  # as the sampler may make it
    t = min(1 / (2 * wide), 1.0) / (2 * wide)
    q = math.sinh(t / 2) / math.sinh(1 / (2 * wide))
    return 2 * math.ceil(math.log(2 / MISSED) / (t / 2 + math.log1p(-(q**2))))


def cauchy_tails(scale: FloatArray, distances: FloatArray) -> FloatArray:
    """No less than P[abs(Z) > h], Z an integer of weight 1/(s^2 + z^2), s = `scale`.

    The weights add up to more than pi/s. Where they are convex, beyond s/sqrt(3), each is at most the integral over an
    interval of length 1 about it; everywhere beyond 0, over the one that ends with it. So it is at most
    (2/pi) atan(s/t), t = h + 1/2 or h.
    """
    convex = distances >= scale
    return np.asarray(2 / math.pi * np.arctan2(scale, distances + 0.5 * convex) * (1 + _ROUNDING))


def plausible_widths(noise: Noise, miss: float, pattern: str = "") -> Cells:
    """Widths in cells that do not depend on what was released, up to where E_c exceeds 1/`miss`."""
    if noise["law"] == "Laplace":
        return Cells(np.ones((3, 1)), np.ones((3, 1)), np.zeros(1))
    released = noise["widths"]
    rates = [exponent / 2.0**RATE_BITS for exponent in noise["exponents"][1:]]
    sure, power = math.log(1 / miss), math.log(1 / miss) if noise["law"] == "ladder" else 1.0
    low = high = np.array([[1.0], [0.0], [0.0]])
    evidence = np.zeros(1)
    for j in reversed(range(len(rates))):
        steepest = min(_STEEPEST * rates[j], 1.0)
        far = (sure + 3 * math.log(1 / _MIXED)) / steepest + 1
        edges = _edges(released[j] + float(rung_ends(high, np.array(far)).max()))
        (lows, highs), size = (np.tile(ends, evidence.size) for ends in (edges[:-1], edges[1:])), edges.size - 1
        low, high, evidence = np.repeat(low, size, axis=1), np.repeat(high, size, axis=1), np.repeat(evidence, size)
        slope = np.minimum((j + 1) * power * low[0] / highs, steepest)
        evidence = evidence + _evidence(lows - released[j], (low, high), rates[j], slope)
        low, high = np.vstack([lows, low[:2]]), np.vstack([highs, high[:2]])
    kept = evidence < sure  # the other cells are refuted
    if len(rates) == 2:
        # Raised widths are c_0 >= b c_1, c_1 >= b; so are the released ones, and b is at most their quotient.
        floor = min(released[0] / released[1], released[1])
        kept &= (high[0] >= low[1]) & (low[0] <= np.maximum(MOST[pattern](high[1]), floor * high[1]))
    return Cells(low, high, evidence).only(kept)


def _edges(top: float) -> FloatArray:
    """Integers by a factor of at most about 1.04 from 1 to beyond `top`; cells overlap in their ends."""
    count = math.ceil(math.log(max(top, 2.0)) / math.log(_STEP)) + 1
    return np.unique(np.floor(_STEP ** np.arange(count + 1)))


def _evidence(
    below: FloatArray, following: tuple[FloatArray, FloatArray], rate: float, slope: FloatArray
) -> FloatArray:
    """At least ln E, for a width of which the released one was `below` by so much, in each cell.

    E is a mean of e^(mu K)/M(mu) at mu = `slope` and at the steepest; K is the rung of the distance below, or 0.
    """
    rungs = np.where(below > 0, rungs_within(following[1], below - 1) + 1, 0.0)
    parts = []
    for weight, mu in ((1 - _MIXED, slope), (_MIXED, np.full(below.shape, min(_STEEPEST * rate, 1.0)))):
        mean = np.maximum(*(_mean_of_slope(widths, rate, mu) for widths in following))
        parts.append(math.log(weight) + mu * rungs - np.log(mean))
    return np.asarray(np.logaddexp(*parts) - _ROUNDING)


def _mean_of_slope(widths: FloatArray, rate: float, mu: FloatArray) -> FloatArray:
    """Mean of e^(mu K), K the rung on one side of a ladder, or 0: (1 + sum_j c_j (y(g - mu)^{j+1} + y^{j+1}))/C."""
    steep, y, powers = 1 / np.expm1(rate - mu), 1 / math.expm1(rate), np.arange(1, 4)[:, None]
    return np.asarray((1 + (widths * (steep**powers + y**powers)).sum(axis=0)) / _total(widths, y))


def _total(widths: FloatArray, y: float) -> FloatArray:
    """What all rungs weigh: C = 1 + 2 sum_j c_j y^{j+1}."""
    return np.asarray(1 + 2 * (widths * y ** np.arange(1, 4)[:, None]).sum(axis=0))


def tails(noise: Noise, cells: Cells, distances: FloatArray) -> FloatArray:
    """T_c: no less than the probability that noise is further away than each distance; shape (cells, distances)."""
    distances = np.maximum(np.floor(distances), 0.0)
    if noise["law"] == "ladder":
        return np.minimum(_ladder_tails(cells, noise["exponents"][0] / 2.0**RATE_BITS, distances), 1.0)
    if noise["law"] == "Laplace":
        wide, more = _laplace(noise["scale"])
        return np.exp(-np.maximum(distances - more, 0.0) / wide)[None, :]
    return cauchy_tails(smooth_scales(cells.high, noise["epsilon"])[:, None], distances)


def _ladder_tails(cells: Cells, rate: float, distances: FloatArray) -> FloatArray:
    """Weights beyond a distance grow with the widths: those of the upper corner, over the sum of the lower one.

    With k rungs inside the distance, the rungs beyond weigh x^k sum_j c_j sum_i C(k, j - i) y^{i+1} on either side,
    x = e^-g; what the distance covers of rung k + 1 is left out.
    """
    x, y = math.exp(-rate), 1 / math.expm1(rate)
    c0, c1, c2 = cells.high[:, :, None]
    k = rungs_within(cells.high[:, :, None], distances)
    pairs = k * (k - 1) / 2
    rung = c0 + c1 * k + c2 * pairs
    covered = np.clip(distances - rung_ends(cells.high[:, :, None], k), 0.0, rung)
    beyond = np.exp(-rate * k) * (y * rung + y**2 * (c1 + c2 * k) + y**3 * c2 - x * covered)
    return np.asarray(2 * beyond / _total(cells.low, y)[:, None] * (1 + _ROUNDING))


def rung_ends(widths: FloatArray, k: FloatArray) -> FloatArray:
    """How far k rungs reach: sum_j c_j C(k, j + 1)."""
    c0, c1, c2 = widths
    return np.asarray(k * (c0 + (k - 1) / 2 * (c1 + (k - 2) / 3 * c2)))


def rungs_within(widths: FloatArray, distances: FloatArray) -> FloatArray:
    """How many whole rungs a distance holds."""
    c0, c1, c2 = widths
    distances = np.maximum(distances, 0.0)
    k = distances / c0
    for _ in range(_NEWTON):  # from the right, where the ends are convex in k
        slope = c0 + c1 * (k - 0.5) + c2 * (3 * k * k - 6 * k + 2) / 6
        before, k = k, np.maximum(k - (rung_ends(widths, k) - distances) / np.maximum(slope, c0 / 2), 0.0)
        if np.all(before - k <= _CLOSE):
            break
    k = np.floor(k)
    k += rung_ends(widths, k + 1) <= distances
    return np.asarray(np.maximum(k - (rung_ends(widths, k) > distances), 0.0))


def _rungs(widths: Sequence[int], exponent: int) -> tuple[FloatArray, FloatArray]:
    """Probability of rungs, and their ends; at a low rate one rung in many stands for its neighbours.

    Rung k ends at sum_j c_j C(k, j + 1).
    """
    rate = exponent / 2.0**RATE_BITS
    k = np.arange(0.0, _FAR / rate + 2, math.ceil(_FAR / rate / _MOST_RUNGS))
    weights = 2 * local_growth(widths, k - 1) * np.exp(-rate * k)
    weights[0] = 1 / max(k[1], 1)
    return weights / weights.sum(), local_growth((0, *widths), k)
