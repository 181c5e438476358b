"""Counts after a private bound on local sensitivity."""

from dataclasses import dataclass

from dpgraph.problems.strategy import Strategy
from dpgraph.releases.subgraphs import release_by_local_bounds


@dataclass(frozen=True)
class LocalSensitivity:
    """A private upper bound on what one edge adds, then Laplace noise of that size. Needs delta: the bound may fail.

    References
    ----------
    V. Karwa, S. Raskhodnikova, A. Smith, G. Yaroslavtsev, "Private analysis of graph structure", VLDB 2011.
    """


STRATEGY = Strategy(
    "local-sensitivity",
    LocalSensitivity,
    pure=lambda _: False,
    run=lambda _, subgraphs, pattern, call, delta: release_by_local_bounds(subgraphs, pattern, call, delta),
    order=3,
)
