"""Sums of tables, and their least entries over the labels of a variable: what eliminates it.

All tables lie in one array, a room. A table is a part of it: its variables, in the order of its axes, and its place.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import OF_NUMPY, njit, worth_compiling
from dpgraph.threads import NEVER, Stop, on_threads, thread_count
from dpgraph.typing import IntArray

_AT_ONCE = 2**22  # steps of a variable that need no threads
_INNER = 128  # entries of the innermost loops
#: Types of numbers in tables: sixteen of the first are added at once, and the last holds all costs.
KINDS: tuple[type[np.integer[Any]], ...] = np.uint16, np.int64

Table = NDArray[Any]
#: Variables: the axes of a table.
Scope = tuple[int, ...]
#: A table: its variables, and where it begins.
Part = tuple[Scope, int]


class Places:
    """Where tables begin: at the end of the room, or where one of the same size is needed no more.

    Memory that was never used takes longer to come than the sums that are written to it.
    """

    def __init__(self, end: int) -> None:
        self.end, self._free = end, defaultdict[int, list[int]](list)

    def take(self, size: int) -> int:
        """A place for so many entries."""
        if self._free[size]:
            return self._free[size].pop()
        self.end += size
        return self.end - size

    def give(self, start: int, size: int) -> None:
        """So many entries are needed no more."""
        self._free[size].append(start)


@dataclass(frozen=True, eq=False)
class Minimum:
    """The least over the labels of a variable of a sum of parts: a table of the other variables, its scope.

    Parts and tables are rows: where they begin, and their steps from a label to the next of the variable and of the
    scope, of which so many are innermost. Parts of the same variables become one table, and so does what would be read
    in pieces for each turn.
    """

    scope: Scope
    start: int
    q: int
    inner: int
    parts: IntArray
    tables: IntArray  #: of which the sum is, once parts are added to each other
    sums: list[tuple[list[int], list[list[int]]]]  #: a table that is a sum of others

    @classmethod
    def of(cls, variables: Scope, parts: list[Part], q: int, places: Places) -> Minimum:
        """That over the labels of the first of the variables."""
        inner = min(math.ceil(math.log(_INNER, q)), len(variables) - 1)
        scope = _ordered(variables[1:], [part for part, _ in parts], inner)
        axis = {u: k for k, u in enumerate((variables[0], *scope), 1)}
        alike, every = defaultdict[object, list[list[int]]](list), list[list[int]]()
        for part, first in parts:
            steps = {axis[u]: q**k for k, u in enumerate(reversed(part))}
            every.append([first, *(steps.get(k, 0) for k in range(1, len(axis) + 1))])
            alike[frozenset(part) if len(part) > 2 else first].append(every[-1])
        tables, sums = list[list[int]](), list[tuple[list[int], list[list[int]]]]()
        turn, end = len(axis) - inner, len(axis) + 1  # steps of the variable that takes turns come before inner ones
        powers = [q**k for k in range(end)]
        for rows in alike.values():
            row = rows[0]
            used = [*range(end - 1, turn, -1), 1, *(k for k in range(turn, 1, -1) if row[k])]
            in_pieces = turn > 1 and row[turn] and any(row[turn + 1 :]) and row[turn + 1 :] != powers[:inner][::-1]
            if len(rows) > 1 or (in_pieces and len(used) < len(axis)):
                place = places.take(powers[len(used)])
                row = [place, *(powers[used.index(k)] if k in used else 0 for k in range(1, end))]
                sums.append((row, rows))
            tables.append(row)
        start = places.take(powers[len(scope)])
        for row, _ in sums:
            places.give(row[0], q * max(row[1:]))
        return cls(scope, start, q, inner, np.array(every), np.array(tables), sums)

    def write(self, room: Table) -> None:
        """Write the table."""
        for new, rows in self.sums:
            axes = [k for k in range(1, len(new)) if new[k]]
            total = _view(room, new, axes, self.q)
            total[...] = _view(room, rows[0], axes, self.q)
            for row in rows[1:]:
                total += _view(room, row, axes, self.q)
        least_over(room, self.tables, self.start, self.q, self.inner)


def _ordered(scope: Scope, parts: list[Scope], inner: int) -> Scope:
    """The scope as rows, a variable that takes turns, and so many innermost ones.

    Large tables are read once for all turns, where they do not mention that variable; where they do, they are to
    mention what is innermost, best as their own last axes. What is eliminated late stays innermost.
    """
    if len(scope) <= inner:
        return scope
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
    """Write the least of a sum of tables over the labels of a variable at a place of the room, as :class:`Minimum`."""
    width = tables.shape[1]
    work, left = float(q) ** (width - 1), room[start : start + q ** (width - 2)]
    if inner == width - 2 or not worth_compiling(_least_sums, OF_NUMPY * work):
        left[:] = _sum(room, tables, range(1, width), q).min(axis=0).ravel()
        return
    left[:] = np.iinfo(room.dtype).max
    outer = width - inner
    within, beside = tables[:, outer:].any(axis=1), tables[:, 2:outer].any(axis=1)
    always = _sum(room, tables[~beside], [1, *range(outer, width)], q).reshape(1, q, -1)
    first = _sum(room, tables[beside & ~within], [*range(2, outer), 1], q).reshape(-1, q if outer > 2 else 1, q)
    large = tables[beside & within]
    large = large[np.argsort(large[:, outer - 1] > 0, kind="stable")]
    index = large[:, outer:] @ np.indices((q,) * inner).reshape(inner, q**inner)
    labels = np.arange(len(first))[:, None] // q ** np.arange(max(outer - 3, 0))[::-1] % q
    rows = _Rows(large[:, 0] + labels @ large[:, 2 : outer - 1].T, first, left.reshape(*first.shape[:2], -1))
    in_one_piece = (index == np.arange(q**inner)).all(axis=1)
    large_ones = _Large(np.column_stack([large[:, [1, outer - 1]], in_one_piece]), index)
    shares = 1 if work <= _AT_ONCE else thread_count()
    ends = [len(first) * k // shares for k in range(shares + 1)]
    parts = [_Rows(*(array[slice(*pair)] for array in rows)) for pair in pairwise(ends)]
    sums = [np.concatenate([always, np.zeros((3, *always.shape[1:]), room.dtype)]) for _ in parts]
    if shares == 1 and work <= _AT_ONCE:
        _least_sums(room, large_ones, rows, sums[0], NEVER)
    else:
        on_threads(partial(_least_sums, room, large_ones), parts, sums)


class _Large(NamedTuple):
    """Tables of both outer and innermost variables, those that do not mention the one that takes turns first."""

    steps: IntArray  #: of the label and the turn, and 1 where what is innermost lies in one piece
    places: IntArray  #: of what is innermost


class _Rows(NamedTuple):
    """For some labels of the outer variables but the one that takes turns, rows."""

    at: IntArray  #: where the large tables begin
    first: Table  #: what others add, by turn and label of the variable
    left: Table  #: the least, by turn and what is innermost


@njit(nogil=True)
def _least_sums(room: Table, large: _Large, rows: _Rows, sums: Table, stop: Stop) -> None:
    """As :func:`least_over`, where the first of the sums is what the label and what is innermost always add."""
    at, (_, turns, q), (count, size), kind = rows.at, rows.first.shape, large.places.shape, room.dtype.type
    fixed, common, total, steps, places = sums[0], sums[1:3], sums[3], large.steps, large.places
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
                _add(row, before, room[at[r, t] + a * steps[t, 0] :], places[t], steps[t, 2])
        for c in range(turns):
            best = rows.left[r, c]
            for a in range(q):
                row, one = (common[(still - 1) % 2, a] if still else fixed[a]), rows.first[r, c, a]
                for t in range(still, count):
                    row, before = total[t % 2], row
                    _add(row, before, room[at[r, t] + a * steps[t, 0] + c * steps[t, 1] :], places[t], steps[t, 2])
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
