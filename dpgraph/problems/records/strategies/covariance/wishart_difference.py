"""Difference of two Wishart matrices."""

from dataclasses import dataclass

from dpgraph.problems.records.covariance_noise import pure_law


@dataclass(frozen=True)
class WishartDifference:
    """Noise that is the difference of two positive semidefinite matrices: pure, and exact for any number of columns.

    For ``adjacency="replace"`` both have one trace in common, otherwise they are independent
    (:mod:`dpgraph.privacy.matrix_noise`; proof: docs/covariance-theory.md, "The noise").
    """


STRATEGY = pure_law(
    "wishart-difference",
    WishartDifference,
    order=1,
)
