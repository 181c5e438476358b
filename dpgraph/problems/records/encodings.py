"""Ways to shape noise for linear queries: A = decode @ encode, release encode @ x + noise, then decode.

An encoding is public. Neighbours change encode @ x by at most a sensitivity (:mod:`dpgraph.bounds.histogram`), in the
l2 norm for Gaussian noise and in the l1 norm for Laplace noise. It is that of `encode` *as computed*, so an inaccurate
shape costs accuracy, never privacy.

**Replaced records.** All histograms have the same public number n of records, so that A x = n m + (A - m 1')x for every
m: shapes are computed for the columns minus their mean m, and n m is added to the decoded answers. A query that counts
all records lies outside the centred columns and is answered without noise. What is released does not depend on n, and
a wrong n would cost accuracy only.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse

from dpgraph.bounds.histogram import encoded_sensitivity
from dpgraph.bounds.k_norm import SLACK, Ball, Hull
from dpgraph.linalg.query_matrix import QueryMatrix, RowSpace
from dpgraph.projections.l1_hull import covering_combination
from dpgraph.typing import FloatArray

#: What is left of a budget for each law of noise: mu, or epsilon.
Rates = dict[str, float]

#: Noise is shaped up to this rank; beyond it the eigendecompositions would take minutes.
_SHAPING_LIMIT = 2048


@dataclass(frozen=True, eq=False)
class Encoding:
    """A = decode @ encode."""

    #: Name of the mechanism.
    name: str
    #: Shape (r, N).
    encode: QueryMatrix
    #: Shape (d, r); None stands for the identity.
    decode: FloatArray | None
    adjacency: str = "add-remove"
    #: What every record adds to the answers besides, for replaced records, shape (d,).
    centre: FloatArray | None = None
    law: Literal["gaussian", "laplace", "k-norm"] = "gaussian"
    #: For "k-norm": of all changes by a neighbour, or a ball that holds it.
    hull: Hull | None = None

    @cached_property
    def sensitivity(self) -> float:
        """How far neighbours change the released vector, in the norm of the law."""
        # That of a hull is 1; its certificate and the rounding of 2**-60 in the product take less than 2 SLACK.
        if self.hull is not None and not self.round:
            return 1 + 2 * SLACK
        return encoded_sensitivity(self.encode, self.adjacency, order=1 if self.law == "laplace" else 2)

    @property
    def round(self) -> bool:
        """Whether the noise has the same law in every direction of the released coordinates."""
        return self.law == "gaussian" or isinstance(self.hull, Ball)

    def answers(self, released: FloatArray, records: float | None) -> FloatArray:
        """Post-process the released vector into answers, shape (d,); `records` is n where it is public."""
        decoded: FloatArray = released if self.decode is None else self.decode @ released
        if self.centre is not None and records is not None:
            decoded = decoded + records * self.centre
        return decoded

    @cached_property
    def answer_scales(self) -> FloatArray:
        """Standard deviations of the answers for unit noise on the released coordinates, shape (d,)."""
        if self.decode is None:
            return np.ones(self.encode.shape[0])
        return np.asarray(np.linalg.norm(self.decode if self.hull is None else self.decode @ self.hull.spread, axis=1))

    def std(self, rates: Rates) -> float:
        """Standard deviation of the noise on a released coordinate; the scale of the noise for "k-norm"."""
        std = self.sensitivity / rates[self.law]
        return math.sqrt(2.0) * std if self.law == "laplace" else std

    def error(self, std: float) -> float:
        """Root-mean-square error of an answer."""
        return std * float(np.sqrt(np.mean(self.answer_scales**2)))

    def expected_error(self, std: float, records: float | None) -> float:
        """Error of the noise, or the sparse bound if that is smaller."""
        error = self.error(std)
        return error if records is None else min(error, self.sparse_bound(std, records))

    def sparse_bound(self, std: float, records: float) -> float:
        """Bound on the error after the least-squares step, derived in :func:`~dpgraph.linear_queries.expected_error`.

        With Laplace noise of scale b, E exp(t <z, v>) <= exp(2 t^2 b^2 |v|^2) for t b max|v_j| <= 1/sqrt(2), so that
        the expected maximum of N such sums and 0 is at most ln(N + 1)/t + 2 t b^2 |v|^2. At the best t that is at most
        2 sqrt(2) b |v| sqrt(ln(N + 1)) + sqrt(2) b max|v_j| ln(N + 1), where b = std/sqrt(2).

        K-norm noise of a ball has a uniform direction u and a length of mean r b, and E exp(t <u, v>) is at most
        exp(t^2 |v|^2/(2 r)): the bound is that of normal noise of standard deviation sqrt(r) b.

        Other K-norm noise z of scale b has E ||z||_K = r b, and <z, v> is at most ||z||_K times the largest
        |<c_i, v>|, or <c_i - c_j, v> where records are replaced.
        """
        d, N = self.answer_scales.size, self.encode.shape[1]
        lengths, entries = self._widths
        if self.round:
            std *= 1.0 if self.hull is None else math.sqrt(self.hull.dimension)
            return math.sqrt(2 * records * (std * lengths) * math.sqrt(2 * math.log(N + 1)) / d)
        if self.hull is not None:
            return math.sqrt(2 * records * std * self.encode.shape[0] * entries / d)
        logarithm = math.log(N + 1)
        return math.sqrt(2 * records * std * (2 * lengths * math.sqrt(logarithm) + entries * logarithm) / d)

    @cached_property
    def _widths(self) -> tuple[float, float]:
        """Largest length, and largest entry, of the vectors v with <noise of the answers, a_i - m> = <z, v>.

        m is 0, or the mean of the columns for replaced records.
        """
        if self.decode is None:  # v is a column, or a difference from the mean, no longer than the sensitivity
            longest = self.sensitivity if self.law == "gaussian" else self.encode.longest
            return longest, longest
        # decode'a_i = decode'decode c_i, and the noise of the answers is decode z.
        images = (self.decode.T @ self.decode) @ self.encode.dense
        if self.hull is not None and not self.round:
            products = self.encode.dense.T @ images
            largest = np.ptp(products, axis=0) if self.hull.differences else np.abs(products)
            return 0.0, float(largest.max())
        return float(np.linalg.norm(images, axis=0).max()), float(np.abs(images).max())

    @cached_property
    def counting(self) -> FloatArray | None:
        """Combination of the released coordinates that is at least the number of records, or None."""
        return covering_combination(self.encode.dense)

    def deviation(self, combination: FloatArray, std: float) -> float:
        """Standard deviation of a combination of the released coordinates."""
        return std * float(np.linalg.norm(combination if self.hull is None else self.hull.spread @ combination))


def fits_shaping(matrix: QueryMatrix) -> bool:
    """Whether "auto" tries anything that needs matrix decompositions."""
    return matrix.fits_in_memory and min(matrix.shape) <= _SHAPING_LIMIT


def centred_columns(A: QueryMatrix, adjacency: str) -> tuple[FloatArray, FloatArray | None]:
    """Columns that noise is shaped for, and what was subtracted from them (None: nothing)."""
    if adjacency == "replace":
        centre = A.dense.mean(axis=1)
        centred = A.dense - centre[:, None]
        if np.abs(centred).max() > A.shape[1] * A.longest * 2.0**-52:  # equal columns leave rounding, nothing to shape
            return centred, centre
    return A.dense, None


def centred_space(A: QueryMatrix, adjacency: str) -> tuple[RowSpace, FloatArray | None]:
    """The same as coordinates in their span."""
    columns, centre = centred_columns(A, adjacency)
    return (A if centre is None else QueryMatrix(columns)).row_space, centre


def cells_encoding(A: QueryMatrix, adjacency: str) -> Encoding:
    """Laplace noise on the histogram, from which the answers are computed."""
    columns, centre = centred_columns(A, adjacency)
    cells = QueryMatrix(scipy.sparse.eye_array(A.shape[1], format="csr"))
    return Encoding("laplace", cells, columns, adjacency, centre, "laplace")


def shaped(name: str, space: RowSpace, root: FloatArray, adjacency: str, centre: FloatArray | None) -> Encoding:
    """Noise `root` z in the column space, for a symmetric positive definite root."""
    encode = QueryMatrix(scipy.linalg.solve(root, space.columns, assume_a="pos"))
    return Encoding(name, encode, space.basis @ root, adjacency, centre)
