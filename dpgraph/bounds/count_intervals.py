r"""Intervals of released counts, and of quotients of two, from the public laws of their noise.

The noise of a ladder and of smooth sensitivity depends on widths c that are private. They were released as well, by
ladders, as C. Each is the larger of a floor and of a number of which little is known: widths have a law given C, and
noise given C is a mean over it. An interval holds what this noise exceeds with the probability that is asked for. The
law, and how often intervals hold for a given graph: docs/counts-theory.md, "Intervals".
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpgraph.bounds.ladder import RATE_BITS, smooth_scales
from dpgraph.tuning import COUNTS
from dpgraph.typing import FloatArray

#: The probability that a number which is not 0 is not released.
MISSED = 1e-10
#: Noise laws as PrivateCounts.noise states them.
Noise = Mapping[str, Any]
#: Grid of widths: from one to the next by this factor, up to those that are less likely by this one.
_STEP, _UNLIKELY = 1.05, 1e-5
#: Weight of widths that no graph has, beside those that one may have: never 0, so that some are left.
_IMPOSSIBLE = 1e-9
#: Places at which the noise of one count is rounded up before that of the other is added.
_PLACES = 128
#: Relative allowance for floating point.
_ROUNDING = 1e-9
#: Halvings of the way to an end of an interval of quotients, and how far below a distance it is tested.
_HALVINGS, _BELOW = 20, 1 - 1e-9
#: Newton's steps to a rung, at most, and the last one.
_NEWTON, _CLOSE = 60, 1e-6
#: Rungs beyond this many times 1/g weigh nothing; numbers at which tails are computed for a standard deviation.
_FAR, _POINTS = 80.0, 5_000


class Widths(NamedTuple):
    """Widths c_0, c_1, c_2 that the released ones may come from, shape (3, k), and how likely they are, shape (k,)."""

    values: FloatArray
    weights: FloatArray


def standard_deviation(noise: Noise) -> float:
    """Standard deviation of a law as :attr:`dpgraph.PrivateCounts.noise` states it, at the released widths."""
    if noise["law"] != "ladder":
        return math.sqrt(2.0) * noise["scale"] if noise["law"] == "Laplace" else math.inf
    widths = np.array([[*noise["widths"], 0, 0][:3]], dtype=np.float64).T
    far = float(rung_ends(widths, np.array([_FAR * 2.0**RATE_BITS / noise["exponents"][0]]))[0])
    # E K^2 is the sum of (2 h + 1) P[abs(K) > h]; the tails of an interval of h are about the mean of the outer ones.
    ends = np.append(0.0, np.unique(np.floor(np.geomspace(1.0, far + 2, _POINTS))))
    beyond = (tails(noise, Widths(widths, np.ones(1)), h) for h in (ends[:-1], ends[1:] - 1))
    return math.sqrt(float(np.diff(ends**2) @ sum(beyond)) / 2)


def half_width(noise: Noise, miss: float) -> float:
    """Half-width of an interval around the released count that misses the count with probability `miss` at most."""
    if noise["law"] == "Laplace":
        return float(laplace_half_width(noise["scale"], miss))
    widths = likely_widths(noise)
    low, high = -1, 1
    while tails(noise, widths, np.array([float(high)]))[0] >= miss:
        low, high = high, 2 * high
    while high - low > max(1, high >> 12):
        middle = (low + high) // 2
        low, high = (middle, high) if tails(noise, widths, np.array([float(middle)]))[0] >= miss else (low, middle)
    return float(high)


def quotient_limits(
    counts: tuple[int, int], laws: tuple[Noise, Noise], most: float, miss: float
) -> tuple[float, float]:
    """Ends of an interval that misses a/b, of two counts, with probability `miss`; a/b is within [0, `most`].

    For r = a/b the difference of a' and r b', as released, is noise alone: X - r Y. A quotient r is plausible where
    that exceeds abs(a' - r b') with probability `miss` or more. Negative releases count as 0, which makes more
    quotients plausible. Then those below a'/b' are the plausible ones down to an end, and those above up to an end:
    the distance, over r above a'/b', grows, and the noise over r shrinks.
    """
    a, b = (max(float(count), 0.0) for count in counts)
    widths = likely_widths(laws[0]), likely_widths(laws[1])

    def end(inside: float, outside: float) -> float:
        """The last plausible quotient from one that is towards one that may not be, or a little further."""
        if quotient_tail(laws, widths, outside, abs(a - outside * b) * _BELOW) >= miss:
            return outside
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            plausible = quotient_tail(laws, widths, middle, abs(a - middle * b) * _BELOW) >= miss
            inside, outside = (middle, outside) if plausible else (inside, middle)
        return outside

    centre = min(a / b, most) if b else most
    return end(centre, 0.0), end(centre, most)


def quotient_tail(laws: tuple[Noise, Noise], widths: tuple[Widths, Widths], r: float, h: float) -> float:
    """No less than the probability that X - r Y, which may be discrete, is h or more away: all of it at 0."""
    if h == 0:
        return 1.0
    places = h * np.arange(1, _PLACES + 1) / _PLACES
    one = tails(laws[0], widths[0], places)
    if r == 0:
        return float(one[-1])
    near, far = (tails(laws[1], widths[1], ends / r) for ends in (h - places, h + places))
    # P[abs(x - r Y) > h] at each place x: it grows with x, as Y is symmetric and unimodal.
    two = np.maximum.accumulate((near + far) / 2)
    return float(one[-1] * (1 - two[-1]) + two[0] + one[:-1] @ np.diff(two))


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


def likely_widths(noise: Noise) -> Widths:
    """Widths on a grid from their floor on, the last one first: how likely what was released makes each of them."""
    values, weights = np.array([[1.0], [0.0], [0.0]]), np.ones(1)
    floor = noise.get("floor", 1)  # results of older files do not say it, nor the limits of c_0, nor what is above it
    floors = noise.get("floors", (floor, floor))
    for j in reversed(range(len(noise.get("exponents", ())) - 1)):
        rate = noise["exponents"][j + 1] / 2.0**RATE_BITS
        published = noise["widths"][j], floor * noise["widths"][j + 1]
        parts = [
            (np.maximum(own, floors[j] * c[0]), weight * likely)
            for c, weight in zip(values.T, weights, strict=True)
            for own, likely in [
                _given(published, floor, noise.get("of_square") if j == 0 else None, c, rate, first=j == 0)
            ]
        ]
        later = np.repeat(values[:2], [own.size for own, _ in parts], axis=1)
        values = np.vstack([np.concatenate([own for own, _ in parts]), later])
        weights = np.concatenate([weight for _, weight in parts])
        kept = weights > _UNLIKELY * weights.max()
        values, weights = values[:, kept], weights[kept]
    return Widths(values, weights / weights.sum())


def _given(
    published: tuple[int, int],
    times: int,
    square: Sequence[float] | None,
    later: FloatArray,
    rate: float,
    *,
    first: bool,
) -> tuple[FloatArray, FloatArray]:
    """Widths from a floor on of which one was released with these later widths, and how likely they are.

    `published` is what was released, or `least` where that is below it. The floor, so many `times` the next width, has
    the weight of all numbers below it: first widths that were released at their floor are there with odds of 4 to 1, at
    least. Others are as likely as they are large: the noise on what was released has the same size for all, that of the
    count is in proportion, and with this weight intervals hold it equally often, up to terms of third order
    (docs/counts-theory.md, "Intervals"). Second widths are as likely as one over them.

    A `square` (:data:`~dpgraph.linalg.subgraphs.OF_SQUARE`) limits first widths. Between two limits all are as likely,
    as the second width alone says nearly all, and the upper one weighs like the floor. First widths without limits
    weigh in proportion to 1/c_0^2 beyond twice the c_1 (c_1 - 1) paths of a clique.
    """
    (released, least), following, D = published, later[:, None], later[0]
    floor, low, high = times * D, 0.0, math.inf
    if square is not None:
        low, high = square[0] * (D - 1) * (D - 2) * (times < D), max(square[1] * D * (D - 1), floor)
    reach = float(rung_ends(following, np.array([-math.log(_UNLIKELY) / rate]))[0])
    count = math.ceil(math.log(max(released + reach, floor + 1) / floor) / math.log(_STEP))
    ends = np.unique(np.floor(floor * _STEP ** np.arange(count + 1.0)))
    special = np.array([floor, high] if low > 0 and floor < high < ends[-1] else [floor])
    own = np.append(special, (ends[:-1] + ends[1:]) / 2)
    size = np.append(COUNTS.limit_weight * special, np.diff(ends)) * (own / floor) ** (
        float(not low) if first else -1.0
    )
    if square is None and first and D > 1:
        size *= np.minimum(1.0, 2 * D * (D - 1) / own) ** 3
    prior = np.where((low <= own) & (own <= high), size, _IMPOSSIBLE * size)
    if first and not low:  # what the noise cannot tell from the floor
        away = np.exp(-rate * (rungs_within(following, own - floor - 1) + (own != floor)))
        prior[0] = max(prior[0], COUNTS.floor_odds * float(prior[1:] @ away[1:]))
    above = own - released
    if released > least:
        likely = np.exp(-rate * (rungs_within(following, np.abs(above) - 1) + (above != 0)))
        if not likely.any():  # the noise is far finer than the grid
            own, prior, likely = np.array([float(released)]), np.ones(1), np.ones(1)
    else:  # the released one was this, or less
        beyond = _ladder_tails(following, rate, np.maximum(np.abs(above) - (above > 0), 0.0)[None, :])[0] / 2
        likely = np.where(above > 0, beyond, 1 - beyond) * _total(later, 1 / math.expm1(rate))
    return own, prior * likely / _total(later, 1 / math.expm1(rate))


def _total(widths: FloatArray, y: float) -> FloatArray:
    """What all rungs weigh: C = 1 + 2 sum_j c_j y^{j+1}."""
    c0, c1, c2 = widths
    return np.asarray(1 + 2 * y * (c0 + y * (c1 + y * c2)))


def tails(noise: Noise, widths: Widths, distances: FloatArray) -> FloatArray:
    """No less than the probability that noise is further away than each distance, in the mean over the widths."""
    distances = np.maximum(np.floor(distances), 0.0)
    if noise["law"] == "Laplace":
        wide, more = _laplace(noise["scale"])
        return np.exp(-np.maximum(distances - more, 0.0) / wide)
    if noise["law"] == "ladder":
        found = _ladder_tails(widths.values, noise["exponents"][0] / 2.0**RATE_BITS, distances)
    else:
        found = cauchy_tails(smooth_scales(widths.values, noise["epsilon"])[:, None], distances)
    return np.asarray(widths.weights @ np.minimum(found, 1.0))


def _ladder_tails(widths: FloatArray, rate: float, distances: FloatArray) -> FloatArray:
    """Probability that a ladder with these widths, shape (3, k), is further away than each distance, shape (k, m).

    With k rungs inside the distance, the rungs beyond weigh x^k sum_j c_j sum_i C(k, j - i) y^{i+1} on either side,
    x = e^-g; what the distance covers of rung k + 1 is left out.
    """
    x, y = math.exp(-rate), 1 / math.expm1(rate)
    c0, c1, c2 = columns = widths[:, :, None]
    k = rungs_within(columns, distances)
    rung = c0 + c1 * k + c2 * k * (k - 1) / 2
    covered = np.clip(distances - rung_ends(columns, k), 0.0, rung)
    beyond = np.exp(-rate * k) * (y * rung + y**2 * (c1 + c2 * k) + y**3 * c2 - x * covered)
    return np.asarray(2 * beyond / _total(widths, y)[:, None] * (1 + _ROUNDING))


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
