r"""Ways to shape Gaussian noise for linear queries: A = decode @ encode, release encode @ x + noise, then decode.

A strategy is public. Neighbours move the released vector by at most a `sensitivity`: the longest column of `encode`, or
for replaced records the largest difference of two columns (:mod:`dpgraph.bounds.histogram`). So spherical
noise of standard deviation sensitivity/mu is mu-GDP, and the answers carry noise of covariance (sensitivity/mu)^2
decode decode'. The sensitivity is that of `encode` *as computed*, so an inaccurate shape costs accuracy, never privacy.

**Replaced records.** All histograms have the same public number n of records, so that A x = n m + (A - m 1')x for every
m: the shapes below are computed for the columns minus their mean m, and n m is added to the decoded answers. A query
that counts all records lies outside the centred columns and is answered without noise. What is released, (A - m 1')x,
does not depend on n, and a wrong n would cost accuracy only.

- *gaussian*: encode = A.
- *ellipsoid* (NTZ13, dense case): encode = H^{1/2} U'A, where {z : z'Hz <= 1} is the least-volume ellipsoid of the
  columns in the column space U of A; for replaced records its centre is free.
- *recursive ellipsoid* (NTZ13): the noise is spherical on the short half of the ellipsoid's axes, and the columns
  projected onto the long half are treated in the same way. The levels V_1, ..., V_L are released together: with noise
  s_l on level l the encoder stacks V_l'A / s_l, and its longest column is at most sqrt(sum R_l^2 / s_l^2) (R_l: longest
  column of V_l'A), which is the composition mu^2 = sum mu_l^2; the exact longest column is used instead.
  The split that minimises sum dim(V_l) s_l^2 for a fixed sum R_l^2/s_l^2 is s_l^2 proportional to R_l/sqrt(dim V_l).
- *factorization*: encode = S^{-1/2} U'A with S of least trace (:mod:`dpgraph.problems.records.factorization`), for
replaced
  records among all S that hide the differences; beyond a size where these are too many, that hide the centred columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from dpgraph.bounds.histogram import encoded_sensitivity
from dpgraph.linalg.query_matrix import QueryMatrix, RowSpace
from dpgraph.problems.records.ellipsoid import Ellipsoid, minimum_volume_ellipsoid
from dpgraph.problems.records.factorization import trace_factorization

__all__ = [
    "Strategy",
    "ellipsoid_strategy",
    "factorization_strategy",
    "gaussian_strategy",
    "recursive_ellipsoid_strategy",
]

FloatArray = NDArray[np.float64]

#: Accuracy of the ellipsoid inside a mechanism: more of it does not change the error visibly, and privacy does not
#: depend on it.
_ELLIPSOID_TOLERANCE = 1e-2

#: An ellipsoid whose longest axis is at most this many times its shortest one counts as round.
_ROUND = 2.0

#: Factorizations for all differences of N columns of rank r are computed up to this N^2 r, and N, in so many steps.
_DIFFERENCES_LIMIT, _MOST_DIFFERENCES, _DIFFERENCE_STEPS = 2**31, 2048, 60


@dataclass(frozen=True, eq=False)
class Strategy:
    """A = decode @ encode.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    encode : QueryMatrix
        Shape (r, N).
    decode : ndarray, shape (d, r), or None
        None stands for the identity (r = d).
    adjacency : {"add-remove", "replace"}
        Who is protected.
    centre : ndarray, shape (d,), or None
        What every record adds to the answers besides, for replaced records.
    """

    name: str
    encode: QueryMatrix
    decode: FloatArray | None
    adjacency: str = "add-remove"
    centre: FloatArray | None = None

    @cached_property
    def sensitivity(self) -> float:
        """How far neighbours move the released vector, in l2."""
        return encoded_sensitivity(self.encode, self.adjacency)

    @property
    def size(self) -> int:
        """Number r of released coordinates."""
        return self.encode.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (d, N) of A."""
        return (self.size if self.decode is None else self.decode.shape[0]), self.encode.shape[1]

    def answers(self, released: FloatArray, records: float | None) -> FloatArray:
        """Post-process the released vector into answers, shape (d,); `records` is n where it is public."""
        decoded = released if self.decode is None else self.decode @ released
        return decoded if self.centre is None or records is None else decoded + records * self.centre

    @cached_property
    def answer_scales(self) -> FloatArray:
        """Standard deviations of the answers for unit noise on the released coordinates, shape (d,)."""
        return np.ones(self.size) if self.decode is None else np.linalg.norm(self.decode, axis=1)

    def error(self, mu: float) -> float:
        """Root-mean-square error of an answer at mu-GDP."""
        return self.sensitivity / mu * float(np.sqrt(np.mean(self.answer_scales**2)))

    def width(self, mu: float) -> float:
        """Largest standard deviation of <noise, a_i - m> over the columns of A: governs the sparse case.

        m is 0, or the mean of the columns for replaced records, from which no column is further than the sensitivity.
        """
        if self.decode is None:
            return self.sensitivity**2 / mu
        # decode'a_i = decode'decode c_i, and the noise of the answers is decode z.
        images = (self.decode.T @ self.decode) @ self.encode.dense
        return self.sensitivity / mu * float(np.linalg.norm(images, axis=0).max())


