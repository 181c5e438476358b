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
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.compiled import njit
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.series import Series
from dpgraph.threads import Stop, deadline, on_thread, time_is_up
from dpgraph.typing import IntArray

#: Entries of the largest table, and steps for all of them: some seconds.
_LARGEST, _MOST = 2**24, 2**33
_STEPS_A_SECOND = 4e8
_PLAIN = 2**20  # steps of a variable that numpy takes in one go
_BEHIND = 5  # bits behind a cost for its label, so that the least cost says where it is
_LABELS = 2**_BEHIND
_INNER = 64  # entries of the inner loop
#: Types of numbers, and what is more than those they hold: sixteen or eight of the first are compared at once.
_EXACT: list[tuple[type[np.number[Any]], float]] = [(np.uint16, 2.0**16), (np.float32, 2.0**24), (np.int64, math.inf)]

Table = NDArray[Any]
#: Variables in increasing order: the axes of a table.
Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Core:
    """What elimination has left of a 2-CSP: variables `kept`, none if all are eliminated in the `order`."""

    costs: IntegerCosts
    kept: IntArray
    order: list[int]
    complete: Callable[[IntArray], int]  #: as :meth:`Series.complete`; less where nobody knows
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
    if len(order) < n or steps > min(most, affordable()) or (rest := _eliminated(core.costs, order)) is None:
        return replace(core, steps=steps)

    def complete(labels: IntArray) -> int:
        labels[core.kept], more = rest.best()
        return min(more, core.complete(labels))

    return Core(rest.costs, core.kept[:0], core.order + core.kept[rest.order].tolist(), complete, steps)


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


def _eliminated(costs: IntegerCosts, order: list[int]) -> Core | None:
    """Eliminate all in this order; None where there is no time for it."""
    n, q = costs.single.shape
    place = np.argsort(order)
    tables: list[dict[Scope, Table]] = [{} for _ in range(n + 1)]  # by the variable that is eliminated first

    def add(scope: Scope, table: Table) -> None:
        mine = tables[int(place[list(scope)].min(initial=n))]
        mine[scope] = mine[scope] + table if scope in mine else table

    total = float(costs.single.max(axis=1).sum()) + float(costs.pair.max(axis=(1, 2), initial=0).sum())
    kind = next(kind for kind, exact in _EXACT if _LABELS * (total + 1.0) < exact)
    given: list[Scope] = [*((v,) for v in range(n)), *zip(*costs.pairs.T.tolist(), strict=True)]
    for scope, table in zip(given, chain(costs.single.astype(kind), costs.pair.astype(kind)), strict=True):
        add(scope, table)
    choices: list[tuple[int, Scope, NDArray[np.integer]]] = []
    for k, v in enumerate(order):
        if time_is_up():
            return None
        scope = tuple(sorted({u for variables in tables[k] for u in variables} - {v}))
        least, choice = least_over(tables[k], scope, v, q)
        tables[k] = {}
        choices.append((v, scope, choice))
        add(scope, least)

    def complete(labels: IntArray) -> int:
        for v, scope, choice in reversed(choices):
            labels[v] = choice[tuple(labels[list(scope)])]
        return 0

    left = replace(costs, pairs=costs.pairs[:0], single=costs.single[:0], pair=costs.pair[:0])
    return Core(replace(left, constant=costs.constant + int(tables[n][()])), place[:0], order, complete)


def least_over(tables: dict[Scope, Table], scope: Scope, v: int, q: int) -> tuple[Table, NDArray[np.integer]]:
    """The least of the sum of the tables over the labels of v, and where it is, by the labels of the scope."""
    if len(scope) < 2 or q ** (len(scope) + 1) <= _PLAIN or q > _LABELS:
        total = _joined(tables, (*scope, v), q)
        return total.min(axis=-1), total.argmin(axis=-1).astype(np.uint16)
    inner = _innermost(list(tables), scope, q)
    rows = tuple(u for u in scope if u not in inner)
    groups = _within_largest({variables: table for variables, table in tables.items() if {*variables} & {*inner}})
    beside = {variables: table for variables, table in tables.items() if not {*variables} & {*inner}} or {
        (v,): np.zeros(q, dtype=groups[0][next(iter(groups[0]))].dtype)
    }
    A, at_first = _by_rows(beside, v, rows, ())
    parts, index = zip(*(_by_rows(group, v, rows, inner) for group in groups), strict=True)
    at_rest = np.array(index) + np.cumsum([0, *(part.shape[1] for part in parts[:-1])])[:, None]
    first, rest = A * A.dtype.type(_LABELS), np.concatenate(parts, axis=1) * A.dtype.type(_LABELS)
    first += np.arange(q, dtype=A.dtype)[:, None]
    size = q ** len(inner)
    least, choice = np.empty((q ** len(rows), size), dtype=A.dtype), np.empty((q ** len(rows), size), dtype=np.uint8)
    on_thread(_least_sums, first, at_first, rest, at_rest, least, choice)
    order = np.argsort([*rows, *inner])
    shape = (q,) * len(scope)
    return least.reshape(shape).transpose(order), choice.reshape(shape).transpose(order)


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
    """The sum of tables by the labels of v, of the rows that matter, and of `inner`; and where each row is in it."""
    q = next(iter(tables.values())).shape[0]
    used = [u for u in rows if any(u in variables for variables in tables)]
    total = _joined(tables, (v, *used, *inner), q)
    index = np.zeros((1,) * len(rows), dtype=np.int64)
    for k, u in enumerate(rows):
        step = np.arange(q) if u in used else np.zeros(q, np.int64)
        index = index * (q if u in used else 1) + step.reshape((-1,) + (1,) * (len(rows) - 1 - k))
    return total.reshape((q, -1, q ** len(inner)) if inner else (q, -1)), index.ravel()


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
            total = total + more
    return np.broadcast_to(total, (q,) * len(axis))


@njit(nogil=True)
def _least_sums(
    A: Table, at_first: IntArray, B: Table, at_rest: IntArray, least: Table, choice: NDArray[np.uint8], stop: Stop
) -> None:
    """The least over a of A[a, i] + the sum of B[a, j, b], by row and b, and its a; a row says which i and j.

    All numbers come times the number of labels, those of A with the label added.
    """
    (rows, size), q = least.shape, len(A)
    best, total = np.empty_like(least[0]), np.empty_like(least[0])
    for r in range(rows):
        if stop[0]:
            return
        i, j = at_first[r], at_rest[0, r]
        for a in range(q):
            for b in range(size):
                total[b] = A[a, i] + B[a, j, b]
            for k in range(1, at_rest.shape[0]):
                j_k = at_rest[k, r]
                for b in range(size):
                    total[b] += B[a, j_k, b]
            for b in range(size):
                best[b] = total[b] if a == 0 or total[b] < best[b] else best[b]
        for b in range(size):
            number = int(best[b])
            least[r, b] = number >> _BEHIND
            choice[r, b] = number & (_LABELS - 1)
