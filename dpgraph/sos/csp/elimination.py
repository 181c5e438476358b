"""Exact elimination of variables of a 2-CSP, one after the other (Dechter 1999).

A variable v and the tables that mention it are replaced by one table on its neighbours, whose entries are the least
cost over the labels of v. In an order in which no table has more than w variables besides the eliminated one, that
takes q^(w+1) steps a variable and room for q^w: w = 1 for forests, 2 for series-parallel graphs and cacti. The order
takes next what adds the fewest pairs of neighbours (min-fill). Where that would be too much, only variables of up to
two neighbours go (:mod:`dpgraph.sos.csp.series`), and what is left is a smaller 2-CSP.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.compiled import OF_NUMPY, njit, worth_compiling
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.series import MOST_MORE, Series
from dpgraph.threads import NEVER, Stop, deadline, on_threads, thread_count, time_is_up
from dpgraph.typing import IntArray

#: Entries of the largest table, and steps for all of them: some seconds.
_LARGEST, _MOST = 2**24, 2**33
_STEPS_A_SECOND = 2e9
_TELLING = 0.2  # of the time that is left: so much tells whether the rest will do
_AT_ONCE = 2**22  # steps of a variable that need no threads
_INNER = 128  # entries of the innermost loops
_ROOM = 2**31  # bytes of all tables
_MOST_ASKED = 2**16  # labels of a variable that are looked at again
#: Types of numbers in tables: sixteen or eight of the first are added at once, and the last holds all costs.
Kind = type[np.integer[Any]]
KINDS: tuple[Kind, Kind, Kind] = np.uint16, np.uint32, np.int64

Table = NDArray[Any]
#: Variables: the axes of a table.
Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Core:
    """What elimination has left of a 2-CSP: variables `kept`, none if all are eliminated in the `order`."""

    costs: IntegerCosts
    kept: IntArray
    order: list[int]
    complete: Callable[[IntArray], int]  #: as :meth:`Series.complete`
    steps: float = math.inf  #: for all variables, if tables stay small enough

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


def reduced(costs: IntegerCosts, most: float = _MOST) -> Core:
    """The 2-CSP without the variables that can be eliminated: all of them, if that takes at most so many steps.

    Time that is up leaves what it has not reached.
    """
    series = Series(costs)
    core = Core(series.costs, series.kept, series.order, series.complete, 0.0)
    n, q = core.costs.single.shape
    if n == 0 or time_is_up():
        return core if n == 0 else replace(core, steps=math.inf)
    pairs, widest = core.costs.pairs, int(math.log(_LARGEST, q) + 1e-9)
    order, steps = elimination_order(n, q, pairs, widest)
    if len(order) < n and not time_is_up():
        order, steps = level_order(n, q, pairs, widest)
    if len(order) < n or steps > min(most, affordable()) or (found := _eliminated(core.costs, order)) is None:
        return replace(core, steps=steps)
    best, more = found

    def complete(labels: IntArray) -> int:
        labels[core.kept] = best
        return min(more, core.complete(labels))

    left = core.costs.conditioned(best)
    return Core(left, core.kept[:0], core.order + core.kept[order].tolist(), complete, steps)


def affordable() -> float:
    """Steps for which there is time."""
    return min(_MOST, _STEPS_A_SECOND * (deadline() - time.monotonic()))


def elimination_order(n: int, q: int, pairs: IntArray, widest: int) -> tuple[list[int], float]:
    """An order by least fill-in and then least degree, of all that have at most `widest` neighbours then; the steps."""
    neighbours = _neighbours(n, pairs)
    order, steps, gone = list[int](), 0.0, set[int]()

    def keys(variables: Iterable[int]) -> Iterable[tuple[int, int, int]]:
        for v in variables:
            near = neighbours[v]
            if len(near) <= widest:
                if time_is_up():
                    return
                yield sum(b not in neighbours[a] for a, b in combinations(near, 2)), len(near), v

    heap = list(keys(range(n)))
    current = {entry[2]: entry for entry in heap}
    heapq.heapify(heap)
    while heap and steps <= _MOST and not time_is_up():
        entry = heapq.heappop(heap)
        v = entry[2]
        if current.get(v) != entry:
            continue
        steps += float(q) ** (len(neighbours[v]) + 1)
        order.append(v)
        gone.add(v)
        changed = join_neighbours(neighbours, v) - gone
        for u in (*changed, v):
            current.pop(u, None)
        for fresh in keys(changed):
            current[fresh[2]] = fresh
            heapq.heappush(heap, fresh)
    return order, steps if len(order) == n else math.inf


def level_order(n: int, q: int, pairs: IntArray, widest: int) -> tuple[list[int], float]:
    """The order of a search in breadth (Cuthill, McKee 1969), which is the better one on grids; the steps.

    They are infinite where a variable has more than `widest` neighbours then.
    """
    graph = sparse.coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n, n)).tocsr()
    order = sparse.csgraph.reverse_cuthill_mckee(graph + graph.T, symmetric_mode=True).tolist()
    neighbours, steps = _neighbours(n, pairs), 0.0
    for v in order:
        if len(neighbours[v]) > widest or steps > _MOST or time_is_up():
            return order, math.inf
        steps += float(q) ** (len(neighbours[v]) + 1)
        join_neighbours(neighbours, v)
    return order, steps


def _neighbours(n: int, pairs: IntArray) -> list[set[int]]:
    ends, others = np.append(pairs, pairs[:, ::-1], axis=0).T
    near = others[np.argsort(ends, kind="stable")].tolist()
    places = np.cumsum(np.bincount(ends, minlength=n)).tolist()
    return [set(near[first:last]) for first, last in pairwise([0, *places])]


def join_neighbours(neighbours: list[set[int]], v: int) -> set[int]:
    """Join the neighbours of v to each other, and take v away: the vertices whose fill-in may have changed."""
    near = neighbours[v]
    changed = set(near)
    for u in near:
        neighbours[u].discard(v)
    for a, b in combinations(near, 2):
        if b not in neighbours[a]:
            changed |= neighbours[a] & neighbours[b]
            neighbours[a].add(b)
            neighbours[b].add(a)
    return changed


@dataclass(eq=False)
class _Bucket:
    """A variable, and the tables that mention it and nothing that was eliminated before.

    A table is a part of a room: its variables, in the order of its axes, and where it begins.
    """

    variable: int
    q: int
    parts: list[tuple[Scope, int]] = field(default_factory=list)
    before: list[_Bucket] = field(default_factory=list)  #: whose table came here
    rounded: int = 0  #: units that the tables lack at most
    scope: Scope = ()  #: the other variables, in the order of the table that is left
    start: int = 0  #: where that begins
    inner: int = 0  #: how many of them are innermost
    tables: IntArray = field(init=False)  #: where each begins, its steps by variable and scope
    sums_of: list[tuple[list[int], list[list[int]]]] = field(
        default_factory=list
    )  #: a table, and what it is the sum of
    asked: IntArray = field(default_factory=lambda: np.zeros((1, 0), dtype=np.int64))  #: labels of the scope
    values: IntArray = field(init=False)  #: by these and the own label
    wanted: NDArray[np.bool_] = field(init=False)  #: those that may be least
    rows: list[IntArray] = field(default_factory=list)  #: by these, of those before

    def lay_out(self, place: IntArray, end: int) -> int:
        """Order the scope, and put the table that is left, and copies, in the room behind an end; the next end."""
        scope = sorted({u for part, _ in self.parts for u in part} - {self.variable}, key=place.__getitem__)
        inner = min(math.ceil(math.log(_INNER, self.q)), len(scope))
        self.scope, self.inner, self.start = _ordered(scope, [part for part, _ in self.parts], inner), inner, end
        axis = {u: k for k, u in enumerate((self.variable, *self.scope), 1)}
        alike: dict[object, list[list[int]]] = {}
        for part, first in self.parts:
            steps = {axis[u]: self.q**k for k, u in enumerate(reversed(part))}
            row = [first, *(steps.get(k, 0) for k in range(1, len(axis) + 1))]
            alike.setdefault(frozenset(part) if len(part) > 2 else first, []).append(row)
        end += self.q ** len(self.scope)
        tables, outer = list[list[int]](), len(axis) + 1 - inner
        powers = [self.q**k for k in range(len(axis))]
        for rows in alike.values():
            new = rows[0]
            if outer > 2 and new[outer - 1] and any(new[outer:]) and new[outer:] != powers[:inner][::-1]:
                used = [*range(len(axis), outer - 1, -1), 1, *(k for k in range(outer - 1, 1, -1) if new[k])]
                if len(used) < len(axis):  # is read for each turn, but not in one piece
                    new = [end, *(powers[used.index(k)] if k in used else 0 for k in range(1, len(axis) + 1))]
                    end += self.q ** len(used)
            if new is not rows[0] or len(rows) > 1:
                self.sums_of.append((new, rows))
            tables.append(new)
        self.tables = np.array(tables)
        return end

    def least(self, room: Table) -> None:
        """Write the least over the labels of the variable."""
        for new, rows in self.sums_of:
            axes = [k for k in range(1, len(new)) if new[k]]
            total = _view(room, new, axes, self.q)
            if new is not rows[0]:
                total[...] = _view(room, rows[0], axes, self.q)
            for row in rows[1:]:
                total += _view(room, row, axes, self.q)
        least_over(room, self.tables, self.start, self.q, self.inner)

    def sums(self, room: Table, labels: IntArray) -> IntArray:
        """The sum of the tables that lie in this room, for labels of the scope (rows), by the own label."""
        tables = self.tables[self.tables[:, 0] < room.size]
        at = tables[:, 0] + labels @ tables[:, 2:].T
        return np.asarray(room[at[..., None] + tables[:, 1:2] * np.arange(self.q)].sum(axis=1, dtype=np.int64))

    def ask(self, room: Table) -> bool:
        """Ask those before for what may matter here; whether that is little."""
        lowest = self.values = self.sums(room, self.asked)
        self.wanted = lowest <= lowest.min(axis=1, keepdims=True) + self.rounded + 1
        row, own = np.nonzero(self.wanted)
        labels = np.column_stack([own, self.asked[row]])
        for bucket in self.before:
            columns = [(self.variable, *self.scope).index(u) for u in bucket.scope]
            powers = self.q ** np.arange(len(columns))
            asked, rows = np.unique(labels[:, columns] @ powers, return_inverse=True)
            bucket.asked = asked[:, None] // powers % self.q
            self.rows.append(rows)
        return len(labels) <= _MOST_ASKED

    def answer(self, given: IntArray, unit: int) -> None:
        """Exact values in place of those of tables, where these do not tell which is least."""
        exact = self.sums(given, self.asked)[self.wanted]
        for bucket, rows in zip(self.before, self.rows, strict=True):
            exact += bucket.values.min(axis=1)[rows]
        self.values *= unit
        self.values[self.wanted] = exact

    def beside(self, labels: IntArray, room: Table) -> IntArray:
        """What its labels cost beside those of the scope, in the best case."""
        here = labels[list(self.scope)]
        if not self.rounded:
            return np.asarray(self.sums(room, here[None])[0])
        return np.asarray(self.values[(self.asked == here).all(axis=1).argmax()])


def _eliminated(costs: IntegerCosts, order: list[int]) -> tuple[IntArray, int] | None:
    """Eliminate all in this order: the best labels, and what others cost more; None where there is no time or room.

    Tables hold costs in small numbers, rounded down. What is rounded leaves few labels that may be the best; all that
    is asked of them is computed exactly, and where that is too much, all tables are.
    """
    total = int(costs.single.max(axis=1).sum()) + int(costs.pair.max(axis=(1, 2), initial=0).sum())
    given = np.append(costs.single, costs.pair)
    for kind in (KINDS[0] if total <= np.iinfo(KINDS[0]).max else KINDS[1], KINDS[2]):
        unit = 1 + total // (int(np.iinfo(kind).max) + 1)
        buckets, size = _buckets(costs, order, given.size, unit)
        if float(size) * np.dtype(kind).itemsize > _ROOM:
            return None
        room = np.empty(size, dtype=kind)
        room[: given.size] = given // unit
        began, work = time.monotonic(), np.cumsum([float(bucket.q) ** len(bucket.scope) for bucket in buckets])
        for bucket, share in zip(buckets, work / work[-1], strict=True):
            bucket.least(room)
            spent, left = time.monotonic() - began, deadline() - time.monotonic()
            if left <= 0.0 or (spent > _TELLING * left and spent * (1.0 / share - 1.0) > left):
                return None
        if unit > 1:
            if not all(bucket.ask(room) for bucket in reversed(buckets)):
                continue
            for bucket in buckets:
                bucket.answer(given, unit)
        return _best(buckets, room)
    return None


def _buckets(costs: IntegerCosts, order: list[int], end: int, unit: int) -> tuple[list[_Bucket], int]:
    """The buckets of all variables in this order, with places of all that they leave behind the `end`; and its end."""
    n, q = costs.single.shape
    place, buckets = np.argsort(order), [_Bucket(v, q) for v in order]
    scopes: list[Scope] = [*((v,) for v in range(n)), *zip(*costs.pairs.T.tolist(), strict=True)]
    for k, scope in enumerate(scopes):
        bucket = buckets[place[list(scope)].min()]
        bucket.parts.append((scope, q * k if k < n else q * (n + q * (k - n))))
        bucket.rounded += unit > 1
    for bucket in buckets:
        end = bucket.lay_out(place, end)
        if bucket.scope:
            after = buckets[place[list(bucket.scope)].min()]
            after.parts.append((bucket.scope, bucket.start))
            after.before.append(bucket)
            after.rounded += bucket.rounded
    return buckets, end


def _best(buckets: list[_Bucket], room: Table) -> tuple[IntArray, int]:
    """The best labels, and the least that another one costs more, as in :meth:`Series.complete`."""
    labels, more = np.zeros(len(buckets), dtype=np.int64), MOST_MORE
    for bucket in reversed(buckets):
        values = bucket.beside(labels, room)
        own = labels[bucket.variable] = int(values.argmin())
        more = min(more, int(np.delete(values, own).min(initial=MOST_MORE + values[own]) - values[own]))
    return labels, more


def _ordered(scope: list[int], parts: list[Scope], inner: int) -> Scope:
    """The scope as rows, a variable that takes turns, and so many innermost ones.

    Large tables are read once for all turns, where they do not mention that variable; where they do, they are to
    mention what is innermost, best as their own last axes. What is eliminated late stays innermost.
    """
    if len(scope) <= inner:
        return tuple(scope)
    large = sorted((part for part in parts if len(part) > max(len(scope) - inner, 2)), key=len, reverse=True)
    turn = min(scope, key=lambda u: sum(u in part for part in large))
    turning = [part for part in large if turn in part]
    count = {u: sum(u in part for part in turning) for u in scope if u != turn}
    last = tuple(sorted(count, key=count.__getitem__)[-inner:])
    for part in reversed(turning + large):
        if {*part[-inner:]} <= {*count} and sum(count[u] for u in part[-inner:]) >= sum(count[u] for u in last):
            last = part[-inner:]
    rows = sorted({*count} - {*last}, key=lambda u: (-count[u], large[0].index(u) if large and u in large[0] else -1))
    return (*rows, turn, *last)


def _view(room: Table, table: list[int], axes: Sequence[int], q: int) -> Table:
    """A table in the room, by the labels of some axes: what it does not mention has steps of zero."""
    size = room.itemsize
    return np.ndarray((q,) * len(axes), room.dtype, room, table[0] * size, [table[axis] * size for axis in axes])


def _sum(room: Table, tables: IntArray, axes: Sequence[int], q: int) -> Table:
    total = np.zeros((q,) * len(axes), dtype=room.dtype)
    for table in tables.tolist():
        total += _view(room, table, axes, q)
    return total


def least_over(room: Table, tables: IntArray, start: int, q: int, inner: int) -> None:
    """Write the least of the sum of tables over the labels of a variable, by those of others, at a place of the room.

    Of each table there is where it begins, and its steps from a label to the next, of the variable and of the others,
    of which so many are innermost.
    """
    width = tables.shape[1]
    work, left = float(q) ** (width - 1), room[start : start + q ** (width - 2)]
    if inner == width - 2 or not worth_compiling(_least_sums, OF_NUMPY * work):
        left[:] = _sum(room, tables, range(1, width), q).min(axis=0).ravel()
        return
    left[:] = np.iinfo(room.dtype).max
    outer = width - inner
    within, beside = tables[:, outer:].any(axis=1), tables[:, 2:outer].any(axis=1)
    always = _sum(room, tables[~beside], [1, *range(outer, width)], q).reshape(q, -1)
    first = _sum(room, tables[beside & ~within], [*range(2, outer), 1], q).reshape(-1, q if outer > 2 else 1, q)
    large = tables[beside & within]
    large = large[np.argsort(large[:, outer - 1] > 0, kind="stable")]
    index = large[:, outer:] @ np.indices((q,) * inner).reshape(inner, q**inner)
    rows = np.arange(len(first))[:, None] // q ** np.arange(max(outer - 3, 0))[::-1] % q
    at = large[:, 0] + rows @ large[:, 2 : outer - 1].T
    steps = np.column_stack([large[:, [1, outer - 1]], (index == np.arange(always.shape[1])).all(axis=1)])
    left, sums = left.reshape(*first.shape[:2], -1), np.zeros((4, *always.shape), room.dtype)
    sums[0] = always
    call = partial(_least_sums, room, steps, index)
    if work <= _AT_ONCE:
        call(at, first, left, sums, NEVER)
        return
    ends = np.linspace(0, len(first), thread_count() + 1).astype(int).tolist()
    shares = [slice(*pair) for pair in pairwise(ends)]
    on_threads(
        call, *([array[share] for share in shares] for array in (at, first, left)), [sums.copy() for _ in shares]
    )


@njit(nogil=True)
def _least_sums(  # noqa: PLR0913
    room: Table, steps: IntArray, index: IntArray, at: IntArray, first: Table, left: Table, sums: Table, stop: Stop
) -> None:
    """As :func:`least_over`, for some rows.

    What tables add is `first` by row, turn and label of the variable, the first of the `sums` by that label and what is
    innermost, and entries of the room. These begin `at` a place by row, and move by `steps` of the label and the turn,
    those without turns first, to the `index` of what is innermost: a third step is 1 where they lie in one piece.
    """
    (_, turns, q), count, size, kind = first.shape, len(steps), sums.shape[2], room.dtype.type
    fixed, common, total = sums[0], sums[1:3], sums[3]
    still = 0
    while still < count and steps[still, 1] == 0:
        still += 1
    for r in range(len(at)):
        if stop[0]:
            return
        for a in range(q):
            row = fixed[a]
            for t in range(still):
                row, before = common[t % 2, a], row
                _add(row, before, room[at[r, t] + a * steps[t, 0] :], index[t], steps[t, 2])
        for c in range(turns):
            best = left[r, c]
            for a in range(q):
                row, one = (common[(still - 1) % 2, a] if still else fixed[a]), first[r, c, a]
                for t in range(still, count):
                    row, before = total[t % 2], row
                    _add(row, before, room[at[r, t] + a * steps[t, 0] + c * steps[t, 1] :], index[t], steps[t, 2])
                for b in range(size):
                    best[b] = min(best[b], kind(row[b] + one))


@njit(nogil=True)
def _add(total: Table, row: Table, part: Table, index: IntArray, whole: int) -> None:
    """A row and entries of a part of the room, which lie in one piece or not, in total."""
    kind, size = row.dtype.type, len(row)
    if whole:
        for b in range(size):
            total[b] = kind(row[b] + part[b])
    else:
        for b in range(size):
            total[b] = kind(row[b] + part[index[b]])
