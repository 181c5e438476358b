"""Averaged products with public iterates (HP14): Gaussian for several columns, pure for a single one.

Both normalise by released degrees: what an edge then moves is public, and no bound on min c is needed.
"""

import math
from typing import NamedTuple

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.strategy import EmbeddingFacts, check_facts, published, release_mean_degree
from dpgraph.problems.options import NoisyPower
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.power_method import check_products, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.vector import (
    DegreeResidual,
    release_degree_residual,
    release_leading_vector,
    rough_epsilon,
)
from dpgraph.releases.normalized import Regularization, regularize
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING

#: Products get most of epsilon, and need 2**-30 (:func:`~dpgraph.privacy.grid.reading_grid`).
_LEAST_EPSILON = 2.0**-29


class Start(NamedTuple):
    """Released average degree, and whether the degrees are far from the leading eigenvector."""

    mean_degree: float
    residual: DegreeResidual


def release_start(graph: Graph, call: Call) -> tuple[Start, Call]:
    """Release what the products of a single vector start from; also what that leaves of the call.

    `call` takes the lines. What is asked, and what it costs, depends on what was released before.
    """
    w, n = graph.max_weight, graph.n_vertices  # an average degree of 2 weighs w n
    total = call.at_epsilon(rough_epsilon(EMBEDDING.vector_total_share * call.epsilon, w, w * n))
    mean = 2 * release_total_weight(graph, total).value / n
    residual = release_degree_residual(graph, mean, call)
    return Start(mean, residual), call.rest()


def release_vector(
    regularization: Regularization, graph: Graph, start: Start, call: Call
) -> PrivateNormalizedAdjacency:
    """Release the leading eigenvector for a pure part of a budget.

    What is released is an eigenvector of the normalized matrix, which is one of the adjacency matrix as far as tau is
    large. At small epsilon noise is what hurts, and a smaller tau holds back the vertices of largest degree.
    """
    multiple = max(EMBEDDING.regularization, EMBEDDING.vector_regularization * min(call.epsilon / 2, 1.0))
    tau = regularize(regularization, start.mean_degree, graph.max_weight, multiple)
    released = release_leading_vector(graph, start.residual, call, regularization=tau, denoise=True)
    return published(graph, call, "noisy-power", released.degrees, tau, released.basis, released.core)


def _check(_: NoisyPower, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    mu = math.inf if facts.single else facts.mu  # a single vector has its own number of products
    check_products(facts.n, facts.columns, mu)
    if facts.single and facts.epsilon < _LEAST_EPSILON:
        raise InvalidParameterError(
            f"products of a single vector need epsilon >= {_LEAST_EPSILON:.2g}: below, their noise cannot be drawn "
            f"exactly; got {facts.epsilon:g}"
        )


def _run(
    _: NoisyPower, graph: Graph, call: Call, facts: EmbeddingFacts, known: Start | None
) -> PrivateNormalizedAdjacency:
    if facts.single:
        start, rest = (known, call) if known else release_start(graph, call)
        return release_vector(facts.regularization, graph, start, rest)
    mean, left = release_mean_degree(graph, call)
    tau = regularize(facts.regularization, mean, graph.max_weight)
    released = release_low_rank_adjacency(graph, facts.columns, left, regularization=tau, denoise=True)
    return published(graph, call, "noisy-power", released.degrees, tau, released.basis, released.core)


STRATEGY = Strategy(
    "noisy-power",
    NoisyPower,
    pure=False,
    also_pure=lambda facts: facts.single,
    run=_run,
    check=_check,
)
