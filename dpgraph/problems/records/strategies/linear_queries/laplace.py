"""Laplace noise on the answers, on the histogram, or on sums over a tree of its cells."""

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding, cells_encoding, centred_columns, fits_shaping
from dpgraph.problems.records.strategies.linear_queries.factorization import factorization_encoding
from dpgraph.problems.strategy import Strategy

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


def _encodings(_options: LaplaceAnswers, A: QueryMatrix, adjacency: str) -> list[Encoding]:
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
    """Indicators of the ranges of 1, c, c^2, ... consecutive cells, shape (ranges, N).

    A record lies in one range of each length. Without `root` the sum over all cells, which may be public, is left out.
    """
    widths = [children**level for level in range(N.bit_length()) if children**level < N] + [N] * root
    cells = np.arange(N)
    levels = [scipy.sparse.csr_array((np.ones(N), (cells // width, cells))) for width in widths]
    return scipy.sparse.csr_array(scipy.sparse.vstack(levels))


STRATEGY = Strategy(
    "laplace",
    LaplaceAnswers,
    pure=lambda _: True,
    run=_encodings,
    order=4,
)
