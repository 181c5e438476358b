"""The two releases of a private covariance: second moments and trace, with pure or with Gaussian noise.

Records have norm at most 1, n is public. Neighbours: one record replaced, or one added or removed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice
from dpgraph.bounds.matrix_noise_size import NoiseSize, noise_size
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.accounting import check_delta, check_epsilon, gdp_mu
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.grid import grid_step, split
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.nuclear_noise import EXACT_NUCLEAR_LAPLACE_DIMENSION
from dpgraph.releases.records.exact_moments import grid_records, integer_gram, quotient
from dpgraph.releases.symmetric import MatrixNorm, NuclearMechanism, release_symmetric

__all__ = ["CovarianceMechanism", "CovarianceNoise", "moments_sensitivity", "twice_the_trace_sensitivity"]

FloatArray = NDArray[np.float64]
CovarianceMechanism = Literal["auto", "wishart-difference", "nuclear-laplace", "gaussian"]

#: The private trace lives on a grid this much finer than its noise.
_TRACE_GRID_BITS = 28
#: Entries of a quotient by n are exact to 2**-106 of their size, and no table has 2**50 records.
_QUOTIENT_ERROR = 2.0**-56
#: A larger standard deviation says as little about the trace, and its square would overflow.
_LARGEST_STD = 1e150


def moments_sensitivity(n: int, adjacency: str, norm: Literal["nuclear", "larger-trace", "frobenius"], d: int) -> float:
    """How far (1/n) sum x x' moves, for records of norm at most 1.

    Parameters
    ----------
    n : int
        Public normaliser.
    adjacency : {"replace", "add-remove"}
        One record is replaced, or added or removed.
    norm : {"nuclear", "larger-trace", "frobenius"}
        Norm of the difference E: tr E_+ + tr E_-, max(tr E_+, tr E_-), or ||E||_F.
    d : int
        Length of a record.

    Returns
    -------
    float
        1/n for a record more or less, in every norm. For a replaced record 1/n in the larger trace, 2/n in the nuclear
        and sqrt(2)/n in the Frobenius norm; 1/n in every norm for d = 1.

    Notes
    -----
    *Proof.* x x' has the one eigenvalue ||x||^2 <= 1, so that all three norms of it are at most 1.

    Replacing x by y: E = xx' - yy'. tr E_+ is the largest <P, E> over 0 <= P <= I, and <P, E> <= <P, xx'> <= ||x||^2
    <= 1, because <P, yy'> >= 0; tr E_- is that of -E, at most ||y||^2 <= 1. So the larger trace is at most 1, and the
    nuclear norm, which is the sum of both, at most 2. ||E||_F^2 = ||x||^4 + ||y||^4 - 2 <x, y>^2 <= 2. Orthogonal unit
    vectors attain all three. For d = 1, E = x^2 - y^2 lies in [-1, 1], and 0 and 1 attain it.

    Examples
    --------
    >>> from dpgraph.releases.records.gram import moments_sensitivity
    >>> moments_sensitivity(100, "replace", "larger-trace", 3), moments_sensitivity(100, "replace", "nuclear", 3)
    (0.01, 0.02)
    """
    if adjacency == "add-remove" or norm == "larger-trace" or d == 1:
        return 1.0 / n
    return (2.0 if norm == "nuclear" else math.sqrt(2.0)) / n


def twice_the_trace_sensitivity(n: int) -> float:
    """2/n: one record adds between 0 and 2/n to (2/n) sum ||x||^2, whether it comes, goes or is replaced."""
    return 2.0 / n


@dataclass(frozen=True)
class CovarianceNoise:
    """The public side of the two releases; build it with :meth:`choose`.

    Parameters
    ----------
    mechanism : {"wishart-difference", "nuclear-laplace", "gaussian"}
        Law of the noise of the matrix.
    n, adjacency
        Public normaliser and neighbours.
    size : int
        Rows of the released matrix.
    delta : float or None
        None for a pure call.
    trace_share : float
        Share of epsilon (Gaussian: of mu**2) for the trace; 0 if it is not released.
    """

    mechanism: str
    n: int
    adjacency: str
    size: int
    delta: float | None
    trace_share: float

    @classmethod
    def choose(
        cls,
        mechanism: str,
        *,
        n: int,
        adjacency: str,
        size: int,
        epsilon: float,
        delta: float | None,
        trace_share: float,
    ) -> CovarianceNoise:
        """Check the arguments; "auto" takes the least expected squared error of the exact laws that `delta` allows."""
        check_choice("mechanism", mechanism, get_args(CovarianceMechanism))
        check_epsilon(epsilon)
        if delta is not None:
            check_delta(delta)
        elif mechanism == "gaussian":
            raise InvalidParameterError(
                "mechanism='gaussian' needs delta, 0 < delta < 1 (1e-6, say); got none. Without delta every release is "
                "pure: mechanism='auto'"
            )
        common: dict[str, Any] = {"n": n, "adjacency": adjacency, "size": size, "trace_share": trace_share}
        if mechanism != "auto":
            return cls(mechanism, delta=delta if mechanism == "gaussian" else None, **common)
        candidates = [cls("wishart-difference", delta=None, **common)]
        if size <= EXACT_NUCLEAR_LAPLACE_DIMENSION:
            candidates.append(cls("nuclear-laplace", delta=None, **common))
        if delta is not None:
            candidates.append(cls("gaussian", delta=delta, **common))
        return min(candidates, key=lambda law: law.noise(epsilon).square)

    @property
    def norm(self) -> MatrixNorm:
        """The norm of pure noise in which neighbours are nearest, relative to its unit ball."""
        return "larger-trace" if self.adjacency == "replace" else "nuclear"

    def noise(self, epsilon: float) -> NoiseSize:
        """Size of the noise of the matrix when it gets all of `epsilon`.

        Exact but for nuclear Laplace noise from a Markov chain (:mod:`dpgraph.bounds.matrix_noise_size`).
        """
        d = self.size
        if self.mechanism == "gaussian":
            bound = moments_sensitivity(self.n, self.adjacency, "frobenius", d)
            scale, unit = bound / gdp_mu(epsilon, cast(float, self.delta)), NoiseSize(d, d * (d + 1) / 2, d)
        else:
            scale = moments_sensitivity(self.n, self.adjacency, self.norm, d) / epsilon
            unit = noise_size(self.mechanism, self.norm, d)
        return NoiseSize(d, scale**2 * unit.square, scale**2 * unit.trace_variance)

    def matrix_noise(self, epsilon: float) -> NoiseSize:
        """Size of the noise of the released matrix: the trace has taken its share of `epsilon`."""
        kept = 1 - self.trace_share
        size, factor = self.noise(epsilon), kept if self.mechanism == "gaussian" else kept**2
        return NoiseSize(self.size, size.square / factor, size.trace_variance / factor)

    def expected_norm(self, epsilon: float) -> float:
        """Root mean square of the Frobenius norm of the noise of the released matrix."""
        return math.sqrt(self.matrix_noise(epsilon).square)

    def release_moments(
        self, rows: FloatArray, name: str, ledger: Ledger, noise: NoiseSource
    ) -> tuple[FloatArray, bool]:
        """Noisy (1/n) sum x x' of the rows x, shape (size, size), and whether the sampler was only approximate."""
        moments = quotient(integer_gram(grid_records(rows)), self.n)
        error = self.size * _QUOTIENT_ERROR / self.n
        call = Call(ledger, noise, 1 - self.trace_share)
        if self.mechanism == "gaussian":
            bound = moments_sensitivity(self.n, self.adjacency, "frobenius", self.size)
            measurement = Measurement(name, moments, l2=bound, symmetric=True, error=error)
            return call.release(measurement).value, False
        bound = moments_sensitivity(self.n, self.adjacency, self.norm, self.size)
        measurement = Measurement(name, moments, l1=bound, error=math.sqrt(self.size) * error)
        return release_symmetric(measurement, cast(NuclearMechanism, self.mechanism), call, norm=self.norm)

    def release_twice_the_trace(self, rows: FloatArray, ledger: Ledger, noise: NoiseSource) -> tuple[float, float]:
        """A noisy (2/n) sum ||x||^2, unbiased, and the variance of its noise."""
        squares = integer_gram(grid_records(rows).reshape(-1, 1)).reshape(1)
        twice = quotient(2 * squares, self.n)
        error = _QUOTIENT_ERROR / self.n
        move = twice_the_trace_sensitivity(self.n)
        if self.mechanism == "gaussian":
            call = Call(ledger, noise, self.trace_share)
            noisy = call.release(Measurement("twice the trace", twice, l2=move, error=error))
            return noisy.number, noisy.std**2
        epsilon = ledger.epsilon * self.trace_share
        unit = grid_step(move / epsilon, bits=_TRACE_GRID_BITS)
        # Either term of the quotient is rounded to the grid.
        scale = ledger.laplace("twice the trace", sensitivity=move + 2 * unit + 2 * error, epsilon=epsilon)
        on_grid = split(twice, unit)[0]
        return float(noise.laplace_on_grid(on_grid, unit, scale)[0]), 2 * min(scale, _LARGEST_STD) ** 2
