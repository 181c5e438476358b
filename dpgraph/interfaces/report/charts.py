"""Pictures of released values as SVG that takes its colours from the style of the page."""

import math
from collections.abc import Iterable

import numpy as np

from dpgraph.interfaces.report.facts import LEVEL
from dpgraph.plot.communities import centres_of, clear_ties, in_discs, outer_sides
from dpgraph.results.communities import PrivateCommunities
from dpgraph.results.degrees import PrivateDegreeDistribution
from dpgraph.typing import FloatArray

#: Vertices that are drawn, at most; colours of the style; communities that are named in the map.
DOTS, COLOURS, NAMED = 3000, 9, 12
_WIDE, _HIGHEST = 400.0, 380.0


def colour(k: int) -> str:
    """Class of the colour of a community: from the tenth on they are grey."""
    return f"c{k}" if k < COLOURS else "cx"


def community_map(found: PrivateCommunities) -> str:
    """A dot for each vertex in the disc of its community, and a line where two are clearly tied, by released values."""
    sizes, weights = np.bincount(found.labels), np.maximum(found.block_weights, 0.0)
    radii = np.sqrt(sizes)
    centres = centres_of(weights, radii)
    places = centres[found.labels] + in_discs(found.labels, found.degrees)
    low, high = (centres - radii[:, None]).min(axis=0), (centres + radii[:, None]).max(axis=0)
    scale = min((_WIDE - 12) / (high - low)[0], (_HIGHEST - 40) / (high - low)[1], 26.0)
    tall = scale * (high - low)[1] + 40
    middle = np.array([_WIDE, tall]) / 2
    centres, places = (middle + scale * (points - (low + high) / 2) for points in (centres, places))
    parts = [_ties(found, weights, centres)]
    for k, (x, y) in enumerate(centres):
        radius = 1.03 * scale * radii[k]
        for shade in ("ground", f"disc {colour(k)}"):  # ties end at the disc
            parts.append(f'<circle class="{shade}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>')
    parts += _dots(found, places, scale)
    for k, side in enumerate(outer_sides(centres)[:NAMED]):
        x, y = centres[k] + (0, side * (1.03 * scale * radii[k] + 9))
        if sizes[k] >= sizes.sum() / 50:
            parts.append(f'<text class="name" x="{x:.1f}" y="{y:.1f}" dy=".32em">{k}</text>')
    label = f"Map of {len(sizes)} communities of {sizes.sum():,} nodes"
    return _svg(parts, _WIDE, tall, label)


def _ties(found: PrivateCommunities, weights: FloatArray, centres: FloatArray) -> str:
    lines, shown = [], clear_ties(weights, found.privacy)
    for a, b in np.argwhere(shown):
        (x, y), (u, v), width = centres[a], centres[b], 14 * math.sqrt(shown[a, b] / weights.max())
        lines.append(f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" stroke-width="{width:.1f}"/>')
    return f'<g class="ties">{"".join(lines)}</g>'


def _dots(found: PrivateCommunities, places: FloatArray, scale: float) -> Iterable[str]:
    """One path for all dots of a colour and size: round ends of lines without length."""
    step = max(1, -(-found.labels.size // DOTS))
    largest = float(np.quantile(found.degrees, 0.99)) or 1.0
    size = np.rint(4 * np.sqrt(np.clip(found.degrees / largest, 0.02, 1.0))).astype(int)
    classes: dict[tuple[str, int], list[str]] = {}
    for at in range(0, found.labels.size, step):
        x, y = places[at]
        classes.setdefault((colour(found.labels[at]), size[at]), []).append(f"M{x:.1f} {y:.1f}h0")
    thick = min(1.5 * scale * math.sqrt(step), 11.0)
    for (name, grade), dots in classes.items():
        yield f'<path class="dot {name}" stroke-width="{thick * (0.35 + 0.15 * grade):.1f}" d="{"".join(dots)}"/>'


def degree_chart(degrees: PrivateDegreeDistribution) -> str:
    """The share of the vertices that have at least so many edges, with its band, on logarithmic axes."""
    (low, high), size = degrees.interval(LEVEL), degrees.ccdf.size
    n, last = low.size, max(size - 1, 2)
    floor = 10.0 ** math.floor(math.log10(1 / max(n, 10)))
    left, right, top, bottom = 54.0, 392.0, 12.0, 212.0

    def at(degree: float, share: float) -> str:
        x = left + (right - left) * math.log(degree) / math.log(last)
        return f"{x:.1f} {bottom + (bottom - top) * math.log(max(share, floor) / floor) / math.log(floor):.1f}"

    def steps(shares: FloatArray) -> list[str]:
        """Corners of the line: a degree stands for all that are above the last one, up to itself."""
        kept = [1, *(d for d in range(2, shares.size) if shares[d] != shares[d - 1])] if shares.size > 1 else []
        corners = [at(max(d - 1, 1), shares[d]) for d in kept]
        ends = [at(e - 1, shares[e - 1]) for e in [*kept[1:], shares.size]] if kept else []
        return [corner for pair in zip(corners, ends, strict=True) for corner in pair]

    parts = []
    for share in (10.0**-k for k in range(9)):
        if share >= floor * 0.99:
            y = at(1, share).split()[1]
            parts.append(f'<path class="grid" d="M{left} {y}H{right}"/>')
            text = f"{100 * share:.6g} %"
            parts.append(f'<text class="tick" x="{left - 6}" y="{y}" dy=".32em" text-anchor="end">{text}</text>')
    ticks = [m * 10**k for k in range(8) for m in ((1, 2, 5) if last < 2000 else (1,)) if m * 10**k <= last]
    for degree in ticks:
        x = at(degree, 1).split()[0]
        parts.append(f'<path class="grid" d="M{x} {top}V{bottom}"/>')
        parts.append(f'<text class="tick" x="{x}" y="{bottom + 16}" text-anchor="middle">{degree:,}</text>')
    upper, lower, line = steps(high[:size]), steps(low[:size]), steps(degrees.ccdf)
    if line:
        parts.append(f'<path class="band" d="M{"L".join([*upper, *reversed(lower)])}Z"/>')
        parts.append(f'<path class="line" d="M{"L".join(line)}"/>')
    parts.append(f'<text class="tick" x="{right}" y="{bottom + 34}" text-anchor="end">connections</text>')
    return _svg(parts, 400, 250, "Share of the nodes with at least so many connections, with a 95 % band")


def range_bar(value: float, low: float, high: float, least: float, most: float) -> str:
    """Where a number and its interval lie among all that is possible."""
    places = [100 * (number - least) / (most - least) for number in (low, high, value)]
    width = max(places[1] - places[0], 0.6)
    parts = [
        '<rect class="rail" x="0" y="3" width="100" height="2"/>',
        f'<rect class="span" x="{min(places[0], 99.4):.2f}" y="2" width="{width:.2f}" height="4"/>',
        f'<rect class="mark" x="{min(max(places[2] - 0.5, 0), 99):.2f}" y="0" width="1" height="8"/>',
    ]
    return (
        f'<svg class="range" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
    )


def _svg(parts: Iterable[str], wide: float, high: float, label: str) -> str:
    return f'<svg viewBox="0 0 {wide:g} {high:g}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
