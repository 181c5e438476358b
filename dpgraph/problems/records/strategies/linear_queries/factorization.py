"""Gaussian noise of least total variance."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.problems.records.encodings import Encoding, centred_space, shaped
from dpgraph.problems.records.factorization import trace_factorization
from dpgraph.problems.strategy import Strategy

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


STRATEGY = Strategy(
    "factorization",
    FactorizationNoise,
    pure=lambda _: False,
    run=lambda _, A, adjacency: [factorization_encoding(A, adjacency)],
    order=3,
)
