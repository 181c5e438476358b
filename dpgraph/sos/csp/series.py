"""Variables of at most two neighbours are eliminated in time that grows with their number: forests, series-parallel.

What replaces a variable of two neighbours is a table on these, so that every table stays on two variables, in an array.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpgraph.compiled import at_once, njit
from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.threads import Stop, on_thread
from dpgraph.typing import IntArray

_MOST, MOST_MORE = 2**62, 2**50  # costs together are less; what is remembered beside a label


class Series:
    """A 2-CSP without the variables of at most two neighbours, those of fewer eliminated first; as time allows.

    The `costs` are those of the variables `kept`; the others went in the `order`.
    """

    def __init__(self, costs: IntegerCosts) -> None:
        (n, q), m = costs.single.shape, len(costs.pairs)
        ends, single, pair = self._tables = _Tables(costs.pairs.copy(), costs.single.copy(), costs.pair.copy())
        self._steps, left = np.full((n, 4), -1), np.ones(n + m, dtype=np.int64)
        near = np.append(np.bincount(costs.pairs.ravel(), minlength=n), np.full(n + 2 * m, -1))
        lists = _Lists(
            near, np.zeros((2, 3 * n + 1), np.int64), np.zeros(2, np.int64), np.full((2, 4 * (n + m) + 1), -1)
        )
        work = float(n) * q**2 * min(q, max(m - n + 1, 1))  # a forest takes q^2 for each
        on_thread(at_once(_eliminate, work), self._tables, lists, left, self._steps)
        self._complete = at_once(_complete, float(n) * q)
        self._steps = self._steps[self._steps[:, 0] >= 0]
        self.order, self.kept = self._steps[:, 0].tolist(), np.flatnonzero(left[:n])
        ends, pair = ends[left[n:] > 0], pair[left[n:] > 0]
        turned = ends[:, 0] > ends[:, 1]
        pair[turned] = pair[turned].transpose(0, 2, 1)
        alone = self._steps[self._steps[:, 1] < 0, 0]
        constant = costs.constant + int(single[alone].min(axis=1).sum())
        pairs = np.searchsorted(self.kept, np.sort(ends, axis=1))
        self.costs = replace(costs, pairs=pairs, single=single[self.kept], pair=pair, constant=constant)

    def complete(self, labels: IntArray) -> int:
        """Give what was eliminated the best labels beside those of the kept variables; what any others cost more."""
        return self._complete(self._steps, self._tables, labels)


class _Tables(NamedTuple):
    """Costs of labels, and of pairs of them."""

    ends: IntArray
    single: IntArray
    pair: IntArray


class _Lists(NamedTuple):
    """What finds tables, and variables that can be eliminated."""

    near: IntArray  #: degrees, the first half-edge of each variable, the next of each half-edge 2e or 2e + 1 of table e
    waiting: IntArray  #: variables of fewer than two neighbours, and of two
    lengths: IntArray  #: how many of both
    edges: IntArray  #: tables by their ends


@njit(nogil=True)
def _eliminate(tables: _Tables, lists: _Lists, left: IntArray, steps: IntArray, stop: Stop) -> None:
    """Eliminate, in place; a step is the variable, its table or -1, and its neighbours or -1.

    What is `left` of variables and tables is 1. Of two tables that become one, the first keeps the best labels of the
    variable in place of its entries, and what others cost more.
    """
    ends, single, pair = tables
    (n, q), count = single.shape, 0
    found, other, room = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros((2, q, q), np.int64)
    _list(ends, n, lists)
    while lists.lengths.sum() > 0 and not stop[0]:
        k = 0 if lists.lengths[0] > 0 else 1
        lists.lengths[k] -= 1
        v = lists.waiting[k, lists.lengths[k]]
        if left[v] == 0:
            continue
        left[v], degree, h = 0, 0, lists.near[n + v]
        while h >= 0:
            if left[n + h // 2] > 0 and ends[h // 2, h % 2] == v:
                found[degree], other[degree] = h // 2, ends[h // 2, 1 - h % 2]
                degree += 1
            h = lists.near[2 * n + h]
        steps[count, 0] = v
        for k in range(degree):
            e, steps[count, 2 + k] = found[k], other[k]
            for a in range(q):
                for x in range(q):
                    t = pair[e, x, a] if ends[e, 0] == v else pair[e, a, x]
                    room[k, a, x] = t + (single[v, x] if k == 0 else 0)
        if degree > 0:
            steps[count, 1], left[n + found[0]] = found[0], 0
        count += 1
        if degree == 1:
            for a in range(q):
                single[other[0], a] += room[0, a].min()
        elif degree == 2:
            _join(room, pair[found[0]], pair[found[1]])
            if _replaced(tables, lists, v, found[1], other):
                left[n + found[1]] = 0
            else:
                degree = 0  # the neighbours have as many as before
        for k in range(degree):
            lists.near[other[k]] -= 1
            _wait(other[k], lists)


@njit(nogil=True)
def _list(ends: IntArray, n: int, lists: _Lists) -> None:
    """Fill the lists."""
    near, edges = lists.near, lists.edges
    for e in range(len(ends)):
        for side in range(2):
            v = ends[e, side]
            near[2 * n + 2 * e + side], near[n + v] = near[n + v], 2 * e + side
        slot, key = _slot(edges, ends[e, 0], ends[e, 1], n)
        edges[0, slot], edges[1, slot] = key, e
    for v in range(n - 1, -1, -1):
        _wait(v, lists)


@njit(nogil=True)
def _replaced(tables: _Tables, lists: _Lists, v: int, f: int, other: IntArray) -> bool:
    """Add table f to the one of the two neighbours of v, if there is one; or make it theirs."""
    (ends, single, pair), near, (u, w) = tables, lists.near, other
    (n, q), first = single.shape, ends[f, 0] == v
    slot, key = _slot(lists.edges, u, w, n)
    if lists.edges[0, slot] == key:
        g = lists.edges[1, slot]
        for a in range(q):
            for b in range(q):
                if ends[g, 0] == u:
                    pair[g, a, b] += pair[f, a, b]
                else:
                    pair[g, b, a] += pair[f, a, b]
        return True
    lists.edges[0, slot], lists.edges[1, slot] = key, f
    h = 2 * f + (0 if first else 1)  # the half-edge of v becomes one of u
    ends[f, h % 2] = u
    for a in range(0 if first else q):
        for b in range(a):
            pair[f, a, b], pair[f, b, a] = pair[f, b, a], pair[f, a, b]
    near[2 * n + h], near[n + u] = near[n + u], h
    return False


@njit(nogil=True)
def _slot(edges: IntArray, u: int, w: int, n: int) -> tuple[int, int]:
    """Where the table of two ends is found, or is to be, and the key of these."""
    key = min(u, w) * n + max(u, w)
    slot = key % edges.shape[1]
    while edges[0, slot] >= 0 and edges[0, slot] != key:
        slot = (slot + 1) % edges.shape[1]
    return slot, key


@njit(nogil=True)
def _wait(v: int, lists: _Lists) -> None:
    """Let a variable of at most two neighbours wait, those of fewer by themselves."""
    if lists.near[v] <= 2:
        k = 1 if lists.near[v] == 2 else 0
        lists.waiting[k, lists.lengths[k]] = v
        lists.lengths[k] += 1


@njit(nogil=True)
def _join(room: IntArray, chosen: IntArray, costs: IntArray) -> None:
    """The best labels between two tables, with what others cost more, and the costs of the best."""
    q = len(chosen)
    for a in range(q):
        for b in range(q):
            best, least, second = 0, _MOST, _MOST
            for x in range(q):
                cost = room[0, a, x] + room[1, b, x]
                second = min(second, max(cost, least))
                if cost < least:
                    least, best = cost, x
            chosen[a, b], costs[a, b] = best + q * min(second - least, MOST_MORE), least


@njit(nogil=True)
def _complete(steps: IntArray, tables: _Tables, labels: IntArray) -> int:
    """The best labels of eliminated variables, the last one first; the least that another one costs more.

    Other assignments have a first such variable: the rest of it, in the best case, is what its table says.
    """
    ends, single, pair = tables
    q, more = single.shape[1], MOST_MORE
    for k in range(len(steps) - 1, -1, -1):
        v, e, u, w = steps[k]
        if w >= 0:
            labels[v] = pair[e, labels[u], labels[w]] % q
            more = min(more, pair[e, labels[u], labels[w]] // q)
            continue
        best, least, second = 0, _MOST, _MOST
        for x in range(q):
            cost = single[v, x]
            if e >= 0:
                cost += pair[e, x, labels[u]] if ends[e, 0] == v else pair[e, labels[u], x]
            second = min(second, max(cost, least))
            if cost < least:
                best, least = x, cost
        labels[v] = best
        more = min(more, second - least)
    return int(more)
