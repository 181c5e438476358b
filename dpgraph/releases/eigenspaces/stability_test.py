"""One private measurement for gap and coherence together: how many edges until the eigenspace becomes unstable?

:mod:`dpgraph.bounds.stability` defines a number D of edges for which the leading eigenspace stays below a public
curve of limits on its speed; D has sensitivity 1, and its noisy value certifies how far one edge can turn the space
(propose-test-release). The curve, the rank and the share of the budget are planned from released values: the noisy
spectrum, and guesses that cost nothing.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from dpgraph.bounds import spectra
from dpgraph.bounds.exit_time import SafeSet, steps_to_exit
from dpgraph.bounds.stability import Rates, SpectralState, Tolerances, predicted_paths
from dpgraph.linalg.eigen import COARSE_ROWS, Eigenpairs, value_tolerance, vector_tolerance
from dpgraph.privacy.call import Call, Measurement
from dpgraph.releases.eigenspaces.spectrum import (
    MOTION_SLACK,
    Certified,
    ReleasedSpectrum,
    SubspaceInput,
    accurate_vectors,
    computed_error,
    computed_projector,
    halted,
    release_spectrum,
)
from dpgraph.tuning import STABILITY_TEST
from dpgraph.typing import FloatArray

#: Measurements, the second one planned with what the first one found.
_ATTEMPTS = 2
#: Points of a predicted path.
_POINTS = 41
#: Larger numbers of steps are not told apart, and computed ones are below the exact ones by at most this.
_CAP, _WIDTH = 1e5, 0.02
#: Gaps below so many e are never certified: where there is none of 2 e, eigenvectors stay coarse.
_LEAST_GAP = 3.0
#: Limits of the curve differ by at least this factor, so that rounding of a rate does not move its steps.
_LEAST_RISE = 1e-4


@dataclass(frozen=True)
class _Plan:
    """A measurement to be made, from public and released values only.

    `steps` is the D that it expects; `value` the expected 1 - (sine of the angle between the released space and the
    true one), zero where nothing can be released.
    """

    rank: int
    safe: SafeSet
    mu: float
    steps: float
    value: float


def certify_jointly(private: SubspaceInput, call: Call) -> Certified:
    """Certify how far one neighbour turns the eigenspace; raises :class:`MechanismHalted` when all attempts fail."""
    neighbours, candidates = private.neighbours, private.candidates
    fixed = private.n > COARSE_ROWS and len(candidates) == 1
    first = call.part(STABILITY_TEST.spectrum_share)
    pairs, spectrum = release_spectrum(private.operator, candidates[-1] + 1, neighbours, first, accurate=fixed)
    left = call.without(first)
    # Attempts at the same rank share the eigenvectors: on large graphs nothing else takes long.
    vectors = cache(lambda rank: accurate_vectors(private.operator, pairs, rank, neighbours, call))
    coherence = 1.0
    for attempt in range(1, _ATTEMPTS + 1):
        z = call.good_event(f"stability test {attempt}", MOTION_SLACK / _ATTEMPTS)
        plan = _plan(private, spectrum, left.mu, z, coherence)
        U, part = vectors(plan.rank), left.at_mu(plan.mu)
        state = _state(private, pairs, U, plan)
        measured, std = _measure(private, state, plan, part, f"steps to instability {attempt}")
        slack = z * std + _shift(private.n)
        left = left.without(part)
        gap = plan.safe.least_gap * neighbours.norm
        error = computed_projector(plan.rank, neighbours, gap)
        limit = plan.safe.limit(measured - slack - 1) + error
        if measured - slack > 1 and limit <= _useless_limit(private.n, left.mu):
            return Certified(U, spectrum.values, gap, limit, left)
        coherence *= max(plan.safe.limit(measured) / plan.safe.limit(plan.steps), 1.0)
    raise halted(
        call,
        "no eigenspace could be certified privately to be stable: the gap sigma_r - sigma_{r+1} is too small, or the "
        "eigenvectors are too localised, for this budget.",
    )


def _useless_limit(n: int, mu: float) -> float:
    """Limit on the change of the projector above which noise of GDP parameter mu, of spectral norm 2, hides it."""
    return 2 * mu / math.sqrt(2 * n)


def _plan(private: SubspaceInput, spectrum: ReleasedSpectrum, mu: float, z: float, coherence: float) -> _Plan:
    """Choose the rank, the curve and the share of the budget of the largest expected value."""
    rates = _rates(private, private.candidates[-1], _LEAST_GAP)
    mus = mu * np.sqrt(np.linspace(0.02, 0.98, 25))
    slacks = _sensitivity(private.n) * z / mus + _shift(private.n)
    useless = np.array([_useless_limit(private.n, math.sqrt(mu**2 - m**2)) for m in mus])
    states = np.array([_predicted_state(private, spectrum, rank, coherence) for rank in private.candidates]).T
    times = np.linspace(0.0, slacks[0], _POINTS)
    paths, first = predicted_paths(states, rates, times), rates.speeds(states)
    plans = []
    for k, rank in enumerate(private.candidates):
        path, gaps = paths[:, :, k], paths[0, :, k] - paths[1, :, k]
        least_gap = max(STABILITY_TEST.gap_share * float(gaps[0]), _LEAST_GAP)
        speeds = np.maximum.accumulate(np.where(gaps >= least_gap, np.minimum(rates.projector(path), 1e300), 1e300))
        room = np.maximum(gaps - least_gap, 0.0) / (first[0, k] + first[1, k]) / 2
        worst = min(_useless_limit(private.n, mu), math.sqrt(2.0 * rank))
        safe, steps = _safe_set(times, speeds, room, worst, float(first[2, k] / states[2, k]), least_gap)
        left = steps - slacks - 1
        limits = np.array([safe.limit(remaining) for remaining in left])
        value = np.where(left > 0, np.maximum(1 - limits / useless, 0.0), 0.0)
        best = int(np.argmax(value)) if value.any() else len(mus) // 2
        plans.append(_Plan(rank, safe, float(mus[best]), steps, float(value[best])))
    good = [plan for plan in plans if plan.value >= 1 / 2]
    return good[-1] if good else max(plans, key=lambda plan: plan.value)


def _safe_set(
    times: FloatArray, speeds: FloatArray, room: FloatArray, worst: float, growth: float, least_gap: float
) -> tuple[SafeSet, float]:
    """The safe set whose limits a predicted path just keeps, and how many steps it keeps them.

    `speeds` are those on the path, `room` half of the steps in which its gap would close. Where that much remains of
    them, the limit is the speed; then it rises to the `worst` useful one. A state that is better than predicted has
    more steps: backwards, the path grows by `growth`, as it does at its start.
    """
    kept = speeds < worst
    kept[1:] &= np.diff(speeds) > _LEAST_RISE * speeds[1:]
    if not kept.any():  # the prediction is useless at once; a state that is better need not be
        times, speeds, room, kept = times[:1], np.array([worst / math.e]), room[:1], np.ones(1, dtype=bool)
    times, speeds, rise = times[kept], speeds[kept], max(float(room[kept][-1]), 1e-6)
    steps = np.concatenate([[0.0], rise + times[-1] - np.append(times[::-1], times[0] - 1 / growth)])
    limits = np.concatenate([[worst], speeds[::-1], [speeds[0] / math.e]])
    return SafeSet(steps, limits, least_gap), rise + float(times[-1])


def _predicted_state(private: SubspaceInput, spectrum: ReleasedSpectrum, rank: int, coherence: float) -> FloatArray:
    values, scale = spectrum.values / private.neighbours.norm, spectrum.scale / private.neighbours.norm
    # Values of the bulk are alike: their mean has less noise than the first, which stands out only if it does by more
    # than its noise.
    rest = values[rank:]
    excess = max(float(rest[0] - rest.mean()), 0.0)
    outside = max(float(rest.mean()) + excess**3 / (excess**2 + scale**2), 0.0)
    inside = max(float(values[rank - 1]), _LEAST_GAP)
    # A gap that is not there cannot be planned with: assume some, and let the measurement say.
    outside = min(outside, inside / 2)
    coherence *= private.guess.coherence(rank)
    return private.neighbours.state(coherence, inside, outside, private.guess.largest_degree).array()


def _shift(n: int) -> float:
    """By how many steps the error of a computed state may change D: more where eigenvalues are coarse."""
    return 0.02 if n <= COARSE_ROWS else 0.1


def _sensitivity(n: int) -> float:
    """Of a computed number of steps."""
    return spectra.stability_steps(_shift(n), _WIDTH)


def _rates(private: SubspaceInput, rank: int, least_gap: float) -> Rates:
    """Bounds on speeds, for gaps of at least `least_gap` e; tolerances in units of e too."""
    neighbours = private.neighbours
    tolerances = Tolerances(
        shift=_shift(private.n),
        inside=math.sqrt(rank) * vector_tolerance(1.0),
        outside=value_tolerance(private.n, 1.0),
        coherence=computed_error(rank, neighbours, least_gap * neighbours.norm),
    )
    return neighbours.rates(tolerances)


def _state(private: SubspaceInput, pairs: Eigenpairs, U: FloatArray, plan: _Plan) -> SpectralState:
    """State of the span of U; private."""
    neighbours, norm = private.neighbours, private.neighbours.norm
    inside = float(np.abs(np.linalg.eigvalsh(U.T @ (private.operator @ U))).min())
    outside = float(abs(pairs.values[plan.rank]))
    return neighbours.state(neighbours.coherence(U), inside / norm, outside / norm, neighbours.largest_degree)


def _measure(private: SubspaceInput, state: SpectralState, plan: _Plan, call: Call, name: str) -> tuple[float, float]:
    """Release the number of steps that a state stays in the plan's safe set; also the standard deviation."""
    rates = _rates(private, plan.rank, plan.safe.least_gap)
    steps = np.array([min(steps_to_exit(state, rates, plan.safe, cap=_CAP, width=_WIDTH), private.headroom)])
    noisy = call.release(Measurement(name, steps, l2=_sensitivity(private.n), few=True))
    return noisy.number, noisy.std
