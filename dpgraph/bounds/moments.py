"""Second moments of records of norm at most 1: their sensitivity, that of their trace, and how large noise is.

The noise is that of :mod:`dpgraph.privacy.matrix_noise`, for rho = 1. All laws are invariant under rotations, so two
numbers say everything: the variance of the trace, and the variance in any other direction of unit Frobenius norm.
D = d(d + 1)/2.

Where the moments come from: docs/covariance-theory.md, "How large the noise is". Those of Laplace laws are listed for
the dimensions of the exact samplers; above, where the sampler is a Markov chain, the moments of the Wishart difference
of the same norm stand in for them, which are larger by about a fifth.
"""

import math
from dataclasses import dataclass
from typing import Literal

#: d -> E ||Z||_F^2 and E (tr Z)^2 of the law with density proportional to exp(-norm).
_LAPLACE = {
    "nuclear": {
        1: (2.0, 2.0),
        2: (25 / 3, 20 / 3),
        3: (150 / 7, 96 / 7),
        4: (744 / 17, 396 / 17),
        5: (22640 / 291, 10270 / 291),
        6: (43725 / 347, 17280 / 347),
    },
    "larger-trace": {
        1: (2.0, 2.0),
        2: (109 / 7, 32 / 7),
        3: (56.0, 122 / 21),
        4: (2270762 / 16973, 111878 / 16973),
        5: (131368223 / 507722, 3552259 / 507722),
        6: (143923562826 / 326483321, 2374074576 / 326483321),
    },
}


def moments_sensitivity(n: int, adjacency: str, norm: Literal["nuclear", "larger-trace", "frobenius"], d: int) -> float:
    """Sensitivity of (1/n) sum x x', for a public n and records of length d and norm at most 1.

    1/n for a record more or less, in every norm of the difference E: tr E_+ + tr E_-, max(tr E_+, tr E_-), ||E||_F.
    For a replaced record 2/n in the nuclear norm, 1/n in the larger trace and sqrt(2)/n in the Frobenius norm; 1/n
    in every norm for d = 1.

    *Proof.* x x' has the one eigenvalue ||x||^2 <= 1, so that all three norms of it are at most 1.

    Replacing x by y: E = xx' - yy'. tr E_+ is the largest <P, E> over 0 <= P <= I, and <P, E> <= <P, xx'> <= ||x||^2
    <= 1, because <P, yy'> >= 0; tr E_- is that of -E, at most ||y||^2 <= 1. So the larger trace is at most 1, and the
    nuclear norm, which is the sum of both, at most 2. ||E||_F^2 = ||x||^4 + ||y||^4 - 2 <x, y>^2 <= 2. Orthogonal unit
    vectors attain all three. For d = 1, E = x^2 - y^2 lies in [-1, 1], and 0 and 1 attain it.
    """
    if adjacency == "add-remove" or norm == "larger-trace" or d == 1:
        return 1.0 / n
    return (2.0 if norm == "nuclear" else math.sqrt(2.0)) / n


def twice_the_trace_sensitivity(n: int) -> float:
    """2/n: one record adds between 0 and 2/n to (2/n) sum ||x||^2, whether it comes, goes or is replaced."""
    return 2.0 / n


@dataclass(frozen=True)
class NoiseSize:
    """Second moments of a rotation-invariant law of symmetric d x d matrices with mean zero."""

    d: int
    #: E ||Z||_F^2.
    square: float
    #: E (tr Z)^2.
    trace_variance: float

    @property
    def variance(self) -> float:
        """Variance of <B, Z> for traceless B of unit Frobenius norm: twice that of an entry off the diagonal."""
        if self.d == 1:
            return self.square
        return (self.square - self.trace_variance / self.d) / (self.d * (self.d + 1) / 2 - 1)

    def block_trace_variance(self, k: int) -> float:
        """Variance of the trace of the first k rows and columns: of <B, Z> with B = (k/d) I and a traceless rest."""
        return (k / self.d) ** 2 * self.trace_variance + (k - k**2 / self.d) * self.variance


def noise_size(mechanism: str, norm: str, d: int) -> NoiseSize:
    """Moments of the law of :func:`~dpgraph.releases.symmetric.release_symmetric` for rho = 1, with its arguments."""
    if mechanism == "nuclear-laplace" and d in _LAPLACE[norm]:
        return NoiseSize(d, *_LAPLACE[norm][d])
    if norm == "nuclear":
        return NoiseSize(d, d * (d + 1) ** 2 / 2, d * (d + 1.0))
    D = d * (d + 1) / 2
    q, radius = (d + 1) / (D + 1), 2 * D * (2 * D + 1)
    first, second = D / (D + 1), D / (D + 2)
    return NoiseSize(d, radius * (q * (1 + second) - 2 * first / d), radius * (1 - 2 * first + second))
