"""Noise for linear queries: the shapes and laws that ``mechanism=`` names."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.linalg
import scipy.sparse

from dpgraph.bounds.k_norm import Ball, Hull
from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.ellipsoid import Ellipsoid, minimum_volume_ellipsoid
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.call import LEAST_MU, Call, Released
from dpgraph.problems.driver import Registry, Strategy
from dpgraph.problems.records.encodings import (
    Encoding,
    cells_encoding,
    centred_columns,
    centred_space,
    fits_shaping,
    shaped,
)
from dpgraph.problems.records.factorization import trace_factorization
from dpgraph.releases.records.histogram import release_encoded
from dpgraph.typing import FloatArray

# --- independent Gaussian noise on every answer -----------------------------------------------------------------------


@dataclass(frozen=True)
class GaussianAnswers:
    """Independent Gaussian noise, the same for each answer; for matrices of any size."""


# --- gaussian noise of least total variance ---------------------------------------------------------------------------

#: Factorizations for all differences of N columns of rank r are computed up to this N^2 r, and N, in so many steps.
_DIFFERENCES_LIMIT, _MOST_DIFFERENCES, _DIFFERENCE_STEPS = 2**31, 2048, 60
#: Encodings of matrices that are in use: Gaussian and Laplace noise may be tried on the same one.
_KNOWN: WeakKeyDictionary[QueryMatrix, dict[str, Encoding]] = WeakKeyDictionary()


@dataclass(frozen=True)
class FactorizationNoise:
    """Gaussian noise of the least total variance that any Gaussian noise can have, certified to 0.25 % of the error."""


def factorization_encoding(A: QueryMatrix, adjacency: str = "add-remove") -> Encoding:
    """Encode = S^{-1/2} U'A with S of least trace (:mod:`dpgraph.problems.records.factorization`).

    For replaced records S hides the differences of columns, up to a gap that may be some tenths of a per cent wider;
    where these are too many it hides the centred columns, at a gap that is not known.
    """
    known = _KNOWN.setdefault(A, {})
    if adjacency in known:
        return known[adjacency]
    space, centre = centred_space(A, adjacency)
    r, N = space.columns.shape
    differences = centre is not None and N <= _MOST_DIFFERENCES and N * N * r <= _DIFFERENCES_LIMIT
    if differences:
        factorization = trace_factorization(space.columns, differences=True, max_iter=_DIFFERENCE_STEPS)
    else:
        factorization = trace_factorization(space.columns)
    return known.setdefault(adjacency, shaped("factorization", space, factorization.root, adjacency, centre))


# --- gaussian noise shaped by the minimum-volume ellipsoid of the columns ---------------------------------------------

#: Accuracy of the ellipsoid inside a mechanism: more of it does not change the error visibly, and privacy does not
#: depend on it.
ELLIPSOID_TOLERANCE = 1e-2
#: An ellipsoid whose longest axis is at most this many times its shortest one counts as round.
_ROUND = 2.0


@dataclass(frozen=True)
class EllipsoidNoise:
    """Gaussian noise shaped by the least-volume ellipsoid of the columns, with recursion on its long axes.

    References
    ----------
    NTZ13, dense case.
    """


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
        # Around the origin, or around any point once the columns have been centred.
        ellipsoid = minimum_volume_ellipsoid(points.T, symmetric=centre is None, tol=ELLIPSOID_TOLERANCE)
        points = points - ellipsoid.center[:, None]
        eigenvalues, axes = scipy.linalg.eigh(ellipsoid.matrix)
        # Eigenvalues increase, so axes come longest first.
        long = 0 if eigenvalues[-1] <= _ROUND**2 * eigenvalues[0] else points.shape[0] // 2
        levels.append(remaining @ axes[:, long:])
        radii.append(float(np.linalg.norm(axes[:, long:].T @ points, axis=0).max()))
        remaining = remaining @ axes[:, :long]
    return levels, radii


# --- laplace noise on the answers, on the histogram, or on sums over a tree of its cells ------------------------------

#: Children of a node of the trees that are tried, and the most cells that they are tried for.
_BRANCHINGS, _MOST_CELLS = (2, 4, 8, 16), 2048


@dataclass(frozen=True)
class LaplaceAnswers:
    """Independent Laplace noise on whatever gives the answers the least expected error. Pure.

    Tried are

    - the answers themselves, for matrices of any size;
    - the histogram, from which the answers are computed;
    - the sums of all ranges of cells in a tree with 2, 4, 8 or 16 children a node, decoded by least squares;
    - the coordinates that Gaussian noise of least variance is shaped for.

    References
    ----------
    C. Dwork, F. McSherry, K. Nissim, A. Smith, TCC 2006. M. Hay, V. Rastogi, G. Miklau, D. Suciu, "Boosting the
    accuracy of differentially private histograms through consistency", VLDB 2010 (trees). C. Li, G. Miklau, M. Hay,
    A. McGregor, V. Rastogi, "The matrix mechanism", VLDB Journal 24 (2015).
    """


def _laplace_encodings(A: QueryMatrix, adjacency: str) -> list[Encoding]:
    found = [Encoding("laplace", A, None, adjacency, law="laplace")]
    N = A.shape[1]
    if not fits_shaping(A):
        return found
    found.append(replace(factorization_encoding(A, adjacency), name="laplace", law="laplace"))
    if N <= _MOST_CELLS:
        columns, centre = centred_columns(A, adjacency)
        found.append(cells_encoding(A, adjacency))
        for children in _BRANCHINGS:
            if children < N:
                tree = range_sums(N, children, root=adjacency != "replace")
                decode = scipy.linalg.solve((tree.T @ tree).toarray(), columns.T, assume_a="pos").T @ tree.T
                found.append(Encoding("laplace", QueryMatrix(tree), np.asarray(decode), adjacency, centre, "laplace"))
    return found


def range_sums(N: int, children: int, *, root: bool) -> scipy.sparse.csr_array:
    """Indicators of the ranges of 1, c, c^2, ... consecutive cells; without `root` the sum of all is left out."""
    widths = [children**level for level in range(N.bit_length()) if children**level < N] + [N] * root
    cells = np.arange(N)
    levels = [scipy.sparse.csr_array((np.ones(N), (cells // width, cells))) for width in widths]
    return scipy.sparse.csr_array(scipy.sparse.vstack(levels))


# --- noise that follows the hull of the changes by a neighbour --------------------------------------------------------

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


def _k_norm_encodings(A: QueryMatrix, adjacency: str) -> list[Encoding]:
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
    most = _MOST_REPLACED if adjacency == "replace" else _MOST_COLUMNS
    if A.shape[1] > most or A.row_space.rank > _MOST_RANK:
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


# --- the registry -----------------------------------------------------------------------------------------------------

#: The encodings that a strategy offers for a matrix and its neighbours.
ENCODINGS: dict[str, Callable[[QueryMatrix, str], list[Encoding]]] = {
    "gaussian": lambda A, adjacency: [Encoding("gaussian", A, None, adjacency)],
    "ellipsoid": lambda A, adjacency: [recursive_encoding(A, adjacency)],
    "factorization": lambda A, adjacency: [factorization_encoding(A, adjacency)],
    "laplace": _laplace_encodings,
    "k-norm": _k_norm_encodings,
}


def _release(_options: Any, histogram: FloatArray, call: Call, facts: Any, _known: Any) -> Released:
    """The encoding that was chosen, with noise: the ``run`` of every strategy."""
    chosen: Encoding = facts.encoding
    return release_encoded(chosen.encode, histogram, chosen.sensitivity, call, hull=chosen.hull)


def _strategy(name: str, options: type, *, pure: bool) -> Strategy:
    least = lambda facts: LEAST_MU * math.sqrt(facts.encoding.encode.shape[0])  # noqa: E731
    return Strategy(name, options, pure=pure, run=_release, least_mu=least)


MECHANISMS = Registry(
    "linear queries",
    _strategy("gaussian", GaussianAnswers, pure=False),
    _strategy("ellipsoid", EllipsoidNoise, pure=False),
    _strategy("factorization", FactorizationNoise, pure=False),
    _strategy("laplace", LaplaceAnswers, pure=True),
    _strategy("k-norm", KNormNoise, pure=True),
)
