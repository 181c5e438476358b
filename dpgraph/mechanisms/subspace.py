"""The coherence-aware private projector: DN25a, Algorithms 5.2, 5.5, 5.8, 5.10 and 6.2 with every constant fixed.

Steps (mathematics.md, section 3): private spectrum; a gap test that may halt; a private upper bound on the coherence;
Gaussian noise on the projector, scaled by that bound and the gap, of which only the top eigenspace Q is kept; the core
Q' A Q plus noise. Scales of later steps come from earlier releases through good events, each a ledger line.

How the budget is split decides the utility. The spectrum gets a fixed share; once it is released, coherence and
projector share the rest so that the predicted noise exp(slack of the log-coherence) / mu_projector is smallest: a
function of released values only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.mechanisms.grid import CORE_BITS, release_array
from dpgraph.mechanisms.projector_sampler import sample_noisy_eigenspace
from dpgraph.mechanisms.spectrum import ReleasedSpectrum, release_spectrum
from dpgraph.mechanisms.symmetric_release import release_symmetric
from dpgraph.privacy.accounting import pure_dp_epsilon
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity
from dpgraph.spectral.eigen import Eigenpairs, leading_eigenpairs, vector_tolerance
from dpgraph.spectral.neighbours import SpectralNeighbours

__all__ = [
    "CORE_NOISES",
    "MINIMUM_DEGREE_SLACK",
    "SLACK_SHARE",
    "CoreNoise",
    "Rank",
    "ReleasedSubspace",
    "accurate_vectors",
    "check_rank",
    "log_coherence_change",
    "release_core",
    "release_subspace",
]

FloatArray = NDArray[np.float64]
Rank = int | Literal["auto"]
#: Law of the noise on the core.
CoreNoise = Literal["gaussian", "wishart-difference"]
CORE_NOISES: tuple[str, ...] = get_args(CoreNoise)

#: Share of delta that good events may use, and how that is divided among them.
SLACK_SHARE = 0.3
GAP_SLACK, COHERENCE_SLACK, MINIMUM_DEGREE_SLACK = 0.4, 0.3, 0.3
#: Share of mu**2 of the subspace that goes to the spectrum (tuned on planted cuts, degrees 100 to 400).
_SPECTRUM_SHARE = 0.4
#: Among ranks whose predicted projector noise (its spectral norm) is below this, "auto" takes the largest.
_ACCEPTED_NOISE = 0.5


@dataclass(frozen=True)
class ReleasedSubspace:
    """A private orthonormal basis.

    Parameters
    ----------
    basis : ndarray, shape (n, r)
        Orthonormal columns.
    spectrum : ndarray, shape (k,)
        Noisy leading |eigenvalues|.
    gap : float
        Accepted lower bound on sigma_r - sigma_{r+1}.
    """

    basis: FloatArray
    spectrum: FloatArray
    gap: float


def check_rank(rank: Rank, n: int, max_rank: int) -> int:
    """Return the largest candidate rank, or raise :class:`InvalidParameterError`."""
    if rank == "auto":
        if max_rank < 1:
            raise InvalidParameterError(f"max_rank must be at least 1; got {max_rank!r}")
        return max(1, min(max_rank, n - 1))
    if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool) or not 1 <= rank <= n:
        raise InvalidParameterError(f"rank must be 'auto' or an integer in [1, n = {n}]; got {rank!r}")
    return int(rank)


def release_subspace(
    operator: Any,
    neighbours: SpectralNeighbours,
    rank: Rank,
    *,
    largest: int,
    typical_coherence: Callable[[int], float],
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
) -> ReleasedSubspace:
    """Release the space of the top |eigenvalues| of a private symmetric operator.

    Parameters
    ----------
    operator : matrix or LinearOperator, shape (n, n)
        Private.
    neighbours : SpectralNeighbours
        What one neighbour can change.
    rank : int or "auto"
        "auto" considers every rank up to `largest` at once.
    largest : int
        Public largest candidate rank.
    typical_coherence : callable
        Public guess of the coherence at a rank; steers choices, never privacy.
    ledger, mu, noise
        Budget of this call, GDP parameter of this release, source of noise. Good events use the ledger's slack.

    Raises
    ------
    MechanismHalted
        No candidate has a private lower bound on its gap above the spectral-norm bound e.
    """
    n = operator.shape[0]
    if largest == n:
        return ReleasedSubspace(np.eye(n), np.zeros(0), math.inf)
    mu_spectrum = mu * math.sqrt(_SPECTRUM_SHARE)
    pairs, spectrum = release_spectrum(operator, largest + 1, neighbours, ledger=ledger, mu=mu_spectrum, noise=noise)
    r, gap = _choose_rank(spectrum, neighbours, rank, largest, typical_coherence, n, ledger)
    rest = math.sqrt(mu**2 - mu_spectrum**2)
    U = accurate_vectors(operator, pairs, r, neighbours, noise)
    kappa, mu_projector = _release_coherence(U, neighbours, gap, typical_coherence(r), ledger, rest, noise)
    bound = neighbours.projector(kappa, gap) + math.sqrt(2.0) * _computed(r, neighbours, gap)
    scale = ledger.gaussian("projector", sensitivity=bound, mu=mu_projector, mechanism="symmetric Gaussian")
    return ReleasedSubspace(sample_noisy_eigenspace(U, scale, noise), spectrum.values, gap)


def release_core(
    operator: Any,
    Q: FloatArray,
    neighbours: SpectralNeighbours,
    *,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
    law: CoreNoise = "gaussian",
) -> FloatArray:
    """Release Q' A Q for a public orthonormal Q, shape (r, r).

    With ``law="wishart-difference"`` the release is purely private, with the largest epsilon that `mu` pays for.
    """
    core = Q.T @ (operator @ Q)
    if law == "wishart-difference":
        released, _ = release_symmetric(
            core,
            name="core",
            sensitivity=neighbours.core_nuclear(Q),
            epsilon=pure_dp_epsilon(mu),
            mechanism=law,
            ledger=ledger,
            noise=noise,
            bits=CORE_BITS,
            mu=mu,
        )
        return released
    return release_array(
        core,
        name="core",
        sensitivity=neighbours.core(Q),
        mu=mu,
        symmetric=True,
        ledger=ledger,
        noise=noise,
        bits=CORE_BITS,
    )


def _choose_rank(
    spectrum: ReleasedSpectrum,
    neighbours: SpectralNeighbours,
    rank: Rank,
    largest: int,
    typical_coherence: Callable[[int], float],
    n: int,
    ledger: Ledger,
) -> tuple[int, float]:
    """Rank and accepted gap bound, from released values only; halts when no gap is certified."""
    candidates = range(1, largest + 1) if rank == "auto" else [largest]
    z = ledger.good_event("gap lower bound", ledger.slack * GAP_SLACK, candidates=len(candidates))
    gaps = spectrum.gap_lower_bounds(z)
    accepted = [r for r in candidates if gaps[r - 1] > 2 * neighbours.norm]
    if not accepted:
        raise MechanismHalted(
            "no rank has a spectral gap that can be certified privately: the private lower bound on "
            "sigma_r - sigma_{r+1} must exceed twice what one edge can change. Raise epsilon, choose another rank, or "
            "use a mechanism that needs no gap (mechanism='bounded-iterates' or 'noisy-power'). "
            "The budget of this call is spent",
            stage="gap",
            privacy=ledger.report(),
        )
    # Spectral norm of the projector's noise at sensitivity s and unit mu is sqrt(2 n) s.
    predicted = {
        r: math.sqrt(2 * n) * neighbours.projector(typical_coherence(r), gaps[r - 1]) / (ledger.mu / 2)
        for r in accepted
    }
    good = [r for r in accepted if predicted[r] <= _ACCEPTED_NOISE]
    best = max(good) if good else min(accepted, key=lambda r: predicted[r])
    return best, float(gaps[best - 1])


def accurate_vectors(
    operator: Any, pairs: Eigenpairs, rank: int, neighbours: SpectralNeighbours, noise: NoiseSource
) -> FloatArray:
    """Eigenvectors of the chosen rank with the (smaller) residual that the projector's sensitivity assumes."""
    tolerance = vector_tolerance(neighbours.norm)
    U = pairs.vectors[:, :rank]
    residual = np.linalg.norm(operator @ U - U * pairs.values[:rank], axis=0).max()
    if residual <= tolerance:
        return U
    return leading_eigenpairs(operator, rank, tolerance=tolerance, generator=noise.generator).vectors


