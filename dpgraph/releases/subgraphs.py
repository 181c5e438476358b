"""Counts of subgraphs, released by ladders, by smooth sensitivity, or after a bound on local sensitivity.

One edge changes a count by at most its *width*, which is private; the width changes by at most a second one, and so on.
The theorems: :mod:`dpgraph.bounds.ladder`. What one pair adds to a count: :class:`~dpgraph.linalg.subgraphs.Subgraphs`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpgraph.bounds import ladder
from dpgraph.distributed.graph import DistributedGraph
from dpgraph.distributed.triangles import DistributedSubgraphs
from dpgraph.graph import Graph
from dpgraph.linalg.subgraphs import OF_SQUARE, ORDERS, Subgraphs
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.exact_sampling import reach_of_rungs
from dpgraph.tuning import COUNTS

#: A share of a budget may have lost its last digits when it is released.
_ROUNDED = 1 - 1e-9
#: Noise of a ladder exceeds so many rungs over its rate with a probability of 5 % on either side.
_SURE = math.log(10)


class ReleasedCount(NamedTuple):
    """A released count and the public law of its noise, as :attr:`dpgraph.PrivateCounts.noise` states it."""

    value: int
    noise: dict[str, Any]


def subgraphs_of(graph: Graph) -> Subgraphs:
    """The exact counts of a private graph, and their widths."""
    if isinstance(graph, DistributedGraph):
        return DistributedSubgraphs(graph)
    return Subgraphs(graph.adjacency.indptr, graph.adjacency.indices)


def check_counts(shares: Mapping[str, float], epsilon: float, *, smooth: bool = False) -> None:
    """Refuse an epsilon of which the share of a pattern has a part that is too small for a release."""
    for pattern, share in shares.items():
        order, whole = ORDERS[pattern], epsilon * share * _ROUNDED
        (ladder.check_smooth if smooth else ladder.check_counts)(whole * (1 - order * _width_share(order)))
        if order:
            ladder.check_counts(whole * _width_share(order))


def release_by_ladder(subgraphs: Subgraphs, pattern: str, call: Call) -> ReleasedCount:
    """Release a count by the ladder of its raised widths, and each width by that of the later ones.

    A ladder draws an integer with a probability that falls by a factor from rung to rung around the exact value; widths
    say how many integers a rung holds.
    """
    found = _released_widths(subgraphs, pattern, call)
    part = _count_part(call, ORDERS[pattern])
    value, exponent = _on_ladder(f"{pattern} count", subgraphs.count(pattern), found.own, found.floors, part)
    return ReleasedCount(value, found.law("ladder", pattern, exponent))


def release_by_smooth_sensitivity(subgraphs: Subgraphs, pattern: str, call: Call) -> ReleasedCount:
    """Release a count with Cauchy noise in proportion to its smooth sensitivity, and each width by a ladder."""
    found = _released_widths(subgraphs, pattern, call)
    part = _count_part(call, ORDERS[pattern])
    scale = ladder.smooth_scale(found.own, part.epsilon)
    # The line is in units of the smooth sensitivity.
    part.scale(f"{pattern} count", part.epsilon / ladder.smooth_shift_epsilon(part.epsilon), law="Cauchy")
    value = part.noise.cauchy(subgraphs.count(pattern), scale, ladder.SCALE_BITS)
    return ReleasedCount(value, found.law("Cauchy", pattern, 0) | {"epsilon": part.epsilon})


def release_by_local_bounds(subgraphs: Subgraphs, pattern: str, call: Call, delta: float) -> ReleasedCount:
    """Release upper bounds on the widths, from the last to the first, and the count with Laplace noise for the last.

    The bounds take half of the budget. Each is c_j, with Laplace noise for the bound on c_{j+1}, plus a quantile. It is
    below c_j with probability `delta`/J at most. Where no bound fails, neighbouring values differ by no more
    than the bound: they differ by at most min(c_{j+1}, c_{j+1}').
    """
    widths, order, bound = subgraphs.widths(pattern), ORDERS[pattern], 1
    for j in reversed(range(order)):
        part = call.part(1 / 2 / order)
        released, scale = _with_laplace(f"{pattern}, bound on width {j}", widths[j], bound, part)
        slack = part.laplace_event(f"{pattern}, width {j} below its bound", delta / order, scale=scale)
        # What is released is the double nearest to a point of the grid: at most half a unit of its last place away.
        bound = max(released + slack + int(math.ulp(released) / 2), 1)
    last = call.part(1 / 2)
    count, scale = _with_laplace(f"{pattern} count", subgraphs.count(pattern), bound, last)
    return ReleasedCount(count, {"law": "Laplace", "scale": scale})


def _count_part(call: Call, order: int) -> Call:
    """What the widths leave to the count."""
    return call.part(1 - order * _width_share(order))


def _width_share(order: int) -> float:
    return COUNTS.width_shares[order > 1]


class _Widths(NamedTuple):
    """Widths, first to last: private ones, raised by public floors; those released; exponents of their ladders."""

    own: tuple[int, ...]
    published: tuple[int, ...]
    least: int
    floors: tuple[int, ...]
    exponents: tuple[int, ...]

    def law(self, name: str, pattern: str, exponent: int) -> dict[str, Any]:
        """As :attr:`dpgraph.PrivateCounts.noise` states it."""
        law: dict[str, Any] = {"law": name, "widths": self.published, "floor": self.least, "floors": self.floors}
        law["exponents"] = (exponent, *self.exponents)
        return law | ({"of_square": OF_SQUARE[pattern]} if pattern in OF_SQUARE else {})


def _released_widths(subgraphs: Subgraphs, pattern: str, call: Call) -> _Widths:
    """Release each width, from last to first, raised by the `least` floor, and choose its floor by what was released.

    The larger a floor is, the faster a ladder falls; noise is larger where it is above the width. So it is a lower
    limit of the width, which the noise exceeds with a probability of 5 %, and no larger than the next floor.
    """
    order, exact = ORDERS[pattern], subgraphs.widths(pattern)
    least = math.ceil(COUNTS.floor / call.epsilon)
    found = _Widths((exact[-1],), (1,), least, (), ())
    for j in reversed(range(order)):
        width, *_ = ladder.raised_widths((exact[j], *found.own), (least, *found.floors))
        part = call.part(_width_share(order))
        value, exponent = _on_ladder(f"{pattern}, width {j}", width, found.own, found.floors, part)
        rungs = math.ceil(_SURE * 2.0**ladder.RATE_BITS / exponent)
        limit = value - reach_of_rungs(found.published, rungs)
        floors = (min([max(limit // found.published[0], least), *found.floors[:1]]), *found.floors)
        own, published = (
            ladder.raised_widths((first, *later), floors)
            for first, later in ((width, found.own), (value, found.published))
        )
        found = _Widths(own, published, least, floors, (exponent, *found.exponents))
    return found


def _on_ladder(name: str, value: int, widths: Sequence[int], floors: Sequence[int], call: Call) -> tuple[int, int]:
    """Release an integer for all of this part; the scale of its line is in rungs."""
    exponent = ladder.rung_exponent(call.epsilon, floors)
    call.scale(name, call.epsilon / (exponent / 2.0**ladder.RATE_BITS), law="ladder")
    return call.noise.on_ladder(value, widths, exponent), exponent


def _with_laplace(name: str, value: int, bound: int, call: Call) -> tuple[int, float]:
    """Release an integer; the scale of the noise too. A large integer is the sum of two doubles."""
    low = value % 2**50
    parts = np.array([float(value - low)]), np.array([float(low)])
    sensitivity = _not_below(bound)
    released = call.release(Measurement(name, parts, l1=sensitivity, unit=1.0))
    return round(released.number), sensitivity / call.epsilon


def _not_below(number: int) -> float:
    """The least double that is no smaller."""
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)
