"""The two releases of a private covariance: second moments of records of norm at most 1, and twice their trace.

A matrix product in floating point is off by up to n units of rounding, and that is more than a record's share once n is
large. So records are rounded to a grid, towards 0 so that none gets longer, and products and sums are those of
integers: one record changes them by what the proof says, whatever n is.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds.moments import moments_sensitivity, twice_the_trace_sensitivity
from dpgraph.denoise.iterates import LARGEST_SCALE
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.grid import Terms, grid_step, split
from dpgraph.releases.symmetric import MatrixNorm, NoisySymmetric, SymmetricLaw, release_symmetric
from dpgraph.typing import FloatArray

#: Python integers of any size.
IntegerArray = NDArray[np.object_]

#: Entries of records are multiples of 2**-(2 * _DIGIT_BITS); sums of products of digits over a block stay below 2**53,
#: where doubles are exact, and over a chunk below 2**63.
_DIGIT_BITS, _BLOCK, _CHUNK = 20, 2**13, 2**22
#: Entries of a quotient by n are exact to 2**-106 of their size, and no table has 2**50 records.
_QUOTIENT_ERROR = 2.0**-56
#: The private trace lives on a grid this much finer than its noise.
_TRACE_GRID_BITS = 28


@dataclass(frozen=True)
class SecondMoments:
    """(1/n) sum x x' over the rows x, of length `size`, of a private table; n is public."""

    n: int
    adjacency: str
    size: int

    @property
    def norm(self) -> MatrixNorm:
        """The norm of pure noise in which neighbours are nearest, relative to its unit ball."""
        return "larger-trace" if self.adjacency == "replace" else "nuclear"

    @property
    def pure_sensitivity(self) -> float:
        """Sensitivity in :attr:`norm`."""
        return moments_sensitivity(self.n, self.adjacency, self.norm, self.size)

    @property
    def frobenius_sensitivity(self) -> float:
        """Sensitivity in Frobenius norm."""
        return moments_sensitivity(self.n, self.adjacency, "frobenius", self.size)

    def release(self, rows: FloatArray, name: str, call: Call, law: SymmetricLaw) -> NoisySymmetric:
        """Noisy moments, shape (size, size)."""
        # What the division by n rounds off, in the Frobenius norm; the nuclear norm is sqrt(size) times that at most.
        error = self.size * _QUOTIENT_ERROR / self.n
        if law != "gaussian":
            error *= math.sqrt(self.size)
        l1, l2 = self.pure_sensitivity, self.frobenius_sensitivity
        measurement = Measurement(name, self._exact(rows), l1=l1, l2=l2, error=error)
        return release_symmetric(measurement, call, law, norm=self.norm)

    def _exact(self, rows: FloatArray) -> Terms:
        moments, upper = np.empty((2, self.size, self.size)), np.triu_indices(self.size)
        for matrix, term in zip(moments, quotient(integer_gram(grid_records(rows)), self.n), strict=True):
            matrix[upper] = matrix.T[upper] = term
        return tuple(moments)


def release_twice_the_trace(rows: FloatArray, n: int, call: Call) -> tuple[float, float]:
    """A noisy (2/n) sum ||x||^2, unbiased, and the variance of its noise."""
    squares = integer_gram(grid_records(rows).reshape(-1, 1))
    twice: Terms = quotient(2 * squares, n)
    move, error, name = twice_the_trace_sensitivity(n), _QUOTIENT_ERROR / n, "twice the trace"
    if not call.pure:
        released = call.release(Measurement(name, twice, l2=move, error=error))
        return released.number, released.std**2
    unit = grid_step(move / call.epsilon, bits=_TRACE_GRID_BITS)
    # Either term of the quotient is rounded to the grid.
    move += 2 * unit + 2 * error
    released = call.release(Measurement(name, split(twice, unit)[0], l1=move, unit=unit))
    return released.number, 2 * min(move / call.epsilon, LARGEST_SCALE) ** 2


def grid_records(rows: FloatArray) -> FloatArray:
    """Records of norm at most 1, up to rounding, as vectors of integers in units of 2**-40, of norm at most 2**40.

    A computed norm of d numbers, and what is divided by it, is off by less than d + 16 units of rounding.
    """
    shrink = 1 - (rows.shape[1] + 16) * float(np.finfo(np.float64).eps)
    integers: FloatArray = np.trunc(rows * (shrink * 4.0**_DIGIT_BITS))
    return integers


def integer_gram(records: FloatArray) -> IntegerArray:
    """Exact sum of x x' over the rows of :func:`grid_records`, in units of 2**-80: its upper triangle, by rows."""
    d = records.shape[1]
    upper = np.triu_indices(d)
    total = np.zeros(len(upper[0]), dtype=np.object_)
    for chunk in range(0, len(records), _CHUNK):
        sums = np.zeros((3, d, d), dtype=np.int64)
        end = min(chunk + _CHUNK, len(records))
        for start in range(chunk, end, _BLOCK):
            block = records[start : min(start + _BLOCK, end)]
            high = np.rint(block * 2.0**-_DIGIT_BITS)
            low = block - high * 2.0**_DIGIT_BITS
            cross = high.T @ low
            sums += np.array([high.T @ high, cross + cross.T, low.T @ low]).astype(np.int64)
        first, second, third = (digit[upper].astype(np.object_) for digit in sums)
        total = total + (first * 4**_DIGIT_BITS + second * 2**_DIGIT_BITS + third)
    return total


def quotient(gram: IntegerArray, n: int) -> tuple[FloatArray, FloatArray]:
    """``gram * 2**-80 / n`` as the sum of two doubles, exact to 2**-106 of its size."""
    whole = n << (4 * _DIGIT_BITS)
    first = np.asarray(gram / whole, dtype=np.float64)  # a quotient of Python integers is rounded once
    mantissas, exponents = np.frexp(first)
    bits = np.finfo(np.float64).nmant + 1
    numerators = np.ldexp(mantissas, bits).astype(np.int64).astype(np.object_)
    shifts = (bits - exponents).astype(np.object_)  # first = numerators / 2**shifts
    second = ((gram << shifts) - numerators * whole) / (whole << shifts)
    return first, np.asarray(second, dtype=np.float64)
