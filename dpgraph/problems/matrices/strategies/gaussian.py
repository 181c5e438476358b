"""Gaussian noise on all entries (Analyze Gauss, DTTZ14)."""

import numpy as np
from scipy import sparse

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.call import Measurement
from dpgraph.problems.matrices.call import Matrix, MatrixCall
from dpgraph.problems.matrices.strategy import Asked, Factors
from dpgraph.problems.options import Gaussian
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.noisy_matrix import leading_eigenvectors, leading_singular_vectors
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.results.adjacency import DENSE_LIMIT


def _check(_: Gaussian, shape: tuple[int, int]) -> None:
    if shape[0] * shape[1] > DENSE_LIMIT**2:
        raise InvalidParameterError(
            f"mechanism='gaussian' makes all entries noisy and is limited to {DENSE_LIMIT**2} of them; got shape "
            f"{shape}. Use mechanism='noisy-power'"
        )


def _run(_options: Gaussian, opened: MatrixCall, matrix: Matrix, asked: Asked) -> Factors:
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    measurement = Measurement("matrix", dense, l2=opened.neighbours.frobenius)
    if opened.rectangular:
        noisy, std = opened.call.release(measurement)
        return Factors(*leading_singular_vectors(noisy, std, opened.ranks))
    noisy, std, _ = release_symmetric(measurement, opened.call)
    basis, values, spectrum, sine = leading_eigenvectors(noisy, std, opened.ranks, signed=asked.signed)
    return Factors(basis, basis, spectrum, sine, np.diag(values))


STRATEGY = Strategy(
    "gaussian",
    Gaussian,
    pure=lambda _: False,
    run=_run,
    check=_check,
    unread=("rank", "max_rank", "regularization", "projection", "seeds", "rounds"),
    order=3,
)
