"""What a strategy for a private normalized adjacency is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.problems.strategy import Registry, Strategy
from dpgraph.releases.eigenspaces.projector import check_rank
from dpgraph.releases.normalized import check_regularization
from dpgraph.releases.totals import release_total_weight
from dpgraph.tuning import EMBEDDING

__all__ = [
    "EMBEDDINGS",
    "SOLVER_OPTIONS",
    "EmbeddingFacts",
    "EmbeddingStrategy",
    "check_options",
    "release_mean_degree",
]


class EmbeddingFacts(NamedTuple):
    """What is public before anything is read: edges may have weights between 0 and `max_weight` if it is `weighted`."""

    n: int
    max_weight: float
    epsilon: float
    delta: float
    weighted: bool = False


@dataclass(frozen=True)
class EmbeddingStrategy(Strategy):
    """One way to release a normalized adjacency: ``run(options, graph, call)``.

    ``check(options, facts)`` sees :class:`EmbeddingFacts`; ``slack_share(options)`` is the part of delta that good
    events may use.
    """

    slack_share: Callable[[Any], float] = lambda _: 0.0


#: The strategies.
EMBEDDINGS = Registry("dpgraph.problems.embedding.strategies")

#: Options that solvers of cuts read, and an embedding does not.
SOLVER_OPTIONS = ("projection", "degree", "seeds", "rounds")


def check_options(options: Any, n: int, max_weight: float) -> None:
    """Validate rank and regularisation, which all strategies have."""
    check_rank(options.rank, n, options.max_rank)
    check_regularization(options.regularization, n, max_weight)


def release_mean_degree(graph: GraphOperator, call: Call) -> tuple[float, Call]:
    """Release the average degree for a small part of a Gaussian call; also what is left of it."""
    first = call.part(EMBEDDING.total_share)
    return 2 * release_total_weight(graph, first).value / graph.n_vertices, call.without(first)
