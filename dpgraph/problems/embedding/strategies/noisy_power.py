"""Averaged products with public iterates (HP14): Gaussian for several columns, pure for a single one.

Both normalise by released degrees: what an edge then moves is public, and no bound on min c is needed.
"""

import math
from typing import NamedTuple

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.strategy import SOLVER_OPTIONS, check_options, published, release_mean_degree
from dpgraph.problems.options import NoisyPower
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.eigenspaces.power_method import POWER_RANK, check_products, release_low_rank_adjacency
from dpgraph.releases.eigenspaces.projector import check_rank
from dpgraph.releases.eigenspaces.vector import (
    DegreeResidual,
    release_degree_residual,
    release_leading_vector,
    rough_epsilon,
)
from dpgraph.releases.normalized import regularize
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING

#: Products get most of epsilon, and need 2**-30 (:func:`~dpgraph.privacy.grid.query_grid`).
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


def release_vector(options: NoisyPower, graph: Graph, start: Start, call: Call) -> PrivateNormalizedAdjacency:
    """Release the leading eigenvector for a pure part of a budget.

    What is released is an eigenvector of the normalized matrix, which is one of the adjacency matrix as far as tau is
    large. At small epsilon noise is what hurts, and a smaller tau holds back the vertices of largest degree.
    """
    multiple = max(EMBEDDING.regularization, EMBEDDING.vector_regularization * min(call.epsilon / 2, 1.0))
    tau = regularize(options.regularization, start.mean_degree, graph.max_weight, multiple)
    released = release_leading_vector(graph, start.residual, call, regularization=tau, denoise=options.denoise)
    return published(graph, call, "noisy-power", released.degrees, tau, released.basis, released.core)


def _check(options: NoisyPower, facts: Facts) -> None:
    check_options(options, facts.n, facts.max_weight)
    mu = math.inf if options.rank == 1 else facts.mu  # a single vector has its own number of products
    check_products(facts.n, check_rank(options.rank, facts.n, POWER_RANK)[-1], mu)
    if options.rank == 1 and facts.epsilon < _LEAST_EPSILON:
        raise InvalidParameterError(
            f"products of a single vector need epsilon >= {_LEAST_EPSILON:.2g}: below, their noise cannot be drawn "
            f"exactly; got {facts.epsilon:g}"
        )


def _run(
    options: NoisyPower, graph: Graph, call: Call, facts: Facts, known: Start | None
) -> PrivateNormalizedAdjacency:
    if options.rank == 1:
        start, rest = (known, call) if known else release_start(graph, call)
        return release_vector(options, graph, start, rest)
    mean, left = release_mean_degree(graph, call)
    tau = regularize(options.regularization, mean, graph.max_weight)
    rank = check_rank(options.rank, graph.n_vertices, POWER_RANK)[-1]
    released = release_low_rank_adjacency(graph, rank, left, regularization=tau, denoise=options.denoise)
    return published(graph, call, "noisy-power", released.degrees, tau, released.basis, released.core)


STRATEGY = Strategy(
    "noisy-power",
    NoisyPower,
    pure=lambda options: options.rank == 1,
    run=_run,
    check=_check,
    unread=("max_rank", *SOLVER_OPTIONS),
)
