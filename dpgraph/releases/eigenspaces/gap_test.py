"""The papers' certificate: a gap test that may halt, then a private upper bound on the coherence.

DN25a, Algorithms 5.2 and 5.5 with every constant fixed (docs/subspaces-theory.md). The spectrum gets a fixed share of
the budget. Once it is released, coherence and projector share the rest so that the predicted noise
exp(slack of the log-coherence) / mu_projector is smallest: a function of released values only.
"""

import math

import numpy as np
import scipy.optimize

from dpgraph.bounds.neighbours import SpectralNeighbours
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
from dpgraph.tuning import GAP_TEST
from dpgraph.typing import FloatArray


def certify_separately(private: SubspaceInput, call: Call) -> Certified:
    """Certify a gap and then a coherence; raises :class:`MechanismHalted` without a gap above twice the norm e.

    e bounds what one neighbour changes in spectral norm. The gap is that between the leading singular values and the
    next one; the coherence says how concentrated the leading vectors are on a few rows. Both limit how far one
    neighbour can turn the leading space.
    """
    first, neighbours = call.part(GAP_TEST.spectrum_share), private.neighbours
    pairs, spectrum = release_spectrum(private.operator, private.candidates[-1] + 1, neighbours, first)
    r, gap = _choose_rank(spectrum, private, call)
    U = accurate_vectors(private.operator, pairs, r, neighbours, call)
    kappa, left = _release_coherence(U, gap, private, call.without(first))
    bound = neighbours.projector(kappa, gap) + computed_projector(r, neighbours, gap)
    return Certified(U, spectrum.values, gap, bound, left)


def _choose_rank(spectrum: ReleasedSpectrum, private: SubspaceInput, call: Call) -> tuple[int, float]:
    """Rank and accepted gap bound, from released values only; halts when no gap is certified."""
    neighbours = private.neighbours
    z = call.good_event("gap lower bound", MOTION_SLACK / 2, candidates=len(private.candidates))
    gaps = spectrum.gap_lower_bounds(z)
    accepted = [r for r in private.candidates if gaps[r - 1] > neighbours.least_gap * neighbours.norm]
    if not accepted:
        raise halted(
            call,
            "no rank has a spectral gap that can be certified privately: the private lower bound on "
            "sigma_r - sigma_{r+1} must exceed twice what one edge can change.",
        )
    # Spectral norm of the projector's noise at sensitivity s and unit mu is sqrt(2 n) s.
    predicted = {
        r: math.sqrt(2 * private.n)
        * neighbours.projector(private.guess.coherence(r), gaps[r - 1])
        / (call.whole.mu / 2)
        for r in accepted
    }
    good = [r for r in accepted if predicted[r] <= 1 / 2]
    best = max(good) if good else min(accepted, key=lambda r: predicted[r])
    return best, float(gaps[best - 1])


def log_coherence_change(neighbours: SpectralNeighbours, gap: float, rank: int, n: int) -> float | None:
    """Bound on the change of the log-coherence of accurate eigenvectors, or None where none is known."""
    if gap <= neighbours.norm:
        return None
    return neighbours.log_coherence(gap, computed_error(rank, neighbours, gap) / neighbours.largest_row(rank, n))


def _release_coherence(U: FloatArray, gap: float, private: SubspaceInput, call: Call) -> tuple[float, Call]:
    """Private upper bound on the coherence, and what is left for the projector."""
    neighbours, mu = private.neighbours, call.mu
    bound = neighbours.coherence_bound(gap)  # sigma_r >= gap
    moves = log_coherence_change(neighbours, gap, U.shape[1], U.shape[0])
    if moves is None:
        return bound, call
    z = call.good_event("log-coherence upper bound", MOTION_SLACK / 2)

    def predicted(share: float) -> float:
        return z * moves / (mu * math.sqrt(share)) - 0.5 * math.log1p(-share)

    share = float(scipy.optimize.minimize_scalar(predicted, bounds=(0.01, 0.9), method="bounded").x)
    if math.log(private.guess.coherence(U.shape[1])) + predicted(share) >= math.log(bound):
        return bound, call  # the bound from the spectrum is expected to be better, and it is free
    part, exact = call.part(share), np.array([math.log(neighbours.coherence(U))])
    noisy = part.release(Measurement("log-coherence", exact, l2=moves, few=True))
    return min(math.exp(noisy.number + z * noisy.std), bound), call.without(part)
