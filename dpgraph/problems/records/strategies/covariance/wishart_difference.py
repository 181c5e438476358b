"""Difference of two Wishart matrices."""

from dataclasses import dataclass
from functools import partial

from dpgraph.problems.records.covariance_noise import pure_size, release_purely
from dpgraph.problems.strategy import Strategy

__all__ = ["STRATEGY", "WishartDifference"]


@dataclass(frozen=True)
class WishartDifference:
    """Noise that is the difference of two positive semidefinite matrices: pure, and exact for any number of columns.

    For ``adjacency="replace"`` both have one trace in common, otherwise they are independent
    (:mod:`dpgraph.privacy.matrix_noise`, with the proof).
    """


STRATEGY = Strategy(
    "wishart-difference",
    WishartDifference,
    "difference of two Wishart matrices, exact for any number of columns",
    pure=lambda _: True,
    run=partial(release_purely, "wishart-difference"),
    expected=partial(pure_size, "wishart-difference"),
    order=1,
)
