"""Private pairwise cosine similarities: noise on the normalised Gram matrix, then shrinkage or a projection."""

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from dpgraph.arguments import check_choice, check_integer, check_memory, check_positive, check_scale, require_delta
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.arrays import public_shape, read_array, refuse_masked
from dpgraph.linalg.cosines import unit_rows
from dpgraph.linalg.edges import as_csr
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Measurement, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Relation, Shift, stated_relation
from dpgraph.projections import (
    Box,
    Elliptope,
    ProjectionResult,
    PSDFrobeniusBall,
    averaged_projections,
    shrink_psd_trace,
)
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.results.similarities import PrivateSimilarities
from dpgraph.typing import FloatArray, SparseMatrix

METHODS = ("shrinkage", "practical", "elliptope")
_PURE = "dpgraph.private_symmetric_matrix(G, sensitivity=...) with a bound in nuclear norm on the Gram matrix G"


@private_function
def private_cosine_similarities(  # noqa: PLR0913
    V: ArrayLike | SparseMatrix,
    *,
    sensitivity: float,
    epsilon: float,
    delta: float = 0.0,
    method: Literal["shrinkage", "practical", "elliptope"] = "shrinkage",
    iterations: int | None = None,
    tol: float | None = None,
    adjacency: str | Relation | None = None,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSimilarities:
    r"""Release the cosine similarities of all pairs of rows, entry by entry.

    For the similarities of groups of rows that are alike, of which there are few, and for neighbours that differ in a
    row of a table or in signs. For the vertices of a graph use :func:`~dpgraph.private_node_similarities`: entry by
    entry their similarities drown in the noise (docs/similarities.md).

    The rows are normalised here (a zero row stays zero and has similarity 0 with everything, itself included), so the
    Gram matrix VV' is positive semidefinite with diagonal at most 1. It is released with symmetric Gaussian noise, of
    which such a matrix is estimated.

    Parameters
    ----------
    V : array_like or sparse array, shape (n, m)
        Private rows; the shape is public.
    sensitivity : float
        Bound on ||VV' - V'V''||_F over neighbours V, V', rows normalised. It *is* the neighbouring relation:
        :mod:`dpgraph.bounds.cosine` computes it for two of them (one row replaced, a few coordinates of sign vectors
        flipped).
    epsilon, delta : float
        epsilon > 0, 0 < delta < 1: nothing here is pure. :func:`~dpgraph.private_symmetric_matrix` is, for a Gram
        matrix with a bound on its change in nuclear norm.
    method : {"shrinkage", "practical", "elliptope"}, default "shrinkage"
        ``"shrinkage"`` moves the eigenvalues to where the squared error is least
        (:func:`~dpgraph.projections.shrink_psd_trace`) and scales rows whose diagonal entry exceeds 1: one
        eigendecomposition, and the least error on all data tried. ``"practical"`` averages projections onto {psd,
        ||X||_F <= n} and {|X_ij| <= 1} (CDEMZ24 Algorithm 4); ``"elliptope"`` computes the nearest point of {X psd,
        X_ii <= 1} (Algorithm 3) through its dual.
    iterations : int, optional
        Largest number of averaging steps (20 + 30 log2(n) if omitted), or of dual evaluations (1000).
    tol : float, optional
        Accuracy of the projection, Frobenius norm. ``"practical"``: largest distance of the returned matrix from a
        positive semidefinite one with ||X||_F <= n (its entries are in [-1, 1] exactly), so that no eigenvalue is below
        -`tol`; 1e-3 sqrt(n) if omitted. ``"elliptope"``: certified accuracy of the distance, 1e-6 n if omitted.
    adjacency, accountant, rng, progress
        As for :func:`~dpgraph.private_symmetric_matrix`.

    Returns
    -------
    PrivateSimilarities

    Raises
    ------
    InvalidParameterError, BudgetExceededError
        A parameter is out of range, or `V` is not a matrix of finite real numbers; the accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for V, V' with ||VV' - V'V''||_F <= sensitivity. Noise (W + W')/2, W iid normal
    with the analytic Gaussian scale. (The scale printed in Algorithm 4 has delta in place of Delta, and the Frobenius
    bound there, "sum of squared eigenvalues at most n", should read n^2.) docs/cosine.md has the errors.

    References
    ----------
    CDEMZ24, Theorem 2.1, Algorithms 3 and 4, Remark 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.problems.records.cosine import private_cosine_similarities
    >>> V = np.repeat(np.eye(2), 50, axis=0)  # two groups of equal rows
    >>> private = private_cosine_similarities(V, sensitivity=1.0, epsilon=4.0, delta=1e-6, rng=0)
    >>> bool(private.matrix[:50, :50].mean() > 0.5), bool(private.matrix[:50, 50:].mean() < 0.2)
    (True, True)
    """
    check_choice("method", method, METHODS)
    delta = require_delta(delta, "private_cosine_similarities", _PURE)
    sensitivity = check_scale("sensitivity", sensitivity)
    relation = stated_relation(adjacency, Shift("Gram matrix", sensitivity))
    n, d = _shape(V)
    dense = 0 if sparse.issparse(V) else n
    check_memory(f"similarities of {n} rows", similarities=(18, n, n), rows=(3, dense, d))
    steps, accuracy = (
        (1000, 1e-6 * n) if method == "elliptope" else (math.ceil(20 + 30 * math.log2(n)), 1e-3 * math.sqrt(n))
    )
    limit = check_integer("iterations", steps if iterations is None else iterations, 1)
    accuracy = check_positive("tol", accuracy if tol is None else tol)
    call = open_call(epsilon=epsilon, delta=delta, accountant=accountant, relation=relation, noise=rng)
    # Lengths and inner products of unit vectors are sums of d terms, of size at most 1.
    error = n * (3 * d + 20) * float(np.finfo(np.float64).eps)
    measurement = Measurement("Gram matrix", normalized_gram(_read(V, (n, d))), l2=sensitivity, error=error)
    noisy, std, _ = release_symmetric(measurement, call)
    if method == "shrinkage":
        projection = _shrunk(noisy, std)
    elif method == "practical":
        projection = _averaged(noisy, limit, accuracy, progress=progress)
    else:
        projection = Elliptope(tol=accuracy / n, max_iter=limit, progress=progress).solve(noisy)
    # Entries of psd matrices with unit diagonal may exceed 1 by rounding.
    entries = np.clip(projection.matrix, -1.0, 1.0)
    return PrivateSimilarities(tuple(range(n)), call.report(), entries, projection=projection)


def _shrunk(noisy: FloatArray, scale: float) -> ProjectionResult:
    """Positive semidefinite with diagonal at most 1, from a matrix with noise of variance scale**2 on the diagonal."""
    matrix = shrink_psd_trace(noisy, len(noisy), std=scale)
    factors = 1 / np.sqrt(np.maximum(matrix.diagonal(), 1.0))
    matrix = matrix * np.outer(factors, factors)
    distance = float(np.linalg.norm(matrix - noisy))
    return ProjectionResult(matrix, distance, residual=0.0, iterations=1, converged=True)


def _averaged(noisy: FloatArray, limit: int, tol: float, *, progress: bool) -> ProjectionResult:
    """A point near {psd, ||X||_F <= n}, with entries in [-1, 1]; its `residual` is its distance to the first set.

    Averaging ends near the box, and clipping moves it away from the first set by no more than it was away from the box:
    both distances are asked to be half of `tol`.
    """
    ball, box = PSDFrobeniusBall(len(noisy)), Box(-1.0, 1.0)
    found = averaged_projections(noisy, [ball, box], limit, tol=tol / 2, progress=progress)
    matrix = np.clip(found.matrix, -1.0, 1.0)
    residual = float(np.linalg.norm(ball.project(matrix) - matrix))
    distance = float(np.linalg.norm(matrix - noisy))
    return replace(found, matrix=matrix, distance=distance, residual=residual, converged=residual <= tol, tol=tol)


def _read(V: Any, shape: tuple[int, int]) -> Any:
    """The private rows, as float64."""
    if not sparse.issparse(V):
        return read_array(V, shape)
    rows = as_csr(V)
    read_array(rows.data, rows.data.shape)
    return rows


def normalized_gram(V: Any) -> FloatArray:
    """Cosine similarities of the rows of `V`, finite numbers, exact: shape (n, n). Not private."""
    unit = unit_rows(as_csr(V) if sparse.issparse(V) else np.asarray(V, dtype=np.float64))
    gram = unit @ unit.T
    return np.asarray(gram.toarray() if sparse.issparse(gram) else gram)


def _shape(V: Any) -> tuple[int, int]:
    refuse_masked(V)
    shape = V.shape if sparse.issparse(V) else public_shape(V)
    if len(shape) != 2 or 0 in shape or (sparse.issparse(V) and V.dtype.kind not in "biuf"):
        raise InvalidParameterError(f"expected a real matrix with rows and columns; got shape {tuple(shape)}")
    return int(shape[0]), int(shape[1])
