"""What the release of an eigenspace starts from: private singular values, and eigenvectors that are accurate enough.

The whole top of the spectrum is released at the price of one value.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.bounds import spectra
from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.exceptions import MechanismHalted
from dpgraph.linalg.eigen import (
    Eigenpairs,
    is_decomposed,
    leading_eigenpairs,
    leading_values,
    value_tolerance,
    vector_tolerance,
)
from dpgraph.privacy.call import Call, Measurement
from dpgraph.typing import FloatArray

#: A certificate of eigenvalues may be wrong with probability min(delta/1000, 1e-9), which is less than what good events
#: leave of their slack of 0.3 delta.
_CERTIFICATE_SHARE, _ENOUGH = 1e-3, 1e-9
#: Part of the slack for the certificate of the motion of an eigenspace.
MOTION_SLACK = 0.7
#: Largest Frobenius norm of a matrix that is decomposed, in sensitivities: beyond 1e8 rounding errors of eigenvectors
#: exceed their tolerance.
LARGEST_NORM = 1e7


@dataclass(frozen=True)
class Guess:
    """Public guesses, which steer choices, never privacy: the coherence at a rank, and max_i d_i of a graph."""

    coherence: Callable[[int], float]
    largest_degree: float = 0.0


@dataclass(frozen=True)
class SubspaceInput:
    """A private symmetric operator, matrix or LinearOperator, and what is public about it."""

    operator: Any
    # What one neighbour can change
    neighbours: SpectralNeighbours
    # Candidate ranks
    candidates: range
    guess: Guess
    # So many neighbours away, at least, are the matrices that :func:`bounded` changes; private
    headroom: float = math.inf

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.operator.shape[0])


@dataclass(frozen=True)
class Certified:
    """A private eigenspace and what has been certified about it."""

    # Private orthonormal basis, shape (n, r)
    U: FloatArray
    # Released leading |eigenvalues|
    spectrum: FloatArray
    # Accepted lower bound on sigma_r - sigma_{r+1}
    gap: float
    # Accepted upper bound on the Frobenius change of U U'
    sensitivity: float
    # What is left for the projector
    call: Call


@dataclass(frozen=True)
class ReleasedSpectrum:
    """Noisy |eigenvalues|, shape (k,): the exact ones are in decreasing order, noise may disturb it."""

    values: FloatArray
    # Standard deviation of the noise of each value
    scale: float
    # Public bound on the residuals of the eigenpairs
    tolerance: float

    def gap_lower_bounds(self, quantile: float) -> FloatArray:
        """Lower bounds on sigma_r - sigma_{r+1} for r = 1, ..., k - 1, each failing with the quantile's probability.

        Either value is off by at most the tolerance; the third one covers what the residuals of the eigenvectors
        (at most a thousandth of it each) take from the gap, see :func:`dpgraph.bounds.spectra.computed_subspace`.
        """
        return self.values[:-1] - self.values[1:] - math.sqrt(2.0) * self.scale * quantile - 3 * self.tolerance


def bounded(matrix: Any, norm: float) -> tuple[Any, float]:
    """Scale a private matrix down to a Frobenius norm of LARGEST_NORM * `norm`; how many steps of `norm` it is below.

    So no private matrix is beyond what an eigensolver can do, and none makes it fail. The scaled matrix is the nearest
    one in a ball: it changes by no more than the matrix does, in Frobenius norm, and so do its sorted eigenvalues
    together (Mirsky). Eigenvectors are the same, and gaps are no larger, so a gap that is certified for the scaled
    matrix is one of the matrix. How fast eigenvalues move in a direction is not the same, which is why the number of
    steps to instability is cut at those to the edge of the ball; it changes by one in each step too.
    """
    values = matrix.data if sparse.issparse(matrix) else matrix
    largest = float(np.abs(values).max(initial=0.0)) or 1.0  # squares overflow
    size = largest * float(np.linalg.norm(values / largest))
    limit = LARGEST_NORM * norm
    return (matrix if size <= limit else matrix * (limit / size)), max(limit - size, 0.0) / norm


def certified_values(
    operator: Any, count: int, norm: float, call: Call, *, name: str, aim: float
) -> tuple[Eigenpairs, float]:
    """Compute the leading |eigenvalues| of a private operator within a public tolerance, which is returned too.

    `norm` is what one neighbour changes in spectral norm, `aim` the residual of the vectors that is worth a try. Every
    sensitivity that is stated for the values holds only where they are within the tolerance. On large operators that is
    shown for a random start (:mod:`dpgraph.linalg.lanczos`), and the probability that it is wrong is a good event: a
    line of the ledger, by which the delta of the other releases is smaller.
    """
    n = operator.shape[0]
    tolerance = value_tolerance(n, norm)
    failure = 0.0
    if not is_decomposed(n, count):
        failure = _failure(call.whole.delta)
        call.rare_event(f"eigenvalues, {name}", failure)
    pairs = leading_values(
        operator, count, tolerance=tolerance, residual=aim, failure=failure, generator=call.generator
    )
    return pairs, tolerance


def spectrum_slack(n: int, count: int, delta: float) -> float:
    """Part of delta that a call needs whose only good event is one certificate of eigenvalues."""
    return 0.0 if is_decomposed(n, count) else _failure(delta)


def _failure(delta: float) -> float:
    """Probability with which a certificate of eigenvalues may be wrong in a call of this delta."""
    return min(_ENOUGH, _CERTIFICATE_SHARE * delta)


def release_spectrum(
    operator: Any, count: int, neighbours: SpectralNeighbours, call: Call, *, accurate: bool = False
) -> tuple[Eigenpairs, ReleasedSpectrum]:
    """Release the `count` leading |eigenvalues| of a private symmetric operator.

    The sorted vector changes by at most `neighbours.frobenius` in l2 (Mirsky), plus twice the public residual tolerance
    of the eigensolver for each value. Values that the operator lists twice (`neighbours.copies`) are released once, and
    repeated. The exact eigenpairs are returned too, the last one without its vector: they are private.
    With `accurate` the vectors are tried to be those that a projector needs, which is worth it where no values of the
    bulk are asked for.
    """
    norm = neighbours.norm
    aim = vector_tolerance(norm) if accurate else value_tolerance(operator.shape[0], norm)
    pairs, tolerance = certified_values(operator, count, norm, call, name="spectrum", aim=aim)
    sizes = np.abs(pairs.values)[:: neighbours.copies]
    bound = neighbours.frobenius + 2 * tolerance * math.sqrt(len(sizes))
    values, std = call.release(Measurement("spectrum", sizes, l2=bound, few=True))
    return pairs, ReleasedSpectrum(np.repeat(values, neighbours.copies)[:count], std, tolerance)


def accurate_vectors(
    operator: Any, pairs: Eigenpairs, rank: int, neighbours: SpectralNeighbours, call: Call
) -> FloatArray:
    """Eigenvectors of the chosen rank with the (smaller) residual that the projector's sensitivity assumes.

    `pairs` are those of :func:`release_spectrum`. Without a gap of twice the spectral norm of a neighbour's change no
    certificate can follow, and the vectors, whose accuracy has no bound then, stay coarse.
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


def computed_projector(rank: int, neighbours: SpectralNeighbours, gap: float) -> float:
    """What they add to the bound on the projector, or on the two projectors of a rectangular matrix."""
    if neighbours.copies == 1:
        return math.sqrt(2.0) * computed_error(rank, neighbours, gap)
    return spectra.computed_singular_projectors(rank, vector_tolerance(neighbours.norm), gap, neighbours.norm)


def halted(call: Call, what: str) -> MechanismHalted:
    """Build the error of a failed test of the gap."""
    knobs = "Raise epsilon, choose another rank, or use a mechanism that needs no gap"
    return call.halted(f"{what} {knobs} (mechanism='bounded-iterates' or 'noisy-power')", "gap")
