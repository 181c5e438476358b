r"""Symmetric matrix noise for pure differential privacy: matrix analogues of the Laplace law, for two norms.

Neighbouring matrices differ by E = E_+ - E_-, its positive and negative parts. They are at distance N(E) <= s, and
rho = s/epsilon. N is the **nuclear norm** tr E_+ + tr E_-, or, where one record x is *replaced* by y and E = xx' - yy',
the **larger trace** max(tr E_+, tr E_-), half of the nuclear norm where tr E = 0.

**Wishart difference**, exact for every d: Z = X - Y, where the pair (X, Y) of positive semidefinite matrices has the
density proportional to exp(-n(tr X, tr Y)/rho), n being the sum for the nuclear norm and the larger of the two
otherwise. **Laplace law**: density proportional to exp(-N(Z)/rho). Both are epsilon-DP; docs/covariance-theory.md, "The
noise", has the proofs, and why the samplers below draw from these laws. The Laplace law is sampled by rejection, with
an acceptance rate that falls quickly with d; for larger d the sampler is *approximate*, a Markov chain.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpgraph.privacy.noise import NoiseSource
from dpgraph.typing import FloatArray

#: Largest dimension for rejection sampling (fifty proposals for each draw, some milliseconds).
EXACT_NUCLEAR_LAPLACE_DIMENSION = 6
#: Sweeps of the Markov chain over all eigenvalues, and its step in units of rho (the spacing of eigenvalues).
_SWEEPS = 400
_STEP = 2.0


@dataclass(frozen=True)
class MatrixLaw:
    """The noise that follows one norm: symmetric d x d matrices, for rho = `scale`."""

    #: Two matrices of density proportional to exp(-n(tr X, tr Y) / scale) on the cone.
    pair: Callable[[NoiseSource, int, float], tuple[FloatArray, FloatArray]]
    #: Whether N is the larger trace, and not the nuclear norm.
    larger: bool

    def norm(self, values: FloatArray) -> float:
        """N of a matrix with these eigenvalues."""
        return self._norm(float(values[values > 0].sum()), -float(values[values < 0].sum()))

    def _norm(self, up: float, down: float) -> float:
        """N of a matrix whose positive and negative parts have these traces."""
        return max(up, down) if self.larger else up + down

    def difference(self, noise: NoiseSource, d: int, scale: float) -> FloatArray:
        """Wishart difference."""
        X, Y = self.pair(noise, d, scale)
        return X - Y

    def laplace(self, noise: NoiseSource, d: int, scale: float) -> FloatArray:
        """Exact draw of the Laplace law, by rejection: for small d. The number of attempts says nothing about data."""
        while True:
            X, Y = self.pair(noise, d, scale)
            if _accepted(X, Y):
                return X - Y

    def laplace_markov(self, noise: NoiseSource, d: int, scale: float) -> FloatArray:
        """*Approximate* draw of the Laplace law, for any d: the chain starts from a Wishart difference.

        Only the proportions of its last state are used. The norm and the eigenvectors (Haar) are exact.
        """
        X, Y = self.pair(noise, d, 1.0)
        values = np.asarray(np.linalg.eigvalsh(X - Y), dtype=np.float64)
        steps, first, second = noise.gaussian((3, _SWEEPS, d), 1.0)
        # The halved square of two normals is exponential: minus the logarithm of a uniform variable.
        self._sweep(values, _STEP * steps, -(first**2 + second**2) / 2)
        radius = float(noise.chi(np.array([d * (d + 1)]))[0] ** 2) / 2
        vectors = np.linalg.qr(noise.gaussian((d, d), 1.0)).Q
        product: FloatArray = (vectors * (values * (scale * radius / self.norm(values)))) @ vectors.T
        return (product + product.T) / 2

    def _sweep(self, values: FloatArray, steps: FloatArray, log_uniforms: FloatArray) -> None:
        """Metropolis sweeps over eigenvalues, in place, for the density prod |l_i - l_j| exp(-N)."""
        for sweep in range(len(steps)):
            up, down = float(np.maximum(values, 0.0).sum()), float(np.maximum(-values, 0.0).sum())
            for i, value in enumerate(values.tolist()):
                proposed = value + float(steps[sweep, i])
                apart, further = values - value, values - proposed
                apart[i] = further[i] = 1.0
                others = up - max(value, 0.0), down - max(-value, 0.0)
                traces = others[0] + max(proposed, 0.0), others[1] + max(-proposed, 0.0)
                gain = self._norm(up, down) - self._norm(*traces)
                if log_uniforms[sweep, i] < gain + float(np.log(np.abs(further / apart)).sum()):
                    values[i], (up, down) = proposed, traces


def _accepted(X: FloatArray, Y: FloatArray) -> bool:
    """Whether X - (X - Y)_+ is positive semidefinite."""
    if len(X) == 1:  # the remainder is min(X, Y) >= 0, so that nothing is rejected
        return True
    values, vectors = np.linalg.eigh(X - Y)
    remainder = X - (vectors * np.maximum(values, 0.0)) @ vectors.T
    return bool(np.linalg.eigvalsh(remainder)[0] >= 0.0)


def _independent_pair(noise: NoiseSource, d: int, scale: float) -> tuple[FloatArray, FloatArray]:
    blocks = noise.gaussian((2, d, d + 1), 1.0)
    products = scale / 2 * blocks @ blocks.transpose(0, 2, 1)
    X, Y = (products + products.transpose(0, 2, 1)) / 2  # some processors add up either half in an order of its own
    return X, Y


def _tied_pair(noise: NoiseSource, d: int, scale: float) -> tuple[FloatArray, FloatArray]:
    D = d * (d + 1) // 2
    X, Y = (W / np.trace(W) for W in _independent_pair(noise, d, 1.0))
    # A chi-square variable with 2k degrees of freedom is twice a Gamma(k) variable, and minus log U is Gamma(1).
    radius, decay = noise.chi(np.array([4 * D, 2])) ** 2 / 2
    larger, smaller = scale * radius, scale * radius * np.exp(-decay / D)
    return (X * larger, Y * smaller) if noise.gaussian(1, 1.0)[0] > 0 else (X * smaller, Y * larger)


NUCLEAR = MatrixLaw(_independent_pair, larger=False)
LARGER_TRACE = MatrixLaw(_tied_pair, larger=True)
