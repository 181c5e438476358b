"""Variables of at most two neighbours are eliminated in time that grows with their number: forests, series-parallel.

What replaces a variable of two neighbours is a table on these, so that every table stays on two variables.
"""

import time
from dataclasses import replace

import numpy as np

from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.threads import deadline, time_is_up
from dpgraph.typing import IntArray

MOST_MORE = 2**50  # what is remembered beside a label
_AT_ONCE = 2**16  # sums of two tables
_MANY, _SHARE = 64, 1 / 16  # leaves, and share of the tables that are left: so many are worth a round
_SECONDS_OF_A_TABLE = 3e-6  # at least, to find out what may be eliminated


class Series:
    """A 2-CSP without the variables of at most two neighbours, those of fewer eliminated first; as time allows.

    The `costs` are those of the variables `kept`; the others went in the `order`.
    """

    def __init__(self, costs: IntegerCosts) -> None:
        n = len(costs.single)
        self._single, self._given, self._made = costs.single.copy(), costs.pair, list[IntArray]()
        self._rounds: list[tuple[IntArray, IntArray, IntArray]] = []
        self._steps: list[tuple[int, list[tuple[int, IntArray]]]] = []
        self.costs, self.kept, self.order = costs, np.arange(n), list[int]()
        left, degrees = self._strip(costs.pairs)
        if time.monotonic() + _SECONDS_OF_A_TABLE * left.size > deadline():
            self._rounds = []
        elif degrees.min(initial=3) <= 2:
            self._near: list[dict[int, int]] = [{} for _ in range(n)]  # the tables of a variable, by its neighbours
            for e, (u, v) in zip(left.tolist(), costs.pairs[left].tolist(), strict=True):
                self._near[u][v] = self._near[v][u] = e
            self._eliminate(degrees)
            self.order = [*(v for leaves, _, _ in self._rounds for v in leaves.tolist()), *(v for v, _ in self._steps)]
        if self.order:
            self.kept = np.delete(self.kept, self.order)
            self.costs = self._rest()

    def _strip(self, pairs: IntArray) -> tuple[IntArray, IntArray]:
        """Eliminate leaves in rounds, while these are many: the tables that are left, and the degrees; -1 is gone.

        A round is variables, their only neighbours, and their tables.
        """
        left, degrees = np.arange(len(pairs)), np.bincount(pairs.ravel(), minlength=len(self._single))
        while not time_is_up():
            leaf = degrees[pairs[left]] == 1
            mine = leaf.any(axis=1)
            tables = left[mine]
            if tables.size < max(_MANY, _SHARE * left.size):
                break
            side = leaf[mine, 0].astype(np.int64)
            v, u = pairs[tables, 1 - side], pairs[tables, side]
            np.add.at(self._single, u, self._sums(v, u, tables).min(axis=1))
            self._rounds.append((v, u, tables))
            degrees[v] = -1
            np.subtract.at(degrees, u, 1)
            left = left[~mine]
        return left, degrees

    def _sums(self, v: IntArray, u: IntArray, tables: IntArray) -> IntArray:
        """The costs of leaves, by their own labels and then those of their neighbours."""
        sums = self._given[tables]
        sums[v > u] = sums[v > u].transpose(0, 2, 1)
        sums += self._single[v][:, :, None]
        return sums

    def _eliminate(self, degrees: IntArray) -> None:
        """Eliminate: a step is a variable, its neighbours, and its tables by its own label and then theirs."""
        few = [(degrees >= 0) & (degrees < 2), degrees == 2]
        waiting, gone = [np.flatnonzero(some)[::-1].tolist() for some in few], degrees < 0
        while any(waiting) and not time_is_up():
            v = (waiting[0] or waiting[1]).pop()
            if gone[v]:
                continue
            gone[v], near = True, self._near[v]
            step = [(u, self._table(e) if v < u else self._table(e).T) for u, e in near.items()]
            self._steps.append((v, step))
            for u in near:
                del self._near[u][v]
            if len(step) == 1:
                self._single[step[0][0]] += (step[0][1] + self._single[v][:, None]).min(axis=0)
            elif len(step) == 2:
                (u, one), (w, other) = sorted(step, key=lambda part: part[0])
                self._join(u, w, _least_sums(one + self._single[v][:, None], other))
            for u in near:
                if len(self._near[u]) <= 2:
                    waiting[len(self._near[u]) // 2].append(u)

    def _table(self, e: int) -> IntArray:
        """A table, by the label of the first of its variables."""
        given = len(self._given)
        return np.asarray(self._given[e]) if e < given else self._made[e - given]

    def _join(self, u: int, w: int, table: IntArray) -> None:
        """Add a table of two variables."""
        if (e := self._near[u].get(w)) is not None:
            table += self._table(e)
        self._near[u][w] = self._near[w][u] = len(self._given) + len(self._made)
        self._made.append(table)

    def _rest(self) -> IntegerCosts:
        """The costs of what is left."""
        kept = self.kept.tolist()
        edges = [(u, v, e) for u in kept for v, e in sorted(self._near[u].items()) if u < v]
        ends = np.array(edges, dtype=np.int64).reshape(-1, 3)
        given = ends[:, 2] < len(self._given)
        pair = self._given[np.where(given, ends[:, 2], 0)]
        for k in np.flatnonzero(~given).tolist():
            pair[k] = self._table(edges[k][2])
        alone = [v for v, step in self._steps if not step]
        constant = self.costs.constant + int(self._single[alone].min(axis=1).sum())
        pairs = np.searchsorted(self.kept, ends[:, :2])
        return replace(self.costs, pairs=pairs, single=self._single[self.kept], pair=pair, constant=constant)

    def complete(self, labels: IntArray) -> int:
        """Give what was eliminated the best labels beside those of the kept variables; what any others cost more.

        Other assignments have a first such variable: the rest of it, in the best case, is what its table says.
        """
        rows = []
        for v, step in reversed(self._steps):
            row = self._single[v]
            for u, table in step:
                row = row + table[:, labels[u]]
            labels[v] = row.argmin()
            rows.append(row)
        costs = [np.reshape(rows, (-1, self._single.shape[1]))]
        for leaves, near, tables in reversed(self._rounds):
            costs.append(self._sums(leaves, near, tables)[np.arange(near.size), :, labels[near]])
            labels[leaves] = costs[-1].argmin(axis=1)
        least = np.partition(np.concatenate(costs), 1, axis=1)
        return int((least[:, 1] - least[:, 0]).min(initial=MOST_MORE))


def _least_sums(one: IntArray, other: IntArray) -> IntArray:
    """The least of two tables together over their common first label, by the labels of the others."""
    at_once = max(_AT_ONCE // one.size, 1)
    parts = (one[:, first : first + at_once, None] + other[:, None] for first in range(0, len(one), at_once))
    return np.concatenate([part.min(axis=0) for part in parts])
