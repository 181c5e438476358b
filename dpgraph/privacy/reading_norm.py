"""K-norm noise for several readings of one row: less noise than composition needs.

T separate Laplace releases of a row have T**2 times the variance of one. But its T readings are one vector, which an
edge moves inside a cube: noise of density exp(-max|z| / b) over the vector protects it, with a sixth of that variance.
The vector need not be known in advance (:func:`dpgraph.bounds.sensitivity.repeated_readings`, theorem and proof). A row
may hold several numbers, one for each label; each has its own noise, and what an edge costs adds up over them.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from dpgraph.exceptions import DPGraphError, InvalidParameterError

__all__ = ["ReadingNorm", "reading_grid"]

#: The scale of the noise is at least this many steps of the grid. A larger epsilon than the second number counts as it:
#: there the noise is negligible.
_STEPS, _LARGEST_EPSILON = 2.0**16, 2.0**16
#: The least epsilon: the noise is at least 1/epsilon steps wide, and the exact sampler must hold that many.
_LEAST_EPSILON = 2.0**-30


@dataclass(frozen=True)
class ReadingNorm:
    """Norm on all readings of one number: N(y, z) = a |y| + b max(max|z| - |y|, 0).

    y is the first reading, z are the others, a = 1/(1 + ratio), b = ratio/(1 + ratio); a = 1 for a single reading,
    which has no others, so that N(y) = |y|. As the larger of a |y| and (a - b) |y| + b max|z| it is a norm. At
    ratio = 1 its unit ball is a cube.
    """

    #: At least 1.
    readings: int
    #: In (0, 1]. A smaller ratio makes the first reading more precise and the others less. At 0.7 most of the gain in
    #: the first is there and little is lost in the others (tuned on planted cuts, checked on SNAP and Facebook100).
    ratio: float = 0.7

    def __post_init__(self) -> None:
        if self.readings < 1 or not 0 < self.ratio <= 1:
            raise DPGraphError("internal error: a norm of readings needs one reading at least and 0 < ratio <= 1")

    @property
    def first(self) -> float:
        """a, the norm of a vector whose entries are all 1."""
        return 1.0 if self.readings == 1 else 1 / (1 + self.ratio)

    @property
    def later(self) -> float:
        """b, the norm of such a vector without the first reading."""
        return self.ratio * self.first

    def edge(self, *, from_zero: bool) -> float:
        """Largest cost of an edge, both its rows together, if it adds at most 1 to every reading of either row.

        With `from_zero`, at most one of any two rows sees the other in its first reading. Then one row is moved by
        (0, z), which costs at most b (nothing where there is no z), and the other by (y, z), which costs at most a:
        together 1. Otherwise both are moved by (y, z): 2 a.
        """
        return 1.0 if from_zero else 2 * self.first

    def variances(self, scale: float) -> tuple[float, float]:
        """Variance of the first reading, and of a later one, under density exp(-N / scale).

        With M = |y|, half-width M + B of the cube of z and m numbers in z, (M, B) has the density (M + B)^m
        exp(-a M - b B): by the binomial formula a mixture of gamma variables.
        """
        m = self.readings - 1
        whole = self._log_integral(0, m)
        half_width = self._log_integral(0, m + 2) - whole
        return math.exp(self._log_integral(2, m) - whole) * scale**2, math.exp(half_width) / 3 * scale**2

    def _log_integral(self, power: int, m: int) -> float:
        """Logarithm of the integral of M^power (M + B)^m exp(-a M - b B) over M, B >= 0."""
        j = np.arange(m + 1)
        terms = gammaln(power + j + 1) - gammaln(j + 1)
        terms -= (power + j + 1) * math.log(self.first) + (m - j + 1) * math.log(self.later)
        return float(logsumexp(terms) + gammaln(m + 1))


def reading_grid(envelope: float, columns: int, unit: float, epsilon: float) -> tuple[float, float, float]:
    """Step of the grid on which readings get their noise; the envelope on it; and the epsilon to spend.

    Readings are multiples of `unit`. The step is `unit` times a power of two, so small that the noise is many steps
    wide. `envelope` is the sum, over the `columns` numbers in a row, of the largest change that an edge makes to that
    number in any reading; where the grid is coarser than `unit`, it grows by one step for each number. `epsilon`, the
    public budget of all readings together, is refused if it is too small for exact noise, and cut if there is no grid.
    """
    if epsilon < _LEAST_EPSILON:
        raise InvalidParameterError(
            f"repeated readings get epsilon = {epsilon:.3g}, and their noise cannot be drawn exactly below "
            f"{_LEAST_EPSILON:.1g}; raise epsilon"
        )
    epsilon = min(epsilon, _LARGEST_EPSILON)
    step = unit * 2.0 ** math.floor(math.log2(envelope / (epsilon * unit * _STEPS)))
    return step, envelope + columns * step * (step > unit), epsilon