def _computed(rank: int, neighbours: SpectralNeighbours, gap: float) -> float:
    return sensitivity.computed_subspace(rank, vector_tolerance(neighbours.norm), gap, neighbours.norm)


def log_coherence_change(neighbours: SpectralNeighbours, gap: float, rank: int, n: int) -> float | None:
    """Bound on the change of the log-coherence of :func:`accurate_vectors`, or None where none is known."""
    if gap <= neighbours.norm:
        return None
    return neighbours.log_coherence(gap, _computed(rank, neighbours, gap) / neighbours.largest_row(rank, n))


def _release_coherence(
    U: FloatArray,
    neighbours: SpectralNeighbours,
    gap: float,
    typical: float,
    ledger: Ledger,
    mu: float,
    noise: NoiseSource,
) -> tuple[float, float]:
    """Private upper bound on the coherence, and what is left of `mu` for the projector."""
    bound = neighbours.coherence_bound(gap)  # sigma_r >= gap
    moves = log_coherence_change(neighbours, gap, U.shape[1], U.shape[0])
    if moves is None:
        return bound, mu
    z = ledger.good_event("log-coherence upper bound", ledger.slack * COHERENCE_SLACK)

    def predicted(share: float) -> float:
        return z * moves / (mu * math.sqrt(share)) - 0.5 * math.log1p(-share)

    share = float(minimize_scalar(predicted, bounds=(0.01, 0.9), method="bounded").x)
    if math.log(typical) + predicted(share) >= math.log(bound):
        return bound, mu  # the bound from the spectrum is expected to be better, and it is free
    mu_coherence = mu * math.sqrt(share)
    grid = ledger.gaussian_on_grid("log-coherence", sensitivity=moves, mu=mu_coherence, count=1)
    noisy = noise.scalars(np.array([math.log(neighbours.coherence(U))]), grid.unit, grid.scale)[0]
    return min(math.exp(noisy + z * grid.scale), bound), math.sqrt(mu**2 - mu_coherence**2)
