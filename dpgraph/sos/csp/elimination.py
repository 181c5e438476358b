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
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.compiled import njit
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.series import MOST_MORE, Series
from dpgraph.threads import Stop, deadline, on_threads, thread_count, time_is_up
from dpgraph.typing import IntArray

#: Entries of the largest table, and steps for all of them: some seconds.
_LARGEST, _MOST = 2**24, 2**33
_STEPS_A_SECOND = 2e9
_PLAIN = 2**18  # steps of a variable that numpy takes in one go
_INNER = 64  # entries of the inner loop
_ROOM = 2**31  # bytes of all tables
_MOST_ASKED = 2**16  # labels of a variable that are looked at again
#: Types of numbers in tables: sixteen or eight of the first are added at once, and the last holds all costs.
Kind = type[np.integer[Any]]
KINDS: tuple[Kind, Kind, Kind] = np.uint16, np.uint32, np.int64

Table = NDArray[Any]
#: Variables in increasing order: the axes of a table.
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
    """A variable, and the tables that mention it and nothing that was eliminated before."""

    variable: int
    given: dict[Scope, IntArray] = field(default_factory=dict)  #: of the instance
    tables: dict[Scope, Table] = field(default_factory=dict)  #: the same in coarser units, and what others left
    scope: Scope = ()  #: the other variables
    before: list[_Bucket] = field(default_factory=list)  #: whose table came here
    rounded: int = 0  #: units that the tables lack at most
    asked: IntArray = field(default_factory=lambda: np.zeros((1, 0), dtype=np.int64))  #: labels of the scope
    values: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  #: by these and the own label
    number: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  #: of those that may be least, or -1
    rows: list[IntArray] = field(default_factory=list)  #: by number, of those before

    def sums(self, tables: dict[Scope, Table], labels: IntArray) -> IntArray:
        """The sum of tables for labels of the scope (rows), by the labels of the variable."""
        own = np.arange(next(iter(self.tables.values())).shape[0])
        at = {u: labels[:, k, None] for k, u in enumerate(self.scope)} | {self.variable: own}
        total = np.zeros((len(labels), own.size), dtype=np.int64)
        for variables, table in tables.items():
            total += table[tuple([at[u] for u in variables])]
        return total

    def ask(self) -> bool:
        """Ask those before for what may matter here; whether that is little."""
        lowest = self.sums(self.tables, self.asked)
        wanted = lowest <= lowest.min(axis=1, keepdims=True) + self.rounded + 1
        if not self.rounded:  # nothing is rounded, and one of the least is as good as another
            wanted = np.arange(lowest.shape[1]) == lowest.argmin(axis=1)[:, None]
        self.values, self.number = lowest, np.where(wanted, np.cumsum(wanted).reshape(wanted.shape) - 1, -1)
        row, own = np.nonzero(wanted)
        labels = np.column_stack([self.asked[row], own])
        for bucket in self.before:
            columns = [[*self.scope, self.variable].index(u) for u in bucket.scope]
            powers = lowest.shape[1] ** np.arange(len(columns))
            asked, rows = np.unique(labels[:, columns] @ powers, return_inverse=True)
            bucket.asked = asked[:, None] // powers % lowest.shape[1]
            self.rows.append(rows)
        return len(labels) <= _MOST_ASKED

    def answer(self, unit: int) -> None:
        """Exact values in place of those of tables, where these do not tell which is least."""
        if not self.rounded:
            return
        row, own = np.nonzero(self.number >= 0)
        exact = self.sums(self.given, self.asked)[row, own]
        for bucket, rows in zip(self.before, self.rows, strict=True):
            exact += bucket.values.min(axis=1)[rows]
        self.values *= unit
        self.values[row, own] = exact


