"""What a strategy for counts of subgraphs is."""

from dataclasses import dataclass

from dpgraph.problems.strategy import Registry, Strategy

__all__ = ["COUNTS", "CountStrategy"]


@dataclass(frozen=True)
class CountStrategy(Strategy):
    """One way to count: ``run(options, subgraphs, pattern, call, delta)`` returns a released count.

    `subgraphs` is private (:class:`~dpgraph.linalg.subgraphs.Subgraphs`), `call` the part of epsilon and `delta` the
    part of delta for this pattern (:class:`~dpgraph.releases.subgraphs.ReleasedCount`).
    """


#: The strategies.
COUNTS = Registry("dpgraph.problems.counts.strategies")
