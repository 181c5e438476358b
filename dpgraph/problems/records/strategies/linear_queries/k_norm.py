"""Noise that follows the hull of the moves of a neighbour."""

from dataclasses import dataclass, replace

import numpy as np

from dpgraph.bounds.k_norm import Hull
from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.ellipsoid import minimum_volume_ellipsoid
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding, cells_encoding, centred_space, shaped
from dpgraph.problems.records.strategies.linear_queries.ellipsoid import ELLIPSOID_TOLERANCE, root_of
from dpgraph.problems.strategy import Strategy

#: Draws are exact by rejection, of up to r^(r/2) candidates; so many columns, or differences of columns.
_MOST_RANK, _MOST_COLUMNS, _MOST_REPLACED = 6, 2000, 100


@dataclass(frozen=True)
class KNormNoise:
    """The K-norm mechanism: pure noise whose density follows the hull K of all that a record can change.

    Drawn exactly: by rejection for queries of rank up to 6 on at most 2000 types (100 where records are replaced), and
    for linearly independent columns, where it is Laplace noise on the histogram. Others are refused.

    References
    ----------
    M. Hardt, K. Talwar, "On the geometry of differential privacy", STOC 2010.
    """


def draws_exactly(A: QueryMatrix, adjacency: str) -> bool:
    """Whether the rejection sampler is offered for these queries."""
    most = _MOST_REPLACED if adjacency == "replace" else _MOST_COLUMNS
    return A.fits_in_memory and A.shape[1] <= most and A.row_space.rank <= _MOST_RANK


def _encodings(_options: KNormNoise, A: QueryMatrix, adjacency: str) -> list[Encoding]:
    if adjacency != "replace" and A.fits_in_memory and A.row_space.rank == A.shape[1]:
        return [replace(cells_encoding(A, adjacency), name="k-norm")]
    if not draws_exactly(A, adjacency):
        raise InvalidParameterError(
            f"mechanism='k-norm' needs queries of rank at most {_MOST_RANK} on at most {_MOST_COLUMNS} types "
            f"({_MOST_REPLACED} with adjacency='replace'), or linearly independent columns with "
            f"adjacency='add-remove'; got a {A.shape[0]} x {A.shape[1]} matrix. Use mechanism='laplace'"
        )
    space, centre = centred_space(A, adjacency)
    points = space.columns.T
    if centre is not None:
        first, second = np.triu_indices(len(points), 1)
        points = points[first] - points[second]
    ellipsoid = minimum_volume_ellipsoid(points, tol=ELLIPSOID_TOLERANCE)
    found = shaped("k-norm", space, root_of(ellipsoid), adjacency, centre)
    hull = Hull(found.encode.dense, differences=centre is not None, gap=ellipsoid.gap)
    return [replace(found, law="k-norm", hull=hull)]


STRATEGY = Strategy(
    "k-norm",
    KNormNoise,
    pure=lambda _: True,
    run=_encodings,
    order=5,
)
