"""Variables of at most two neighbours are eliminated in time that grows with their number: forests, series-parallel.

What replaces a variable of two neighbours is a table on these, so that every table stays on two variables.
"""

from dataclasses import replace

import numpy as np

from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.threads import time_is_up
from dpgraph.typing import IntArray

MOST_MORE = 2**50  # what is remembered beside a label
_AT_ONCE = 2**16  # sums of two tables


class Series:
    """A 2-CSP without the variables of at most two neighbours, those of fewer eliminated first; as time allows.

    The `costs` are those of the variables `kept`; the others went in the `order`.
    """

    def __init__(self, costs: IntegerCosts) -> None:
        (n, _), degrees = costs.single.shape, np.bincount(costs.pairs.ravel(), minlength=len(costs.single))
        self._single, self._given, self._made = costs.single.copy(), costs.pair, list[IntArray]()
        self._near: list[dict[int, int]] = []  # the tables of a variable, by its neighbours
        self._steps: list[tuple[int, list[tuple[int, IntArray]]]] = []
        self.costs, self.kept = costs, np.arange(n)
        if degrees.min(initial=3) <= 2:
            self._near = [{} for _ in range(n)]
            for e, (u, v) in enumerate(costs.pairs.tolist()):
                self._near[u][v] = self._near[v][u] = e
            self._eliminate(degrees)
        self.order = [v for v, _ in self._steps]
        if self.order:
            self.kept = np.delete(self.kept, self.order)
            self.costs = self._rest()

    def _eliminate(self, degrees: IntArray) -> None:
        """Eliminate: a step is a variable, its neighbours, and its tables by its own label and then theirs."""
        waiting = [np.flatnonzero(degrees < 2)[::-1].tolist(), np.flatnonzero(degrees == 2)[::-1].tolist()]
        gone = np.zeros(len(degrees), dtype=bool)
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
        least = np.partition(np.reshape(rows, (-1, self._single.shape[1])), 1, axis=1)
        return int((least[:, 1] - least[:, 0]).min(initial=MOST_MORE))


def _least_sums(one: IntArray, other: IntArray) -> IntArray:
    """The least of two tables together over their common first label, by the labels of the others."""
    at_once = max(_AT_ONCE // one.size, 1)
    parts = (one[:, first : first + at_once, None] + other[:, None] for first in range(0, len(one), at_once))
    return np.concatenate([part.min(axis=0) for part in parts])
