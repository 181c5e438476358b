"""The published forms of private degrees and of their distribution."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpgraph.arguments import check_level
from dpgraph.bounds.count_intervals import MISSED, decreasing_half_width, laplace_half_width
from dpgraph.denoise.degree_tails import decreasing
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import TableResult, whole
from dpgraph.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class PrivateDegrees(TableResult):
    """Noisy degrees.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Unbiased noisy weighted degrees in the order of `nodes`; some may be negative.
    nodes : tuple of hashable
        The caller's vertex labels in the caller's order.
    privacy : PrivacyReport
        The guarantee.
    """

    values: FloatArray
    nodes: tuple[Hashable, ...]
    privacy: PrivacyReport

    def __repr__(self) -> str:
        scale = self.privacy.entries[0].scale
        return f"PrivateDegrees({len(self.nodes)} vertices, noise scale {scale:.4g}, {self.privacy!r})"

    def as_dict(self) -> dict[Hashable, float]:
        """Noisy degree of each vertex label."""
        return dict(zip(self.nodes, whole(self.values), strict=True))

    def _bars(self) -> tuple[str, Any]:
        return "degrees in decreasing order", np.sort(self.values)[::-1]

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``node`` and ``degree``."""
        return {"node": self.nodes, "degree": whole(self.values)}


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
    tails : ndarray of float64
        These noisy numbers of vertices of degree at least k = 1, 2, ..., as they were released: up to n - 1, or until
        they show that no vertex has more edges, which is wrong with probability 1e-10
        (:func:`dpgraph.bounds.count_intervals.wanted_tails`).
    ends : ndarray of int64, or None
        With ``adjacency="node"`` the last degrees of blocks: `tails` are then means over blocks, about the edges that
        were kept, and `std` is about the sum of a block. Beyond the last block `counts` are a guess.
    """

    counts: IntArray
    std: float
    privacy: PrivacyReport
    tails: FloatArray
    ends: IntArray | None = None

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
    def ccdf(self) -> FloatArray:
        """Share of the vertices whose degree is at least d, for d = 0, ..., the largest degree."""
        return np.asarray(np.cumsum(self.counts[::-1])[::-1] / self.counts.sum())

    def interval(self, level: float = 0.95) -> FloatArray:
        """Ends of an interval for each share of vertices of degree at least d = 0, ..., n - 1, shape (2, n).

        Each holds the exact share with probability at least `level`, whatever the graph
        (:func:`dpgraph.bounds.count_intervals.decreasing_half_width`). They surround the nearest decreasing numbers,
        not :attr:`ccdf`, which is smoother. Beyond the numbers that were released they are from 0 to the last upper
        end: 0 is missed with probability 1e-10, which the others make up for.

        With ``adjacency="node"`` they are about the edges that were kept. A number is no larger than the mean over the
        block of degrees before its own, and no smaller than that over the next one.

        Raises
        ------
        InvalidParameterError
            `level` is not in (0, 1).
        """
        n = int(self.counts.sum())
        miss, scale = 1 - check_level(level), self.privacy.entries[-1].scale
        if self.ends is not None:
            widths = np.diff(self.ends, prepend=0)
            half = laplace_half_width(scale, miss) / widths
            low, high = np.append((self.tails - half)[1:], 0.0), np.append(n, (self.tails + half)[:-1])
            ends = np.repeat(np.clip([low, high], 0, n), widths, axis=1) / n
        else:
            miss -= MISSED * (self.tails.size < n - 1)
            away = decreasing_half_width(scale, miss) if miss > 0 else math.inf
            middle = decreasing(self.tails, n)
            ends = np.clip([middle - away, middle + away], 0, n) / n
        beyond = n - 1 - ends.shape[1]
        rest = np.broadcast_to([[0.0], [ends[1, -1] if beyond > 0 else 0.0]], (2, max(beyond, 0)))
        return np.concatenate([np.ones((2, 1)), ends, rest], axis=1)

    @property
    def degree_sequence(self) -> IntArray:
        """All degrees in decreasing order, shape (n,); whose they are is not published."""
        return np.repeat(np.arange(len(self.counts)), self.counts)[::-1]

    def _bars(self) -> tuple[str, Any]:
        return f"share of the vertices of at least degree 0, ..., {len(self.counts) - 1}", self.ccdf

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``degree``, ``count`` and ``ccdf``."""
        return {"degree": range(len(self.counts)), "count": self.counts.tolist(), "ccdf": self.ccdf.tolist()}
