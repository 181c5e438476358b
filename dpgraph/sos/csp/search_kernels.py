"""The kernel of depth-first branch and bound on a 2-CSP whose tables are integer costs.

A node has a cost `least` that every assignment of it pays, costs of single labels, and costs of pairs of labels on the
tables. Moving a cost from a table to the labels of one end, from labels to a table, or from all labels of a variable to
`least` changes the cost of no assignment. Moves that raise `least` give the bound (existential arc consistency: de
Givry, Heras, Zytnicki, Larrosa 2005). A variable of one or two neighbours is eliminated: its table joins that of the
neighbours (Larrosa, Dechter 2003). Costs are integers, so that nothing is rounded.
"""

from typing import NamedTuple

import numpy as np

from dpgraph.compiled import njit
from dpgraph.threads import Stop
from dpgraph.typing import BoolArray, IntArray

#: Cost of a label that cannot be in a better assignment. All costs of an instance together are less.
FORBIDDEN = 2**61
_SHARE = 1024  # of what is missing to the limit: moves that gain less are not made


class Node(NamedTuple):
    """What is left to decide; in a path with an axis for the level in front."""

    least: IntArray  # (1,)
    single: IntArray  # (n, q)
    table: IntArray  # (m, q, q)
    first: IntArray  # (m,) variable of the first axis
    near: IntArray  # (n, largest degree) neighbours
    via: IntArray  # (n, largest degree) their tables
    degree: IntArray  # (n,) or -1 once decided
    labels: IntArray  # (n,) or -1 where eliminated or open
    branch: IntArray  # (3,) variable, label, and the first of the labels that no assigned variable tells apart


class Queue(NamedTuple):
    """Variables whose neighbourhood has changed, first in, first out; and how often each of them ended a node."""

    ring: IntArray  # (n,)
    ends: IntArray  # (2,) where the next one comes out, and how many wait
    waits: BoolArray  # (n,)
    failures: IntArray  # (n,)


@njit()
def _view(path: Node, k: int) -> Node:
    return Node(
        path.least[k], path.single[k], path.table[k], path.first[k], path.near[k], path.via[k], path.degree[k],
        path.labels[k], path.branch[k],
    )  # fmt: skip


@njit()
def _copy_row(of: IntArray, to: IntArray) -> None:
    """As an assignment to a slice, which takes seconds to compile."""
    for i in range(of.size):
        to[i] = of[i]


@njit()
def _copy_rows(of: IntArray, to: IntArray) -> None:
    for i in range(of.shape[0]):
        _copy_row(of[i], to[i])


@njit()
def _copy(N: Node, to: Node) -> None:
    _copy_rows(N.single, to.single)
    for t in range(N.first.size):
        _copy_rows(N.table[t], to.table[t])
    _copy_rows(N.near, to.near)
    _copy_rows(N.via, to.via)
    _copy_row(N.first, to.first)
    _copy_row(N.degree, to.degree)
    _copy_row(N.labels, to.labels)
    to.least[0] = N.least[0]


@njit()
def _enter(Q: Queue, i: int) -> None:
    if not Q.waits[i]:
        Q.waits[i] = True
        Q.ring[(Q.ends[0] + Q.ends[1]) % Q.ring.size] = i
        Q.ends[1] += 1


@njit()
def _enter_neighbours(N: Node, Q: Queue, i: int) -> None:
    for p in range(N.degree[i]):
        _enter(Q, N.near[i, p])


@njit()
def _cost(N: Node, t: int, i: int, a: int, b: int) -> int:
    """Cost in table t of label a of variable i, and b of the other."""
    return int(N.table[t, a, b] if N.first[t] == i else N.table[t, b, a])


@njit()
def _detach(N: Node, j: int, i: int) -> None:
    """Take i out of the neighbours of j."""
    last = N.degree[j] - 1
    for p in range(last):
        if N.near[j, p] == i:
            N.near[j, p], N.via[j, p] = N.near[j, last], N.via[j, last]
    N.degree[j] = last


