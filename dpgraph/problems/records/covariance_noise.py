"""The noise of a private covariance: its laws, how large they are, and the choice among them."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from dpgraph.bounds.moments import NoiseSize, noise_size
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import Call
from dpgraph.privacy.matrix_noise import EXACT_NUCLEAR_LAPLACE_DIMENSION
from dpgraph.problems.driver import Registry, Strategy
from dpgraph.releases.records.moments import SecondMoments
from dpgraph.releases.symmetric import NoisySymmetric, NuclearMechanism, SymmetricLaw


def noise_of(name: str, moments: SecondMoments, epsilon: float, delta: float, trace_share: float = 0.0) -> NoiseSize:
    """Size of the noise of a law when the trace takes a share of epsilon (of mu**2 where it is Gaussian).

    Exact but for nuclear Laplace noise from a Markov chain (:mod:`dpgraph.bounds.moments`).
    """
    law = LAWS[name]
    unsplit: NoiseSize = law.expected(moments, epsilon, delta)
    kept = (1 - trace_share) ** (2 if law.pure else 1)
    return NoiseSize(unsplit.d, unsplit.square / kept, unsplit.trace_variance / kept)


def quietest(moments: SecondMoments, epsilon: float, delta: float) -> str:
    """The exact law of least expected squared error that delta allows."""
    names = [name for name, law in LAWS.strategies.items() if law.pure or delta > 0]
    if moments.size > EXACT_NUCLEAR_LAPLACE_DIMENSION:
        names.remove("nuclear-laplace")
    return min(names, key=lambda name: noise_of(name, moments, epsilon, delta).square)


@dataclass(frozen=True)
class WishartDifference:
    """Noise that is the difference of two positive semidefinite matrices: pure, and exact for any number of columns.

    For ``adjacency="replace"`` both have one trace in common, otherwise they are independent
    (:mod:`dpgraph.privacy.matrix_noise`; proof: docs/covariance-theory.md, "The noise").
    """


@dataclass(frozen=True)
class NuclearLaplace:
    """Noise of density exp(-norm): pure and exact up to six columns, about 10 % less than the Wishart difference has.

    Above it is a Markov chain that comes close to this law; no proof covers it, and the result says so. The norm is the
    nuclear norm for ``adjacency="add-remove"``, and max(tr E_+, tr E_-) for ``"replace"``.

    References
    ----------
    DN25b, Algorithm 1 (on symmetric matrices).
    """


@dataclass(frozen=True)
class SymmetricGaussian:
    """Noise (W + W')/2, W iid normal: less than pure noise from about ten columns on.

    References
    ----------
    DTTZ14 (here with the exact scale of BW18).
    """


def _gaussian_size(moments: SecondMoments, epsilon: float, delta: float) -> NoiseSize:
    d, scale = moments.size, moments.frobenius_sensitivity / gdp_mu(epsilon, delta)
    return NoiseSize(d, scale**2 * (d * (d + 1) / 2), scale**2 * d)


def _release(law: SymmetricLaw, _options: Any, records: Any, call: Call, facts: Any, _trace: Any) -> NoisySymmetric:
    """Noise of this law on the moments of the records: the ``run`` of every strategy, with its law."""
    noisy: NoisySymmetric = facts.moments.release(records.moments, facts.line, call, law)
    return noisy


def _pure_law(name: NuclearMechanism, options: type) -> Strategy:
    """A strategy with noise that follows a matrix norm (:mod:`dpgraph.privacy.matrix_noise`)."""

    def size(moments: SecondMoments, epsilon: float, _delta: float) -> NoiseSize:
        scale, unit = moments.pure_sensitivity / epsilon, noise_size(name, moments.norm, moments.size)
        return NoiseSize(moments.size, scale**2 * unit.square, scale**2 * unit.trace_variance)

    return Strategy(name, options, pure=True, run=partial(_release, name), expected=size)


#: The laws that ``mechanism=`` names.
LAWS = Registry(
    "a covariance",
    _pure_law("wishart-difference", WishartDifference),
    _pure_law("nuclear-laplace", NuclearLaplace),
    Strategy("gaussian", SymmetricGaussian, pure=False, run=partial(_release, "gaussian"), expected=_gaussian_size),
)