def _eliminated(costs: IntegerCosts, order: list[int]) -> tuple[IntArray, int] | None:
    """Eliminate all in this order: the best labels, and what others cost more; None where there is no time or room.

    Tables hold costs in small numbers, rounded down. What is rounded leaves few labels that may be the best; all that
    is asked of them is computed exactly, and where that is too much, all tables are.
    """
    total = int(costs.single.max(axis=1).sum()) + int(costs.pair.max(axis=(1, 2), initial=0).sum())
    for kind in (KINDS[0] if total <= np.iinfo(KINDS[0]).max else KINDS[1], KINDS[2]):
        unit = 1 + total // (int(np.iinfo(kind).max) + 1)
        buckets = _filled(costs, order, kind, unit)
        if buckets is not None and all(bucket.ask() for bucket in reversed(buckets)):
            for bucket in buckets:
                bucket.answer(unit)
            return _best(buckets)
    return None


def _filled(costs: IntegerCosts, order: list[int], kind: Kind, unit: int) -> list[_Bucket] | None:
    """The buckets of all variables in this order, and all that they leave; None where there is no time or room."""
    n, q = costs.single.shape
    place, room = np.argsort(order), float(_ROOM)
    buckets = [_Bucket(v) for v in order]
    given: list[Scope] = [*((v,) for v in range(n)), *zip(*costs.pairs.T.tolist(), strict=True)]
    for scope, table in zip(given, chain(costs.single, costs.pair), strict=True):
        bucket = buckets[place[list(scope)].min()]
        bucket.given[scope] = bucket.given.get(scope, 0) + table
        bucket.tables[scope] = bucket.tables.get(scope, kind(0)) + (table // unit).astype(kind)
        bucket.rounded += unit > 1
    for bucket in buckets:
        bucket.scope = tuple(sorted({u for variables in bucket.tables for u in variables} - {bucket.variable}))
        room -= np.dtype(kind).itemsize * float(q) ** len(bucket.scope)
        if time_is_up() or room < 0.0:
            return None
        if bucket.scope:
            left = least_over(bucket.tables, bucket.scope, bucket.variable, q)
            after = buckets[place[list(bucket.scope)].min()]
            after.tables[bucket.scope] = after.tables[bucket.scope] + left if bucket.scope in after.tables else left
            after.before.append(bucket)
            after.rounded += bucket.rounded
    return buckets


def _best(buckets: list[_Bucket]) -> tuple[IntArray, int]:
    """The best labels, and the least that another one costs more, as in :meth:`Series.complete`."""
    labels, more = np.zeros(len(buckets), dtype=np.int64), MOST_MORE
    rows = {bucket.variable: 0 for bucket in buckets}
    for bucket in reversed(buckets):
        row = rows[bucket.variable]
        values = bucket.values[row]
        own = labels[bucket.variable] = int(values.argmin())
        more = min(more, int(np.delete(values, own).min(initial=MOST_MORE + values[own]) - values[own]))
        for before, asked in zip(bucket.before, bucket.rows, strict=True):
            rows[before.variable] = int(asked[bucket.number[row, own]])
    return labels, more


def least_over(tables: dict[Scope, Table], scope: Scope, v: int, q: int) -> Table:
    """The least of the sum of the tables over the labels of v, by those of the scope."""
    if len(scope) < 2 or q ** (len(scope) + 1) <= _PLAIN:
        return np.asarray(_joined(tables, (*scope, v), q).min(axis=-1))
    inner = _innermost(list(tables), scope, q)
    groups = _within_largest({variables: table for variables, table in tables.items() if {*variables} & {*inner}})
    largest = next(iter(groups[0]))  # is read in order, so that it stays where it is quickly read again
    rows = tuple(sorted((u for u in scope if u not in inner), key=lambda u: u not in largest))
    beside = {variables: table for variables, table in tables.items() if not {*variables} & {*inner}} or {
        (v,): np.zeros(q, dtype=groups[0][largest].dtype)
    }
    A, at_first = _by_rows(beside, v, rows, ())
    parts, index = zip(*(_by_rows(group, v, rows, inner) for group in groups), strict=True)
    at_rest = np.column_stack(index) + np.cumsum([0, *(len(part) for part in parts[:-1])])
    least = np.full((len(at_rest), q ** len(inner)), np.iinfo(A.dtype).max, dtype=A.dtype)
    B, ends = np.ascontiguousarray(np.concatenate(parts)), np.linspace(0, len(least), thread_count() + 1).astype(int)
    shares = [slice(*pair) for pair in pairwise(ends.tolist())]
    on_threads(
        partial(_least_sums, np.array(A, order="C"), B),
        *([array[share] for share in shares] for array in (at_first, at_rest, least)),
    )
    return least.reshape((q,) * len(scope)).transpose(np.argsort([*rows, *inner]))


def _innermost(tables: list[Scope], scope: Scope, q: int) -> Scope:
    """Variables of the inner loop: enough for the processor to take eight entries at once, where tables stay small."""

    def entries(inner: Scope) -> int:
        return sum(q ** len({*variables, *inner}) for variables in tables if {*variables} & {*inner})

    found: list[Scope] = []
    for u in scope:
        inner: Scope = (u,)
        while len(inner) < len(scope) - 1 and q ** len(inner) < _INNER:
            wider: list[Scope] = [(*inner, w) for w in scope if w not in inner]
            more = min(wider, key=entries)
            if entries(more) > _LARGEST:
                break
            inner = more
        found.append(inner)
    best = max(found, key=lambda given: (len(given), -entries(given)))
    return tuple(sorted(best))


def _within_largest(tables: dict[Scope, Table]) -> list[dict[Scope, Table]]:
    """The tables in groups, each within the scope of its largest."""
    groups: list[dict[Scope, Table]] = []
    for variables in sorted(tables, key=len, reverse=True):
        for group in groups:
            if set(next(iter(group))).issuperset(variables):
                break
        else:
            groups.append(group := {})
        group[variables] = tables[variables]
    return groups


def _by_rows(tables: dict[Scope, Table], v: int, rows: Scope, inner: Scope) -> tuple[Table, IntArray]:
    """The sum of tables by the rows that matter, by the labels of v, and of `inner`; and where each row is in it."""
    q = next(iter(tables.values())).shape[0]
    used = [u for u in rows if any(u in variables for variables in tables)]
    total = _joined(tables, (*used, v, *inner), q)
    index = np.zeros((1,) * len(rows), dtype=np.int64)
    for k, u in enumerate(rows):
        step = np.arange(q) if u in used else np.zeros(q, np.int64)
        index = index * (q if u in used else 1) + step.reshape((-1,) + (1,) * (len(rows) - 1 - k))
    return total.reshape((-1, q, q ** len(inner)) if inner else (-1, q)), index.ravel()


def _joined(tables: dict[Scope, Table], axes: tuple[int, ...], q: int) -> Table:
    """The sum of tables by the variables of the axes, small ones first."""
    axis = {u: i for i, u in enumerate(axes)}
    total = np.zeros((1,) * len(axis), dtype=next(iter(tables.values())).dtype)
    for variables, table in sorted(tables.items(), key=lambda item: len(item[0])):
        mine = [axis[u] for u in variables]
        shape = np.ones(len(axis), dtype=np.int64)
        shape[mine] = table.shape
        more = np.transpose(table, np.argsort(mine)).reshape(shape)
        if total.shape == (q,) * len(axis):
            total += more
        else:
            total = np.add(total, more, order="C")
    return np.broadcast_to(total, (q,) * len(axis))


@njit(nogil=True)
def _least_sums(A: Table, B: Table, at_first: IntArray, at_rest: IntArray, least: Table, stop: Stop) -> None:
    """The least over a of A[i, a] + the sum of B[j, a, b], by row and b; a row says which i and j."""
    (rows, size), (_, more), kind = least.shape, at_rest.shape, A.dtype.type
    total = np.empty(size, A.dtype)
    for r in range(rows):
        if stop[0]:
            return
        best = least[r]
        for a in range(A.shape[1]):
            first, row = A[at_first[r], a], B[at_rest[r, more - 1], a]
            if more == 1:
                for b in range(size):
                    best[b] = min(best[b], kind(first + row[b]))
                continue
            for k in range(more - 1):
                other = B[at_rest[r, k], a]
                for b in range(size):
                    total[b] = kind((first if k == 0 else total[b]) + other[b])
            for b in range(size):
                best[b] = min(best[b], kind(total[b] + row[b]))
