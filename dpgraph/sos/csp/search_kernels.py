"""The kernel of depth-first branch and bound on a 2-CSP whose tables are integer costs.

A node has a cost `least` that every assignment of it pays, costs of single labels, and costs of pairs of labels on the
tables. Moving a cost from a table to the labels of one end, from labels to a table, or from all labels of a variable to
`least` changes the cost of no assignment. Moves that raise `least` give the bound (existential arc consistency: de
Givry, Heras, Zytnicki, Larrosa 2005). A variable of one or two neighbours is eliminated: its table joins that of the
neighbours (Larrosa, Dechter 2003). Costs are integers, so that nothing is rounded.

A node N is one row of numbers, and so is the queue: arrays of one type, and few of them, are compiled
in a third of the time that many take.
"""

from typing import NamedTuple

import numpy as np

from dpgraph.compiled import njit
from dpgraph.threads import Stop
from dpgraph.typing import IntArray

#: Cost of a label that cannot be in a better assignment. All costs of an instance together are less.
FORBIDDEN = 2**61
#: Bits of labels of which none is like another.
ALL = -1
MOST_LABELS = 62  # that bits can stand for
_SHARE = 1024  # of what is missing to the limit: moves that gain less are not made


class Layout(NamedTuple):
    """Sizes, and where in a row what is left to decide stands. First comes `least`."""

    n: int
    q: int
    widest: int  #: largest degree
    single: int  #: (n, q)
    table: int  #: (m, q, q)
    first: int  #: (m,) variable of the first axis
    near: int  #: (n, widest) neighbours
    via: int  #: (n, widest) their tables
    degree: int  #: (n,) or -1 once decided
    labels: int  #: (n,) or -1 where eliminated or open
    branch: int  #: (3,) variable, label, and a bit for each label that those of branches before tell from the others
    size: int

    @classmethod
    def of(cls, n: int, q: int, m: int, widest: int) -> "Layout":
        """That of n variables of q labels, and m tables."""
        ends = [n, q, widest, 1]
        for size in (n * q, m * q * q, m, n * widest, n * widest, n, n, 3):
            ends.append(ends[-1] + size)
        return cls(*ends)


@njit()
def _enter(Q: IntArray, n: int, i: int) -> None:
    """Let i wait in the queue: a ring (n,), who waits (n,), where the next comes out, how many wait."""
    if Q[n + i] == 0:
        Q[n + i] = 1
        Q[(Q[2 * n] + Q[2 * n + 1]) % n] = i
        Q[2 * n + 1] += 1


@njit()
def _detach(N: IntArray, A: Layout, j: int, i: int) -> None:
    """Take i out of the neighbours of j."""
    near, via = A.near + j * A.widest, A.via + j * A.widest
    last = N[A.degree + j] - 1
    for p in range(last):
        if N[near + p] == i:
            N[near + p], N[via + p] = N[near + last], N[via + last]
    N[A.degree + j] = last


@njit()
def _assign(N: IntArray, Q: IntArray, A: Layout, i: int, a: int) -> None:
    """Variable i gets label a."""
    q = A.q
    N[0] += N[A.single + i * q + a]
    for p in range(i * A.widest, i * A.widest + N[A.degree + i]):
        j, t = N[A.near + p], N[A.via + p]
        straight = N[A.first + t] == i
        own, step = A.table + t * q * q + (a * q if straight else a), 1 if straight else q
        for b in range(q):
            if N[A.single + j * q + b] < FORBIDDEN:
                N[A.single + j * q + b] += N[own + b * step]
        _detach(N, A, j, i)
        _enter(Q, A.n, j)
    N[A.degree + i], N[A.labels + i] = -1, a


