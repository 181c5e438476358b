"""The noise of a private covariance: its law, how large it is, and how the budget is split with the trace."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds.matrix_noise_size import NoiseSize, noise_size
from dpgraph.privacy.accounting import check_epsilon, check_optional_delta, require_delta
from dpgraph.privacy.call import Call
from dpgraph.privacy.matrix_noise import EXACT_NUCLEAR_LAPLACE_DIMENSION
from dpgraph.problems.strategy import Registry, Strategy
from dpgraph.releases.records.moments import SecondMoments
from dpgraph.releases.symmetric import NuclearMechanism

__all__ = ["LAWS", "CovarianceNoise", "choose_noise", "pure_size", "release_purely"]

#: The laws that ``mechanism=`` names.
LAWS = Registry("dpgraph.problems.records.strategies.covariance")


@dataclass(frozen=True)
class CovarianceNoise:
    """The law of the noise of the matrix, and what is known about it in advance; see :func:`choose_noise`.

    Parameters
    ----------
    strategy : Strategy
        Law of the noise.
    options : object
        Its options.
    moments : SecondMoments
        What is released.
    delta : float
        0 for a pure law, whatever the caller allows.
    """

    strategy: Strategy
    options: Any
    moments: SecondMoments
    delta: float

    def size(self, epsilon: float, trace_share: float = 0.0) -> NoiseSize:
        """Size of the noise when the trace takes a share of epsilon (of mu**2 where it is Gaussian).

        Exact but for nuclear Laplace noise from a Markov chain (:mod:`dpgraph.bounds.matrix_noise_size`).
        """
        unsplit: NoiseSize = self.strategy.expected(self.options, self.moments, epsilon, self.delta)
        kept = (1 - trace_share) if self.delta else (1 - trace_share) ** 2
        return NoiseSize(unsplit.d, unsplit.square / kept, unsplit.trace_variance / kept)

    def release(self, rows: NDArray[np.float64], name: str, call: Call) -> tuple[NDArray[np.float64], bool]:
        """Noisy moments of the rows, and whether the sampler was only approximate."""
        noisy, approximate = self.strategy.run(self.options, rows, name, self.moments, call)
        return noisy, approximate


def choose_noise(mechanism: Any, moments: SecondMoments, epsilon: float, delta: float) -> CovarianceNoise:
    """Check the arguments; "auto" takes the least expected squared error of the exact laws that `delta` allows."""
    strategy, options = LAWS.resolve(mechanism)
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    if strategy is not None:
        pure = strategy.pure(options)
        if not pure:
            require_delta(delta, f"mechanism={strategy.name!r}", "mechanism='auto'")
        return CovarianceNoise(strategy, options, moments, 0.0 if pure else delta)
    candidates = []
    for law in LAWS.strategies.values():
        options = law.options()
        exact = law.name != "nuclear-laplace" or moments.size <= EXACT_NUCLEAR_LAPLACE_DIMENSION
        if exact and (delta > 0 or law.pure(options)):
            candidates.append(CovarianceNoise(law, options, moments, 0.0 if law.pure(options) else delta))
    return min(candidates, key=lambda noise: noise.size(epsilon).square)


def pure_size(
    mechanism: NuclearMechanism, _options: Any, moments: SecondMoments, epsilon: float, _delta: float
) -> NoiseSize:
    """Size of a pure law."""
    scale, unit = moments.pure_move / epsilon, noise_size(mechanism, moments.norm, moments.size)
    return NoiseSize(moments.size, scale**2 * unit.square, scale**2 * unit.trace_variance)


def release_purely(
    mechanism: NuclearMechanism,
    _options: Any,
    rows: NDArray[np.float64],
    name: str,
    moments: SecondMoments,
    call: Call,
) -> tuple[NDArray[np.float64], bool]:
    """Release the moments with a pure law."""
    return moments.release_purely(rows, name, call, mechanism)
