"""Private spectral mechanisms for general matrices: how they enter, and the neighbouring relation they share.

Neighbours are matrices A, A' with ``||(A - A') U||_F <= sensitivity`` for every U whose rows have Euclidean norm at
most 1 (and likewise for the transpose if rectangular). Sufficient: ``sqrt(sum_i ||E_i||_1**2) <= sensitivity`` for
E = A - A', with E_i the rows. One symmetric pair of entries that changes by t has sensitivity sqrt(2) t; one entry of a
rectangular matrix has sensitivity t.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dpgraph.arguments import check_scale, require_delta
from dpgraph.bounds.neighbours import MatrixNeighbours, RectangularNeighbours
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.arrays import check_structure, refuse_masked
from dpgraph.linalg.eigen import check_eigenpairs
from dpgraph.memory import check_memory
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import LEAST_MU, Call, open_call
from dpgraph.privacy.relation import Shift
from dpgraph.releases.eigenspaces.krylov import check_steps
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE, Rank, check_rank
from dpgraph.releases.eigenspaces.spectrum import Guess, SubspaceInput

#: ndarray or csr_array, shape (n, m); scipy's classes carry no types.
Matrix = Any

#: Squares of larger entries overflow, also in the sums of an eigensolver.
_LARGEST_ENTRY = 1e140


@dataclass(frozen=True)
class MatrixBudget:
    """Sensitivity and budget of a call on a general matrix, as its caller gave them."""

    sensitivity: float
    epsilon: float
    delta: float
    accountant: PrivacyAccountant | None
    rng: int | np.random.Generator | None


@dataclass(frozen=True)
class MatrixCall:
    """A checked and debited call on a general matrix; the matrix itself has not been read."""

    #: Candidates.
    ranks: range
    shape: tuple[int, int]
    #: Those of the embedding of a rectangular matrix, whose ranks are twice as large (`copies`).
    neighbours: MatrixNeighbours
    call: Call

    @property
    def rectangular(self) -> bool:
        """Whether left and right singular vectors are asked for."""
        return self.neighbours.copies == 2

    def symmetric(self, matrix: Matrix) -> Matrix:
        """The matrix, or its embedding."""
        return symmetric_embedding(matrix) if self.rectangular else matrix

    def input(self, matrix: Matrix, headroom: float) -> SubspaceInput:
        """A bounded matrix as the input of a projector; its coherence is guessed to be twice the least.

        The least is sqrt(r/n), n the smaller side: half of the squared norm of vectors of an embedding is there.
        """
        copies = self.neighbours.copies
        guess = Guess(lambda r: min(1.0, 2.0 * math.sqrt(r / (copies * min(self.shape)))))
        candidates = range(copies * self.ranks[0], copies * self.ranks[-1] + 1, copies)
        return SubspaceInput(self.symmetric(matrix), self.neighbours, candidates, guess, headroom)


def open_matrix(  # noqa: PLR0913
    A: Any,
    budget: MatrixBudget,
    *,
    rank: Rank,
    max_rank: int = 1,
    rectangular: bool = False,
    slack: float | None = None,
    products: bool = False,
    least_mu: float = LEAST_MU,
) -> MatrixCall:
    """Check shapes and parameters, debit the budget.

    Good events get `slack`, by default their usual share of delta. With `products`, no eigenpairs are computed. A
    smaller Gaussian-DP parameter than `least_mu` is refused.
    """
    check_matrix(A)
    if not rectangular and A.shape[0] != A.shape[1]:
        raise InvalidParameterError(
            f"expected a square symmetric matrix; got shape {A.shape}. For others use private_singular_subspace"
        )
    sensitivity = check_scale("sensitivity", budget.sensitivity)
    ranks = check_rank(rank, min(A.shape), max_rank)
    factor = 2 if rectangular else 1
    largest = factor * ranks[-1]
    rows = sum(A.shape) if rectangular else A.shape[0]
    if not sparse.issparse(A):
        check_memory(f"a {A.shape[0]} x {A.shape[1]} matrix", copies=(10 if rectangular else 3, *A.shape))
    if products:
        check_steps(A.shape, ranks[-1])
    else:
        check_eigenpairs(rows, min(largest + 1, rows))
    delta = require_delta(budget.delta, "this function", "private_symmetric_matrix")
    call = open_call(
        epsilon=budget.epsilon,
        delta=delta,
        accountant=budget.accountant,
        relation=Shift("matrix", sensitivity),
        noise=budget.rng,
        slack=SLACK_SHARE * delta if slack is None else slack,
        least_mu=least_mu,
    )
    neighbours = RectangularNeighbours(sensitivity, A.shape[0]) if rectangular else MatrixNeighbours(sensitivity)
    return MatrixCall(ranks, A.shape, neighbours, call)


def check_matrix(A: Any) -> tuple[int, int]:
    """Refuse what is no matrix of real numbers; entries are not looked at. Return the shape."""
    refuse_masked(A)
    if not (isinstance(A, np.ndarray) or sparse.issparse(A)) or A.ndim != 2 or 0 in A.shape:
        raise InvalidParameterError(
            f"expected a numpy array or scipy sparse matrix with two dimensions; got {type(A).__name__}"
        )
    if np.dtype(A.dtype).kind not in "biuf":
        raise InvalidParameterError(f"expected a matrix of real numbers; got entries of type {A.dtype}")
    rows, columns = A.shape
    return rows, columns


def read_symmetric(A: Any) -> Matrix:
    """Read a symmetric matrix; raises :class:`InvalidGraphError` on NaN, infinite or asymmetric entries."""
    matrix = read_rectangular(A)
    if abs(matrix - matrix.T).max() > 1e-12 * max(1.0, float(abs(matrix).max())):
        raise InvalidGraphError("expected a symmetric matrix; this one differs from its transpose")
    return matrix


def read_rectangular(A: Any) -> Matrix:
    """Read a real matrix; raises :class:`InvalidGraphError` on NaN, infinite or gigantic entries."""
    check_structure(A)
    matrix = sparse.csr_array(A, dtype=np.float64) if sparse.issparse(A) else np.asarray(A, dtype=np.float64)
    if not np.all(np.abs(matrix.data if sparse.issparse(A) else matrix) <= _LARGEST_ENTRY):
        raise InvalidGraphError(
            f"expected finite entries of size at most {_LARGEST_ENTRY:g}; at least one is NaN, infinite or larger"
        )
    return matrix


def symmetric_embedding(matrix: Matrix) -> sparse.csr_array:
    """[[0, A], [A', 0]]: eigenvalues are plus and minus the singular values of A."""
    A = sparse.csr_array(matrix)
    return sparse.block_array([[None, A], [A.T, None]], format="csr")
