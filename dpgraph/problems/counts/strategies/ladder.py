"""Counts by the ladder mechanism."""

from dataclasses import dataclass

from dpgraph.problems.strategy import Strategy
from dpgraph.releases.subgraphs import release_by_ladder


@dataclass(frozen=True)
class Ladder:
    """Integers around the count, less probable the more edges away from the graph they could be a count. Pure.

    References
    ----------
    J. Zhang, G. Cormode, C. Procopiuc, D. Srivastava, X. Xiao, "Private release of graph statistics using ladder
    functions", SIGMOD 2015; :mod:`dpgraph.bounds.ladder` (raised widths, nearly twice the rate).
    """


STRATEGY = Strategy(
    "ladder",
    Ladder,
    pure=lambda _: True,
    run=lambda _, subgraphs, pattern, call, delta: release_by_ladder(subgraphs, pattern, call),
    order=1,
)
