"""The coherence-aware private projector: DN25a, Algorithms 5.2, 5.5, 5.8, 5.10 and 6.2 with every constant fixed.

Steps (docs/theory.md, section 3): private spectrum; a certificate that the leading eigenspace moves little when one
edge changes, which may halt (:mod:`stability_test`, or the papers' :mod:`separate_tests`); Gaussian noise on the
projector, of which only the top eigenspace Q is kept; the core Q' A Q plus noise. Scales of later steps come from
earlier releases through good events, each a ledger line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_integer
from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accounting import pure_dp_epsilon
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.releases.arrays import release_array
from dpgraph.releases.eigenspaces.certificates import Guess, SubspaceCall
from dpgraph.releases.eigenspaces.gap_test import certify_separately
from dpgraph.releases.eigenspaces.sampler import sample_noisy_eigenspace
from dpgraph.releases.eigenspaces.stability_test import certify_jointly
from dpgraph.releases.symmetric import release_symmetric

__all__ = [
    "CERTIFICATES",
    "CORE_ALLOWANCE",
    "CORE_NOISES",
    "MINIMUM_DEGREE_SLACK",
    "SLACK_SHARE",
    "Certificate",
    "CoreNoise",
    "Rank",
    "ReleasedSubspace",
    "check_rank",
    "release_core",
    "release_subspace",
]

FloatArray = NDArray[np.float64]
Rank = int | Literal["auto"]
#: Law of the noise on the core.
CoreNoise = Literal["gaussian", "wishart-difference"]
CORE_NOISES: tuple[str, ...] = get_args(CoreNoise)

#: How the motion of the eigenspace is bounded: one test, or the papers' two.
Certificate = Literal["stability", "gap-and-coherence"]
CERTIFICATES: tuple[str, ...] = get_args(Certificate)

#: What floating-point arithmetic may do to an entry of a core, whose sums may be many noise scales large, in noise
#: scales.
CORE_ALLOWANCE = 2.0**-18

#: Share of delta that good events may use, and the part of it for a minimum degree; the certificate of the motion has
#: 0.7 and that of the eigenvalues what is left.
SLACK_SHARE, MINIMUM_DEGREE_SLACK = 0.3, 0.29


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
    max_rank = check_integer("max_rank", max_rank, 1)
    if isinstance(rank, str) and rank == "auto":
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
    least: int = 1,
    guess: Guess,
    certificate: Certificate = "stability",
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
        "auto" considers every rank from `least` to `largest` at once.
    largest : int
        Public largest candidate rank.
    least : int
        Public least candidate rank of "auto".
    guess : Guess
        Public guesses; they steer choices, never privacy.
    certificate : {"stability", "gap-and-coherence"}
        One test of both, or the papers' two.
    ledger, mu, noise
        Budget of this call, GDP parameter of this release, source of noise. Good events use the ledger's slack.

    Raises
    ------
    MechanismHalted
        No candidate could be certified.
    """
    n = operator.shape[0]
    if largest == n:
        return ReleasedSubspace(np.eye(n), np.zeros(0), math.inf)
    candidates = range(min(least, largest), largest + 1) if rank == "auto" else range(largest, largest + 1)
    call = SubspaceCall(operator, neighbours, candidates, guess, ledger, mu, noise)
    certified = certify_jointly(call) if certificate == "stability" else certify_separately(call)
    scale = ledger.gaussian(
        "projector", sensitivity=certified.sensitivity, mu=certified.mu, mechanism="symmetric Gaussian"
    )
    return ReleasedSubspace(sample_noisy_eigenspace(certified.U, scale, noise), certified.spectrum, certified.gap)


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
        bound, epsilon = neighbours.core_nuclear(Q), pure_dp_epsilon(mu)
        released, _ = release_symmetric(
            core,
            name="core",
            sensitivity=bound,
            epsilon=epsilon,
            mechanism=law,
            ledger=ledger,
            noise=noise,
            mu=mu,
            error=CORE_ALLOWANCE * bound / epsilon * len(core) ** 1.5,
        )
        return released
    bound = neighbours.core(Q)
    return release_array(
        core,
        name="core",
        sensitivity=bound,
        mu=mu,
        symmetric=True,
        ledger=ledger,
        noise=noise,
        error=CORE_ALLOWANCE * bound / mu * len(core),
    )
