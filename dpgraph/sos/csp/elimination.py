"""Exact elimination of variables of a 2-CSP, one after the other (Dechter 1999).

A variable v and the tables that mention it are replaced by one table on its neighbours, whose entries are the least
cost over the labels of v. In an order in which no table has more than w variables besides the eliminated one, that
takes q^(w+1) steps a variable: w = 1 for forests, 2 for series-parallel graphs and cacti. The order takes next what
adds the fewest pairs of neighbours (min-fill). Where that would be too much, only variables of up to two neighbours go
(:mod:`dpgraph.sos.csp.series`), and what is left is a smaller 2-CSP.

Most large tables are forgotten once they are used: the few entries that the best labels need are computed again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.orders import MOST_STEPS, elimination_order, level_order
from dpgraph.sos.csp.series import MOST_MORE, Series
from dpgraph.sos.csp.tables import KINDS, Minimum, Part, Places, Scope, Table
from dpgraph.threads import deadline, time_is_up
from dpgraph.typing import IntArray

_LARGEST = 2**24  # entries of a table
_STEPS_A_SECOND = 4e9
_SECONDS_OF_A_PAIR = 1e-5  # to find an order
_TELLING = 0.2  # of the time that is left: so much tells whether the rest will do
_ROOM = 2**31  # bytes of all tables
_SMALL = 2**16  # entries of a table that is kept
_STEPS_OF_AN_ENTRY = 2**13  # that is computed again
_MOST_ASKED = 2**23  # steps for what is asked of a bucket


@dataclass(frozen=True, eq=False)
class Core:
    """What elimination has left of a 2-CSP: variables `kept`, none if all are eliminated in the `order`."""

    costs: IntegerCosts
    kept: IntArray
    order: list[int]
    complete: Callable[[IntArray], int]  #: as :meth:`Series.complete`

    def lift(self, labels: IntArray) -> IntArray:
        """The best labels of all variables beside those of the kept ones."""
        whole = np.zeros(self.kept.size + len(self.order), dtype=np.int64)
        whole[self.kept] = labels
        self.complete(whole)
        return whole

    def best(self) -> tuple[IntArray, int]:
        """The best labels, if all variables are eliminated, and what any others cost more at least."""
        whole = np.zeros(len(self.order), dtype=np.int64)
        return whole, self.complete(whole)


def reduced(costs: IntegerCosts, most_steps: float = math.inf) -> Core:
    """The 2-CSP without the variables that can be eliminated: all of them, if there is time for so many steps.

    Time that is up leaves what it has not reached.
    """
    series = Series(costs)
    core = Core(series.costs, series.kept, series.order, series.complete)
    n, q = core.costs.single.shape
    if n == 0 or time.monotonic() + _SECONDS_OF_A_PAIR * len(core.costs.pairs) > deadline():
        return core
    pairs, widest = core.costs.pairs, int(math.log(_LARGEST, q) + 1e-9)
    order, steps = elimination_order(n, q, pairs, widest)
    if len(order) < n and not time_is_up():
        order, steps = level_order(n, q, pairs, widest)
    affordable = min(MOST_STEPS, most_steps, _STEPS_A_SECOND * (deadline() - time.monotonic()))
    if len(order) < n or steps > affordable or (found := _eliminated(core.costs, order)) is None:
        return core
    best, more = found

    def complete(labels: IntArray) -> int:
        labels[core.kept] = best
        return min(more, core.complete(labels))

    return Core(core.costs.conditioned(best), core.kept[:0], core.order + core.kept[order].tolist(), complete)


@dataclass(eq=False)
class _Bucket:
    """A variable, and the tables that mention it and nothing that was eliminated before."""

    variable: int
    q: int
    given: list[Part] = field(default_factory=list)
    before: list[_Bucket] = field(default_factory=list)  #: whose tables come here
    around: Scope = ()  #: the variables of the table that is left
    whole: int = 0  #: entries of all tables up to that
    least: Minimum = field(init=False)  #: that table
    steps: int = 0  #: for one entry of it
    kept: bool = True  #: whether it is there to the end
    unit: int = 1  #: of the entries of all tables
    top: int = 0  #: the largest entry of the one that is left
    lowered: int = 0  #: what its entries have lost
    base: int = 0  #: the cost of what has been lost up to then
    rounded: int = 0  #: the cost that rounding has lost at most
    asked: IntArray = field(default_factory=lambda: np.zeros((1, 0), dtype=np.int64))  #: labels of its variables
    values: IntArray = field(init=False)  #: costs by these and the own label
    wanted: NDArray[np.bool_] = field(init=False)  #: those that may be least
    rows: list[IntArray] = field(default_factory=list)  #: by these, of those before

    @property
    def size(self) -> int:
        """Entries of the table that is left."""
        return int(self.q ** len(self.around))

    def join(self, place: IntArray) -> None:
        """Find the variables of the table, once those before have theirs; those of most entries are to be first."""
        scopes = [*(part for part, _ in self.given), *(bucket.around for bucket in self.before)]
        self.around = tuple(sorted({u for scope in scopes for u in scope} - {self.variable}, key=place.__getitem__))
        self.before.sort(key=lambda bucket: -bucket.whole)
        self.whole = self.size + sum(bucket.whole for bucket in self.before)

    def table(self, room: Table) -> Table:
        """The table that is left."""
        return room[self.least.start : self.least.start + self.size]

    def write(self, room: Table, given: IntArray) -> None:
        """Write it, as what entries are above the least one, in the smallest unit in which no sum is too large."""
        places = [slice(start, start + self.q ** len(part)) for part, start in self.given]
        tops = [int(given[place].max()) for place in places] + [bucket.top * bucket.unit for bucket in self.before]
        beyond = sum(tops).bit_length() - int(np.iinfo(room.dtype).max).bit_length()
        self.unit = max([1 << max(beyond, 0), *(bucket.unit for bucket in self.before)])
        for place in places:
            room[place] = given[place] // self.unit
        for bucket in self.before:
            bucket.table(room)[:] >>= (self.unit // bucket.unit).bit_length() - 1
        self.least.write(room)
        table = self.table(room)
        self.lowered = int(table.min())
        table -= table.dtype.type(self.lowered)
        self.top = int(table.max())
        self.base = self.lowered * self.unit + sum(bucket.base for bucket in self.before)
        self.rounded = (self.unit - 1) * len(tops) + sum(bucket.rounded for bucket in self.before)

    def lay_out(self, places: Places) -> None:
        """Find a place for the table, and give back those of tables before that are not kept."""
        parts = self.given + [(bucket.least.scope, bucket.least.start) for bucket in self.before]
        self.least = Minimum.of((self.variable, *self.around), parts, self.q, places)
        forgotten = [bucket for bucket in self.before if not bucket.kept]
        for bucket in forgotten:
            places.give(bucket.least.start, bucket.size)
        self.steps = self.q * (len(parts) + sum(bucket.steps for bucket in forgotten))
        self.kept = self.size <= _SMALL or self.steps > _STEPS_OF_AN_ENTRY

    def given_sums(self, room: Table, labels: IntArray) -> IntArray:
        """The sum of the given tables, for labels of the variable and the others (rows)."""
        given = self.least.parts[: len(self.given)]
        return np.asarray(room[given[:, 0] + labels @ given[:, 1:].T].sum(axis=1, dtype=np.int64))

    def sums(self, room: Table, labels: IntArray) -> IntArray:
        """The sum of all tables, for labels of the others (rows), by the own label."""
        whole = np.column_stack([np.tile(np.arange(self.q), len(labels)), np.repeat(labels, self.q, axis=0)])
        total = self.given_sums(room, whole)
        for bucket, steps in self._before():
            total += bucket.entries(room, whole @ steps) // (1 if bucket.kept else self.unit // bucket.unit)
        return total.reshape(-1, self.q)

    def entries(self, room: Table, places: IntArray) -> IntArray:
        """Those of the table that is left at some places of it."""
        if self.kept:
            return np.asarray(room[self.least.start + places])
        return np.asarray(self.sums(room, self.labels(places)).min(axis=1)) - self.lowered

    def labels(self, places: IntArray) -> IntArray:
        """Labels of the variables of the table that is left, by places (rows)."""
        return places[:, None] // self.q ** np.arange(len(self.around))[::-1] % self.q

    def _before(self) -> Iterable[tuple[_Bucket, IntArray]]:
        """Those before, and the steps of their tables by the label of the variable and of the others."""
        return zip(self.before, self.least.parts[len(self.given) :, 1:], strict=True)

    def ask(self, room: Table) -> bool:
        """Ask those before for what may matter here, unless that is much; whether it is not."""
        if len(self.asked) > 1 and len(self.asked) * self.steps > _MOST_ASKED:
            return False
        lowest = self.values = self.sums(room, self.asked) * self.unit + sum(bucket.base for bucket in self.before)
        self.wanted = lowest < lowest.min(axis=1, keepdims=True) + self.rounded
        self.wanted[np.arange(len(lowest)), lowest.argmin(axis=1)] = True
        row, own = np.nonzero(self.wanted)
        labels = np.column_stack([own, self.asked[row]])
        for bucket, steps in self._before():
            asked, rows = np.unique(labels @ steps, return_inverse=True)
            bucket.asked = bucket.labels(asked)
            self.rows.append(rows)
        return True

    def answer(self, given: IntArray) -> bool:
        """Exact values in place of those of tables, where these may be least; whether no other value is less."""
        row, own = np.nonzero(self.wanted)
        exact = self.given_sums(given, np.column_stack([own, self.asked[row]]))
        for bucket, rows in zip(self.before, self.rows, strict=True):
            exact += bucket.values.min(axis=1)[rows]
        self.values[self.wanted] = exact
        return bool(self.wanted[np.arange(len(self.values)), self.values.argmin(axis=1)].all())


def _eliminated(costs: IntegerCosts, order: list[int]) -> tuple[IntArray, int] | None:
    """Eliminate all in this order: the best labels, and what others cost more; None where there is no time or room.

    Tables hold small numbers that no cost is below: costs are rounded down. That leaves few labels that may be the
    best; all that is asked of them is computed exactly. Where that is too much, or a label that was left out may be
    the best, numbers are larger, and in the end exact.
    """
    given = np.append(costs.single, costs.pair)
    for kind in KINDS:
        buckets, size = _buckets(costs, order)
        if float(size) * np.dtype(kind).itemsize > _ROOM:
            return None
        room = np.empty(size, dtype=kind)
        if not _written(buckets, room, given):
            return None
        told = all(bucket.ask(room) for bucket in reversed(buckets))
        if told and all(bucket.answer(given) for bucket in buckets):
            return _best(buckets)
    return None


def _written(buckets: list[_Bucket], room: Table, given: IntArray) -> bool:
    """Write the tables of all buckets, unless the time that is left will not do; whether it did."""
    began, work = time.monotonic(), np.cumsum([float(bucket.size) for bucket in buckets])
    for bucket, share in zip(buckets, work / work[-1], strict=True):
        bucket.write(room, given)
        spent, left = time.monotonic() - began, deadline() - time.monotonic()
        if left <= 0.0 or (spent > _TELLING * left and spent * (1.0 / share - 1.0) > left):
            return False
    return True


def _buckets(costs: IntegerCosts, order: list[int]) -> tuple[list[_Bucket], int]:
    """The buckets of all variables, those before first, with places of all tables; and the end of these."""
    n, q = costs.single.shape
    place, buckets = np.argsort(order), [_Bucket(v, q) for v in order]
    scopes: list[Scope] = [*((v,) for v in range(n)), *zip(*costs.pairs.T.tolist(), strict=True)]
    for k, scope in enumerate(scopes):
        buckets[place[list(scope)].min()].given.append((scope, q * k if k < n else q * (n + q * (k - n))))
    for bucket in buckets:
        bucket.join(place)
        if bucket.around:
            buckets[place[bucket.around[0]]].before.append(bucket)
    last_first, waiting = list[_Bucket](), [bucket for bucket in buckets if not bucket.around]
    while waiting:
        last_first.append(waiting.pop())
        waiting += last_first[-1].before
    places = Places(costs.single.size + costs.pair.size)
    for bucket in reversed(last_first):
        bucket.lay_out(places)
    return last_first[::-1], places.end


def _best(buckets: list[_Bucket]) -> tuple[IntArray, int]:
    """The best labels, and the least that another one costs more, as in :meth:`Series.complete`."""
    labels, more = np.zeros(len(buckets), dtype=np.int64), MOST_MORE
    for bucket in reversed(buckets):
        values = bucket.values[(bucket.asked == labels[list(bucket.least.scope)]).all(axis=1).argmax()]
        own = labels[bucket.variable] = int(values.argmin())
        more = min(more, int(np.delete(values, own).min(initial=MOST_MORE + values[own]) - values[own]))
    return labels, more
