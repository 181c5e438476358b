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

from dpgraph.arguments import check_epsilon, check_memory, check_optional_delta, check_rank, check_scale
from dpgraph.bounds.neighbours import MatrixNeighbours, RectangularNeighbours
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.inputs.arrays import refuse_masked
from dpgraph.linalg.edges import as_csr
from dpgraph.linalg.eigen import check_eigenpairs
from dpgraph.privacy.relation import Shift
from dpgraph.problems.driver import Facts
from dpgraph.releases.eigenspaces.spectrum import Guess, SubspaceInput
from dpgraph.typing import Rank

#: ndarray or csr_array, shape (n, m); scipy's classes carry no types.
Matrix = Any

#: Squares of larger entries overflow, also in the sums of an eigensolver.
_LARGEST_ENTRY = 1e140


@dataclass(frozen=True, kw_only=True)
class MatrixFacts(Facts):
    """What is public about a call on a general matrix of `n` rows; its sensitivity is called `max_weight`."""

    shape: tuple[int, int]
    #: Candidates.
    ranks: range
    #: Whether left and right singular vectors are asked for.
    rectangular: bool = False
    #: Of a symmetric matrix: algebraically largest eigenvalues, not those of size; a core.
    signed: bool = False
    core: bool = False

    @property
    def moves(self) -> MatrixNeighbours:
        """What neighbours change; of a rectangular matrix in the embedding, whose ranks are `copies` times as large."""
        if self.rectangular:
            return RectangularNeighbours(self.max_weight, self.n)
        return MatrixNeighbours(self.max_weight)

    def check_eigenpairs(self) -> None:
        """Refuse a matrix, or an embedding, whose leading eigenpairs would not fit into memory."""
        rows = sum(self.shape) if self.rectangular else self.n
        check_eigenpairs(rows, min(self.moves.copies * self.ranks[-1] + 1, rows))

    def input(self, matrix: Matrix, headroom: float) -> SubspaceInput:
        """A bounded matrix as the input of a projector; its coherence is guessed to be twice the least.

        The least is sqrt(r/n), n the smaller side: half of the squared norm of vectors of an embedding is there.
        """
        copies = self.moves.copies
        guess = Guess(lambda r: min(1.0, 2.0 * math.sqrt(r / (copies * min(self.shape)))))
        candidates = range(copies * self.ranks[0], copies * self.ranks[-1] + 1, copies)
        return SubspaceInput(
            symmetric_embedding(matrix) if self.rectangular else matrix, self.moves, candidates, guess, headroom
        )


def matrix_facts(
    A: Any, rank: Rank, budget: tuple[float, float, float], max_rank: int = 1, **asked: bool
) -> MatrixFacts:
    """Check shapes and parameters; `budget` is sensitivity, epsilon and delta."""
    shape = check_matrix(A)
    rectangular = asked.get("rectangular", False)
    if not rectangular and shape[0] != shape[1]:
        raise InvalidParameterError(
            f"expected a square symmetric matrix; got shape {shape}. For others use private_singular_subspace"
        )
    sensitivity = check_scale("sensitivity", budget[0])
    ranks = check_rank(rank, min(shape), max_rank)
    if not sparse.issparse(A):
        check_memory(f"a {shape[0]} x {shape[1]} matrix", copies=(10 if rectangular else 3, *shape))
    epsilon, delta = check_epsilon(budget[1]), check_optional_delta(budget[2])
    relation = Shift("matrix", sensitivity)
    return MatrixFacts(shape[0], sensitivity, epsilon, delta, neighbours=relation, shape=shape, ranks=ranks, **asked)


def check_matrix(A: Any) -> tuple[int, int]:
    """Refuse what is no matrix of real numbers; entries are not looked at. Return the shape."""
    refuse_masked(A)
    array = isinstance(A, np.ndarray) or sparse.issparse(A)
    if not array or A.ndim != 2 or 0 in A.shape:
        got = f"shape {A.shape}" if array else type(A).__name__
        raise InvalidParameterError(f"expected a numpy array or scipy sparse matrix with rows and columns; got {got}")
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
    matrix = as_csr(A) if sparse.issparse(A) else np.asarray(A, dtype=np.float64)
    if not np.all(np.abs(matrix.data if sparse.issparse(A) else matrix) <= _LARGEST_ENTRY):
        raise InvalidGraphError(
            f"expected finite entries of size at most {_LARGEST_ENTRY:g}; at least one is NaN, infinite or larger"
        )
    return matrix


def symmetric_embedding(matrix: Matrix) -> sparse.csr_array:
    """[[0, A], [A', 0]]: eigenvalues are plus and minus the singular values of A."""
    A = sparse.csr_array(matrix)
    return sparse.block_array([[None, A], [A.T, None]], format="csr")
