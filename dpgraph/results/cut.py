"""The published form of a private cut."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_level
from dpgraph.denoise.ratios import Noise, ratio_interval
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult
from dpgraph.results.igraph_views import igraph_clustering, igraph_cut


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCutResult(TableResult):
    """A private cut or bisection: everything here may be published.

    Parameters
    ----------
    partition : pair of sets
        The two sides, in the caller's vertex labels.
    labels : ndarray of int, shape (n,)
        Side 0 or 1 of each vertex, in the order of `nodes`.
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    estimated_value : float
        Private unbiased estimate of the weight of the cut.
    estimated_value_std : float
        Standard deviation of that estimate.
    estimated_total_weight : float
        Private unbiased estimate of the total weight of all edges: `estimated_value` and what the sides have inside,
        released together.
    upper_bound : float or None
        Certified upper bound on every cut of the *private* matrix that the solver saw, not of the graph; ``None`` where
        no matrix was released.
    mechanism : str
        The mechanism that was used; ``"data-independent"`` after a halt with ``on_halt="fallback"``.
    privacy : PrivacyReport
        The guarantee.
    """

    partition: tuple[set[Hashable], set[Hashable]]
    labels: NDArray[np.int8]
    nodes: tuple[Hashable, ...]
    estimated_value: float
    estimated_value_std: float
    estimated_total_weight: float
    upper_bound: float | None
    mechanism: str
    privacy: PrivacyReport

    def __repr__(self) -> str:
        first, second = (len(side) for side in self.partition)
        return (
            f"PrivateCutResult({first} + {second} vertices, estimated value {self.estimated_value:.6g} "
            f"± {self.estimated_value_std:.3g}, mechanism={self.mechanism!r}, {self.privacy!r})"
        )

    @property
    def estimated_fraction(self) -> float:
        """Estimated value over estimated total weight, within [0, 1]; NaN if no weight was found. Chance has 0.5."""
        total = self.estimated_total_weight
        return min(max(self.estimated_value / total, 0.0), 1.0) if total > 0 else float("nan")

    def fraction_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact fraction with probability `level`: :func:`dpgraph.denoise.ratios`.

        The noise on the total is that of both its parts. Noise on a grid is taken for up to a step wider.
        """
        step = next((line.sensitivity for line in self.privacy.entries if line.name == "cut weight"), 0.0)
        variance = (self.estimated_value_std + step / math.sqrt(2.0)) ** 2
        noise = Noise(variance, 2 * variance, variance)
        return ratio_interval(self.estimated_value, self.estimated_total_weight, noise, level=check_level(level))

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node`` and ``side``."""
        return {"node": self.nodes, "side": self.labels.tolist()}

    def to_igraph_clustering(self, g: Any) -> Any:
        """Return an ``igraph.VertexClustering`` of `g`, the graph that the cut is of; cluster k is side k."""
        return igraph_clustering(g, self.partition)

    def to_igraph_cut(self, g: Any) -> Any:
        """Return an ``igraph.Cut`` of `g` whose value is the private estimate.

        Its lists of edges (``cut``, ``es``) are empty, because the edges across are the secret; the object refers to
        `g` itself and is for its owner.
        """
        return igraph_cut(g, self.partition, value=self.estimated_value, edges=[])
