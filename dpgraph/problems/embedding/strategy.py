"""What a strategy for a private normalized adjacency is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpgraph.problems.strategy import Registry, Strategy
from dpgraph.releases.eigenspaces.projector import check_rank
from dpgraph.releases.normalized import check_regularization

__all__ = ["EMBEDDINGS", "SOLVER_OPTIONS", "EmbeddingFacts", "EmbeddingStrategy", "check_options"]


class EmbeddingFacts(NamedTuple):
    """What is public before anything is read.

    Parameters
    ----------
    n : int
        Number of vertices.
    max_weight : float
        Bound on a weight.
    epsilon, delta : float
        Budget of the call.
    weighted : bool
        Whether edges may have weights between 0 and `max_weight`, of which a one-bit answer tells little.
    """

    n: int
    max_weight: float
    epsilon: float
    delta: float
    weighted: bool = False


@dataclass(frozen=True)
class EmbeddingStrategy(Strategy):
    """One way to release a normalized adjacency: ``run(options, graph, call)``.

    ``check(options, facts)`` sees :class:`EmbeddingFacts`.

    Parameters
    ----------
    slack_share : callable
        ``slack_share(options)``: part of delta that good events may use.
    """

    slack_share: Callable[[Any], float] = lambda options: 0.0


#: The strategies.
EMBEDDINGS = Registry("dpgraph.problems.embedding.strategies")

#: Options that solvers of cuts read, and an embedding does not.
SOLVER_OPTIONS = ("projection", "degree", "seeds", "rounds")


def check_options(options: Any, n: int, max_weight: float) -> None:
    """Validate rank and regularisation, which all strategies have."""
    check_rank(options.rank, n, options.max_rank)
    check_regularization(options.regularization, n, max_weight)