@njit()
def _eliminate(N: IntArray, Q: IntArray, A: Layout, i: int, room: IntArray) -> None:
    """A variable of at most two neighbours becomes a table of them, or costs of the labels of the only one."""
    q, near, via, count = A.q, A.near + i * A.widest, A.via + i * A.widest, N[A.degree + i]
    N[A.degree + i] = -1
    if count == 0:  # what it costs at least is settled
        return
    j, t = N[near], N[via]
    one = A.table + t * q * q
    if count == 1:
        for b in range(q):
            low = FORBIDDEN
            for a in range(q):
                if N[A.single + i * q + a] < FORBIDDEN:
                    entry = N[one + (a * q + b if N[A.first + t] == i else b * q + a)]
                    low = min(low, N[A.single + i * q + a] + entry)
            if N[A.single + j * q + b] < FORBIDDEN:
                N[A.single + j * q + b] += low
        _detach(N, A, j, i)
        _enter(Q, A.n, j)
        return
    k, s = N[near + 1], N[via + 1]
    two = A.table + s * q * q
    for b in range(q * q):
        room[b] = FORBIDDEN
    for a in range(q):
        paid = N[A.single + i * q + a]
        if paid < FORBIDDEN:
            for b in range(q):
                with_b = paid + N[one + (a * q + b if N[A.first + t] == i else b * q + a)]
                for c in range(q):
                    both = with_b + N[two + (a * q + c if N[A.first + s] == i else c * q + a)]
                    room[b * q + c] = min(room[b * q + c], both)
    _detach(N, A, k, i)
    known = -1
    for p in range(j * A.widest, j * A.widest + N[A.degree + j]):
        if N[A.near + p] == k:
            known = N[A.via + p]
    if known >= 0:
        _detach(N, A, j, i)
    else:  # in the place of the table with j
        known = t
        N[A.first + t] = j
        for b in range(q * q):
            N[one + b] = 0
        for p in range(j * A.widest, j * A.widest + N[A.degree + j]):
            if N[A.near + p] == i:
                N[A.near + p] = k
        last = k * A.widest + N[A.degree + k]
        N[A.near + last], N[A.via + last] = j, t
        N[A.degree + k] += 1
    straight = N[A.first + known] == j
    for b in range(q):
        for c in range(q):
            N[A.table + known * q * q + (b * q + c if straight else c * q + b)] += room[b * q + c]
    _enter(Q, A.n, j)
    _enter(Q, A.n, k)


@njit()
def _settle(N: IntArray, A: Layout, i: int, limit: int) -> int:
    """Move what all labels cost to `least`, forbid those that reach the limit, and count the others."""
    own, common, left = A.single + i * A.q, FORBIDDEN, 0
    for a in range(own, own + A.q):
        common = min(common, N[a])
    if common >= FORBIDDEN:
        N[0] = limit
        return 0
    N[0] += common
    for a in range(own, own + A.q):
        if N[a] < FORBIDDEN:
            N[a] -= common
            if N[0] + N[a] >= limit:
                N[a] = FORBIDDEN
            else:
                left += 1
    return left


@njit()
def _star(N: IntArray, A: Layout, i: int, total: IntArray, pull: bool) -> int:
    """What each label of i costs at least with its tables, whatever the labels of the neighbours: the least of it.

    All of it can be moved to the labels of i: label a gets the least of table[a, b] + theirs[b], and each b pays what
    the table lacks for that. A forbidden label has no part in it, and one of the others is not forbidden.
    """
    q = A.q
    for a in range(q):
        total[a] = N[A.single + i * q + a]
    for p in range(i * A.widest, i * A.widest + N[A.degree + i]):
        j, t = N[A.near + p], N[A.via + p]
        straight = N[A.first + t] == i
        table, row, column = A.table + t * q * q, q if straight else 1, 1 if straight else q
        theirs = A.single + j * q
        for a in range(q):
            total[q + a] = FORBIDDEN
            if total[a] < FORBIDDEN:
                for b in range(q):
                    if N[theirs + b] < FORBIDDEN:
                        total[q + a] = min(total[q + a], N[table + a * row + b * column] + N[theirs + b])
                total[a] = min(total[a] + total[q + a], FORBIDDEN)
        if not pull:
            continue
        for b in range(q):
            if N[theirs + b] >= FORBIDDEN:
                continue
            paid = 0
            for a in range(q):
                if total[a] < FORBIDDEN:
                    paid = max(paid, total[q + a] - N[table + a * row + b * column])
            N[theirs + b] -= paid
            for a in range(q):
                if total[a] < FORBIDDEN:
                    N[table + a * row + b * column] += paid - total[q + a]
    low = FORBIDDEN
    for a in range(q):
        low = min(low, total[a])
        if pull:
            N[A.single + i * q + a] = total[a]
    return low


