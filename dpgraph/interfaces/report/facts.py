"""Released numbers with their intervals, as sentences: what is outside the possible is clipped, noise is called so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpgraph.bounds.count_intervals import decreasing_half_width

if TYPE_CHECKING:
    from dpgraph.interfaces.report.result import Report
    from dpgraph.results.communities import PrivateCommunities
    from dpgraph.results.counts import PrivateCounts
    from dpgraph.results.degrees import PrivateDegreeDistribution

#: Of an interval that holds this part of all that is possible, an end is said at most: no number is.
_WIDE = 0.8
NOISE = "too noisy to say"
#: Every interval of a report.
LEVEL = 0.95


@dataclass(frozen=True)
class Fact:
    """A number about the graph: its estimate, a 95 % interval, and what is possible in public."""

    name: str
    value: float
    low: float
    high: float
    least: float = 0.0
    most: float = math.inf
    #: How the number is written: with so many digits behind the point, or as a percentage.
    digits: int = 0
    percent: bool = False

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            object.__setattr__(
                self, name, number if math.isnan(number) else min(max(number, self.least), self.most) + 0.0
            )

    @property
    def noisy(self) -> bool:
        """Whether the interval holds nearly everything, so that its middle says nothing."""
        wide = not self.high - self.low < _WIDE * (self.most - self.least) and self.most > self.least
        return wide or math.isnan(self.value)

    @property
    def shown(self) -> str:
        """The number; where it is noise, the end of its interval that still says something."""
        return (self._range or NOISE) if self.noisy else self.text(self.value)

    @property
    def interval(self) -> str:
        """The interval in words, beside a number that is shown."""
        if self.noisy:
            return ""
        if self.text(self.low) == self.text(self.high):
            return "sure to this digit" if self.most > self.least else "exact"
        return self._range or f"{self.text(self.low)} to {self.text(self.high)}"

    @property
    def _range(self) -> str:
        """The interval in words without an end that says nothing: it is written as the least or largest possible."""
        least, low, high, most = map(self.text, (self.least, self.low, self.high, self.most))
        if low == least:
            return "" if high == most else f"at most {high}"
        return f"at least {low}" if high == most else f"{low} to {high}"

    def text(self, number: float) -> str:
        """A number as it is written."""
        return f"{number:.0%}" if self.percent else f"{number:,.{self.digits}f}"


def facts_of(report: Report) -> list[Fact]:
    """All numbers of a report, in the order of its page."""
    n, counts, found = len(report.communities.nodes), report.counts, report.communities
    edges = counts.counts["edge"], *counts.interval("edge", LEVEL)
    pairs, triples = n * (n - 1) / 2, n * (n - 1) * (n - 2) / 6
    facts = [
        Fact("connections", *edges, most=pairs),
        Fact("connections of a node, on average", *_scaled(edges, 2 / n), most=n - 1.0, digits=1),
        Fact("triangles", *_triangles(counts, n), most=triples),
        *(_division(found) if len(found.communities) > 1 else ()),
        *(quantile(report.degrees, min(edges[2], pairs), share, name) for share, name in _QUANTILES),
    ]
    density = report.densest.estimated_density, *report.densest.interval(LEVEL)
    most = len(report.densest.vertices) - 1.0
    facts.append(Fact("connections of a node within the densest part", *_scaled(density, 2), most=most, digits=1))
    if report.cut is not None:
        across = report.cut.estimated_fraction, *report.cut.fraction_interval(LEVEL)
        facts.append(Fact("connections across the cut", *across, most=1.0, percent=True))
    return facts


def _division(found: PrivateCommunities) -> tuple[Fact, Fact]:
    """What a division into several communities is worth."""
    return (
        Fact("connections that stay inside a community", *found.inside, most=1.0, percent=True),
        Fact("modularity", found.estimated_modularity, *found.modularity_interval, least=-0.5, most=1.0, digits=2),
    )


def _scaled(numbers: tuple[float, float, float], factor: float) -> tuple[float, float, float]:
    value, low, high = numbers
    return value * factor, low * factor, high * factor


#: Quantiles of the degrees, and what they are called.
_QUANTILES = (
    (0.5, "half of the nodes have at least so many connections"),
    (0.1, "one node in ten has at least so many"),
)
NAMES = tuple(name for _, name in _QUANTILES)


def quantile(degrees: PrivateDegreeDistribution, edges: float, share: float, name: str) -> Fact:
    """The largest degree q that this share of the n vertices has at least; `edges` is the upper end of their interval.

    Let N_d be the number of vertices of degree d or more. Its ends, by ``PrivateDegreeDistribution.interval``, decrease
    with d as N_d does. So the last d whose lower end reaches share n exceeds q only if that end exceeds N_(q+1), which
    has probability 1/40. The last one whose upper end does is less than q only if that end is below N_q: 1/40 again.

    From public half-widths of share n on, no upper end is below share n. Then the upper end follows from the edges:
    share n vertices of degree q have share n q <= 2 m ends, and the m edges exceed `edges` with probability 1/40.
    """
    low, high = degrees.interval(LEVEL)
    n = len(low)
    value, least, most = (float(np.flatnonzero(tail >= share)[-1]) for tail in (degrees.ccdf, low, high))
    if decreasing_half_width(degrees.privacy.entries[-1].scale, 1 - LEVEL) >= share * n:
        most = min(most, max(least, 2 * edges // math.ceil(share * n)))
    return Fact(name, min(max(value, least), most), least, most, most=n - 1.0)


def _triangles(counts: PrivateCounts, n: int) -> tuple[float, float, float]:
    """Triangles and their interval, cut to what the number of edges allows.

    A graph of m = x (x - 1)/2 edges has at most x (x - 1) (x - 2)/6 triangles (Kruskal and Katona, as Lovasz puts it),
    and at least m (4 m - n^2)/(3 n) (Moon and Moser). Both grow with m, so they hold at the ends of an interval of m.
    That of the triangles misses with probability 9/10 of 1 - LEVEL, that of the edges with the rest. A released number
    that they rule out is no estimate.
    """
    rest = (1 - LEVEL) / 10
    low, high = counts.interval("triangle", LEVEL + rest)
    few, many = (max(end, 0.0) for end in counts.interval("edge", 1 - rest))
    x = (1 + math.sqrt(1 + 8 * many)) / 2
    low, high = max(low, few * (4 * few - n**2) / (3 * n)), min(high, x * (x - 1) * (x - 2) / 6)
    count = float(counts.counts["triangle"])
    return count if max(count, 0.0) >= low and count <= high else math.nan, low, max(low, high)
