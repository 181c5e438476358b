"""Noise that follows the hull of the moves of a neighbour."""

from dataclasses import dataclass, replace

import numpy as np

from dpgraph.bounds.k_norm import Ball, Hull
from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.ellipsoid import minimum_volume_ellipsoid
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding, cells_encoding, centred_space, fits_shaping, shaped
from dpgraph.problems.records.strategies.linear_queries.ellipsoid import ELLIPSOID_TOLERANCE, root_of
from dpgraph.problems.records.strategies.linear_queries.factorization import factorization_encoding
from dpgraph.problems.strategy import Strategy

#: Draws are exact by rejection, of up to r^(r/2) candidates; so many columns, or differences of columns.
_MOST_RANK, _MOST_COLUMNS, _MOST_REPLACED = 6, 2000, 100


@dataclass(frozen=True)
class KNormNoise:
    """The K-norm mechanism: pure noise whose density follows the hull K of all that a record can change, or more.

    Tried are

    - K itself, drawn exactly by rejection, for queries of rank up to 6 on at most 2000 types (100 where records are
      replaced); and for linearly independent columns, where it is Laplace noise on the histogram;
    - the ellipsoid around K whose noise has the least total variance, for any rank up to 2048.

    References
    ----------
    M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC 2010.
    """


def _draws_exactly(A: QueryMatrix, adjacency: str) -> bool:
    most = _MOST_REPLACED if adjacency == "replace" else _MOST_COLUMNS
    return A.shape[1] <= most and A.row_space.rank <= _MOST_RANK


def _encodings(_options: KNormNoise, A: QueryMatrix, adjacency: str) -> list[Encoding]:
    if not fits_shaping(A):
        raise InvalidParameterError(
            f"mechanism='k-norm' shapes its noise, for which a {A.shape[0]} x {A.shape[1]} matrix is too large. Use "
            "mechanism='laplace'"
        )
    # The factorization of least total variance is that of the best ellipsoid too: both minimise the trace.
    ellipsoid = factorization_encoding(A, adjacency)
    found = [replace(ellipsoid, name="k-norm", law="k-norm", hull=Ball(ellipsoid.encode.shape[0]))]
    if adjacency != "replace" and A.row_space.rank == A.shape[1]:
        return [*found, replace(cells_encoding(A, adjacency), name="k-norm")]
    if not _draws_exactly(A, adjacency):
        return found
    space, centre = centred_space(A, adjacency)
    points = space.columns.T
    if centre is not None:
        first, second = np.triu_indices(len(points), 1)
        points = points[first] - points[second]
    smallest = minimum_volume_ellipsoid(points, tol=ELLIPSOID_TOLERANCE)
    exact = shaped("k-norm", space, root_of(smallest), adjacency, centre)
    hull = Hull(exact.encode.dense, differences=centre is not None, gap=smallest.gap)
    return [*found, replace(exact, law="k-norm", hull=hull)]


STRATEGY = Strategy(
    "k-norm",
    KNormNoise,
    pure=lambda _: True,
    run=_encodings,
    order=5,
)
