"""Symmetric Gaussian noise on all entries of the normalized adjacency (DTTZ14)."""

from typing import Any

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.strategy import SOLVER_OPTIONS, check_options, release_mean_degree
from dpgraph.problems.options import Gaussian
from dpgraph.problems.strategy import Facts, Strategy
from dpgraph.releases.eigenspaces.noisy_matrix import leading_eigenvectors
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE, check_rank
from dpgraph.releases.normalized import release_noisy_matrix
from dpgraph.results.adjacency import DENSE_LIMIT, PrivateNormalizedAdjacency


def check_gaussian(options: Gaussian, n: int, max_weight: float) -> None:
    """Validate options for a graph of n vertices."""
    check_options(options, n, max_weight)
    if n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"mechanism='gaussian' makes all n**2 entries noisy and is limited to n <= {DENSE_LIMIT}; got n = {n}. "
            "Use mechanism='coherence'"
        )
    check_memory(f"noise on all entries for {n} vertices", copies=(18, n, n))


def _run(options: Gaussian, graph: Graph, call: Call, facts: Facts, known: Any) -> PrivateNormalizedAdjacency:
    mean, left = release_mean_degree(graph, call)
    noisy = release_noisy_matrix(graph, options.regularization, mean, left)
    ranks = check_rank(options.rank, graph.n_vertices, options.max_rank)
    basis, values, spectrum, _ = leading_eigenvectors(noisy.matrix, noisy.std, ranks)
    return PrivateNormalizedAdjacency(
        nodes=graph.nodes,
        degrees=noisy.degrees,
        regularization=noisy.tau,
        lower=noisy.lower,
        basis=basis,
        core=np.diag(values),
        spectrum=spectrum,
        mechanism="gaussian",
        max_weight=graph.max_weight,
        privacy=call.report(),
    )


STRATEGY = Strategy(
    "gaussian",
    Gaussian,
    pure=lambda _: False,
    run=_run,
    check=lambda options, facts: check_gaussian(options, facts.n, facts.max_weight),
    slack_share=lambda options: 0.0 if options.regularization == "auto" else SLACK_SHARE,
    unread=SOLVER_OPTIONS,
)
