"""Symmetric Gaussian noise on all entries of the normalized adjacency (DTTZ14)."""

from typing import Any

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.memory import check_memory
from dpgraph.privacy.call import Call
from dpgraph.problems.embedding.strategy import MOST_RANKS, EmbeddingFacts, check_facts, release_mean_degree
from dpgraph.problems.options import Gaussian
from dpgraph.problems.strategy import Strategy
from dpgraph.releases.eigenspaces.noisy_matrix import leading_eigenvectors
from dpgraph.releases.eigenspaces.projector import SLACK_SHARE, check_rank
from dpgraph.releases.normalized import release_noisy_matrix
from dpgraph.results.adjacency import DENSE_LIMIT, PrivateNormalizedAdjacency


def check_gaussian(n: int) -> None:
    """Refuse a graph of too many vertices."""
    if n > DENSE_LIMIT:
        raise InvalidParameterError(
            f"mechanism='gaussian' makes all n**2 entries noisy and is limited to n <= {DENSE_LIMIT}; got n = {n}. "
            "Use mechanism='coherence'"
        )
    check_memory(f"noise on all entries for {n} vertices", copies=(18, n, n))


def _run(_: Gaussian, graph: Graph, call: Call, facts: EmbeddingFacts, known: Any) -> PrivateNormalizedAdjacency:
    mean, left = release_mean_degree(graph, call)
    noisy = release_noisy_matrix(graph, facts.regularization, mean, left)
    ranks = check_rank(facts.rank, facts.n, MOST_RANKS)
    basis, values, spectrum, _sine = leading_eigenvectors(noisy.matrix, noisy.std, ranks)
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


def _check(_: Gaussian, facts: EmbeddingFacts) -> None:
    check_facts(facts)
    check_gaussian(facts.n)


def _slack(facts: EmbeddingFacts) -> float:
    return 0.0 if facts.regularization == "auto" else SLACK_SHARE


STRATEGY = Strategy("gaussian", Gaussian, pure=False, run=_run, check=_check, slack_share=_slack)
