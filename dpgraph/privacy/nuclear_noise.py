r"""Symmetric matrix noise for pure differential privacy: matrix analogues of the Laplace law.

Neighbouring symmetric matrices are at nuclear-norm distance at most s, and rho = s/epsilon.

**Wishart difference**, exact for every d. X and Y are independent with density proportional to exp(-tr X/rho) on the
positive semidefinite cone, that is X = (rho/2) G G' with G a standard normal d x (d + 1) matrix, and Z = X - Y. Let
E = E_+ - E_- be the difference of neighbours, tr E_+ + tr E_- <= s. The density of X + E_+ at a point P is that of X at
P - E_+, at most exp(tr E_+/rho) times that of X at P (and 0 where P - E_+ leaves the cone); likewise for Y + E_-. As
Z + E is the same function of the pair (X + E_+, Y + E_-) as Z is of (X, Y), the likelihood ratio is at most e^epsilon.
For d = 1 this is the Laplace law.

**Nuclear Laplace**, density proportional to exp(-||Z||_*/rho). Draw X and Y as above and accept Z = X - Y when X - Z_+
is positive semidefinite: given Z, the accepted X fill Z_+ + cone, so that the accepted Z has density proportional to
the integral of exp(-(2 tr X - tr Z)/rho) over it, exp(-(2 tr Z_+ - tr Z)/rho) = exp(-||Z||_*/rho) up to a constant.
The acceptance rate is 1, 0.75, 0.44, 0.20 for d = 1, ..., 4 and falls quickly. For larger d the sampler is
*approximate*: a Markov chain on the eigenvalues (density prod |l_i - l_j| exp(-sum |l_i|/rho)) gives their proportions,
and the nuclear norm is drawn exactly.
"""

from collections.abc import Callable

import numpy as np

from dpgraph.compiled import njit
from dpgraph.privacy.noise import NoiseSource
from dpgraph.typing import FloatArray

__all__ = [
    "EXACT_NUCLEAR_LAPLACE_DIMENSION",
    "accepted",
    "from_markov_chain",
    "nuclear_laplace",
    "nuclear_laplace_markov",
    "wishart_difference",
    "wishart_pair",
]


#: Largest dimension for rejection sampling (a few dozen proposals for each draw).
EXACT_NUCLEAR_LAPLACE_DIMENSION = 5
#: Sweeps of the Markov chain over all eigenvalues, and its step in units of rho (the spacing of eigenvalues).
_SWEEPS = 400
_STEP = 2.0


def wishart_difference(noise: NoiseSource, d: int, scale: float) -> FloatArray:
    """Difference of two independent Wishart matrices: pure-DP noise of scale `scale` for every d.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise.
    d : int
        Dimension.
    scale : float
        rho, nuclear-norm sensitivity divided by epsilon.

    Returns
    -------
    ndarray, shape (d, d)
        Symmetric.
    """
    X, Y = wishart_pair(noise, d, scale)
    return X - Y


def nuclear_laplace(noise: NoiseSource, d: int, scale: float) -> FloatArray:
    """Exact draw from the density proportional to exp(-||Z||_* / scale), by rejection: for small d.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise. The number of attempts is independent of any data.
    d : int
        Dimension; the expected number of attempts grows quickly (5 for d = 4).
    scale : float
        rho, nuclear-norm sensitivity divided by epsilon.

    Returns
    -------
    ndarray, shape (d, d)
        Symmetric.
    """
    while True:
        X, Y = wishart_pair(noise, d, scale)
        if accepted(X, Y):
            return X - Y


def nuclear_laplace_markov(noise: NoiseSource, d: int, scale: float) -> FloatArray:
    """*Approximate* draw from the density proportional to exp(-||Z||_* / scale), for any d.

    A Metropolis chain runs over the eigenvalues, from the spectrum of a Wishart difference; only the proportions of its
    last state are used. Nuclear norm (Gamma of shape d(d + 1)/2) and eigenvectors (Haar) are exact.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise.
    d : int
        Dimension.
    scale : float
        rho, nuclear-norm sensitivity divided by epsilon.

    Returns
    -------
    ndarray, shape (d, d)
        Symmetric.
    """
    return from_markov_chain(noise, wishart_difference(noise, d, 1.0), scale, _metropolis, _nuclear)


def from_markov_chain(
    noise: NoiseSource,
    start: FloatArray,
    scale: float,
    sweep: Callable[[FloatArray, FloatArray, FloatArray], None],
    norm: Callable[[FloatArray], float],
) -> FloatArray:
    """*Approximate* draw of density exp(-norm / scale): a Markov chain gives the eigenvalues up to a factor.

    The norm is drawn exactly, and so are the eigenvectors.

    Parameters
    ----------
    noise : NoiseSource
        Source of the noise.
    start : ndarray, shape (d, d)
        Symmetric; the chain starts from its spectrum.
    scale : float
        Scale of the noise.
    sweep : callable
        Metropolis sweeps over eigenvalues, in place, with the given steps and logarithms of uniform variables.
    norm : callable
        The norm, as a function of the eigenvalues.
    """
    d = len(start)
    values = np.asarray(np.linalg.eigvalsh(start), dtype=np.float64)
    steps, first, second = noise.gaussian((3, _SWEEPS, d), 1.0)
    # The halved square of two normals is exponential: minus the logarithm of a uniform variable.
    sweep(values, _STEP * steps, -(first**2 + second**2) / 2)
    radius = float(noise.chi(np.array([d * (d + 1)]))[0] ** 2) / 2
    vectors = np.linalg.qr(noise.gaussian((d, d), 1.0)).Q
    product = (vectors * (values * (scale * radius / norm(values)))) @ vectors.T
    return (product + product.T) / 2


def accepted(X: FloatArray, Y: FloatArray) -> bool:
    """Whether X - (X - Y)_+ is positive semidefinite: the rejection step of the exact samplers."""
    if len(X) == 1:  # the remainder is min(X, Y) >= 0, so that nothing is rejected
        return True
    values, vectors = np.linalg.eigh(X - Y)
    remainder = X - (vectors * np.maximum(values, 0.0)) @ vectors.T
    return bool(np.linalg.eigvalsh(remainder)[0] >= 0.0)


def _nuclear(values: FloatArray) -> float:
    """Nuclear norm of a symmetric matrix with these eigenvalues."""
    return float(np.abs(values).sum())


@njit()
def _metropolis(values: FloatArray, steps: FloatArray, log_uniforms: FloatArray) -> None:
    """Sweep over the eigenvalues in place, one proposal each, for the density prod |l_i - l_j| exp(-sum |l_i|)."""
    for sweep in range(steps.shape[0]):
        for i in range(len(values)):
            proposed = values[i] + steps[sweep, i]
            gain = abs(values[i]) - abs(proposed)
            for j in range(len(values)):
                if j != i:
                    gain += np.log(abs(proposed - values[j])) - np.log(abs(values[i] - values[j]))
            if log_uniforms[sweep, i] < gain:
                values[i] = proposed


def wishart_pair(noise: NoiseSource, d: int, scale: float) -> tuple[FloatArray, FloatArray]:
    """Two independent matrices with density proportional to exp(-tr X / scale) on the cone."""
    blocks = noise.gaussian((2, d, d + 1), 1.0)
    X, Y = scale / 2 * blocks @ blocks.transpose(0, 2, 1)
    return X, Y
