"""Gaussian noise shaped by the minimum-volume ellipsoid of the columns."""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dpgraph.linalg.ellipsoid import Ellipsoid, minimum_volume_ellipsoid
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding, centred_space, shaped
from dpgraph.problems.strategy import Strategy
from dpgraph.typing import FloatArray

#: Accuracy of the ellipsoid inside a mechanism: more of it does not change the error visibly, and privacy does not
#: depend on it.
ELLIPSOID_TOLERANCE = 1e-2
#: An ellipsoid whose longest axis is at most this many times its shortest one counts as round.
_ROUND = 2.0


@dataclass(frozen=True)
class EllipsoidNoise:
    """Gaussian noise shaped by the least-volume ellipsoid of the columns, with recursion on its long axes or without.

    The one of smaller expected error is taken.

    References
    ----------
    NTZ13, dense case.
    """


def ellipsoid_encoding(A: QueryMatrix, adjacency: str = "add-remove") -> Encoding:
    """Encode = H^{1/2} U'A, where {z : z'Hz <= 1} is the least-volume ellipsoid of the columns in their span U.

    For replaced records its centre is free.
    """
    space, centre = centred_space(A, adjacency)
    return shaped("ellipsoid", space, root_of(_ellipsoid(space.columns, centre)), adjacency, centre)


def recursive_encoding(A: QueryMatrix, adjacency: str = "add-remove") -> Encoding:
    """Spherical noise on the short half of the ellipsoid's axes, and the same again for what is left on the long half.

    The levels V_1, ..., V_L are released together: with noise s_l on level l the encoder stacks V_l'A / s_l, and its
    longest column is at most sqrt(sum R_l^2 / s_l^2) (R_l: longest column of V_l'A), which is the composition
    mu^2 = sum mu_l^2; the exact longest column is used instead. The split that minimises sum dim(V_l) s_l^2 for a fixed
    sum R_l^2/s_l^2 is s_l^2 proportional to R_l/sqrt(dim V_l).
    """
    space, centre = centred_space(A, adjacency)
    levels, radii = _split_by_axes(space.columns, centre)
    scales = [np.full(V.shape[1], np.sqrt(R / np.sqrt(V.shape[1]))) for V, R in zip(levels, radii, strict=True)]
    V, s = np.hstack(levels), np.concatenate(scales)
    encode = QueryMatrix((V.T @ space.columns) / s[:, None])
    return Encoding("ellipsoid", encode, (space.basis @ V) * s, adjacency, centre)


def _ellipsoid(columns: FloatArray, centre: FloatArray | None) -> Ellipsoid:
    """Minimum-volume ellipsoid of the columns: around the origin, or around any point once they have been centred."""
    return minimum_volume_ellipsoid(columns.T, symmetric=centre is None, tol=ELLIPSOID_TOLERANCE)


def root_of(ellipsoid: Ellipsoid) -> FloatArray:
    """H^{-1/2}: it maps the unit ball to the ellipsoid around the origin."""
    eigenvalues, V = scipy.linalg.eigh(ellipsoid.matrix)
    with np.errstate(invalid="ignore"):  # a smallest one may be rounded to below 0: NaN is refused by QueryMatrix
        root: FloatArray = (V / np.sqrt(eigenvalues)) @ V.T
    return root


def _split_by_axes(columns: FloatArray, centre: FloatArray | None) -> tuple[list[FloatArray], list[float]]:
    """Orthonormal blocks V_1, ..., V_L (short axes first) and the longest column in each."""
    remaining = np.eye(columns.shape[0])
    levels: list[FloatArray] = []
    radii: list[float] = []
    while remaining.shape[1] > 0:
        points = remaining.T @ columns
        ellipsoid = _ellipsoid(points, centre)
        points = points - ellipsoid.center[:, None]
        eigenvalues, axes = scipy.linalg.eigh(ellipsoid.matrix)
        # Eigenvalues increase, so axes come longest first.
        long = 0 if eigenvalues[-1] <= _ROUND**2 * eigenvalues[0] else points.shape[0] // 2
        levels.append(remaining @ axes[:, long:])
        radii.append(float(np.linalg.norm(axes[:, long:].T @ points, axis=0).max()))
        remaining = remaining @ axes[:, :long]
    return levels, radii


STRATEGY = Strategy(
    "ellipsoid",
    EllipsoidNoise,
    pure=lambda _: False,
    run=lambda _, A, adjacency: [ellipsoid_encoding(A, adjacency), recursive_encoding(A, adjacency)],
    order=2,
)
