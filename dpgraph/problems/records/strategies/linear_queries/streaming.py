"""Gaussian noise for answers that are given one after another."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding, fits_shaping
from dpgraph.problems.records.strategies.linear_queries.factorization import factorization_encoding
from dpgraph.problems.strategy import Strategy
from dpgraph.typing import FloatArray


@dataclass(frozen=True)
class StreamingNoise:
    """A = B C with both factors lower triangular: answer t needs the first t counts and the first t draws of noise.

    For square lower triangular queries with a positive diagonal, such as prefix sums (continual counting).

    Parameters
    ----------
    factors : {"optimal", "square-root"}, default "optimal"
        ``"optimal"``: least total variance of all Gaussian noise. It loses nothing by the order: Gaussian noise of C x
        has the same law after a rotation Q, and C = Q L. For ``adjacency="add-remove"``. ``"square-root"``: B = C, with
        no optimisation.

    References
    ----------
    S. Denisov et al., "Improved differential privacy for SGD via optimal private linear operators on adaptive streams",
    NeurIPS 2022. H. Fichtenberger, M. Henzinger, J. Upadhyay, "Constant matters: fine-grained error bound on
    differentially private continual observation", ICML 2023 (square root).
    """

    factors: Literal["optimal", "square-root"] = "optimal"


def _encodings(options: StreamingNoise, A: QueryMatrix, adjacency: str) -> list[Encoding]:
    check_choice("factors", options.factors, ("optimal", "square-root"))
    queries = A.dense if fits_shaping(A) and A.shape[0] == A.shape[1] else np.zeros((1, 1))
    if np.triu(queries, 1).any() or not np.all(queries.diagonal() > 0):
        raise InvalidParameterError(
            "mechanism='streaming' needs a square lower triangular query matrix with a positive diagonal, of at most "
            f"2048 rows; got one of shape {A.shape}. Use mechanism='factorization'"
        )
    if options.factors == "square-root":
        encode: FloatArray = scipy.linalg.sqrtm(queries.T).T
    else:
        # Rows and columns in reverse order make a QR decomposition one into Q and a lower triangle.
        shape = factorization_encoding(A).encode.dense
        encode = np.linalg.qr(shape[:, ::-1]).R[::-1, ::-1]
    decode = scipy.linalg.solve_triangular(encode.T, queries.T, lower=False).T
    return [Encoding("streaming", QueryMatrix(np.tril(encode)), np.tril(decode), adjacency)]


STRATEGY = Strategy(
    "streaming",
    StreamingNoise,
    pure=lambda _: False,
    run=_encodings,
    order=6,
)
