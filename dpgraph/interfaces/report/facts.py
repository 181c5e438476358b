"""Released numbers with their intervals, as sentences: what is outside the possible is clipped, noise is called so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpgraph.interfaces.report.result import Report
    from dpgraph.results.communities import PrivateCommunities
    from dpgraph.results.degrees import PrivateDegreeDistribution

#: An interval that holds this part of all that is possible says nothing.
_NOTHING = 0.8
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
            object.__setattr__(self, name, number if math.isnan(number) else min(max(number, self.least), self.most))

    @property
    def noisy(self) -> bool:
        """Whether the interval holds nearly everything."""
        return not self.high - self.low < _NOTHING * (self.most - self.least) and self.most > self.least

    @property
    def shown(self) -> str:
        """The number."""
        return NOISE if self.noisy or math.isnan(self.value) else self.text(self.value)

    @property
    def interval(self) -> str:
        """Its interval in words: an end that is the least or the largest possible number is left out."""
        if self.noisy or math.isnan(self.value):
            return ""
        low, high = self.text(self.low), self.text(self.high)
        if low == high:
            return "sure to this digit" if self.most > self.least else "exact"
        if self.low <= self.least:
            return f"at most {high}"
        return f"at least {low}" if self.high >= self.most else f"{low} to {high}"

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
        Fact("triangles", counts.counts["triangle"], *counts.interval("triangle", LEVEL), most=triples),
        *(_division(found) if len(found.communities) > 1 else ()),
        *(quantile(report.degrees, share, name) for share, name in _QUANTILES),
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


def quantile(degrees: PrivateDegreeDistribution, share: float, name: str) -> Fact:
    """The largest degree that this share of the vertices has at least, with the band of the noise around the shares."""
    low, high = band(degrees)
    n = int(degrees.counts.sum())
    value, least, most = (float(np.flatnonzero(tail >= share)[-1]) for tail in (degrees.ccdf, low, high))
    return Fact(name, value, least, most if high[-1] < share else n - 1.0, most=n - 1.0)


def band(degrees: PrivateDegreeDistribution) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the 95 % interval of each share of vertices of at least a degree; all have at least degree 0."""
    half = degrees.privacy.half_width(degrees.privacy.entries[0].name, LEVEL) / degrees.counts.sum()
    low, high = np.maximum(degrees.ccdf - half, 0.0), np.minimum(degrees.ccdf + half, 1.0)
    low[0] = high[0] = 1.0
    return low, high
