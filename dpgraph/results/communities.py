"""The published form of private communities."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.linalg.edges import igraph_clustering
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult
from dpgraph.tuning import COMMUNITIES

#: Below so many edges a vertex, in units of 1/epsilon, two runs agree at an adjusted Rand index of at most about 0.2.
_VAGUE = 50.0


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCommunities(TableResult):
    """Communities of a private graph: everything here may be published.

    Parameters
    ----------
    communities : list of sets
        The communities in the caller's vertex labels, the largest first; none is empty.
    labels : ndarray of int, shape (n,)
        Community of each vertex, in the order of `nodes`: label k is ``communities[k]``.
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    estimated_modularity : float
        Private estimate of the modularity of `communities`, from `block_weights`, within what is possible; NaN if
        these add up to nothing.
    estimated_modularity_std : float
        Its standard deviation.
    block_weights : ndarray, shape (k, k)
        Private estimates of the weight between every two communities, and inside each. Symmetric; some may be negative.
    degrees : ndarray, shape (n,)
        Private estimates of the degrees in the order of `nodes`, all positive: posterior means of the released degrees
        and of what the sweeps have counted.
    mechanism : str
        The mechanism that was used.
    privacy : PrivacyReport
        The guarantee.
    block_stds : ndarray, shape (k, k), optional
        Standard deviations of the noise on `block_weights`.
    modularity_interval : (float, float)
        Holds the exact modularity of `communities` with probability 95 %, within what is possible.
    inside : (float, float, float)
        Private estimate of the share of the weight that lies inside communities, and the ends of its 95 % interval.
    """

    communities: list[set[Hashable]]
    labels: NDArray[np.int64]
    nodes: tuple[Hashable, ...]
    estimated_modularity: float
    estimated_modularity_std: float
    block_weights: NDArray[np.float64]
    degrees: NDArray[np.float64]
    mechanism: str
    privacy: PrivacyReport
    block_stds: NDArray[np.float64] | None = None
    modularity_interval: tuple[float, float] = (-math.inf, 1.0)
    inside: tuple[float, float, float] = (math.nan, 0.0, 1.0)

    def __repr__(self) -> str:
        count, (low, high) = len(self.communities), self.modularity_interval
        vague = "another run would hardly agree, " if self.vague else ""
        return (
            f"PrivateCommunities({count} {'community' if count == 1 else 'communities'} of {len(self.nodes)} vertices, "
            f"modularity {self.estimated_modularity:.4g}, 95 % interval {low:.4g} to {high:.4g}, {vague}"
            f"{self.privacy!r})"
        )

    @property
    def vague(self) -> bool:
        """Whether another run would hardly agree on who belongs with whom: epsilon times the mean degree is below 50.

        Degrees count in units of `max_weight`, whose quotient with epsilon is told by the noise on `block_weights`.
        Where this is so, two runs agreed little on every graph of the table (docs/communities.md). Elsewhere they may
        agree little, too.
        """
        if self.block_stds is None or len(self.communities) < 2:
            return False
        unit = float(self.block_stds.min()) * COMMUNITIES.block_share / math.sqrt(2)
        return float(self.degrees.mean()) < _VAGUE * unit

    def _bars(self) -> tuple[str, Any]:
        return "vertices of each community", np.bincount(self.labels)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node``, ``community`` and ``degree``."""
        return {"node": self.nodes, "community": self.labels.tolist(), "degree": self.degrees.tolist()}

    def to_igraph_clustering(self, g: Any) -> Any:
        """Return an ``igraph.VertexClustering`` of `g`, the graph that they are of; cluster k is ``communities[k]``."""
        return igraph_clustering(g, self.communities)
