"""What cuts and assignments say of their worth: a weight, its share of all, and intervals of both."""

import math
from typing import Any, ClassVar, cast

from dpgraph.arguments import check_level
from dpgraph.denoise.ratios import Noise, ratio_interval
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult
from dpgraph.results.igraph_views import igraph_clustering


class Worth(TableResult):
    """A result that earns a part of a total weight.

    Both were released together: what is earned and what is left have the same noise, and the total is their sum. In
    public, 0 <= earned <= total <= the weight of all pairs.
    """

    #: Line of the ledger.
    _line: ClassVar[str]

    estimated_value: float
    estimated_value_std: float
    estimated_total_weight: float
    most_weight: float
    privacy: PrivacyReport

    @property
    def estimated_fraction(self) -> float:
        """Estimated value over estimated total weight, both as far as they are possible; NaN if no weight was found."""
        left = self.estimated_total_weight - self.estimated_value
        value = min(max(self.estimated_value, 0.0), self.most_weight)
        total = value + min(max(left, 0.0), self.most_weight - value)
        return value / total if self.estimated_total_weight > 0 and total > 0 else math.nan

    def fraction_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact fraction with probability `level`: :func:`dpgraph.denoise.ratios`.

        Noise on a grid is taken for up to a step wider.
        """
        step = next((line.sensitivity for line in self.privacy.entries if line.name == self._line), 0.0)
        variance = (self.estimated_value_std + step / math.sqrt(2.0)) ** 2
        noise = Noise(variance, 2 * variance, variance)
        return ratio_interval(self.estimated_value, self.estimated_total_weight, noise, level=check_level(level))

    def to_igraph_clustering(self, g: Any) -> Any:
        """Return an ``igraph.VertexClustering`` of `g`, the graph that this is of; cluster k is ``partition[k]``."""
        return igraph_clustering(g, cast(Any, self).partition)

    def value_interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact value with probability `level`, within what all pairs can weigh."""
        half = self.privacy.half_width(self._line, check_level(level))
        low, high = (min(max(self.estimated_value + side * half, 0.0), self.most_weight) for side in (-1, 1))
        return low, high
