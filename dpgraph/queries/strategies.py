r"""Ways to shape Gaussian noise for linear queries: A = decode @ encode, release encode @ x + noise, then decode.

A strategy is public. With neighbours at l1 distance 1 the released vector moves by at most the longest column of
`encode` (a difference x - x' of l1 norm 1 is a signed mixture of unit vectors), so spherical noise of standard
deviation (longest column)/mu is mu-GDP, and the answers carry noise of covariance (longest column/mu)^2 decode decode'.

- *gaussian*: encode = A.
- *ellipsoid* (NTZ13, dense case): encode = H^{1/2} U'A, where {z : z'Hz <= 1} is the least-volume ellipsoid of the
  columns in the column space U of A; its longest column is at most 1 *as computed*, whatever the accuracy of H.
- *recursive ellipsoid* (NTZ13): the noise is spherical on the short half of the ellipsoid's axes, and the columns
  projected onto the long half are treated in the same way. The levels V_1, ..., V_L are released together: with noise
  s_l on level l the encoder stacks V_l'A / s_l, and its longest column is at most sqrt(sum R_l^2 / s_l^2) (R_l: longest
  column of V_l'A), which is the composition mu^2 = sum mu_l^2; the exact longest column is used instead.
  The split that minimises sum dim(V_l) s_l^2 for a fixed sum R_l^2/s_l^2 is s_l^2 proportional to R_l/sqrt(dim V_l).
- *factorization*: encode = S^{-1/2} U'A with S of least trace (:mod:`dpgraph.queries.factorization`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from dpgraph.queries.ellipsoid import minimum_volume_ellipsoid
from dpgraph.queries.factorization import trace_factorization
from dpgraph.queries.query_matrix import QueryMatrix, RowSpace

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
    """

    name: str
    encode: QueryMatrix
    decode: FloatArray | None

    @property
    def sensitivity(self) -> float:
        """Longest column of `encode`: l2-sensitivity at l1 distance 1."""
        return float(self.encode.column_norms.max())

    @property
    def size(self) -> int:
        """Number r of released coordinates."""
        return self.encode.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (d, N) of A."""
        return (self.size if self.decode is None else self.decode.shape[0]), self.encode.shape[1]

    def answers(self, released: FloatArray) -> FloatArray:
        """Post-process the released vector into answers, shape (d,)."""
        return released if self.decode is None else self.decode @ released

    @cached_property
    def answer_scales(self) -> FloatArray:
        """Standard deviations of the answers for unit noise on the released coordinates, shape (d,)."""
        return np.ones(self.size) if self.decode is None else np.linalg.norm(self.decode, axis=1)

    def error(self, mu: float) -> float:
        """Root-mean-square error of an answer at mu-GDP for neighbours at l1 distance 1."""
        return self.sensitivity / mu * float(np.sqrt(np.mean(self.answer_scales**2)))

    def width(self, mu: float) -> float:
        """Largest standard deviation of <noise, a_i> over the columns of A: governs the sparse case."""
        if self.decode is None:
            return self.sensitivity**2 / mu
        # decode'a_i = decode'decode c_i, and the noise of the answers is decode z.
        images = (self.decode.T @ self.decode) @ self.encode.dense
        return self.sensitivity / mu * float(np.linalg.norm(images, axis=0).max())


def gaussian_strategy(A: QueryMatrix) -> Strategy:
    """Independent noise on every answer."""
    return Strategy("gaussian", A, None)


def factorization_strategy(A: QueryMatrix) -> Strategy:
    """Noise of the least total variance that any Gaussian noise can have, up to a certified 0.25 %."""
    space = A.row_space
    return _shaped("factorization", space, trace_factorization(space.columns).root)


def ellipsoid_strategy(A: QueryMatrix) -> Strategy:
    """Noise shaped by the minimum-volume ellipsoid of the columns."""
    space = A.row_space
    eigenvalues, V = scipy.linalg.eigh(minimum_volume_ellipsoid(space.columns.T, tol=_ELLIPSOID_TOLERANCE).matrix)
    return _shaped("ellipsoid", space, (V / np.sqrt(eigenvalues)) @ V.T)


def recursive_ellipsoid_strategy(A: QueryMatrix) -> Strategy:
    """Spherical noise on the short half of the ellipsoid's axes, recursion on the long half."""
    space = A.row_space
    levels, radii = _split_by_axes(space.columns)
    scales = [np.full(V.shape[1], np.sqrt(R / np.sqrt(V.shape[1]))) for V, R in zip(levels, radii, strict=True)]
    V, s = np.hstack(levels), np.concatenate(scales)
    return Strategy("ellipsoid", QueryMatrix((V.T @ space.columns) / s[:, None]), (space.basis @ V) * s)


def _shaped(name: str, space: RowSpace, root: FloatArray) -> Strategy:
    """Noise `root` z in the column space, for a symmetric positive definite root."""
    return Strategy(name, QueryMatrix(scipy.linalg.solve(root, space.columns, assume_a="pos")), space.basis @ root)


def _split_by_axes(columns: FloatArray) -> tuple[list[FloatArray], list[float]]:
    """Orthonormal blocks V_1, ..., V_L (short axes first) and the longest column in each."""
    remaining = np.eye(columns.shape[0])
    levels: list[FloatArray] = []
    radii: list[float] = []
    while remaining.shape[1] > 0:
        points = remaining.T @ columns
        eigenvalues, axes = scipy.linalg.eigh(minimum_volume_ellipsoid(points.T, tol=_ELLIPSOID_TOLERANCE).matrix)
        # Eigenvalues increase, so axes come longest first.
        long = 0 if eigenvalues[-1] <= _ROUND**2 * eigenvalues[0] else points.shape[0] // 2
        levels.append(remaining @ axes[:, long:])
        radii.append(float(np.linalg.norm(axes[:, long:].T @ points, axis=0).max()))
        remaining = remaining @ axes[:, :long]
    return levels, radii
