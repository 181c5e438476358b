"""Exact (not private) coherence and threshold rank: diagnostics for the data owner."""

from typing import Any, Literal

import numpy as np
from scipy import linalg, sparse

from dpgraph.arguments import check_choice, check_nonnegative, shown
from dpgraph.bounds.neighbours import row_norms
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import as_graph
from dpgraph.linalg.eigen import leading_eigenpairs
from dpgraph.projections.convex_set import as_matrix
from dpgraph.typing import FloatArray, GraphLike

__all__ = ["basic_coherence", "coherence", "degree_corrected_coherence", "threshold_rank"]

_ORTHONORMAL = 1e-8
_RESIDUAL = 1e-9


def coherence(A_or_U: Any, rank: int | None = None) -> float:
    """Rank-r coherence: n max_i ||U_i||^2 / r, the larger over both sides for a rectangular matrix.

    Parameters
    ----------
    A_or_U : ndarray or sparse array
        With `rank`: a matrix (n, m), symmetric or not. Without: an orthonormal basis (n, r).
    rank : int, optional
        Number of leading singular vectors, 1 <= rank <= min(n, m).

    Returns
    -------
    float
        Between 1 (flat) and n / r (DN25a, Definition 1.4). **Not private.**

    Raises
    ------
    InvalidParameterError
        `rank` is out of range, or a basis is not orthonormal.

    Notes
    -----
    Candes and Recht (CR12) also have a weaker notion for matrices that are not symmetric, n m max_ij (U V')_ij^2 / r,
    which is small where left and right singular vectors are not correlated though neither is flat. Whether an error can
    depend on it alone is open (DN25a, section 3), so no function computes it: what is released here costs as much as
    the larger of the two sides says.

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.spectral import coherence
    >>> coherence(np.ones((4, 1)) / 2), coherence(np.diag([3.0, 1.0, 1.0]), rank=1)
    (1.0, 3.0)
    """
    matrix = _dense(A_or_U)
    if rank is None:
        if np.abs(matrix.T @ matrix - np.eye(matrix.shape[1])).max() > _ORTHONORMAL:
            raise InvalidParameterError(
                "without rank= the argument must be a basis with orthonormal columns; pass rank= for a matrix"
            )
        return _scaled_coherence(matrix)
    if not 1 <= rank <= min(matrix.shape):
        raise InvalidParameterError(f"rank must lie in [1, {min(matrix.shape)}]; got {shown(rank)}")
    left, _, right = linalg.svd(matrix, full_matrices=False)
    return max(_scaled_coherence(left[:, :rank]), _scaled_coherence(right[:rank].T))


def basic_coherence(A: Any) -> float:
    """Basic coherence: n times the largest squared entry of a singular vector, the larger over both sides.

    Parameters
    ----------
    A : ndarray or sparse array, shape (n, m)
        Any finite matrix, or else :class:`~dpgraph.InvalidParameterError`; all singular vectors count.

    Returns
    -------
    float
        Between 1 and max(n, m) (DN25a, Definition 1.1; HP14). **Not private.**

    Examples
    --------
    >>> import numpy as np
    >>> from dpgraph.spectral import basic_coherence
    >>> basic_coherence(np.diag([2.0, 1.0]))
    2.0
    """
    left, _, right = linalg.svd(_dense(A), full_matrices=False)
    return float(max(left.shape[0] * np.max(left**2), right.shape[1] * np.max(right**2)))


def degree_corrected_coherence(
    G: GraphLike | Graph, rank: int, regularization: float, *, weight: str | None = None
) -> float:
    """Degree-corrected coherence nu = max_i (||U_i||^2 / c_i) sum(c) / r of the normalized adjacency, c = d + tau.

    Parameters
    ----------
    G, weight
        As for :func:`dpgraph.max_cut`; nonnegative weights.
    rank : int
        Number of leading eigenvectors by absolute eigenvalue, 1 <= rank <= n.
    regularization : float
        tau >= 0; positive if there are isolated vertices.

    Returns
    -------
    float
        At least 1, with equality when the leading eigenvectors are flat relative to sqrt(c)
        (docs/normalized-adjacency-theory.md). **Not private.**

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input; tau = 0 with an isolated vertex.

    Examples
    --------
    >>> import networkx as nx
    >>> from dpgraph.spectral import degree_corrected_coherence
    >>> round(degree_corrected_coherence(nx.star_graph(9), rank=1, regularization=0.0), 6)
    1.0
    """
    graph = as_graph(G, weight=weight, signed=False)
    scale = graph.degrees() + check_nonnegative("regularization", regularization)
    if scale.min() <= 0:
        raise InvalidGraphError("regularization=0 needs a graph without isolated vertices; pass a positive number")
    half = sparse.diags_array(1 / np.sqrt(scale))
    normalized = sparse.csr_array(half @ graph.adjacency @ half)
    pairs = leading_eigenpairs(normalized, rank, tolerance=_RESIDUAL, generator=np.random.default_rng(0))
    kappa = np.max(row_norms(pairs.vectors) / np.sqrt(scale))
    return float(kappa**2 * scale.sum() / rank)


def threshold_rank(A: Any, threshold: float, *, order: Literal["absolute", "largest", "smallest"] = "absolute") -> int:
    """Count the eigenvalues of a symmetric matrix, or of a graph's normalized adjacency, beyond a threshold.

    Parameters
    ----------
    A : symmetric ndarray or sparse array, or a networkx or igraph graph
        A matrix is taken as it is; a graph stands for its normalized adjacency (isolated vertices count as zero rows).
    threshold : float
        Nonnegative.
    order : {"absolute", "largest", "smallest"}
        Count |eigenvalue| >= threshold, eigenvalue >= threshold, or eigenvalue <= -threshold.

    Returns
    -------
    int
        As in BRS11 and DN25a, section 7.1. **Not private.** All eigenvalues are computed: for n up to a few thousand.

    Raises
    ------
    InvalidParameterError
        The threshold is negative, `order` is unknown, or the matrix is not symmetric.

    Examples
    --------
    >>> import networkx as nx
    >>> from dpgraph.spectral import threshold_rank
    >>> threshold_rank(nx.cycle_graph(4), 0.9)
    2
    """
    if not threshold >= 0:
        raise InvalidParameterError(f"threshold must be nonnegative; got {threshold!r}")
    if sparse.issparse(A) or isinstance(A, np.ndarray):
        matrix = _dense(A)
    else:
        graph = as_graph(A)
        degrees = graph.degrees()
        root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        matrix = graph.adjacency.toarray() * np.outer(root, root)
    if matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
        raise InvalidParameterError(f"expected a symmetric matrix; got one of shape {matrix.shape} that is not")
    values = linalg.eigvalsh(matrix)
    signed = {"absolute": np.abs(values), "largest": values, "smallest": -values}
    check_choice("order", order, signed)
    return int(np.sum(signed[order] >= threshold))


def _scaled_coherence(U: FloatArray) -> float:
    return float(U.shape[0] / U.shape[1] * np.max(np.einsum("ij,ij->i", U, U)))


def _dense(A: Any) -> FloatArray:
    return as_matrix(A.toarray() if sparse.issparse(A) else A)
