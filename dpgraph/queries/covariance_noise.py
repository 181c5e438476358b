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
from dpgraph.exceptions import InvalidParameterError
from dpgraph.mechanisms.grid import release_array
from dpgraph.mechanisms.symmetric_release import NuclearMechanism, release_symmetric
from dpgraph.privacy.accounting import check_delta, check_epsilon, gdp_mu
from dpgraph.privacy.grid import grid_step, split
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.queries.exact_moments import grid_records, integer_gram, quotient

__all__ = ["CovarianceMechanism", "CovarianceNoise", "moments_sensitivity", "twice_the_trace_sensitivity"]

FloatArray = NDArray[np.float64]
CovarianceMechanism = Literal["auto", "wishart-difference", "nuclear-laplace", "gaussian"]

#: The private trace lives on a grid this much finer than its noise.
_TRACE_GRID_BITS = 28
#: Entries of a quotient by n are exact to 2**-106 of their size, and no table has 2**50 records.
_QUOTIENT_ERROR = 2.0**-56
#: A larger standard deviation says as little about the trace, and its square would overflow.
_LARGEST_STD = 1e150


def moments_sensitivity(n: int, adjacency: str, norm: Literal["nuclear", "frobenius"]) -> float:
    """How far (1/n) sum x x' moves, for records of norm at most 1.

    Parameters
    ----------
    n : int
        Public normaliser.
    adjacency : {"replace", "add-remove"}
        One record is replaced, or added or removed.
    norm : {"nuclear", "frobenius"}
        Norm of the difference.

    Returns
    -------
    float
        1/n for a record more or less, and for a replaced one 2/n (nuclear) or sqrt(2)/n (Frobenius).

    Notes
    -----
    *Proof.* ||x x'|| = ||x||^2 <= 1 in both norms. Replacing x by y: the triangle inequality gives 2 in the nuclear
    norm; ||xx' - yy'||_F^2 = ||x||^4 + ||y||^4 - 2 <x, y>^2 <= 2. Orthogonal unit vectors attain both.

    Examples
    --------
    >>> from dpgraph.queries.covariance_noise import moments_sensitivity
    >>> moments_sensitivity(100, "replace", "nuclear")
    0.02
    """
    if adjacency == "add-remove":
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
        """Check the arguments; "auto" takes the smaller noise of those that `delta` allows, by public numbers alone."""
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
        gaussian = cls("gaussian", delta=delta, **common)
        pure = cls("wishart-difference" if mechanism == "auto" else mechanism, delta=None, **common)
        if mechanism == "gaussian":
            return gaussian
        if mechanism != "auto" or delta is None or pure.entry_variance(epsilon) <= gaussian.entry_variance(epsilon):
            return pure
        return gaussian

    def entry_variance(self, epsilon: float) -> float:
        """Variance of a diagonal entry of the noise when the matrix gets all of `epsilon`; others have half of it.

        Exact but for nuclear Laplace noise, which has about a fifth less than the Wishart difference it is taken for.
        """
        if self.mechanism == "gaussian":
            mu = gdp_mu(epsilon, cast(float, self.delta))
            return (moments_sensitivity(self.n, self.adjacency, "frobenius") / mu) ** 2
        rho = moments_sensitivity(self.n, self.adjacency, "nuclear") / epsilon
        return rho**2 * (self.size + 1)

    def matrix_variance(self, epsilon: float) -> float:
        """Variance of a diagonal entry of the released matrix: the trace has taken its share."""
        kept = 1 - self.trace_share
        return self.entry_variance(epsilon) / (kept if self.mechanism == "gaussian" else kept**2)

    def expected_norm(self, epsilon: float) -> float:
        """Root mean square of the Frobenius norm of the noise of the released matrix."""
        return math.sqrt(self.matrix_variance(epsilon) * self.size * (self.size + 1) / 2)

    def release_moments(
        self, rows: FloatArray, name: str, ledger: Ledger, noise: NoiseSource
    ) -> tuple[FloatArray, bool]:
        """Noisy (1/n) sum x x' of the rows x, shape (size, size), and whether the sampler was only approximate."""
        moments = quotient(integer_gram(grid_records(rows)), self.n)
        error = self.size * _QUOTIENT_ERROR / self.n
        if self.mechanism == "gaussian":
            mu = ledger.mu * math.sqrt(1 - self.trace_share)
            bound = moments_sensitivity(self.n, self.adjacency, "frobenius")
            noisy = release_array(
                moments, name=name, sensitivity=bound, mu=mu, symmetric=True, ledger=ledger, noise=noise, error=error
            )
            return noisy, False
        return release_symmetric(
            moments,
            name=name,
            sensitivity=moments_sensitivity(self.n, self.adjacency, "nuclear"),
            epsilon=ledger.epsilon * (1 - self.trace_share),
            mechanism=cast(NuclearMechanism, self.mechanism),
            ledger=ledger,
            noise=noise,
            error=math.sqrt(self.size) * error,
        )

    def release_twice_the_trace(self, rows: FloatArray, ledger: Ledger, noise: NoiseSource) -> tuple[float, float]:
        """A noisy (2/n) sum ||x||^2, unbiased, and the variance of its noise."""
        squares = integer_gram(grid_records(rows).reshape(-1, 1)).reshape(1)
        twice = quotient(2 * squares, self.n)
        error = _QUOTIENT_ERROR / self.n
        move = twice_the_trace_sensitivity(self.n)
        if self.mechanism == "gaussian":
            mu = ledger.mu * math.sqrt(self.trace_share)
            name = "twice the trace"
            noisy = release_array(
                twice, name=name, sensitivity=move, mu=mu, symmetric=False, ledger=ledger, noise=noise, error=error
            )
            return float(noisy[0]), ledger.entries[-1].scale ** 2
        epsilon = ledger.epsilon * self.trace_share
        unit = grid_step(move / epsilon, bits=_TRACE_GRID_BITS)
        # Either term of the quotient is rounded to the grid.
        scale = ledger.laplace("twice the trace", sensitivity=move + 2 * unit + 2 * error, epsilon=epsilon)
        on_grid = split(twice, unit)[0]
        return float(noise.laplace_on_grid(on_grid, unit, scale)[0]), 2 * min(scale, _LARGEST_STD) ** 2
