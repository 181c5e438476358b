r"""Symmetric matrix noise for pure differential privacy where one record is *replaced*.

Adding a record adds a positive semidefinite matrix, and removing one subtracts one. Replacing a record x by y does
both: the matrix moves by E = xx' - yy', whose positive and negative parts are each bounded. The norm that takes
advantage of this is the **larger trace**

    N(E) = max(tr E_+, tr E_-),    half of the nuclear norm tr E_+ + tr E_- where tr E = 0.

It is a norm: tr E_+ is the largest <P, E> over 0 <= P <= I, so that N(E) is the largest |<P, E>|; a largest absolute
value of linear functions obeys the triangle inequality, and it is 0 for E = 0 only. Neighbours are at N(E) <= s, and
rho = s/epsilon.

**Tied Wishart difference**, exact for every d. The pair (X, Y) of positive semidefinite matrices has the joint density
proportional to exp(-max(tr X, tr Y)/rho), and Z = X - Y. The density of (X + E_+, Y + E_-) at a point (P, Q) is that of
(X, Y) at (P - E_+, Q - E_-), or 0 outside the cones; as max(tr P - tr E_+, tr Q - tr E_-) >= max(tr P, tr Q) - N(E), it
is at most exp(N(E)/rho) times that of (X, Y) at (P, Q). Z + E is the same function of the shifted pair as Z is of the
pair, so the likelihood ratio is at most e^epsilon. (The pair of :mod:`dpgraph.privacy.nuclear_noise` has the sum of
the traces in place of the larger one.)

Its sampler: with D = d(d + 1)/2, the mass of {tr X <= a, tr Y <= b} without the exponential is proportional to
(a b)^D. So the larger trace is Gamma(2 D) times rho, either matrix has it with probability 1/2, the other trace is a
share U^{1/D} of it, U uniform, and both matrices divided by their traces are those of independent Wishart matrices.

**Replacement Laplace**, density proportional to exp(-N(Z)/rho). Draw the tied pair and accept Z = X - Y when X - Z_+ is
positive semidefinite: given Z, the accepted X are Z_+ + T with T in the cone, and then Y = Z_- + T. So the accepted Z
has density proportional to the integral of exp(-(N(Z) + tr T)/rho) over the cone, exp(-N(Z)/rho) up to a constant. For
larger d the sampler is *approximate*: a Markov chain on the eigenvalues (density prod |l_i - l_j| exp(-N/rho)) gives
their proportions, and N ~ rho Gamma(D) is drawn exactly.
"""

import numpy as np

from dpgraph.compiled import njit
from dpgraph.privacy.noise import NoiseSource
from dpgraph.privacy.nuclear_noise import accepted, from_markov_chain, wishart_pair
from dpgraph.typing import FloatArray

__all__ = ["larger_trace", "replacement_laplace", "replacement_laplace_markov", "tied_wishart_difference"]


def larger_trace(E: FloatArray) -> float:
    """max(tr E_+, tr E_-) of a symmetric matrix: the norm of this module.

    Examples
    --------
    >>> import numpy as np
    >>> larger_trace(np.diag([3.0, -1.0, -1.0]))
    3.0
    """
    return _larger(np.asarray(np.linalg.eigvalsh(E), dtype=np.float64))


def tied_wishart_difference(noise: NoiseSource, d: int, scale: float) -> FloatArray:
    """Difference of two Wishart matrices with tied traces: pure-DP noise for every d.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise.
    d : int
        Dimension.
    scale : float
        rho, sensitivity in the larger trace divided by epsilon.

    Returns
    -------
    ndarray, shape (d, d)
        Symmetric.
    """
    X, Y = _tied_pair(noise, d, scale)
    return X - Y


def replacement_laplace(noise: NoiseSource, d: int, scale: float) -> FloatArray:
    """Exact draw from the density proportional to exp(-max(tr Z_+, tr Z_-) / scale), by rejection: for small d.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise. The number of attempts is independent of any data.
    d : int
        Dimension; the expected number of attempts grows quickly.
    scale : float
        rho, sensitivity in the larger trace divided by epsilon.

    Returns
    -------
    ndarray, shape (d, d)
        Symmetric.
    """
    while True:
        X, Y = _tied_pair(noise, d, scale)
        if accepted(X, Y):
            return X - Y


def replacement_laplace_markov(noise: NoiseSource, d: int, scale: float) -> FloatArray:
    """*Approximate* draw from the density proportional to exp(-max(tr Z_+, tr Z_-) / scale), for any d.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise.
    d : int
        Dimension.
    scale : float
        rho, sensitivity in the larger trace divided by epsilon.

    Returns
    -------
    ndarray, shape (d, d)
        Symmetric.
    """
    return from_markov_chain(noise, tied_wishart_difference(noise, d, 1.0), scale, _metropolis, _larger)


def _larger(values: FloatArray) -> float:
    """The larger trace of a matrix with these eigenvalues."""
    return float(max(values[values > 0].sum(), -values[values < 0].sum()))


@njit()
def _metropolis(values: FloatArray, steps: FloatArray, log_uniforms: FloatArray) -> None:
    """Sweep over the eigenvalues in place, one proposal each, for the density prod |l_i - l_j| exp(-N)."""
    for sweep in range(steps.shape[0]):
        for i in range(len(values)):
            proposed = values[i] + steps[sweep, i]
            gain, up, down = 0.0, 0.0, 0.0
            for j in range(len(values)):
                if j != i:
                    gain += np.log(abs(proposed - values[j])) - np.log(abs(values[i] - values[j]))
                    up += max(values[j], 0.0)
                    down += max(-values[j], 0.0)
            gain += max(up + max(values[i], 0.0), down + max(-values[i], 0.0))
            gain -= max(up + max(proposed, 0.0), down + max(-proposed, 0.0))
            if log_uniforms[sweep, i] < gain:
                values[i] = proposed


def _tied_pair(noise: NoiseSource, d: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Two matrices with joint density proportional to exp(-max(tr X, tr Y) / scale) on the product of the cones."""
    D = d * (d + 1) // 2
    X, Y = (W / np.trace(W) for W in wishart_pair(noise, d, 1.0))
    # A chi-square variable with 2k degrees of freedom is twice a Gamma(k) variable, and minus log U is Gamma(1).
    radius, decay = noise.chi(np.array([4 * D, 2])) ** 2 / 2
    larger, smaller = scale * radius, scale * radius * np.exp(-decay / D)
    return (X * larger, Y * smaller) if noise.gaussian(1, 1.0)[0] > 0 else (X * smaller, Y * larger)
