"""Private singular values of a symmetric matrix: the whole top of the spectrum at the price of one value."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.bounds.neighbours import SpectralNeighbours
from dpgraph.linalg.eigen import Eigenpairs, is_decomposed, leading_values, value_tolerance, vector_tolerance
from dpgraph.privacy.call import Call, Measurement
from dpgraph.typing import FloatArray

__all__ = ["ReleasedSpectrum", "certified_values", "release_spectrum", "spectrum_slack"]


#: A certificate of eigenvalues may be wrong with probability min(delta/1000, 1e-9), which is less than what good events
#: leave of their slack of 0.3 delta.
_CERTIFICATE_SHARE, _ENOUGH = 1e-3, 1e-9


@dataclass(frozen=True)
class ReleasedSpectrum:
    """Noisy absolute eigenvalues.

    Parameters
    ----------
    values : ndarray, shape (k,)
        Noisy |eigenvalues|, the exact ones in decreasing order; noise may disturb the order.
    scale : float
        Standard deviation of the noise of each value.
    tolerance : float
        Public bound on the residuals of the eigenpairs.
    """

    values: FloatArray
    scale: float
    tolerance: float

    def gap_lower_bounds(self, quantile: float) -> FloatArray:
        """Lower bounds on sigma_r - sigma_{r+1} for r = 1, ..., k - 1, each failing with the quantile's probability.

        Either value is off by at most the tolerance; the third one covers what the residuals of the eigenvectors
        (at most a thousandth of it each) take from the gap, see :func:`dpgraph.bounds.spectra.computed_subspace`.
        """
        return self.values[:-1] - self.values[1:] - math.sqrt(2.0) * self.scale * quantile - 3 * self.tolerance


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
        failure = _failure(call.ledger.delta)
        call.ledger.good_event(f"eigenvalues, {name}", failure)
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
    operator: Any,
    count: int,
    neighbours: SpectralNeighbours,
    call: Call,
    *,
    stride: int = 1,
    accurate: bool = False,
) -> tuple[Eigenpairs, ReleasedSpectrum]:
    """Release the `count` leading |eigenvalues| of a private symmetric operator.

    The sorted vector moves by at most `neighbours.frobenius` in l2 (Mirsky), plus twice the public residual tolerance
    of the eigensolver for each value. With ``stride=2`` every second one is released (a symmetric embedding lists each
    singular value twice). The exact eigenpairs are returned too, the last one without its vector: they are private.
    With `accurate` the vectors are tried to be those that a projector needs, which is worth it where no values of the
    bulk are asked for.
    """
    norm = neighbours.norm
    aim = vector_tolerance(norm) if accurate else value_tolerance(operator.shape[0], norm)
    pairs, tolerance = certified_values(operator, count, norm, call, name="spectrum", aim=aim)
    sizes = np.abs(pairs.values)[::stride]
    bound = neighbours.frobenius + 2 * tolerance * math.sqrt(len(sizes))
    values, std = call.release(Measurement("spectrum", sizes, l2=bound, few=True))
    return pairs, ReleasedSpectrum(values, std, tolerance)
