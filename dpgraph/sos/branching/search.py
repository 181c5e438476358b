"""Best-first branch and bound."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.proofs import Part
from dpgraph.sos.solution import is_optimal, relative_gap, to_beat
from dpgraph.typing import FloatArray


class Bounded(Protocol):
    """What is known of a part of the cuts."""

    @property
    def bound(self) -> float:
        """None of them is worth more."""

    @property
    def part(self) -> Part:
        """What shows that, and what it was divided into."""


Node = TypeVar("Node", bound=Bounded)


class Incumbent:
    """The best cut so far, and which parts of the search it closes."""

    def __init__(self, objective: CutObjective, cut: FloatArray, gap_tol: float = 0.0, deadline: float = math.inf):
        self.objective, self.cut, self.value = objective, cut, objective.cut_value(cut)
        self.gap_tol, self.deadline = gap_tol, deadline

    def offer(self, cut: FloatArray) -> None:
        """Take a cut if it is better."""
        value = self.objective.cut_value(cut)
        if value > self.value:
            self.cut, self.value = cut, value

    def closes(self, bound: float) -> bool:
        """Whether cuts up to `bound` need not be looked at."""
        return is_optimal(self.objective, self.value, bound) or relative_gap(self.value, bound) <= self.gap_tol

    def to_beat(self) -> float:
        """A bound up to this closes, but perhaps for rounding."""
        value = self.value
        return max(to_beat(self.objective, value), value + max(0.5e-12, self.gap_tol) * abs(value))

    def out_of_time(self) -> bool:
        """Whether the deadline, a time of ``time.monotonic``, has passed."""
        return time.monotonic() >= self.deadline


def best_first(root: Node, branch: Callable[[Node], Iterable[Node]], best: Incumbent) -> float:
    """A bound on all cuts of the root: of the parts that are open at the end, and of those that were closed.

    `branch` divides a part, and offers the cuts that it finds; an empty division leaves the part as it is. It writes
    the division to the part of the node.
    """
    count = itertools.count()
    open_, closed = [(-root.bound, next(count), root)], -math.inf
    while open_ and not best.closes(-open_[0][0]) and not best.out_of_time():
        upper, _, node = heapq.heappop(open_)
        children = list(branch(node))
        closed = closed if children else max(closed, -upper)
        for child in children:
            bound = min(child.bound, -upper)
            if best.closes(bound):
                closed = max(closed, bound)
            else:
                heapq.heappush(open_, (-bound, next(count), child))
    return max(closed, -open_[0][0] if open_ else -math.inf)
