"""A bound on an integer with Laplace noise fails no oftener than it may, by the law of what is drawn."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import dpgraph
from dpgraph.bounds.count_intervals import Widths, cauchy_tails, half_width, tails
from dpgraph.bounds.ladder import rung_exponent
from dpgraph.linalg.subgraphs import ORDERS, Subgraphs
from dpgraph.privacy.call import open_call
from dpgraph.privacy.exact_sampling import EXPONENT_BITS, laplace_exponent
from dpgraph.privacy.grid import laplace_grid, laplace_quantile, split
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.subgraphs import release_by_local_bounds
from tests.about import each

SCALES = [float(f"1e{k}") * m for k in range(-3, 16) for m in (1.0, 1 / 3)] + [2.0**28, 2.0**29 - 1, 2.0**29, 2.0**49]
DELTAS = [float(f"1e{k}") for k in range(-3, -16, -1)]


def tail(exponent, m):
    """P[K >= m] of the discrete Laplace law with this exponent, to fifty digits."""
    rate = mpmath.mpf(exponent) / 2**EXPONENT_BITS
    if m <= 0:
        return 1 - tail(exponent, 1 - m)
    return mpmath.exp(-rate * m) / (1 + mpmath.exp(-rate))


def failure(scale, value, slack):
    """P[release < value - slack], of what the sampler draws: from its points, its coin and its noise, all rational."""
    step, steps = laplace_grid(scale, 1.0)
    (points,), left = split((np.array([float(value)]),), step)
    point, left, step = Fraction(float(points[0])), Fraction(float(left[0])), Fraction(step)
    assert point + left * step == value
    away = 1 if left > 0 else -1
    exponent = laplace_exponent(steps)

    def below(carried):
        # point + (carried + K) step < value - slack for integers K
        return tail(exponent, 1 - math.ceil((value - slack - point) / step - carried))

    share = mpmath.mpf(abs(left.numerator)) / left.denominator
    return share * below(away) + (1 - share) * below(0)


def values(scale, slack):
    """Values at all places between two points of the grid, or, of many, at both ends and about the worst one."""
    step = int(laplace_grid(scale, 1.0)[0])
    worst = (slack + 1) % step
    places = {0, 1, step - 1, step // 2, step // 3, worst - 1, worst, worst + 1, *range(min(step, 9))}
    return sorted({place % step for place in places})


@each("scale", SCALES, parts=2)
def test_the_bound_fails_with_its_probability_at_most_and_is_not_wasteful(scale):
    with mpmath.workdps(50):
        for delta in DELTAS:
            slack = laplace_quantile(scale, delta)
            assert max(failure(scale, value, slack) for value in values(scale, slack)) <= delta
            if slack:  # one less is too little, up to the allowance for floating point
                shorter = slack - 1 - int(1e-11 * slack)
                assert max(failure(scale, value, shorter) for value in values(scale, shorter)) > delta


@each("scale, bits", list(itertools.product([5.0, 17.0, 50.0], [0, 1, 2])), parts=2)
def test_the_worst_value_between_two_points_is_found(scale, bits, monkeypatch):
    """On coarse grids every value and every slack is tried: the least slack that does is the quantile."""
    monkeypatch.setattr("dpgraph.privacy.grid.LAPLACE_BITS", bits)
    step = int(laplace_grid(scale, 1.0)[0])
    with mpmath.workdps(30):
        for delta in (0.4, 0.1, 0.01, 1e-4):
            places = range(-step, step)
            enough = (q for q in itertools.count() if all(failure(scale, value, q) <= delta for value in places))
            assert laplace_quantile(scale, delta) == next(enough)


def test_what_was_used_before_exceeds_its_delta():
    """The tail of the ideal law at scale 1e12 and delta 1e-10: the fault that this module is about."""
    ideal = math.ceil(1e12 * math.log(0.5 / 1e-10))
    with mpmath.workdps(50):
        assert failure(1e12, 0, ideal) > 1.0005e-10


@each("scale, bits", [(3.7, 28), (40.0, 1)], parts=2)
def test_draws_fall_below_as_often_as_the_law_says(scale, bits, monkeypatch):
    monkeypatch.setattr("dpgraph.privacy.grid.LAPLACE_BITS", bits)
    value, slack = 1003, laplace_quantile(scale, 0.2)
    drawn = noise_source(None).laplace_on_grid(np.full(40_000, float(value)), 1.0, scale)
    expected = float(failure(scale, value, slack))
    assert np.mean(drawn < value - slack) == pytest.approx(expected, abs=6 * math.sqrt(expected / drawn.size))


class _Width(Subgraphs):
    """One width far beyond what a double holds to the unit."""

    def __init__(self, width):
        self._width = width

    def widths(self, pattern):
        return (self._width, 1)

    def count(self, pattern):
        return 0


@each("width", [2**53 + 1, 2**60 - 1, 3 * 2**70 + 5], parts=2)
def test_rounding_of_a_large_number_to_a_double_is_part_of_the_bound(width, monkeypatch):
    """With noise of 0 that still leaves the bound at the width: the double that is released may lie below it."""
    monkeypatch.setattr(NoiseSource, "_laplace", lambda self, shape, scale: np.zeros(shape))
    monkeypatch.setattr("dpgraph.privacy.ledger.laplace_quantile", lambda scale, failure: 0)
    call = open_call(epsilon=1.0, delta=1e-6, accountant=None, relation=Edge(), noise=0, staged=True)
    call = call.stage(slack=5e-7)
    released = release_by_local_bounds(_Width(width), "triangle", call, 5e-7)
    assert call.report().entries[-1].sensitivity >= width
    assert released.noise["law"] == "Laplace"


@each("miss, scale", list(itertools.product([0.3, 0.05, 1e-6], [0.2, 0.7, 3.0, 40.3, 1e6, 3e12])), parts=2)
def test_an_interval_of_laplace_noise_covers_what_it_says(scale, miss):
    width = half_width({"law": "Laplace", "scale": scale}, miss)
    assert width <= 1.002 * scale * math.log(1 / miss) + 1
    with mpmath.workdps(50):
        for value in values(scale, int(width)):
            above = failure(scale, -value, width)  # minus the release has the law of the release of minus the value
            assert failure(scale, value, width) + above <= miss


def test_the_event_and_its_slack_are_one_entry():
    whole = open_call(epsilon=1.0, delta=1e-6, accountant=None, relation=Edge(), noise=0, staged=True)
    call = whole.stage(slack=5e-7)
    assert call.laplace_event("bound", 2e-7, scale=5.0) == laplace_quantile(5.0, 2e-7)
    assert call.report().entries[-1].delta_share == 2e-7
    with pytest.raises(dpgraph.DPGraphError):
        call.laplace_event("bound", 4e-7, scale=5.0)


@each("scale", [2.0, 7.3, 400.0], parts=2)
def test_tails_of_cauchy_noise_are_at_least_and_nearly_those_of_the_law(scale):
    distances = [0, 1, math.ceil(scale), 5 * math.ceil(scale)]
    with mpmath.workdps(30):
        total = mpmath.pi * mpmath.coth(mpmath.pi * scale) / scale
        for h, bound in zip(distances, cauchy_tails(scale, np.array(distances, dtype=float)), strict=True):
            near = mpmath.fsum(1 / (mpmath.mpf(scale) ** 2 + z * z) for z in range(-h, h + 1))
            assert 1 - near / total <= bound <= (1 - near / total) * 1.25


@each("epsilon, widths", list(itertools.product([2.0**-9, 0.1, 3.0], [(1,), (5, 1), (300, 7, 1)])), parts=2)
def test_tails_of_a_ladder_are_those_of_the_law(widths, epsilon):
    exponent = rung_exponent(epsilon, (1,) * (len(widths) - 1))
    corner = np.array([*widths, 0, 0][:3], dtype=float)[:, None]
    distances = np.unique(np.geomspace(1, 3 * widths[0] / epsilon, 9).astype(int)).astype(float) - 1
    noise = {"law": "ladder", "widths": widths, "exponents": (exponent,)}
    found = tails(noise, Widths(corner, np.ones(1)), distances)
    with mpmath.workdps(40):
        x = mpmath.exp(-mpmath.mpf(exponent) / 2**EXPONENT_BITS)
        y = x / (1 - x)
        total = 1 + 2 * sum(width * y ** (j + 1) for j, width in enumerate(widths))
        inside, k, reached, weight = mpmath.mpf(1), 0, 0, mpmath.mpf(1)
        for distance, bound in zip(distances.astype(int).tolist(), found, strict=True):
            while True:
                rung = sum(width * math.comb(k, j) for j, width in enumerate(widths))
                if reached + rung > distance:
                    break
                k, weight = k + 1, weight * x
                reached, inside = reached + rung, inside + 2 * rung * weight
            exact = 1 - (inside + 2 * (distance - reached) * weight * x) / total
            assert exact <= bound <= exact * (1 + 1e-7)


@each("pattern", ["triangle", "4-clique"], parts=2)
def test_released_bounds_on_widths_take_that_slack_for_their_share_of_delta(pattern, monkeypatch):
    monkeypatch.setattr(NoiseSource, "_laplace", lambda self, shape, scale: np.zeros(shape))
    whole = open_call(epsilon=1.0, delta=1e-6, accountant=None, relation=Edge(), noise=0, staged=True)
    subgraphs = _Width(1000)
    monkeypatch.setattr(subgraphs, "widths", lambda pattern: (1000, 40, 1)[-ORDERS[pattern] - 1 :])
    release_by_local_bounds(subgraphs, pattern, whole.stage(slack=5e-7), 5e-7)
    *lines, last = [line for line in whole.report().entries if not line.delta_share]
    widths, order = subgraphs.widths(pattern), ORDERS[pattern]
    for j, line, following in zip(reversed(range(order)), lines, [*lines[1:], last], strict=True):
        assert following.sensitivity == widths[j] + laplace_quantile(line.scale, 5e-7 / order)
    assert sum(line.delta_share for line in whole.report().entries) == pytest.approx(5e-7)
