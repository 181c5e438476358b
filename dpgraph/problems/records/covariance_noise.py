"""The noise of a private covariance: its laws, how large they are, and the choice among them."""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from dpgraph.arguments import check_epsilon, check_optional_delta, require_delta
from dpgraph.bounds.moments import NoiseSize, noise_size
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import Call
from dpgraph.privacy.matrix_noise import EXACT_NUCLEAR_LAPLACE_DIMENSION
from dpgraph.problems.driver import Registry, Strategy
from dpgraph.releases.records.moments import SecondMoments
from dpgraph.releases.symmetric import NoisySymmetric, NuclearMechanism, SymmetricLaw


@dataclass(frozen=True)
class CovarianceNoise:
    """The law of the noise of what is released; `delta` is 0 for a pure law, whatever the caller allows."""

    strategy: Strategy
    options: Any
    moments: SecondMoments
    delta: float

    def size(self, epsilon: float, trace_share: float = 0.0) -> NoiseSize:
        """Size of the noise when the trace takes a share of epsilon (of mu**2 where it is Gaussian).

        Exact but for nuclear Laplace noise from a Markov chain (:mod:`dpgraph.bounds.moments`).
        """
        unsplit: NoiseSize = self.strategy.expected(self.options, self.moments, epsilon, self.delta)
        kept = (1 - trace_share) if self.delta else (1 - trace_share) ** 2
        return NoiseSize(unsplit.d, unsplit.square / kept, unsplit.trace_variance / kept)


def choose_noise(mechanism: Any, moments: SecondMoments, epsilon: float, delta: float) -> CovarianceNoise:
    """Check the arguments; "auto" takes the least expected squared error of the exact laws that `delta` allows."""
    strategy, options = LAWS.resolve(mechanism)
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    if strategy is not None:
        pure = strategy.pure
        if not pure:
            require_delta(delta, f"mechanism={strategy.name!r}", "mechanism='auto'")
        return CovarianceNoise(strategy, options, moments, 0.0 if pure else delta)
    candidates = []
    for law in LAWS.strategies.values():
        pure = law.pure
        exact = law.name != "nuclear-laplace" or moments.size <= EXACT_NUCLEAR_LAPLACE_DIMENSION
        if exact and (pure or delta > 0):
            candidates.append(CovarianceNoise(law, law.defaults, moments, 0.0 if pure else delta))
    return min(candidates, key=lambda noise: noise.size(epsilon).square)


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


def _gaussian_size(_: SymmetricGaussian, moments: SecondMoments, epsilon: float, delta: float) -> NoiseSize:
    d, scale = moments.size, moments.frobenius_move / gdp_mu(epsilon, delta)
    return NoiseSize(d, scale**2 * (d * (d + 1) / 2), scale**2 * d)


class NoisyMoments(NamedTuple):
    """The matrix with noise, and the epsilon of the whole call."""

    noisy: NoisySymmetric
    epsilon: float


def _release(law: SymmetricLaw, _options: Any, records: Any, call: Call, facts: Any, _trace: Any) -> NoisyMoments:
    """Noise of this law on the moments of the records: the ``run`` of every strategy, with its law."""
    return NoisyMoments(facts.moments.release(records.moments, facts.line, call, law), call.whole.epsilon)


def _pure_law(name: NuclearMechanism, options: type) -> Strategy:
    """A strategy with noise that follows a matrix norm (:mod:`dpgraph.privacy.matrix_noise`)."""

    def size(_options: Any, moments: SecondMoments, epsilon: float, _delta: float) -> NoiseSize:
        scale, unit = moments.pure_move / epsilon, noise_size(name, moments.norm, moments.size)
        return NoiseSize(moments.size, scale**2 * unit.square, scale**2 * unit.trace_variance)

    run = partial(_release, name)
    return Strategy(name, options, pure=True, run=run, expected=size)


#: The laws that ``mechanism=`` names.
LAWS = Registry(
    "a covariance",
    _pure_law("wishart-difference", WishartDifference),
    _pure_law("nuclear-laplace", NuclearLaplace),
    Strategy(
        "gaussian",
        SymmetricGaussian,
        pure=False,
        run=partial(_release, "gaussian"),
        expected=_gaussian_size,
    ),
)
