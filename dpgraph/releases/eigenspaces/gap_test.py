"""The papers' certificate: a gap test that may halt, then a private upper bound on the coherence.

DN25a, Algorithms 5.2 and 5.5 with every constant fixed (docs/theory.md, section 3). The spectrum gets a fixed share of
the budget; once it is released, coherence and projector share the rest so that the predicted noise
exp(slack of the log-coherence) / mu_projector is smallest: a function of released values only.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.releases.eigenspaces.certificates import Certified, SubspaceCall, computed_error, halted
from dpgraph.releases.eigenspaces.spectrum import ReleasedSpectrum, release_spectrum

__all__ = ["certify_separately", "log_coherence_change"]

FloatArray = NDArray[np.float64]

#: Shares of the slack (the minimum degree has the rest).
_GAP_SLACK, _COHERENCE_SLACK = 0.4, 0.3
#: Share of mu**2 of the subspace that goes to the spectrum (tuned on planted cuts, degrees 100 to 400).
_SPECTRUM_SHARE = 0.4
#: Among ranks whose predicted projector noise (its spectral norm) is below this, the largest is taken.
_ACCEPTED_NOISE = 0.5


def certify_separately(call: SubspaceCall) -> Certified:
    """Certify a gap and then a coherence; raises :class:`MechanismHalted` without a gap above twice the norm e."""
    mu_spectrum = call.mu * math.sqrt(_SPECTRUM_SHARE)
    largest = call.candidates[-1]
    pairs, spectrum = release_spectrum(
        call.operator, largest + 1, call.neighbours, ledger=call.ledger, mu=mu_spectrum, noise=call.noise
    )
    r, gap = _choose_rank(spectrum, call)
    U = call.accurate_vectors(pairs, r)
    kappa, mu = _release_coherence(U, gap, call, math.sqrt(call.mu**2 - mu_spectrum**2))
    bound = call.neighbours.projector(kappa, gap) + math.sqrt(2.0) * computed_error(r, call.neighbours, gap)
    return Certified(U, spectrum.values, gap, bound, mu)


def _choose_rank(spectrum: ReleasedSpectrum, call: SubspaceCall) -> tuple[int, float]:
    """Rank and accepted gap bound, from released values only; halts when no gap is certified."""
    ledger, neighbours = call.ledger, call.neighbours
    z = ledger.good_event("gap lower bound", ledger.slack * _GAP_SLACK, candidates=len(call.candidates))
    gaps = spectrum.gap_lower_bounds(z)
    accepted = [r for r in call.candidates if gaps[r - 1] > 2 * neighbours.norm]
    if not accepted:
        raise halted(
            ledger,
            "no rank has a spectral gap that can be certified privately: the private lower bound on "
            "sigma_r - sigma_{r+1} must exceed twice what one edge can change.",
        )
    # Spectral norm of the projector's noise at sensitivity s and unit mu is sqrt(2 n) s.
    predicted = {
        r: math.sqrt(2 * call.n) * neighbours.projector(call.guess.coherence(r), gaps[r - 1]) / (ledger.mu / 2)
        for r in accepted
    }
    good = [r for r in accepted if predicted[r] <= _ACCEPTED_NOISE]
    best = max(good) if good else min(accepted, key=lambda r: predicted[r])
    return best, float(gaps[best - 1])


def log_coherence_change(neighbours: SpectralNeighbours, gap: float, rank: int, n: int) -> float | None:
    """Bound on the change of the log-coherence of accurate eigenvectors, or None where none is known."""
    if gap <= neighbours.norm:
        return None
    return neighbours.log_coherence(gap, computed_error(rank, neighbours, gap) / neighbours.largest_row(rank, n))


def _release_coherence(U: FloatArray, gap: float, call: SubspaceCall, mu: float) -> tuple[float, float]:
    """Private upper bound on the coherence, and what is left of `mu` for the projector."""
    ledger, neighbours = call.ledger, call.neighbours
    bound = neighbours.coherence_bound(gap)  # sigma_r >= gap
    moves = log_coherence_change(neighbours, gap, U.shape[1], U.shape[0])
    if moves is None:
        return bound, mu
    z = ledger.good_event("log-coherence upper bound", ledger.slack * _COHERENCE_SLACK)

    def predicted(share: float) -> float:
        return z * moves / (mu * math.sqrt(share)) - 0.5 * math.log1p(-share)

    share = float(minimize_scalar(predicted, bounds=(0.01, 0.9), method="bounded").x)
    if math.log(call.guess.coherence(U.shape[1])) + predicted(share) >= math.log(bound):
        return bound, mu  # the bound from the spectrum is expected to be better, and it is free
    mu_coherence = mu * math.sqrt(share)
    grid = ledger.gaussian_on_grid("log-coherence", sensitivity=moves, mu=mu_coherence, count=1)
    noisy = call.noise.scalars(np.array([math.log(neighbours.coherence(U))]), grid.unit, grid.scale)[0]
    return min(math.exp(noisy + z * grid.scale), bound), math.sqrt(mu**2 - mu_coherence**2)
