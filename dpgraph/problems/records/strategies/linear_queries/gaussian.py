"""Independent Gaussian noise on every answer."""

from dataclasses import dataclass

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding
from dpgraph.problems.strategy import Strategy


@dataclass(frozen=True)
class GaussianAnswers:
    """Independent Gaussian noise, the same for each answer; for matrices of any size."""


def _encodings(_options: GaussianAnswers, A: QueryMatrix, adjacency: str) -> list[Encoding]:
    return [Encoding("gaussian", A, None, adjacency)]


STRATEGY = Strategy(
    "gaussian",
    GaussianAnswers,
    "independent Gaussian noise, the same for each answer; any size, sparse matrices and operators",
    pure=lambda _: False,
    run=_encodings,
    order=1,
)
