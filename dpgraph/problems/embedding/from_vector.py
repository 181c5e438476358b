"""A private normalized adjacency of rank one, purely: by products, or by answers where these would find it slowly."""

from __future__ import annotations

import math

import numpy as np

from dpgraph.graph import Graph, GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.from_answers import release_answered_adjacency
from dpgraph.problems.embedding.options import AdjacencyOptions
from dpgraph.releases.answers import answer_noise
from dpgraph.releases.eigenspaces.power_method import LowRankAdjacency
from dpgraph.releases.eigenspaces.residual import RESIDUAL_SHARE, DegreeResidual, release_degree_residual
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.eigenspaces.vector import release_leading_vector
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING

__all__ = ["low_rank_result", "release_vector_adjacency"]


def release_vector_adjacency(
    graph: Graph, options: AdjacencyOptions, call: Call, *, are_even: bool, may_answer: bool
) -> PrivateNormalizedAdjacency:
    """Release the average degree, whether degrees are far from the leading eigenvector, then that vector.

    Parameters
    ----------
    graph : Graph
        The private graph.
    options : AdjacencyOptions
        Public choices.
    call : Call
        Pure budget.
    are_even : bool
        Whether degrees are known to be even, so that how far they are need not be asked.
    may_answer : bool
        Whether randomized response takes over where the degrees are far from the vector.
    """
    first_share = EMBEDDING.vector_total_share + (0.0 if are_even else RESIDUAL_SHARE)
    first = call.part(first_share).stage() if may_answer else call
    total = first.at_epsilon(EMBEDDING.vector_total_share * call.epsilon)
    mean = 2 * release_total_weight(graph, total).value / graph.n_vertices
    residual = DegreeResidual(0.0, is_large=False)
    if not are_even:
        residual = release_degree_residual(graph, mean, first.at_epsilon(call.epsilon))
    rest = call.part(1 - first_share)
    if may_answer:
        rest = rest.stage()
        if residual.is_large and _answers_win(residual.quotient, graph.n_vertices, call.epsilon):
            return release_answered_adjacency(graph, options, rest)
    tau = options.tau(mean, graph.max_weight)
    released = release_leading_vector(graph, residual, rest, regularization=tau, denoise=options.denoise)
    return low_rank_result(graph, options, released, tau, rest)


def _answers_win(quotient: float, n: int, epsilon: float) -> bool:
    """Whether answers find a vector that the degrees do not show, and products, having to start from those, do not.

    The noise of answers has norm sqrt(n)/(2 sinh(epsilon/2)), that of one count of each vertex sqrt(n)/epsilon; the
    eigenvalue is larger than the quotient of the degrees.
    """
    answers, counts = math.sqrt(n) * answer_noise(epsilon), math.sqrt(n) / epsilon
    return answers < EMBEDDING.answers_find * quotient and counts > EMBEDDING.products_find * quotient


def low_rank_result(
    graph: GraphOperator, options: AdjacencyOptions, released: LowRankAdjacency, tau: float, call: Call
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
        privacy=call.report(),
    )