@njit()
def _assign(N: Node, Q: Queue, i: int, a: int) -> None:
    """Variable i gets label a."""
    N.least[0] += N.single[i, a]
    for p in range(N.degree[i]):
        j, t = N.near[i, p], N.via[i, p]
        for b in range(N.single.shape[1]):
            if N.single[j, b] < FORBIDDEN:
                N.single[j, b] += _cost(N, t, i, a, b)
        _detach(N, j, i)
        _enter(Q, j)
    N.degree[i], N.labels[i] = -1, a


@njit()
def _eliminate(N: Node, Q: Queue, i: int) -> None:
    """A variable of at most two neighbours becomes a table of them, or costs of the labels of the only one."""
    q, count = N.single.shape[1], N.degree[i]
    if count == 0:
        N.least[0] += N.single[i].min()
    elif count == 1:
        j, t = N.near[i, 0], N.via[i, 0]
        for b in range(q):
            low = FORBIDDEN
            for a in range(q):
                if N.single[i, a] < FORBIDDEN:
                    low = min(low, N.single[i, a] + _cost(N, t, i, a, b))
            if N.single[j, b] < FORBIDDEN:
                N.single[j, b] += low
        _detach(N, j, i)
        _enter(Q, j)
    else:
        j, k, t, s = N.near[i, 0], N.near[i, 1], N.via[i, 0], N.via[i, 1]
        joint = np.full((q, q), FORBIDDEN)
        for a in range(q):
            if N.single[i, a] < FORBIDDEN:
                for b in range(q):
                    for c in range(q):
                        paid = N.single[i, a] + _cost(N, t, i, a, b) + _cost(N, s, i, a, c)
                        joint[b, c] = min(joint[b, c], paid)
        _detach(N, k, i)
        known = -1
        for p in range(N.degree[j]):
            if N.near[j, p] == k:
                known = N.via[j, p]
        if known >= 0:
            _detach(N, j, i)
            for b in range(q):
                for c in range(q):
                    if N.first[known] == j:
                        N.table[known, b, c] += joint[b, c]
                    else:
                        N.table[known, c, b] += joint[b, c]
        else:  # in the place of the table with j
            _copy_rows(joint, N.table[t])
            N.first[t] = j
            for p in range(N.degree[j]):
                if N.near[j, p] == i:
                    N.near[j, p] = k
            N.near[k, N.degree[k]], N.via[k, N.degree[k]] = j, t
            N.degree[k] += 1
        _enter(Q, j)
        _enter(Q, k)
    N.degree[i] = -1


@njit()
def _settle(N: Node, i: int, limit: int) -> int:
    """Move what all labels cost to `least`, forbid those that reach the limit, and count the others."""
    common, left = N.single[i].min(), 0
    if common >= FORBIDDEN:
        N.least[0] = limit
        return 0
    N.least[0] += common
    for a in range(N.single.shape[1]):
        if N.single[i, a] < FORBIDDEN:
            N.single[i, a] -= common
            if N.least[0] + N.single[i, a] >= limit:
                N.single[i, a] = FORBIDDEN
            else:
                left += 1
    return left


@njit()
def _star(N: Node, i: int, total: IntArray) -> int:
    """What each label of i costs at least with its tables, whatever the labels of the neighbours: the least of it."""
    q = total.size
    for a in range(q):
        total[a] = N.single[i, a]
    for p in range(N.degree[i]):
        j, t = N.near[i, p], N.via[i, p]
        for a in range(q):
            if total[a] < FORBIDDEN:
                low = FORBIDDEN
                for b in range(q):
                    if N.single[j, b] < FORBIDDEN:
                        low = min(low, _cost(N, t, i, a, b) + N.single[j, b])
                total[a] = min(total[a] + low, FORBIDDEN)
    return int(total.min())


@njit()
def _pull(N: Node, i: int) -> None:
    """Move all costs that can be moved from the tables and neighbours of i to its labels.

    Label a gets the least of table[a, b] + theirs[b]; each b pays what the table lacks for that. A forbidden label has
    no part in it, and one of the others is not forbidden.
    """
    q = N.single.shape[1]
    gain = np.empty(q, dtype=np.int64)
    for p in range(N.degree[i]):
        j, t = N.near[i, p], N.via[i, p]
        straight = N.first[t] == i
        for a in range(q):
            gain[a] = FORBIDDEN
            for b in range(q):
                if N.single[j, b] < FORBIDDEN:
                    gain[a] = min(gain[a], _cost(N, t, i, a, b) + N.single[j, b])
        for b in range(q):
            if N.single[j, b] >= FORBIDDEN:
                continue
            paid = 0
            for a in range(q):
                if N.single[i, a] < FORBIDDEN:
                    paid = max(paid, gain[a] - _cost(N, t, i, a, b))
            N.single[j, b] -= paid
            for a in range(q):
                if N.single[i, a] < FORBIDDEN:
                    if straight:
                        N.table[t, a, b] += paid - gain[a]
                    else:
                        N.table[t, b, a] += paid - gain[a]
        for a in range(q):
            if N.single[i, a] < FORBIDDEN:
                N.single[i, a] += gain[a]


