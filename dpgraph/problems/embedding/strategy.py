"""What the strategies for a private normalized adjacency share."""

from typing import Any

import numpy as np

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.releases.eigenspaces.projector import check_rank
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.normalized import check_regularization
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING
from dpgraph.typing import FloatArray

#: Options that solvers of cuts read, and an embedding does not.
SOLVER_OPTIONS = ("projection", "degree", "seeds", "rounds", "search", "local_search", "random_degree")


def check_options(options: Any, n: int, max_weight: float) -> None:
    """Validate rank and regularisation, which all strategies have."""
    check_rank(options.rank, n, options.max_rank)
    check_regularization(options.regularization, n, max_weight)


def release_mean_degree(graph: Graph, call: Call) -> tuple[float, Call]:
    """Release the average degree for a small part of a Gaussian call; also what is left of it."""
    first = call.part(EMBEDDING.total_share)
    return 2 * release_total_weight(graph, first).value / graph.n_vertices, call.without(first)


def published(
    graph: Graph, call: Call, name: str, degrees: FloatArray, tau: float, basis: FloatArray, core: FloatArray
) -> PrivateNormalizedAdjacency:
    """What was released by a strategy that needs no bound on the degrees; `core` is diagonal."""
    return PrivateNormalizedAdjacency(
        nodes=graph.nodes,
        degrees=degrees,
        regularization=tau,
        lower=max(tau, graph.max_weight),
        basis=canonical_signs(basis),
        core=core,
        spectrum=np.abs(np.diag(core)),
        mechanism=name,
        max_weight=graph.max_weight,
        privacy=call.report(),
    )
