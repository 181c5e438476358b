"""Partial eigensolvers behind one small interface, with the checks that privacy needs.

Sensitivity bounds assume exact eigenpairs. Here the residual is at most a public tolerance or the call fails, and a
leading eigenvalue that the Krylov method has missed is looked for by an independent Lanczos run from a random start:
after q steps it misses an eigenvalue that is larger by a factor 1 + t with probability at most
1.648 sqrt(n) exp(-sqrt(t) (2q - 1)) (Kuczynski, Wozniakowski 1992, Theorem 4.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dpgraph.exceptions import InvalidParameterError, NotConvergedError

__all__ = ["Eigenpairs", "leading_eigenpairs", "value_tolerance", "vector_tolerance"]

FloatArray = NDArray[np.float64]

#: Up to this size LAPACK on the whole matrix is faster and has nothing to miss.
DENSE_LIMIT = 700
#: A missed eigenvalue larger than the last computed one by this factor is found ...
_MISSED_FACTOR = 1.1
#: ... except with this probability.
_MISSED_PROBABILITY = 1e-9
_ATTEMPTS = 3


def value_tolerance(n: int, norm: float) -> float:
    """Public residual tolerance for released eigenvalues, `norm` what one neighbour changes in spectral norm.

    Twice this is added to the sensitivity of each value. On large matrices eigenvalues may lie so densely that a small
    residual would take thousands of multiplications, so some noise is traded for time there.
    """
    return norm * (1e-3 if n <= 50_000 else 3e-2)


def vector_tolerance(norm: float) -> float:
    """Public residual tolerance for the eigenvectors of a released subspace, whose gap has been certified."""
    return 1e-6 * norm


@dataclass(frozen=True)
class Eigenpairs:
    """Leading eigenpairs by absolute value.

    Parameters
    ----------
    values : ndarray, shape (k,)
        Eigenvalues, decreasing in absolute value.
    vectors : ndarray, shape (n, k)
        Orthonormal eigenvectors.
    """

    values: FloatArray
    vectors: FloatArray


def leading_eigenpairs(operator: Any, count: int, *, tolerance: float, generator: np.random.Generator) -> Eigenpairs:
    """Compute the `count` eigenpairs of largest absolute value of a symmetric operator.

    Parameters
    ----------
    operator : ndarray, sparse array or LinearOperator, shape (n, n)
        Symmetric.
    count : int
        1 <= count <= n.
    tolerance : float
        Largest accepted norm of a residual A u - lambda u; a public number.
    generator : numpy.random.Generator
        Source of starting vectors (independent of the data).

    Returns
    -------
    Eigenpairs

    Raises
    ------
    InvalidParameterError
        `count` is out of range.
    NotConvergedError
        The residuals stay above `tolerance`, or eigenvalues keep being missed.
    """
    n = operator.shape[0]
    if not 1 <= count <= n:
        raise InvalidParameterError(f"the number of eigenpairs must lie in [1, n = {n}]; got {count}")
    if n <= DENSE_LIMIT or count > n // 3:
        return _dense(operator, count)
    width = max(2 * count + 8, 24)
    for _ in range(_ATTEMPTS):
        pairs = _krylov(operator, count, min(width, n - 1), tolerance, generator)
        if pairs is not None and not _missed(operator, pairs, tolerance, generator):
            return pairs
        width *= 2
    raise NotConvergedError(
        f"the eigensolver did not reach residual {tolerance:.2g} for {count} eigenpairs of a {n} x {n} operator; "
        "ask for a smaller rank or a larger tolerance"
    )


def _sorted_by_size(values: FloatArray, vectors: FloatArray, count: int) -> Eigenpairs:
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    return Eigenpairs(np.ascontiguousarray(values[order]), np.ascontiguousarray(vectors[:, order]))


def _dense(operator: Any, count: int) -> Eigenpairs:
    n = operator.shape[0]
    matrix = operator if isinstance(operator, np.ndarray) else operator @ np.eye(n)
    values, vectors = linalg.eigh((matrix + matrix.T) / 2)
    return _sorted_by_size(values, vectors, count)


def _krylov(
    operator: Any, count: int, width: int, tolerance: float, generator: np.random.Generator
) -> Eigenpairs | None:
    n = operator.shape[0]
    # ARPACK's tolerance is relative to the eigenvalue, which is at most the norm; the residual is verified below.
    norm = 1.05 * _lanczos_norm(operator, 12, generator)
    relative = tolerance / (2 * norm) if norm > 0 else 0.0
    try:
        values, vectors = eigsh(operator, k=count, which="LM", ncv=width, tol=relative, v0=generator.standard_normal(n))
    except ArpackNoConvergence:
        return None
    pairs = _sorted_by_size(values, vectors, count)
    residuals = np.linalg.norm(operator @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    return pairs if residuals.max() <= tolerance else None


def _missed(operator: Any, pairs: Eigenpairs, tolerance: float, generator: np.random.Generator) -> bool:
    """Look for a larger eigenvalue in the orthogonal complement of the computed ones."""
    n = operator.shape[0]
    last = float(np.abs(pairs.values[-1]))
    U, values = pairs.vectors, pairs.values
    deflated = LinearOperator((n, n), matvec=lambda x: operator @ x - U @ (values * (U.T @ x)), dtype=np.float64)
    steps = math.ceil((math.log(1.648 * math.sqrt(n) / _MISSED_PROBABILITY) / math.sqrt(_MISSED_FACTOR - 1) + 1) / 2)
    found = _lanczos_norm(deflated, min(steps, n - 1), generator)
    return found > _MISSED_FACTOR * last + tolerance


def _lanczos_norm(operator: Any, steps: int, generator: np.random.Generator) -> float:
    """Largest |Ritz value| after `steps` steps of Lanczos: lost orthogonality repeats values but invents none."""
    v = generator.standard_normal(operator.shape[0])
    v /= np.linalg.norm(v)
    previous, beta = np.zeros_like(v), 0.0
    diagonal, off = [], []
    for _ in range(steps):
        w = operator @ v - beta * previous
        a = float(v @ w)
        w -= a * v
        diagonal.append(a)
        beta = float(np.linalg.norm(w))
        if beta < 1e-14:
            break
        off.append(beta)
        previous, v = v, w / beta
    ritz = linalg.eigvalsh_tridiagonal(np.array(diagonal), np.array(off[: len(diagonal) - 1]))
    return float(np.abs(ritz).max())
