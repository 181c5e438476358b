"""The published form of private counts, and of a number computed from them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpgraph.arguments import check_level
from dpgraph.bounds.count_intervals import half_width, quotient_limits
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.report import PrivacyReport
from dpgraph.result import Result, TableResult


@dataclass(frozen=True, eq=False, repr=False)
class PrivateCounts(TableResult):
    """How often each pattern is a subgraph.

    Parameters
    ----------
    counts : dict of str to int
        Copies of each pattern, not necessarily induced, with noise of mean 0: they may be negative, which is printed as
        0. So means over many releases are right, and 0 is nearer to the truth wherever one is negative.
    std : dict of str to float
        Standard deviations of the noise. With a ladder they are estimates from released widths; Cauchy noise has none
        (inf).
    noise : dict of str to dict
        The law of the noise of each count: ``law`` ("ladder", "Cauchy" or "Laplace"), and its public parameters:
        released ``widths``, the least and the chosen ``floor`` and ``floors`` to which they are raised, ``of_square``
        where the first width has limits by the square of the second, ``exponents`` of the ladders of the count and of
        its widths in units of 2**-40, ``scale``, ``epsilon`` (see :mod:`dpgraph.bounds.ladder`), and the limit
        ``edges_of_a_vertex`` beyond which edges were left out (``adjacency="node"``).
    mechanism : str
        The strategy.
    privacy : PrivacyReport
        The guarantee.
    """

    counts: dict[str, int]
    std: dict[str, float]
    noise: dict[str, dict[str, Any]]
    mechanism: str
    privacy: PrivacyReport

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {max(count, 0)} +- {self.std[name]:.3g}" for name, count in self.counts.items())
        return f"PrivateCounts({found}, {self.mechanism!r}, {self.privacy!r})"

    def interval(self, pattern: str, level: float = 0.95) -> tuple[float, float]:
        """An interval, not below 0, that holds the exact count with probability `level`.

        Exactly so in the mean over widths of the noise, of which only noisy ones are known; for a given graph at
        95 % mostly with 93 to 97 %, and more where an edge adds little (docs/counts-theory.md, "Intervals").
        Where edges beyond a limit were left out it has no upper end: how many they are is not published.

        Raises
        ------
        InvalidParameterError
            The pattern was not counted, or `level` is not in (0, 1).
        """
        if pattern not in self.counts:
            raise InvalidParameterError(f"pattern must be one of {', '.join(map(repr, self.counts))}; got {pattern!r}")
        noise, count = self.noise[pattern], self.counts[pattern]
        width = half_width(noise, 1 - check_level(level))
        return max(count - width, 0.0), math.inf if "edges_of_a_vertex" in noise else max(count + width, 0.0)

    def columns(self) -> dict[str, Sequence[Any]]:
        """Columns ``pattern``, ``count`` and ``std``."""
        return {"pattern": list(self.counts), "count": list(self.counts.values()), "std": list(self.std.values())}


@dataclass(frozen=True, eq=False, repr=False)
class PrivateEstimate(Result):
    """A number computed from released counts: one of them, or the transitivity.

    Parameters
    ----------
    value : float
        The estimate, within `limits`.
    counts : PrivateCounts
        What it is computed from.
    privacy : PrivacyReport
        The guarantee.
    limits : pair of float
        The least and the largest number that is possible for so many vertices.
    """

    value: float
    counts: PrivateCounts
    privacy: PrivacyReport
    limits: tuple[float, float] = (0.0, 1.0)

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"PrivateEstimate({self.value:.4g}, 95 % in [{low:.4g}, {high:.4g}], {self.privacy!r})"

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """An interval that holds the exact number with probability `level`, as :meth:`PrivateCounts.interval` does.

        That of the transitivity is about the quotient itself, not about both counts
        (:func:`dpgraph.bounds.count_intervals.quotient_limits`).
        """
        (least, most), counts, laws = self.limits, self.counts.counts, self.counts.noise
        if "triangle" in counts:
            released, noise = (counts["triangle"], counts["wedge"]), (laws["triangle"], laws["wedge"])
            low, high = (3 * end for end in quotient_limits(released, noise, most / 3, 1 - check_level(level)))
        else:
            low, high = self.counts.interval(next(iter(counts)), level)
        return min(max(low, least), most), min(max(high, least), most)
