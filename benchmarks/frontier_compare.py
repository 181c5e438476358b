"""Whether a table of the frontier has become worse, beyond its intervals and beyond what chance does to many cells.

Two tables of a thousand cells differ somewhere although nothing has changed. So there are two counts. The first is raw:
cells whose means are farther apart than their 95 % intervals allow. If nothing had changed, that would be one cell in
forty on either side. The second is corrected, and decides. Each cell gets the probability (Welch's t test, one-sided)
that a mechanism that is no worse looks so much worse. The procedure of Benjamini and Hochberg then says which cells of
a problem are worse, so that on average at most 5 % of those that it names are named by chance.

A cell whose mean has not changed was not measured again, or has the same outputs. It is no evidence, so that it does
not count. Nor does the same pair of results twice: a pure mechanism stands under both deltas, and what "auto" chose
stands under its own name too. To count these would make a loss look like chance.

A rule that gains on one graph what it loses on another is deleted, so that single cells do become worse on purpose.
What must not is a column, a mechanism at one epsilon and delta: there the gains of all graphs are added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from frontier_tables import Cell, Point
from scipy import stats

#: Of the cells that are called worse, at most this part is on average called so by chance.
RATE = 0.05
#: Part of the cells that lie outside their intervals on one side if nothing has changed.
_OUTSIDE = 0.025


@dataclass(frozen=True)
class Comparison:
    """One cell before and now; `sign` is 1 if higher is better, else -1."""

    cell: Cell
    before: Point
    now: Point
    sign: int

    @property
    def gain(self) -> float:
        """What the mean has gained; below 0 it is worse."""
        return self.sign * (self.now.mean - self.before.mean)

    @property
    def is_new(self) -> bool:
        """Whether the means differ by more than the digits that the table leaves out."""
        return abs(self.gain) > 1e-5 * abs(self.now.mean)

    @property
    def outside(self) -> bool:
        """Whether the means are farther apart than the 95 % intervals of both."""
        noise = math.hypot(*(0.0 if math.isnan(point.half) else point.half for point in (self.before, self.now)))
        return abs(self.gain) > noise + 1e-5 * abs(self.now.mean)

    @property
    def chance(self) -> float:
        """Probability of a mean as much worse as this one, or more, if it was not worse; single runs count as exact."""
        variances = [_standard_error(point) ** 2 for point in (self.before, self.now)]
        total = sum(variances)
        if total == 0:
            return float(self.gain >= 0)
        runs = self.before.runs, self.now.runs
        freedom = total**2 / sum(v**2 / (count - 1) for v, count in zip(variances, runs, strict=True) if v)
        return float(stats.t.cdf(self.gain / math.sqrt(total), freedom))

    def __str__(self) -> str:
        means = f"{self.now.mean:.4f} ± {self.now.half:.4f}, was {self.before.mean:.4f} ± {self.before.half:.4f}"
        return f"{', '.join(filter(None, self.cell))}: {means}"


def _standard_error(point: Point) -> float:
    """That of the mean, from the half-width of its 95 % interval (Student)."""
    if math.isnan(point.half) or point.runs < 2:
        return 0.0
    return point.half / float(stats.t.ppf(0.975, point.runs - 1))


def distinct(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Those whose means differ, and of equal pairs of results on one input at one epsilon the first."""
    found = {(c.cell[0], c.cell[2], repr(c.before), repr(c.now)): c for c in reversed(comparisons) if c.is_new}
    return list(reversed(found.values()))


def worse_beyond_chance(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The cells that are worse, corrected for the number of (distinct) comparisons."""
    if not comparisons:
        return []
    corrected = stats.false_discovery_control([c.chance for c in comparisons], method="bh")
    return [c for c, p in zip(comparisons, corrected, strict=True) if p <= RATE]


def columns(comparisons: Sequence[Comparison]) -> dict[tuple[str, ...], tuple[float, float]]:
    """Sum of the gains of each column over its graphs, and the half-width of the 95 % interval of that sum."""
    cells: dict[tuple[str, ...], list[Comparison]] = {}
    for c in comparisons:
        if c.is_new:
            cells.setdefault(c.cell[1:], []).append(c)
    halves = {
        k: 1.96 * math.hypot(*(_standard_error(p) for c in found for p in (c.before, c.now)))
        for k, found in cells.items()
    }
    return {k: (math.fsum(c.gain for c in found), halves[k]) for k, found in cells.items()}


def report(name: str, comparisons: Sequence[Comparison]) -> bool:
    """Print the cells and the columns outside their intervals, and both counts; False if one is worse beyond chance."""
    counted = distinct(comparisons)
    lost = worse_beyond_chance(counted)
    outside = [c for c in counted if c.outside]
    for c in [*outside, *(c for c in lost if not c.outside)]:
        verdict = "better" if c.gain > 0 else "WORSE" if c in lost else "worse, as chance may do"
        print(f"{name}, {c}: {verdict} (p = {c.chance if c.gain < 0 else 1 - c.chance:.2g})")
    worse = sum(c.gain < 0 for c in outside)
    print(
        f"{name}: {len(comparisons)} cells compared, {len(counted)} differ, each counted once; raw: "
        f"{len(outside) - worse} better and {worse} worse outside their intervals, where chance alone makes "
        f"{_OUTSIDE * len(counted):.1f} of each; corrected: {len(lost)} worse",
        flush=True,
    )
    for column, (gain, half) in columns(comparisons).items():
        if abs(gain) > half:
            verdict = "better" if gain > 0 else "WORSE"
            print(f"{name}, column {', '.join(filter(None, column))}: {verdict}, by {gain:+.4f} ± {half:.4f} in all")
    return not lost
