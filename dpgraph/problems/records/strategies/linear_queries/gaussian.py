"""Independent Gaussian noise on every answer."""

from dataclasses import dataclass

from dpgraph.problems.records.encodings import Encoding
from dpgraph.problems.strategy import Strategy


@dataclass(frozen=True)
class GaussianAnswers:
    """Independent Gaussian noise, the same for each answer; for matrices of any size."""


STRATEGY = Strategy(
    "gaussian",
    GaussianAnswers,
    pure=lambda _: False,
    run=lambda _, A, adjacency: [Encoding("gaussian", A, None, adjacency)],
    order=1,
)