@njit()
def _look(N: IntArray, Q: IntArray, A: Layout, i: int, limit: int, room: IntArray) -> None:
    """Look at a variable: what its labels cost, what its tables can move there, whether it is decided."""
    left, own, degree = _settle(N, A, i, limit), A.single + i * A.q, A.degree + i
    if N[0] < limit and left > 1 and N[degree] > 2:
        low, fewer = _star(N, A, i, room, False), 0
        for a in range(A.q):
            if N[own + a] < FORBIDDEN and N[0] + room[a] >= limit:
                N[own + a] = FORBIDDEN
                fewer += 1
        pulls = fewer < left and low * _SHARE >= limit - N[0]
        if pulls:
            _star(N, A, i, room, True)
        if pulls or fewer > 0:
            for p in range(A.near + i * A.widest, A.near + i * A.widest + N[degree]):
                _enter(Q, A.n, N[p])
            left = _settle(N, A, i, limit)
    if N[0] >= limit:
        return
    if left == 1:
        a = 0
        while N[own + a] >= FORBIDDEN:
            a += 1
        _assign(N, Q, A, i, a)
    elif N[degree] <= 2:
        _eliminate(N, Q, A, i, room)


@njit()
def _choose(N: IntArray, A: Layout, room: IntArray) -> bool:
    """Choose a variable of many neighbours and few labels, and its cheapest label; whether there is one."""
    best, most = -1, -1.0
    for i in range(A.n):
        if N[A.degree + i] >= 0:
            left = 0
            for a in range(A.single + i * A.q, A.single + (i + 1) * A.q):
                left += N[a] < FORBIDDEN
            score = N[A.degree + i] / left
            if score > most:
                best, most = i, score
    if best >= 0:
        low, a = _star(N, A, best, room, False), 0
        while room[a] > low:
            a += 1
        N[A.branch], N[A.branch + 1] = best, a
    return best >= 0


@njit(nogil=True)
def explore(path: IntArray, Q: IntArray, A: Layout, at: IntArray, found: IntArray, stop: Stop) -> None:
    """Go on with the search from the level and for costs below the limit in `at`.

    There the third number says whether labels that no branch tells apart stay alike below, and the last for how many
    nodes to go on.

    If there is one the limit becomes that, and `found` its labels, -1 where a variable was eliminated. The search is
    done when the level is -1: then no cost is smaller.
    """
    n, q, level, limit, interchangeable = A.n, A.q, at[0], at[1], at[2]
    room = np.empty(2 * q * q, dtype=np.int64)
    for _ in range(at[3]):
        if level < 0 or stop[0]:
            break
        N = path[level]
        while Q[2 * n + 1] > 0:
            i = Q[Q[2 * n]]
            Q[2 * n] = (Q[2 * n] + 1) % n
            Q[2 * n + 1] -= 1
            Q[n + i] = 0
            if N[A.degree + i] >= 0 and N[0] < limit:
                _look(N, Q, A, i, limit, room)
        if N[0] < limit and _choose(N, A, room):
            below = path[level + 1]
            for p in range(A.size):
                below[p] = N[p]
            i, a = N[A.branch], N[A.branch + 1]
            _assign(below, Q, A, i, a)
            below[A.branch + 2] = N[A.branch + 2] | (1 << a) if interchangeable == 1 else ALL
            level += 1
            continue
        if N[0] < limit:
            limit = N[0]
            for i in range(n):
                found[i] = N[A.labels + i]
        level -= 1
        if level >= 0:  # the parent without the label
            N = path[level]
            i, a, apart = N[A.branch], N[A.branch + 1], N[A.branch + 2]
            for b in range(q):  # and without those that are like it
                if b == a or (((apart >> a) | (apart >> b)) & 1) == 0:
                    N[A.single + i * q + b] = FORBIDDEN
            _enter(Q, n, i)
            for p in range(A.near + i * A.widest, A.near + i * A.widest + N[A.degree + i]):
                _enter(Q, n, N[p])
    at[0], at[1] = level, limit