@njit()
def _tighten(N: Node, Q: Queue, limit: int, total: IntArray) -> bool:
    """Look at all variables that wait, until none does: whether a better assignment may be left."""
    while Q.ends[1] > 0:
        i = Q.ring[Q.ends[0]]
        Q.ends[0] = (Q.ends[0] + 1) % Q.ring.size
        Q.ends[1] -= 1
        Q.waits[i] = False
        if N.degree[i] < 0 or N.least[0] >= limit:
            continue
        left = _settle(N, i, limit)
        if N.least[0] < limit and left > 1 and N.degree[i] > 2:
            low, fewer = _star(N, i, total), 0
            for a in range(total.size):
                if N.single[i, a] < FORBIDDEN and N.least[0] + total[a] >= limit:
                    N.single[i, a] = FORBIDDEN
                    fewer += 1
            if fewer < left and low * _SHARE >= limit - N.least[0]:
                _pull(N, i)
                fewer += 1
            if fewer > 0:
                _enter_neighbours(N, Q, i)
                left = _settle(N, i, limit)
        if N.least[0] >= limit:
            Q.failures[i] += 1
        elif left == 1:
            _assign(N, Q, i, N.single[i].argmin())
        elif N.degree[i] <= 2:
            _eliminate(N, Q, i)
    return bool(N.least[0] < limit)


@njit()
def _choose(N: Node, Q: Queue, total: IntArray) -> bool:
    """Choose a variable and its cheapest label; whether there is one.

    It has many neighbours, few labels, and has ended many nodes (Boussemart, Hemery, Lecoutre, Sais 2004).
    """
    best, most = -1, -1.0
    for i in range(N.degree.size):
        if N.degree[i] >= 0:
            left = 0
            for a in range(total.size):
                left += N.single[i, a] < FORBIDDEN
            score = (1.0 + Q.failures[i]) * N.degree[i] / left
            if score > most:
                best, most = i, score
    if best >= 0:
        _star(N, best, total)
        N.branch[0], N.branch[1] = best, total.argmin()
    return bool(best >= 0)


@njit(nogil=True)
def explore(path: Node, Q: Queue, at: IntArray, interchangeable: bool, found: IntArray, nodes: int, stop: Stop) -> None:
    """Go on with the search for up to so many nodes, from the level and for costs below the limit in `at`.

    If there is one the limit becomes that, and `found` its labels, -1 where a variable was eliminated. The search is
    done when the level is -1: then no cost is smaller.
    """
    q, level, limit = path.single.shape[2], at[0], at[1]
    total = np.empty(q, dtype=np.int64)
    for _ in range(nodes):
        if level < 0 or stop[0]:
            break
        N = _view(path, level)
        open_ = _tighten(N, Q, limit, total)
        if open_ and _choose(N, Q, total):
            below = _view(path, level + 1)
            _copy(N, below)
            i, a = N.branch[0], N.branch[1]
            _assign(below, Q, i, a)
            below.branch[2] = max(N.branch[2], a + 1) if interchangeable else q
            level += 1
            continue
        if open_:
            limit = N.least[0]
            _copy_row(N.labels, found)
        level -= 1
        if level >= 0:  # the parent without the label
            N = _view(path, level)
            i, a = N.branch[0], N.branch[1]
            N.single[i, a] = FORBIDDEN
            for b in range(min(a, N.branch[2]), q):  # and without those that are like it
                N.single[i, b] = FORBIDDEN if b >= N.branch[2] else N.single[i, b]
            _enter(Q, i)
            _enter_neighbours(N, Q, i)
    at[0], at[1] = level, limit
