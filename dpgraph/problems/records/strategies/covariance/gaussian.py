"""Symmetric Gaussian noise."""

from dataclasses import dataclass
from functools import partial

from dpgraph.bounds.moments import NoiseSize
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.problems.records.covariance_noise import release_moments
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.records.moments import SecondMoments


@dataclass(frozen=True)
class SymmetricGaussian:
    """Noise (W + W')/2, W iid normal: less than pure noise from about ten columns on.

    References
    ----------
    DTTZ14 (here with the exact scale of BW18).
    """


def _size(_: SymmetricGaussian, moments: SecondMoments, epsilon: float, delta: float) -> NoiseSize:
    d, scale = moments.size, moments.frobenius_move / gdp_mu(epsilon, delta)
    return NoiseSize(d, scale**2 * (d * (d + 1) / 2), scale**2 * d)


STRATEGY = Strategy(
    "gaussian",
    SymmetricGaussian,
    pure=lambda _: False,
    run=partial(release_moments, "gaussian"),
    expected=_size,
    order=3,
)
