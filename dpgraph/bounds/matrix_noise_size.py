r"""How large the noise of :mod:`dpgraph.privacy.matrix_noise` is: second moments of its laws for rho = 1.

All laws are invariant under rotations, so two numbers say everything: the variance of the trace, and the variance in
any other direction of unit Frobenius norm. D = d(d + 1)/2.

*Wishart difference.* X is a Wishart matrix with d + 1 degrees of freedom over 2: every direction of X - Y has variance
d + 1.

*Tied Wishart difference.* Let g be the larger trace and t g the other one. V = X/tr X and W = Y/tr Y are independent of
them, E V = E W = I/d, and E ||V||_F^2 = q = (d + 1)/(D + 1) (the ratio E ||X||_F^2 / E (tr X)^2 for a Wishart matrix).
With E g^2 = 2D(2D + 1), E t = D/(D + 1) and E t^2 = D/(D + 2),

    E ||Z||_F^2 = E g^2 (q (1 + E t^2) - 2 E t/d),    E (tr Z)^2 = E g^2 E (1 - t)^2.

*Laplace laws.* The eigenvalues have density prod |l_i - l_j| times exp(-norm), whose moments are integrals of
polynomials and rational. They are listed for the dimensions of the exact samplers (tests/mechanisms/
test_matrix_noise_size.py integrates them anew); above, where the sampler is a Markov chain, the moments of the Wishart
difference of the same norm stand in for them, which are larger by about a fifth.
"""

from dataclasses import dataclass

__all__ = ["NoiseSize", "noise_size"]

#: d -> E ||Z||_F^2 and E (tr Z)^2 of the law with density proportional to exp(-norm).
_LAPLACE = {
    "nuclear": {
        1: (2.0, 2.0),
        2: (25 / 3, 20 / 3),
        3: (150 / 7, 96 / 7),
        4: (744 / 17, 396 / 17),
        5: (22640 / 291, 10270 / 291),
    },
    "larger-trace": {
        1: (2.0, 2.0),
        2: (109 / 7, 32 / 7),
        3: (56.0, 122 / 21),
        4: (2270762 / 16973, 111878 / 16973),
        5: (131368223 / 507722, 3552259 / 507722),
    },
}


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
