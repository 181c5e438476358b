"""What the release of an eigenspace starts from, and what must be certified before its noise can be scaled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.bounds import spectra
from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.exceptions import MechanismHalted
from dpgraph.linalg.eigen import Eigenpairs, leading_eigenpairs, value_tolerance, vector_tolerance
from dpgraph.privacy.call import Call
from dpgraph.typing import FloatArray

__all__ = ["Certified", "Guess", "SubspaceInput", "accurate_vectors", "computed_error", "halted"]


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
class SubspaceInput:
    """A private symmetric operator, and what is public about it.

    Parameters
    ----------
    operator : matrix or LinearOperator, shape (n, n)
        Private.
    neighbours : SpectralNeighbours
        What one neighbour can change.
    candidates : range
        Candidate ranks.
    guess : Guess
        Guesses.
    """

    operator: Any
    neighbours: SpectralNeighbours
    candidates: range
    guess: Guess

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.operator.shape[0])


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
    call : Call
        What is left for the projector.
    """

    U: FloatArray
    spectrum: FloatArray
    gap: float
    sensitivity: float
    call: Call


def accurate_vectors(
    operator: Any, pairs: Eigenpairs, rank: int, neighbours: SpectralNeighbours, call: Call
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
    return leading_eigenpairs(operator, rank, tolerance=tolerance, generator=call.generator, least=middle).vectors


def computed_error(rank: int, neighbours: SpectralNeighbours, gap: float) -> float:
    """What the residuals of :func:`accurate_vectors` add; see :func:`spectra.computed_subspace`."""
    return spectra.computed_subspace(rank, vector_tolerance(neighbours.norm), gap, neighbours.norm)


def halted(call: Call, what: str) -> MechanismHalted:
    """Build the error of a failed test of the gap."""
    return MechanismHalted(
        f"{what} Raise epsilon, choose another rank, or use a mechanism that needs no gap "
        "(mechanism='bounded-iterates' or 'noisy-power'). The budget of this call is spent",
        stage="gap",
        privacy=call.report(),
    )
