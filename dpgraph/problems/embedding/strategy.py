"""What the strategies for a private normalized adjacency share."""

from dataclasses import dataclass

import numpy as np

from dpgraph.graph import Graph
from dpgraph.privacy.call import Call
from dpgraph.problems.strategy import Facts
from dpgraph.releases.eigenspaces.power_method import POWER_RANK
from dpgraph.releases.eigenspaces.projector import Rank, check_rank
from dpgraph.releases.eigenspaces.sampler import canonical_signs
from dpgraph.releases.normalized import Regularization, check_regularization
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.adjacency import PrivateNormalizedAdjacency
from dpgraph.tuning import EMBEDDING
from dpgraph.typing import FloatArray

#: rank="auto" of a strategy that releases a spectrum chooses among so many.
MOST_RANKS = 8


@dataclass(frozen=True)
class EmbeddingFacts(Facts):
    """What is public about a graph, and what is asked for; products of a `single` column are pure."""

    rank: Rank = "auto"
    regularization: Regularization = "auto"
    coherence: str = "degree-corrected"
    single: bool = False

    @property
    def columns(self) -> int:
        """How many columns products have."""
        return 1 if self.single else check_rank(self.rank, self.n, POWER_RANK)[-1]


def check_facts(facts: EmbeddingFacts) -> None:
    """Validate rank and regularisation."""
    check_rank(facts.rank, facts.n, MOST_RANKS)
    check_regularization(facts.regularization, facts.n, facts.max_weight)


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
