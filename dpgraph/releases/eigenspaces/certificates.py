"""What a released subspace needs to know about its private input before noise can be scaled: three small records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.exceptions import MechanismHalted
from dpgraph.linalg.eigen import Eigenpairs, leading_eigenpairs, value_tolerance, vector_tolerance
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource

__all__ = ["Certified", "Guess", "SubspaceCall", "accurate_vectors", "computed_error", "halted"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Guess:
    """Public guesses; they steer choices, never privacy.

    Parameters
    ----------
    coherence : callable
        Coherence at a rank.
    largest_degree : float
        max_i d_i (of a graph).
    """

    coherence: Callable[[int], float]
    largest_degree: float = 0.0


@dataclass(frozen=True)
class SubspaceCall:
    """A private symmetric operator and what its release may use.

    Parameters
    ----------
    operator : matrix or LinearOperator, shape (n, n)
        Private.
    neighbours : SpectralNeighbours
        What one neighbour can change.
    candidates : range
        Public candidate ranks.
    guess : Guess
        Public guesses.
    ledger : Ledger
        Budget of the call; good events use its slack.
    mu : float
        GDP parameter of the release of the subspace.
    noise : NoiseSource
        Source of noise.
    """

    operator: Any
    neighbours: SpectralNeighbours
    candidates: range
    guess: Guess
    ledger: Ledger
    mu: float
    noise: NoiseSource

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.operator.shape[0])

    def accurate_vectors(self, pairs: Eigenpairs, rank: int) -> FloatArray:
        """See :func:`accurate_vectors`."""
        return accurate_vectors(self.operator, pairs, rank, self.neighbours, self.noise)


@dataclass(frozen=True)
class Certified:
    """A private eigenspace and what has been certified about it.

    Parameters
    ----------
    U : ndarray, shape (n, r)
        Private orthonormal basis.
    spectrum : ndarray
        Released leading |eigenvalues|.
    gap : float
        Accepted lower bound on sigma_r - sigma_{r+1}.
    sensitivity : float
        Accepted upper bound on the Frobenius change of U U'.
    mu : float
        GDP parameter left for the projector.
    """

    U: FloatArray
    spectrum: FloatArray
    gap: float
    sensitivity: float
    mu: float


def accurate_vectors(
    operator: Any, pairs: Eigenpairs, rank: int, neighbours: SpectralNeighbours, noise: NoiseSource
) -> FloatArray:
    """Eigenvectors of the chosen rank with the (smaller) residual that the projector's sensitivity assumes.

    `pairs` are those of :func:`dpgraph.releases.eigenspaces.spectrum.release_spectrum`. Without a gap of twice the
    spectral norm of a neighbour's change no certificate can follow, and the vectors, whose accuracy has no bound then,
    stay coarse.
    """
    tolerance = vector_tolerance(neighbours.norm)
    above, below = np.abs(pairs.values[rank - 1 : rank + 1])
    error = value_tolerance(operator.shape[0], neighbours.norm)
    if above - below + 3 * error < 2 * neighbours.norm or pairs.residual <= tolerance:
        return pairs.vectors[:, :rank]
    middle = float(above + below) / 2
    return leading_eigenpairs(operator, rank, tolerance=tolerance, generator=noise.generator, least=middle).vectors


def computed_error(rank: int, neighbours: SpectralNeighbours, gap: float) -> float:
    """What the residuals of :func:`accurate_vectors` add; see :func:`sensitivity.computed_subspace`."""
    return sensitivity.computed_subspace(rank, vector_tolerance(neighbours.norm), gap, neighbours.norm)


def halted(ledger: Ledger, what: str) -> MechanismHalted:
    """Build the error of a failed test of the gap."""
    return MechanismHalted(
        f"{what} Raise epsilon, choose another rank, or use a mechanism that needs no gap "
        "(mechanism='bounded-iterates' or 'noisy-power'). The budget of this call is spent",
        stage="gap",
        privacy=ledger.report(),
    )