def gaussian_strategy(A: QueryMatrix, adjacency: str = "add-remove") -> Strategy:
    """Independent noise on every answer."""
    return Strategy("gaussian", A, None, adjacency)


def factorization_strategy(A: QueryMatrix, adjacency: str = "add-remove") -> Strategy:
    """Noise of the least total variance that any Gaussian noise can have, up to a certified 0.25 % of the error.

    For replaced records the gap may be some tenths of a per cent wider, and is not known where there are so many
    columns that noise is shaped for themselves in place of their differences.
    """
    space, centre = _centred_space(A, adjacency)
    r, N = space.columns.shape
    differences = centre is not None and N <= _MOST_DIFFERENCES and N * N * r <= _DIFFERENCES_LIMIT
    if differences:
        factorization = trace_factorization(space.columns, differences=True, max_iter=_DIFFERENCE_STEPS)
    else:
        factorization = trace_factorization(space.columns)
    return _shaped("factorization", space, factorization.root, adjacency, centre)


def ellipsoid_strategy(A: QueryMatrix, adjacency: str = "add-remove") -> Strategy:
    """Noise shaped by the minimum-volume ellipsoid of the columns."""
    space, centre = _centred_space(A, adjacency)
    eigenvalues, V = scipy.linalg.eigh(_ellipsoid(space.columns, centre).matrix)
    return _shaped("ellipsoid", space, (V / np.sqrt(eigenvalues)) @ V.T, adjacency, centre)


def recursive_ellipsoid_strategy(A: QueryMatrix, adjacency: str = "add-remove") -> Strategy:
    """Spherical noise on the short half of the ellipsoid's axes, recursion on the long half."""
    space, centre = _centred_space(A, adjacency)
    levels, radii = _split_by_axes(space.columns, centre)
    scales = [np.full(V.shape[1], np.sqrt(R / np.sqrt(V.shape[1]))) for V, R in zip(levels, radii, strict=True)]
    V, s = np.hstack(levels), np.concatenate(scales)
    encode = QueryMatrix((V.T @ space.columns) / s[:, None])
    return Strategy("ellipsoid", encode, (space.basis @ V) * s, adjacency, centre)


def _centred_space(A: QueryMatrix, adjacency: str) -> tuple[RowSpace, FloatArray | None]:
    """Columns that noise is shaped for, and what was subtracted from them (None: nothing)."""
    if adjacency == "replace":
        centre = A.dense.mean(axis=1)
        centred = A.dense - centre[:, None]
        if centred.any():  # equal columns leave nothing to shape
            return QueryMatrix(centred).row_space, centre
    return A.row_space, None


def _shaped(name: str, space: RowSpace, root: FloatArray, adjacency: str, centre: FloatArray | None) -> Strategy:
    """Noise `root` z in the column space, for a symmetric positive definite root."""
    encode = QueryMatrix(scipy.linalg.solve(root, space.columns, assume_a="pos"))
    return Strategy(name, encode, space.basis @ root, adjacency, centre)


def _ellipsoid(columns: FloatArray, centre: FloatArray | None) -> Ellipsoid:
    """Minimum-volume ellipsoid of the columns: around the origin, or around any point once they have been centred."""
    return minimum_volume_ellipsoid(columns.T, symmetric=centre is None, tol=_ELLIPSOID_TOLERANCE)


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
