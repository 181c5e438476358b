"""A private normalized adjacency of rank one, purely: by products, or by answers where these would find it slowly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpgraph.graph import Graph, GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.problems.embedding.from_answers import release_answered_adjacency
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.releases.answers import answer_noise
from dpgraph.releases.eigenspaces.power_method import LowRankAdjacency
from dpgraph.releases.eigenspaces.residual import RESIDUAL_SHARE, DegreeResidual, release_degree_residual
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.eigenspaces.vector import release_leading_vector
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency

__all__ = ["low_rank_result", "release_vector_adjacency"]

#: Share of epsilon for the total weight.
_TOTAL_SHARE = 0.01
#: Noise up to this many times the quotient is found through by answers, up to this many times it by products.
_ANSWERS_FIND, _PRODUCTS_FIND = 2.2, 1.2


def release_vector_adjacency(
    graph: Graph, options: AdjacencyOptions, *, are_even: bool, may_answer: bool, ledger: Ledger, noise: NoiseSource
) -> PrivateNormalizedAdjacency:
    """Release the average degree, whether degrees are far from the leading eigenvector, then that vector.

    Parameters
    ----------
    graph : Graph
        The private graph.
    options : AdjacencyOptions
        Public choices.
    are_even : bool
        Whether degrees are known to be even, so that how far they are need not be asked.
    may_answer : bool
        Whether randomized response takes over where the degrees are far from the vector.
    ledger, noise
        Pure budget of the call, source of noise.
    """
    w, n = graph.max_weight, graph.n_vertices
    first_share = _TOTAL_SHARE + (0.0 if are_even else RESIDUAL_SHARE)
    first = ledger.stage(first_share * ledger.epsilon) if may_answer else ledger
    share = _TOTAL_SHARE * ledger.epsilon / first.epsilon
    mean = 2 * release_total_weight(graph, Call(first, noise, share)).value / n
    residual = DegreeResidual(0.0, is_large=False)
    if not are_even:
        residual = release_degree_residual(graph, mean, ledger=first, epsilon=ledger.epsilon, noise=noise)
    rest = ledger.stage((1 - first_share) * ledger.epsilon) if may_answer else ledger
    if may_answer and residual.is_large and _answers_win(residual.quotient, n, ledger.epsilon):
        return release_answered_adjacency(graph, options, ledger=rest, noise=noise)
    tau = options.tau(mean, w)
    share = (1 - first_share) * ledger.epsilon / rest.epsilon
    private: Any = {"ledger": rest, "noise": noise, "regularization": tau, "denoise": options.denoise}
    released = release_leading_vector(graph, residual=residual, share=share, **private)
    return low_rank_result(graph, options, released, tau, rest)


def _answers_win(quotient: float, n: int, epsilon: float) -> bool:
    """Whether answers find a vector that the degrees do not show, and products, having to start from those, do not.

    The noise of answers has norm sqrt(n)/(2 sinh(epsilon/2)), that of one count of each vertex sqrt(n)/epsilon; the
    eigenvalue is larger than the quotient of the degrees.
    """
    answers, counts = math.sqrt(n) * answer_noise(epsilon), math.sqrt(n) / epsilon
    return answers < _ANSWERS_FIND * quotient and counts > _PRODUCTS_FIND * quotient


def low_rank_result(
    graph: GraphOperator, options: AdjacencyOptions, released: LowRankAdjacency, tau: float, ledger: Ledger
) -> PrivateNormalizedAdjacency:
    """Return what products have released, as a normalized adjacency."""
    return PrivateNormalizedAdjacency(
        nodes=graph.nodes,
        degrees=released.degrees,
        regularization=tau,
        lower=max(tau, graph.max_weight),
        basis=canonical_signs(released.basis),
        core=released.core,
        spectrum=np.abs(np.diag(released.core)),
        mechanism=options.mechanism,
        max_weight=graph.max_weight,
        privacy=ledger.report(),
    )
