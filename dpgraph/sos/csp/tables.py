"""Sums of tables, and their least entries over the labels of a variable: what eliminates it.

All tables lie in one array, a room. A table is a part of it: its variables, in the order of its axes, and its place.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.threads import time_is_up
from dpgraph.typing import IntArray

_BLOCK, _MOST = 2**14, 2**18  # entries of a block at least, and at most if that is possible
_SMALL = 2**16  # entries that are a block of their own
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
    scope, of which so many are innermost. Parts of the same variables, or of some of them, become one table, and so
    does what would be read in pieces for each row.
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
        inner = min(max(math.ceil(math.log(_BLOCK, q)) - 2, 1), len(variables) - 1)
        scope = _ordered(variables[1:], [part for part, _ in parts], inner)
        axis = {u: k for k, u in enumerate((variables[0], *scope), 1)}
        every, groups = list[list[int]](), list[tuple[frozenset[int], list[list[int]]]]()
        for part, first in parts:
            steps = {axis[u]: q**k for k, u in enumerate(reversed(part))}
            every.append([first, *(steps.get(k, 0) for k in range(1, len(axis) + 1))])
        for (part, _), row in sorted(zip(parts, every, strict=True), key=lambda pair: -len(pair[0][0])):
            home = next((rows for own, rows in groups if len(part) > 2 and own.issuperset(part)), None)
            if home is None:
                groups.append((frozenset(part), home := []))
            home.append(row)
        tables, sums = list[list[int]](), list[tuple[list[int], list[list[int]]]]()
        turn, end = len(axis) - inner, len(axis) + 1
        powers = [q**k for k in range(end)]
        for _, rows in groups:
            row = rows[0]
            used = [k for k in range(end - 1, 0, -1) if row[k]]
            within = [row[k] for k in used if k > turn]
            if len(rows) > 1 or (within != powers[: len(within)] and len(used) < len(axis)):
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
        _least_over(room, self.tables, self.start, self.q, self.inner)


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


def _least_over(room: Table, tables: IntArray, start: int, q: int, inner: int) -> None:
    """Write the least of a sum of tables over the labels of a variable at a place of the room, as :class:`Minimum`.

    For each row, a block of all labels of the variable, of what takes turns and of what is innermost stays in a
    processor's cache while all tables are added to it.
    """
    width = tables.shape[1]
    outer = width - inner - (q ** (inner + 2) <= _MOST)
    outer = 2 if q ** (width - 1) <= _SMALL else max(outer, 2)
    within, beside = tables[:, outer:].any(axis=1), tables[:, 2:outer].any(axis=1)
    block, rows = [1, *range(outer, width)], [*range(2, outer)]
    always = _sum(room, tables[~beside], block, q)
    first = _sum(room, tables[beside & ~within], [*rows, 1], q).reshape(*[q] * len(rows), q, *[1] * (width - outer))
    large = [_view(room, table, rows + block, q) for table in tables[beside & within].tolist()]
    left = room[start : start + q ** (width - 2)].reshape((q,) * (width - 2))
    total = np.empty_like(always)
    for row in np.ndindex((q,) * len(rows)):
        np.add(always, first[row], out=total)
        for table in large:
            total += table[row]
        np.min(total, axis=0, out=left[(*row, ...)])
        if time_is_up():
            return
