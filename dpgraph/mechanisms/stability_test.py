"""One private test for gap and coherence together: how many edges until the eigenspace becomes unstable?

:mod:`dpgraph.spectral.stability` defines the number D of edges after which one more edge could move the projector by
more than a limit; D has sensitivity 1. The limit and the shares of the budget are planned from released values: the
noisy spectrum, and guesses that cost nothing. A plan that was too hopeful is followed by one that assumes no more about
the coherence than the spectrum implies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpgraph.mechanisms.certificates import Certified, SubspaceCall, computed_error, halted
from dpgraph.mechanisms.spectrum import ReleasedSpectrum, release_spectrum
from dpgraph.spectral import sensitivity
from dpgraph.spectral.eigen import Eigenpairs, value_tolerance, vector_tolerance
from dpgraph.spectral.stability import Rates, SafeSet, SpectralState, Tolerances, predicted_path, steps_to_exit

__all__ = ["certify_jointly"]

FloatArray = NDArray[np.float64]

#: What the attempts assume about the coherence, times its guess: infinity is no more than what the spectrum implies.
_ATTEMPTS = (1.0, 2.5, math.inf)
#: Share of the slack for each attempt (the minimum degree has the rest).
_ATTEMPT_SLACK = 0.7 / len(_ATTEMPTS)
#: Share of mu**2 of the subspace that goes to the spectrum: it only steers.
_SPECTRUM_SHARE = 0.12
#: Shares of what is left that the test may take.
_TEST_SHARES = np.linspace(0.1, 0.7, 25)[:, None]
#: Spectral norms of the projector's noise that a plan may aim at. Above 2 the noise drowns the projector.
_TARGETS = np.geomspace(1e-3, 50.0, 95)
#: Noise at which rounding still finds nearly all (there is no use in aiming lower if that risks the test), and the
#: largest that a first attempt aims at.
_GOOD_NOISE, _USEFUL_NOISE = 0.9, 1.0
#: Among ranks whose predicted noise is at most this, the largest is taken.
_ACCEPTED_NOISE = 0.5
_USEFUL_TARGETS = np.linspace(_GOOD_NOISE, _USEFUL_NOISE, 3)
#: A target is within reach if the test is expected to pass by this many standard deviations.
_MARGIN = 1.0
#: Plans assume values of the spectrum that are worse by this many standard deviations, ...
_HOPEFUL, _CAREFUL = 0.0, 1.0
#: ... and a careful first one a coherence that is larger than its guess by this factor.
_CAREFUL_COHERENCE = 1.5
#: Values of the spectrum that are released beyond the candidates': they say where the bulk is, at no price in privacy.
_BULK_VALUES = 6
#: Above this number of rows eigenvalues are computed coarsely, see :func:`dpgraph.spectral.eigen.value_tolerance`.
_COARSE = 50_000
#: Larger numbers of steps are not told apart.
_CAP = 1e5
#: Gaps below this many e are never certified.
_LEAST_GAP = 3.0


@dataclass(frozen=True)
class _Plan:
    """A test to be made, from public and released values only.

    `noise` is the spectral norm of the noise on the projector if it passes; `score` by how many standard deviations it
    is expected to.
    """

    rank: int
    safe: SafeSet
    mu: float
    noise: float
    score: float


@dataclass(frozen=True)
class _Caution:
    """What a plan assumes, and at which noises it aims.

    The spectrum is worse by so many `deviations`, the coherence `coherence` times its guess. Of the ranks whose noise
    is at most `accepted` the largest is taken.
    """

    deviations: float
    coherence: float
    accepted: float = _ACCEPTED_NOISE
    targets: FloatArray = field(default_factory=lambda: _TARGETS)


def certify_jointly(call: SubspaceCall) -> Certified:
    """Certify a limit on the motion of the eigenspace; raises :class:`MechanismHalted` when all attempts fail."""
    ledger = call.ledger
    mu_spectrum = call.mu * math.sqrt(_SPECTRUM_SHARE)
    largest = call.candidates[-1]
    count = min(largest + 1 + _BULK_VALUES * (call.n <= _COARSE), call.n)
    pairs, spectrum = release_spectrum(
        call.operator, count, call.neighbours, ledger=ledger, mu=mu_spectrum, noise=call.noise
    )
    left = math.sqrt(call.mu**2 - mu_spectrum**2)
    # Attempts at the same rank share the eigenvectors: on large graphs nothing else takes long.
    vectors = cache(lambda rank: call.accurate_vectors(pairs, rank))
    for attempt, coherence in enumerate(_ATTEMPTS, start=1):
        z = ledger.good_event(f"stability test {attempt}", ledger.slack * _ATTEMPT_SLACK)
        plan = _plan_attempt(call, spectrum, left, z, coherence)
        U = vectors(plan.rank)
        stable = _attempt(call, pairs, U, plan, z, f"steps to instability {attempt}")
        left = math.sqrt(left**2 - plan.mu**2)
        if stable:
            gap = plan.safe.least_gap
            error = math.sqrt(2.0) * computed_error(plan.rank, call.neighbours, gap)
            return Certified(U, spectrum.values[: largest + 1], gap, plan.safe.limit + error, left)
    raise halted(
        ledger,
        "no eigenspace could be certified privately to be stable: the gap sigma_r - sigma_{r+1} is too small, or the "
        "eigenvectors are too localised, for this budget.",
    )


# --- planning, from released values ----------------------------------------------------------------------------------


def _plan_attempt(call: SubspaceCall, spectrum: ReleasedSpectrum, mu: float, z: float, coherence: float) -> _Plan:
    if coherence > _ATTEMPTS[0]:
        return _best_plan(call, spectrum, mu, z, _Caution(_CAREFUL, coherence))
    # Aim at what is certainly within reach.
    for certain in (math.inf, _CAREFUL_COHERENCE):
        plan = _best_plan(call, spectrum, mu, z, _Caution(_CAREFUL, certain))
        if plan.score >= _MARGIN and plan.noise <= (_ACCEPTED_NOISE if certain == math.inf else _GOOD_NOISE):
            return plan
    # A good noise is worth a test even where the noisy spectrum speaks against it.
    useful = _Caution(_HOPEFUL, coherence, targets=_USEFUL_TARGETS, accepted=_USEFUL_NOISE)
    plan = _best_plan(call, spectrum, mu, z, useful)
    if plan.score >= _MARGIN:
        return plan
    return _plan(call, spectrum, plan.rank, mu, z, replace(useful, deviations=-_CAREFUL))


def _best_plan(call: SubspaceCall, spectrum: ReleasedSpectrum, mu: float, z: float, caution: _Caution) -> _Plan:
    plans = [_plan(call, spectrum, r, mu, z, caution) for r in call.candidates]
    within_reach = [plan for plan in plans if plan.score >= _MARGIN]
    good = [plan for plan in within_reach if plan.noise <= caution.accepted]
    if good:
        return good[-1]
    if within_reach:
        return min(within_reach, key=lambda plan: (plan.noise, -plan.score))
    return max(plans, key=lambda plan: plan.score)


def _plan(call: SubspaceCall, spectrum: ReleasedSpectrum, rank: int, mu: float, z: float, caution: _Caution) -> _Plan:
    """Find the smallest noise whose test is expected to pass, and the share that makes it likeliest to."""
    least, shift = _LEAST_GAP * call.neighbours.norm, _shift(call.n)
    rates = _rates(call, rank, least)
    state = _predicted_state(call, spectrum, rank, caution)
    mus = mu * np.sqrt(_TEST_SHARES)
    needed = sensitivity.stability_steps(shift) * (z + _MARGIN) / float(mus[0, 0]) + 2
    times, states = predicted_path(state, rates, least, needed)
    limits = np.maximum.accumulate([rates.projector(x) for x in states])
    aims = caution.targets * np.sqrt(mu**2 - mus**2) / math.sqrt(2 * call.n)
    steps = np.interp(aims, limits, times, left=0.0)
    scores = (steps - 1 - shift) * mus / sensitivity.stability_steps(shift) - z
    share = np.argmax(scores, axis=0)
    best = scores.max(axis=0)
    reached = np.flatnonzero(best >= _MARGIN)
    k = int(reached[0]) if reached.size else int(np.argmax(best))
    gap = float(np.interp(steps[share[k], k], times, states[:, 0] - states[:, 1])) / 2
    safe = SafeSet(min(float(aims[share[k], k]), math.sqrt(2.0 * rank)), max(gap, least))
    return _Plan(rank, safe, float(mus[share[k], 0]), float(caution.targets[k]), float(best[k]))


def _predicted_state(call: SubspaceCall, spectrum: ReleasedSpectrum, rank: int, caution: _Caution) -> SpectralState:
    values, scale = spectrum.values, spectrum.scale
    # Values of the bulk are alike: their mean has less noise than the first, which stands out only if it does by more
    # than its noise.
    rest = values[rank:]
    excess = max(float(rest[0] - rest.mean()), 0.0)
    shrink = excess**2 / (excess**2 + scale**2)
    error = scale * math.sqrt(1 / len(rest) + shrink**2)
    outside = max(float(rest.mean()) + shrink * excess, 0.0) + caution.deviations * error
    inside = max(float(values[rank - 1]) - caution.deviations * scale, 0.0)
    coherence = caution.coherence * call.guess.coherence(rank)
    return call.neighbours.state(coherence, inside, outside, call.guess.largest_degree)


def _shift(n: int) -> float:
    """By how many steps the error of a computed state may move D: more where eigenvalues are computed coarsely."""
    return 0.02 if n <= _COARSE else 0.1


def _rates(call: SubspaceCall, rank: int, least_gap: float) -> Rates:
    neighbours = call.neighbours
    tolerances = Tolerances(
        shift=_shift(call.n),
        inside=math.sqrt(rank) * vector_tolerance(neighbours.norm),
        outside=value_tolerance(call.n, neighbours.norm),
        coherence=computed_error(rank, neighbours, least_gap) * neighbours.coherence_unit,
    )
    return neighbours.rates(tolerances)


# --- the test --------------------------------------------------------------------------------------------------------


def _attempt(call: SubspaceCall, pairs: Eigenpairs, U: FloatArray, plan: _Plan, z: float, name: str) -> bool:
    """Test whether one neighbour moves the projector on the span of U by at most the plan's limit."""
    neighbours, shift = call.neighbours, _shift(call.n)
    inside = float(np.abs(np.linalg.eigvalsh(U.T @ (call.operator @ U))).min())
    state = neighbours.state(
        neighbours.coherence(U), inside, float(abs(pairs.values[plan.rank])), neighbours.largest_degree
    )
    rates = _rates(call, plan.rank, plan.safe.least_gap)
    steps = steps_to_exit(state, rates, plan.safe, cap=_CAP)
    grid = call.ledger.gaussian_on_grid(name, sensitivity=sensitivity.stability_steps(shift), mu=plan.mu, count=1)
    noisy = call.noise.scalars(np.array([steps]), grid.unit, grid.scale)[0]
    return float(noisy) - z * grid.scale > 1 + shift
