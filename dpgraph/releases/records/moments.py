"""The two releases of a private covariance: second moments of records, and twice their trace.

Records have norm at most 1, n is public. Neighbours: one record replaced, or one added or removed.
"""

import math
from dataclasses import dataclass

from dpgraph.bounds.moments import moments_sensitivity, twice_the_trace_sensitivity
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.grid import Terms, grid_step, split
from dpgraph.releases.records.exact_moments import grid_records, integer_gram, quotient
from dpgraph.releases.symmetric import MatrixNorm, NuclearMechanism, release_symmetric
from dpgraph.typing import FloatArray

__all__ = ["SecondMoments", "release_twice_the_trace"]


#: The private trace lives on a grid this much finer than its noise.
_TRACE_GRID_BITS = 28
#: Entries of a quotient by n are exact to 2**-106 of their size, and no table has 2**50 records.
_QUOTIENT_ERROR = 2.0**-56
#: A larger scale says as little about the trace, and its square would overflow.
_LARGEST_SCALE = 1e150


@dataclass(frozen=True)
class SecondMoments:
    """(1/n) sum x x' over the rows x of a private table.

    Parameters
    ----------
    n : int
        Public normaliser.
    adjacency : {"replace", "add-remove"}
        Neighbours.
    size : int
        Length of a record.
    """

    n: int
    adjacency: str
    size: int

    @property
    def norm(self) -> MatrixNorm:
        """The norm of pure noise in which neighbours are nearest, relative to its unit ball."""
        return "larger-trace" if self.adjacency == "replace" else "nuclear"

    @property
    def pure_move(self) -> float:
        """How far neighbours are apart in :attr:`norm`."""
        return moments_sensitivity(self.n, self.adjacency, self.norm, self.size)

    @property
    def frobenius_move(self) -> float:
        """How far neighbours are apart in Frobenius norm."""
        return moments_sensitivity(self.n, self.adjacency, "frobenius", self.size)

    def release_purely(
        self, rows: FloatArray, name: str, call: Call, mechanism: NuclearMechanism
    ) -> tuple[FloatArray, bool]:
        """Noisy moments, shape (size, size), and whether the sampler was only approximate."""
        error = math.sqrt(self.size) * self._error
        measurement = Measurement(name, self._exact(rows), l1=self.pure_move, error=error)
        return release_symmetric(measurement, mechanism, call, norm=self.norm)

    def release_gaussian(self, rows: FloatArray, name: str, call: Call) -> FloatArray:
        """Moments with symmetric Gaussian noise, shape (size, size)."""
        exact = self._exact(rows)
        return call.release(Measurement(name, exact, l2=self.frobenius_move, symmetric=True, error=self._error)).value

    @property
    def _error(self) -> float:
        """Bound on the Frobenius norm of what the division by n rounds off."""
        return self.size * _QUOTIENT_ERROR / self.n

    def _exact(self, rows: FloatArray) -> Terms:
        return quotient(integer_gram(grid_records(rows)), self.n)


def release_twice_the_trace(rows: FloatArray, n: int, call: Call) -> tuple[float, float]:
    """A noisy (2/n) sum ||x||^2, unbiased, and the variance of its noise."""
    squares = integer_gram(grid_records(rows).reshape(-1, 1)).reshape(1)
    twice: Terms = quotient(2 * squares, n)
    move, error, name = twice_the_trace_sensitivity(n), _QUOTIENT_ERROR / n, "twice the trace"
    if not call.pure:
        released = call.release(Measurement(name, twice, l2=move, error=error))
        return released.number, released.std**2
    unit = grid_step(move / call.epsilon, bits=_TRACE_GRID_BITS)
    # Either term of the quotient is rounded to the grid.
    move += 2 * unit + 2 * error
    released = call.release(Measurement(name, split(twice, unit)[0], l1=move, unit=unit))
    return released.number, 2 * min(move / call.epsilon, _LARGEST_SCALE) ** 2
