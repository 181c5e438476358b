"""The regularised normalized adjacency of a private graph: its regularisation, a lower bound on its degrees, noise.

The matrix is A_tau = C^{-1/2} A C^{-1/2} with C = diag(degrees) + tau I. What one edge changes in it depends on a lower
bound m on the entries of C (:mod:`dpgraph.bounds.spectra`).
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from dpgraph.arguments import as_number, shown
from dpgraph.bounds import sensitivity
from dpgraph.bounds.neighbours import EdgeNeighbours
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Measurement
from dpgraph.releases.eigenspaces.projector import MINIMUM_DEGREE_SLACK
from dpgraph.releases.symmetric import release_symmetric
from dpgraph.releases.totals import release_degrees
from dpgraph.tuning import EMBEDDING
from dpgraph.typing import FloatArray

#: A public tau, or "auto": a multiple of a released average degree.
Regularization = float | Literal["auto"]

#: The largest tau in units of n max_weight. Degrees d are at most 1; where tau is so much larger, d + tau has no more
#: than half of the digits of d, and all that tau could do for the rows it has done long before.
_LARGEST = 1e9


def check_regularization(regularization: Regularization, n: int, max_weight: float) -> None:
    """Refuse what is neither "auto" nor a number from 0 to 1e9 n `max_weight`."""
    largest = _LARGEST * n * max_weight
    if not _is_auto(regularization) and not 0 <= as_number(regularization) <= largest:
        raise InvalidParameterError(
            f"regularization must be 'auto' or a number from 0 to {largest:g}, which is {_LARGEST:g} n max_weight; "
            f"got {shown(regularization)}. Use 'auto'"
        )


def _is_auto(regularization: Regularization) -> bool:
    return isinstance(regularization, str) and regularization == "auto"


def regularize(
    regularization: Regularization, mean_degree: float, max_weight: float, multiple: float | None = None
) -> float:
    """Return tau, "auto" being this multiple of a released average degree, by default that of `tuning`."""
    multiple = EMBEDDING.regularization if multiple is None else multiple
    return max(multiple * mean_degree, max_weight) if _is_auto(regularization) else float(regularization)


class LowerBound(NamedTuple):
    """tau, a bound m on min_i c_i, c the diagonal of C, for a graph and its neighbours; what is left of the call."""

    tau: float
    lower: float
    left: Call


def release_lower_bound(graph: Graph, regularization: Regularization, mean_degree: float, call: Call) -> LowerBound:
    """Release what is needed for a lower bound on the regularised degrees c; halts if m does not reach w.

    With an automatic tau, m = tau needs no test. With a given one, m = max(tau, L + tau - w) for L = noisy minimum
    degree - slack: the minimum degree of a neighbour is smaller by at most w.
    """
    w = graph.max_weight
    tau = regularize(regularization, mean_degree, w)
    if _is_auto(regularization):
        return LowerBound(tau, tau, call)
    part, exact = call.part(EMBEDDING.side_share), np.array([graph.degrees().min()])
    noisy = part.release(Measurement("minimum degree", exact, l2=sensitivity.minimum_degree(w), few=True))
    z = call.good_event("minimum degree lower bound", MINIMUM_DEGREE_SLACK)
    lower = max(tau, noisy.number - z * noisy.std + tau - w)
    if lower < w:
        raise call.halted(
            f"regularization={tau:g} leaves no private lower bound of at least max_weight on the smallest regularised "
            "degree. Use regularization='auto' or a number of the order of the average degree, or raise epsilon",
            "minimum degree",
        )
    return LowerBound(tau, lower, call.without(part))


def check_degrees(released: FloatArray, call: Call) -> None:
    """Halt if a released regularised degree is negative (DN25a, Algorithm 7.13, step 1)."""
    if np.any(released < 0):
        raise call.halted(
            "a released degree is negative, where this mechanism halts: the smallest degree is too small for this "
            "budget. Raise epsilon, or use random_degree=, a positive regularization= or low_degrees='floor'",
            "degrees",
        )


def normalized_operator(graph: Graph, scale: FloatArray) -> LinearOperator:
    """C^{-1/2} A C^{-1/2} with C = diag(scale), private, as a LinearOperator."""
    n = graph.n_vertices
    root = 1 / np.sqrt(scale)

    def multiply(x: FloatArray) -> FloatArray:
        return root * graph.multiply(root * x) if x.ndim == 1 else root[:, None] * graph.multiply(root[:, None] * x)

    return LinearOperator((n, n), multiply, rmatvec=multiply, matmat=multiply, rmatmat=multiply, dtype=np.float64)


class NoisyMatrix(NamedTuple):
    """Released degrees d, the bound on c = d + tau, and A_tau plus noise of this deviation, shape (n, n)."""

    degrees: FloatArray
    tau: float
    lower: float
    matrix: FloatArray
    std: float

    @property
    def scale(self) -> FloatArray:
        """Noisy c, floored at its bound."""
        return np.maximum(self.degrees + self.tau, self.lower)


def release_noisy_matrix(graph: Graph, regularization: Regularization, mean_degree: float, call: Call) -> NoisyMatrix:
    """Release the degrees, and A_tau with symmetric Gaussian noise on all entries (Analyze Gauss, DTTZ14)."""
    call = call.at_mu(call.mu)  # all shares below are shares of this part
    n, bound = graph.n_vertices, release_lower_bound(graph, regularization, mean_degree, call)
    for_degrees = call.part(EMBEDDING.side_share)
    released, degrees = release_degrees(graph, for_degrees).value, graph.degrees()
    neighbours = EdgeNeighbours(graph.max_weight, bound.lower, bound.tau, degrees)
    exact = normalized_operator(graph, degrees + bound.tau).matmat(np.eye(n))
    # Each entry is a weight times two roots, of relative error 6 u, and the matrix has norm at most 1.
    error = 6 * float(np.finfo(np.float64).eps) * math.sqrt(n)
    measured = Measurement("normalized adjacency", exact, l2=neighbours.frobenius, error=error)
    matrix, std, _ = release_symmetric(measured, bound.left.without(for_degrees))
    return NoisyMatrix(released, bound.tau, bound.lower, matrix, std)
