"""The published form of a private degree distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult

__all__ = ["PrivateDegreeDistribution"]


@dataclass(frozen=True, eq=False, repr=False)
class PrivateDegreeDistribution(TableResult):
    """How many vertices have which degree.

    Parameters
    ----------
    counts : ndarray of int64
        ``counts[d]`` vertices have degree d; the last entry is not 0. They add up to the (public) number of vertices.
    std : float
        Standard deviation of the noise on each number of vertices of degree at least k, before the numbers were made to
        decrease with k. That step takes most of the noise out wherever few vertices share a degree.
    privacy : PrivacyReport
        The guarantee.
    """

    counts: NDArray[np.int64]
    std: float
    privacy: PrivacyReport

    def __repr__(self) -> str:
        return (
            f"PrivateDegreeDistribution({int(self.counts.sum())} vertices, mean degree {self.mean_degree:.4g}, largest "
            f"{len(self.counts) - 1}, {self.privacy!r})"
        )

    @property
    def mean_degree(self) -> float:
        """Average of the published degrees."""
        return float(self.counts @ np.arange(len(self.counts)) / self.counts.sum())

    @property
    def ccdf(self) -> NDArray[np.float64]:
        """Share of the vertices whose degree is at least d, for d = 0, ..., the largest degree."""
        return np.cumsum(self.counts[::-1])[::-1] / self.counts.sum()

    @property
    def degree_sequence(self) -> NDArray[np.int64]:
        """All degrees in decreasing order, shape (n,); whose they are is not published."""
        return np.repeat(np.arange(len(self.counts)), self.counts)[::-1]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``degree``, ``count`` and ``ccdf``."""
        return {"degree": range(len(self.counts)), "count": self.counts.tolist(), "ccdf": self.ccdf.tolist()}
