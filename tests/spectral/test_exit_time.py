"""The computed number of steps is below the exact one by less than its width, whatever the curve and the state."""

import math
from functools import partial

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dpgraph.bounds import exit_time, spectra
from dpgraph.bounds.exit_time import SafeSet, steps_to_exit
from dpgraph.bounds.stability import DIRECTION, EdgeRates, MatrixRates, SpectralState, Tolerances
from dpgraph.releases.eigenspaces import stability_test
from tests.privacy.attack import planted

WIDTH, CAP = 0.02, 1e3
#: As in a private call.
ERRORS = Tolerances(0.02, inside=1e-6, outside=5e-3, coherence=1e-6)


def drawn(seed):
    """A state, bounds on its speeds, and a public curve that was planned along the path of a similar state."""
    rng = np.random.default_rng(seed)
    m = float(np.exp(rng.uniform(2, 9)))
    rates = MatrixRates(ERRORS) if rng.random() < 0.2 else EdgeRates(m, m * rng.choice([0.0, 0.5, 1.0]), ERRORS)
    inside = float(np.exp(rng.uniform(3, 6.5)))
    state = SpectralState(inside, inside * rng.uniform(0, 0.7), rng.uniform(0.01, 0.3), inside * rng.uniform(1, 3))
    planned = SpectralState(
        inside * rng.uniform(0.95, 1.05), state.outside, state.coherence * rng.uniform(0.9, 1.3), state.largest_degree
    )
    times, path = np.linspace(0.0, inside * rng.uniform(0.2, 1.0), 41), [planned.array()]
    for step in np.diff(times):
        path.append(path[-1] + step * DIRECTION * rates.speeds(path[-1]))
    x = np.array(path).T
    speeds = np.maximum.accumulate(np.where(x[0] - x[1] > 3.0, rates.projector(x), np.inf))
    speeds, times = speeds[np.isfinite(speeds)], times[np.isfinite(speeds)]
    if rng.random() < 0.5:  # stairs: whether a state is on one or on the next decides about many steps
        width = rng.choice([0.03, 0.1, 0.3])
        speeds = np.exp(np.floor(np.log(speeds) / width) * width) * (1 + 3e-4 * np.arange(len(speeds)))
    kept = np.append(True, np.diff(speeds) > 1e-4 * speeds[1:])
    speeds, times = speeds[kept], times[kept]
    # Then up to the worst limit: a cliff, if that takes few steps.
    steps = np.append(0.0, rng.choice([1e-3, 0.3, 3.0]) + times[-1] - np.append(times[::-1], times[0] - inside))
    limits = np.concatenate([[speeds[-1] * rng.choice([1.5, 10.0])], speeds[::-1], [speeds[0] / math.e]])
    return state, rates, SafeSet(steps, limits, max(3.0, 0.25 * (state.inside - state.outside)))


def path_of(state, rates, safe):
    """The solution by a method of order eight in tiny steps, up to the exit for good."""

    def gone(_, x):
        return min(safe.limits[0] / float(rates.projector(x)) - 1, (x[0] - x[1]) / safe.least_gap - 1)

    gone.terminal = True
    motion = lambda _, x: DIRECTION * rates.speeds(x)  # noqa: E731
    solution = solve_ivp(
        motion,
        (0.0, CAP),
        state.array(),
        "DOP853",
        events=gone,
        rtol=1e-10,
        atol=1e-12,
        max_step=1.0,
        dense_output=True,
    )
    return solution.t[-1], solution.sol


def fine_steps(state, rates, safe):
    """D of that solution, on a grid so fine that it is 1e-3 too large at most between two of its times."""
    x = state.array()
    if rates.projector(x) > safe.limits[0] or x[0] - x[1] < safe.least_gap:
        return 0.0
    last, path = path_of(state, rates, safe)
    times = np.linspace(0.0, last, 2 + math.ceil(last / 1e-3))
    return min(last, float(np.min(times + safe.remaining(np.minimum(rates.projector(path(times)), safe.limits[0])))))


@pytest.mark.parametrize("seed", range(8))
def test_the_steps_are_those_of_an_accurate_solution(seed):
    state, rates, safe = drawn(seed)
    fine = fine_steps(state, rates, safe)
    assert fine - WIDTH - 1e-3 <= steps_to_exit(state, rates, safe, cap=CAP, width=WIDTH) <= fine + 1e-6


def one_edge_on(state, rates):
    """A state that one edge may lead to: the worst, but for the width of the enclosure. And those on the way to it."""
    enclosure = exit_time._Enclosure(state.array(), rates)
    ways = []
    while enclosure.late < 1:
        pieces, _ = enclosure.advance(1 / 16, 1e-3)
        ways += [pieces.states[:, k] for k in np.flatnonzero(pieces.late <= 1)[:: -max(1, len(pieces.late) // 2)]]
    return [SpectralState(*x) for x in ways]


def largest_change(function, seeds):
    """Most by which one edge moves the steps that a function computes."""
    worst = 0.0
    for seed in seeds:
        state, rates, safe = drawn(seed)
        ways = one_edge_on(state, rates)
        steps = [function(x, rates, safe) for x in (state, *ways[::10], ways[-1])]
        worst = max(worst, max(steps) - min(steps))
    return worst


def computed(state, rates, safe):
    return steps_to_exit(state, rates, safe, cap=CAP, width=WIDTH)


def test_one_edge_moves_the_computed_steps_by_at_most_what_the_ledger_says():
    assert 0.9 < largest_change(computed, range(12)) <= spectra.stability_steps(0.0, WIDTH)


@pytest.mark.slow
def test_one_edge_moves_the_computed_steps_by_at_most_what_the_ledger_says_for_a_thousand_plans():
    assert largest_change(computed, range(60, 1060)) <= spectra.stability_steps(0.0, WIDTH)


def test_mutant_exit_on_65_points_is_caught_by_one_edge(monkeypatch):
    planted.exit_on_65_points(monkeypatch)
    seeds = [227, 248]
    assert largest_change(partial(stability_test.steps_to_exit, cap=CAP, width=WIDTH), seeds) > 1.25
    assert largest_change(computed, seeds) <= spectra.stability_steps(0.0, WIDTH)


def test_mutant_bracket_that_is_not_narrowed_is_caught_by_the_accurate_solution(monkeypatch):
    monkeypatch.setattr(exit_time, "_GROWTH", 100.0)
    worst = 0.0
    for seed in range(6):
        state, rates, safe = drawn(seed)
        worst = max(worst, fine_steps(state, rates, safe) - computed(state, rates, safe))
    assert worst > 2 * WIDTH
