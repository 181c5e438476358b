"""Laplace noise in a matrix norm."""

from dataclasses import dataclass

from dpgraph.problems.records.covariance_noise import pure_law


@dataclass(frozen=True)
class NuclearLaplace:
    """Noise of density exp(-norm): pure and exact up to six columns, about 10 % less than the Wishart difference has.

    Above it is a Markov chain that comes close to this law; no proof covers it, and the result says so. The norm is the
    nuclear norm for ``adjacency="add-remove"``, and max(tr E_+, tr E_-) for ``"replace"``.

    References
    ----------
    DN25b, Algorithm 1 (on symmetric matrices).
    """


STRATEGY = pure_law(
    "nuclear-laplace",
    NuclearLaplace,
    order=2,
)
