"""The published form of a private densest subgraph."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_level
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult


@dataclass(frozen=True, eq=False, repr=False)
class PrivateSubgraph(TableResult):
    """The dense part of a private graph: everything here may be published.

    Parameters
    ----------
    vertices : set
        The vertices of the dense part, in the caller's labels; at least one.
    labels : ndarray of int, shape (n,)
        1 for the vertices inside, 0 for the others, in the order of `nodes`.
    nodes : tuple of hashable
        Vertex labels in the caller's order.
    estimated_density : float
        Private unbiased estimate of the density: the weight of the edges inside over the number of vertices inside. It
        may be negative, which is printed as 0.
    estimated_density_std : float
        Its standard deviation.
    max_weight : float
        The public bound on a weight, 1 without weights.
    privacy : PrivacyReport
        The guarantee.
    """

    vertices: set[Hashable]
    labels: NDArray[np.int8]
    nodes: tuple[Hashable, ...]
    estimated_density: float
    estimated_density_std: float
    max_weight: float
    privacy: PrivacyReport

    def __repr__(self) -> str:
        return (
            f"PrivateSubgraph({len(self.vertices)} of {len(self.nodes)} vertices, estimated density "
            f"{self._possible(self.estimated_density):.4g} ± {self.estimated_density_std:.2g}, {self.privacy!r})"
        )

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact density of these vertices with probability at least `level`.

        No density is below 0, nor above that of k vertices all joined, (k - 1)/2 `max_weight`.

        Raises
        ------
        InvalidParameterError
            `level` is not in (0, 1).
        """
        size, scale = len(self.vertices), self.estimated_density_std / np.sqrt(2.0)
        # An integer of a discrete Laplace law is as far out as a real number, rounded to the nearest.
        width = -scale * np.log1p(-check_level(level)) * (1 + 2.0**-10) + self.max_weight / (2 * size)
        return self._possible(self.estimated_density - width), self._possible(self.estimated_density + width)

    def _possible(self, density: float) -> float:
        """The nearest one that so many vertices may have."""
        return float(min(max(density, 0.0), (len(self.vertices) - 1) / 2 * self.max_weight))

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node`` and ``inside`` (1 or 0)."""
        return {"node": self.nodes, "inside": self.labels.tolist()}
