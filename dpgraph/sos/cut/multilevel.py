"""Multilevel bisections: merge strong pairs, cut what is left, and refine on the way back (Karypis, Kumar 1998).

The refinement flips one vertex after another, each once, past losses too, and keeps the best prefix (Fiduccia,
Mattheyses 1982); a new gain costs O(1) to enter. A negative entry merges its vertices on one side, a positive one on
opposite sides. Two cuts are combined by merging only what is on one side, or on opposite ones, in both (Sanders, Schulz
2012).
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.sos.kernels import on_columns
from dpgraph.threads import NEVER, Stop, deadline, on_thread, time_is_up, within
from dpgraph.typing import FloatArray, IntArray

_COARSEST = 60  # vertices
_SHRINKS = 0.95  # a level of more vertices than this share of those before is the last
_STALLS = 0.75  # as many, and vertices are also matched with those that share their strongest neighbour
_TRIES, _GROWN = 6, 3  # cuts of the coarsest level: those that grow from a vertex, the others are random
_LARGEST = 0.05  # share of all vertices that may be merged into one
_PASSES = 16  # about as many are made, with all that depends on a flip
_CUTS = 100  # about as many follow, so that kernels are compiled at the first if they will be at all
_SHORT = 2**20  # steps of passes for which no thread is started
_PATIENCE = 100  # flips past the best prefix, and this share of all vertices
_PATIENCE_SHARE = 0.01
_STEPS = 2**14  # of the gain, where weights differ by more


def multilevel_cut(rows: Rows, imbalance: int, rng: np.random.Generator, parents: FloatArray) -> FloatArray:
    """One cut (n,) with |sum x| <= imbalance, which is a number of the parity of n, unless the last flips miss it.

    It merges what the `parents`, cuts in columns, agree on, and starts from them besides. Merging ends after half of
    the time that is left.
    """
    with within(0.5 * (deadline() - time.monotonic())):
        levels, lifts, given = _levels(rows, rng, np.ascontiguousarray(parents))  # one type of arrays
        late = time_is_up()
    if time_is_up():  # what is merged would not be refined
        del levels[1:], lifts[:]
    A, sizes = levels.pop()
    slack = max(float(imbalance), float(sizes.max()))
    if late:
        x = refined(A, sizes, _ending(_deal, A.indices.size, A, sizes, 0.5 * (float(sizes.sum()) + slack)), slack)
    else:
        M = sparse.csr_array((A.data, A.indices, A.indptr), shape=(sizes.size, sizes.size))
        cuts = np.where(rng.random((sizes.size, _TRIES)) < 0.5, 1.0, -1.0)
        for x in cuts.T[:_GROWN]:
            near = sparse.csgraph.breadth_first_order(M, rng.integers(sizes.size), return_predecessors=False)
            x[near] = np.where(2.0 * np.cumsum(sizes[near]) <= sizes.sum(), 1.0, -1.0)
        cuts = refined(A, sizes, np.column_stack([given, cuts]), slack)
        x = cuts[:, int(np.argmin(np.sum(cuts * (M @ cuts), axis=0)))]
    while lifts:
        (group, signs), (A, sizes) = lifts.pop(), levels.pop()
        slack = float(imbalance) if not levels else max(float(imbalance), float(sizes.max()))
        x = refined(A, sizes, signs * x[group], slack)
    return x


def _levels(
    rows: Rows, rng: np.random.Generator, given: FloatArray
) -> tuple[list[tuple[Rows, FloatArray]], list[tuple[IntArray, FloatArray]], FloatArray]:
    """Matrices and sizes from the finest on, groups and signs between them, and the cuts `given` on the coarsest."""
    n = rows.indptr.size - 1
    levels, lifts, masses = [(rows, np.ones(n))], list[tuple[IntArray, FloatArray]](), np.ones(n)
    while levels[-1][1].size > _COARSEST and not time_is_up():
        A, sizes = levels[-1]
        limit = max(2.0, _LARGEST * n)
        order = rng.permutation(sizes.size)
        steps = A.indices.size + sizes.size
        group, signs = _ending(match, 2 * steps, A, masses, given, order, limit, False)
        if group.max() + 1 > _STALLS * sizes.size:
            group, signs = _ending(match, 2 * steps, A, masses, given, order, limit, True)
        if group.max() + 1 > _SHRINKS * sizes.size or time_is_up():
            break
        count = int(group.max()) + 1
        merged = np.bincount(group, weights=signs * sizes, minlength=count)
        signs = signs * np.where(merged < 0.0, -1.0, 1.0)[group]  # sizes are kept nonnegative
        coarser = _ending(_merged_rows, steps, A, group, signs, count)
        if time_is_up():
            break
        masses = np.asarray(np.bincount(group, weights=masses), dtype=np.float64)
        levels.append((coarser, np.abs(merged)))
        lifts.append((group, signs))
        first = np.empty(count, dtype=np.int64)
        first[group] = np.arange(group.size)  # any vertex of each group
        given = signs[first, None] * given[first]
    return levels, lifts, given


def _ending(kernel: Callable[..., Any], steps: int, *arguments: Any) -> Any:
    """Result of a kernel of so many steps, which ends with the time if they are many."""
    kernel = at_once(kernel, _CUTS * steps)
    return on_thread(kernel, *arguments) if steps > _SHORT else kernel(*arguments, NEVER)


def refined(rows: Rows, sizes: FloatArray, signs: FloatArray, slack: float) -> FloatArray:
    """The cuts, shape (n,) or (n, c), after passes of flips that keep |sizes'x| at most `slack` or lower it."""
    if time_is_up() and np.all(np.abs(sizes @ signs) <= slack):
        return signs.copy()
    tol, steps = 1e-10 * float(np.abs(rows.data).max(initial=0.0)), _PASSES * (rows.indices.size + len(signs))
    passes = at_once(_passes, steps * signs.size / len(signs))
    if steps > _SHORT:
        return on_columns(lambda x, stop: passes(rows, sizes, x, slack, tol, stop), signs)
    columns = np.array(signs.reshape(len(signs), -1).T, order="C")
    for x in columns:  # sooner done than a thread is started
        passes(rows, sizes, x, slack, tol, NEVER)
    return np.ascontiguousarray(columns.T).reshape(signs.shape)


@njit(nogil=True)
def _deal(rows: Rows, sizes: FloatArray, room: float, stop: Stop) -> FloatArray:
    """A cut: one vertex after another goes where it cuts more of what came before, or to the lighter side.

    A side with no more `room` gets none. Once the time is up all go to the lighter side.
    """
    x, held = np.zeros(sizes.size), np.zeros(2)
    for i in range(x.size):
        field = 0.0
        for p in range(rows.indptr[i], rows.indptr[i] if stop[0] else rows.indptr[i + 1]):
            field += rows.data[p] * x[rows.indices[p]]
        side = 0 if field < 0.0 or (field == 0.0 and held[0] <= held[1]) else 1
        if held[side] + sizes[i] > room:
            side = 1 - side
        held[side] += sizes[i]
        x[i] = 1.0 - 2.0 * side
    return x


@njit(nogil=True)
def _agree(given: FloatArray, i: int, j: int, sign: float) -> bool:
    """Whether the cuts given all have i and j on one side, for the sign 1, or on opposite ones."""
    k = 0
    while k < given.shape[1] and given[i, k] * given[j, k] == sign:
        k += 1
    return bool(k == given.shape[1])


@njit(nogil=True)
def match(
    rows: Rows, masses: FloatArray, given: FloatArray, order: IntArray, limit: float, two_hops: bool, stop: Stop
) -> tuple[IntArray, FloatArray]:
    """Groups of one or two vertices, of masses up to `limit`, and signs in them; each takes its strongest free pair.

    The signs of the groups are those of all cuts `given`.
    With `two_hops` those that find none take one another if they share their strongest neighbour, or have none.
    Strength is the squared weight over the product of the masses (Holtgrewe, Sanders, Schulz 2010).
    """
    indptr, indices, data = rows
    group = np.full(masses.size, -1, dtype=np.int64)
    signs = np.ones(masses.size)
    sides = np.ones(masses.size)
    waiting = np.full(masses.size + 1, -1, dtype=np.int64)  # at each neighbour, the last place for those without
    count = 0
    for i in order:
        if stop[0]:
            break
        if group[i] >= 0:
            continue
        best, strength, sign = -1, 0.0, 1.0
        hub, most, side = masses.size, 0.0, 1.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p] + 0  # of 64 bits, as elsewhere: for another type what is called is compiled again
            s = -1.0 if data[p] > 0.0 else 1.0
            rating = data[p] * data[p] / masses[j]
            if rating > most:
                hub, most, side = j, rating, s
            free = group[j] < 0 and j != i and rating > strength and masses[i] + masses[j] <= limit
            if free and _agree(given, i, j, s):
                best, strength, sign = j, rating, s
        if best < 0 and two_hops:
            other = waiting[hub]
            if other >= 0 and masses[i] + masses[other] <= limit and _agree(given, i, other, side * sides[other]):
                group[i], waiting[hub] = group[other], -1
                signs[i], signs[other] = side, sides[other]
                continue
            waiting[hub], sides[i] = i, side
        group[i] = count
        if best >= 0:
            group[best], signs[best] = count, sign
        count += 1
    return group, signs


@njit(nogil=True)
def _merged_rows(rows: Rows, group: IntArray, signs: FloatArray, count: int, stop: Stop) -> Rows:
    """The matrix between groups, without its diagonal and zeros: P' M P with P[i, group_i] = signs_i."""
    indptr, indices, data = rows
    first, after = np.full(count, -1, dtype=np.int64), np.full(group.size, -1, dtype=np.int64)
    for i in range(group.size - 1, -1, -1):
        after[i], first[group[i]] = first[group[i]], i
    start = np.zeros(count + 1, dtype=indptr.dtype)
    columns, values = np.empty(indices.size, dtype=indices.dtype), np.empty(data.size)
    seen, place = np.full(count, -1, dtype=np.int64), np.empty(count, dtype=np.int64)
    used = 0
    for g in range(count):
        if stop[0]:
            break
        begin = used
        i = first[g]
        while i >= 0:
            for p in range(indptr[i], indptr[i + 1]):
                h = group[indices[p]]
                if h == g:
                    continue
                if seen[h] != g:
                    seen[h], place[h], columns[used], values[used] = g, used, h, 0.0
                    used += 1
                values[place[h]] += signs[i] * signs[indices[p]] * data[p]
            i = after[i]
        kept = begin
        for p in range(begin, used):  # weights that cancel leave no edge
            if values[p] != 0.0:
                columns[kept], values[kept] = columns[p], values[p]
                kept += 1
        used = kept
        start[g + 1] = used
    return Rows(start, columns[:used].copy(), values[:used].copy())


class _Queues(NamedTuple):
    """Who may still flip, in a doubly linked list for each side and step of the gain (Fiduccia, Mattheyses 1982)."""

    head: IntArray  # (2, steps)
    after: IntArray  # (n,)
    before: IntArray  # (n,) -1 at a head, -2 outside
    place: IntArray  # (n,) step of the gain
    step: FloatArray  # (2,) least gain, and steps for each unit


@njit(nogil=True)
def _enter(Q: _Queues, i: int, side: int, to: int) -> None:
    j = Q.head[side, to]
    Q.after[i], Q.before[i], Q.head[side, to], Q.place[i] = j, -1, i, to
    if j >= 0:
        Q.before[j] = i


@njit(nogil=True)
def _leave(Q: _Queues, i: int, side: int) -> None:
    if Q.before[i] >= 0:
        Q.after[Q.before[i]] = Q.after[i]
    else:
        Q.head[side, Q.place[i]] = Q.after[i]
    if Q.after[i] >= 0:
        Q.before[Q.after[i]] = Q.before[i]
    Q.before[i] = -2


@njit(nogil=True)
def _bucket(Q: _Queues, gain: float) -> int:
    return int(min(max(int((gain - Q.step[0]) * Q.step[1]), 0), Q.head.shape[1] - 1))


@njit(nogil=True)
def _passes(rows: Rows, sizes: FloatArray, x: FloatArray, slack: float, tol: float, stop: Stop) -> None:
    """Passes in place until one neither gains more than `tol` nor improves the balance."""
    indptr, indices, data = rows
    n = x.size
    most, least, largest = 0.0, np.inf, 0.0
    for i in range(n):
        size = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            size += abs(data[p])
            if data[p] != 0.0:
                least = min(least, abs(data[p]))
        most, largest = max(most, size), max(largest, sizes[i])
    steps = int(min(max(2.0 * most / least if least < np.inf else 1.0, 1.0), _STEPS)) + 1
    step = np.array([-most, (steps - 0.5) / (2.0 * most) if most > 0.0 else 1.0])
    Q = _Queues(
        np.empty((2, steps), np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), step
    )
    gain, moves, top = np.empty(n), np.empty(n, dtype=np.int64), np.empty(2, dtype=np.int64)
    nobody = n - 1 - n  # a literal would have what is called compiled for itself
    room, patience = slack + 2.0 * largest, _PATIENCE + int(_PATIENCE_SHARE * n)
    while True:
        for side in range(2):
            top[side] = steps - 1
            for b in range(steps):
                Q.head[side, b] = -1
        total = 0.0
        for i in range(n):
            gain[i] = 0.0  # what flipping i adds to the cut
            for p in range(indptr[i], indptr[i + 1]):
                gain[i] += data[p] * x[i] * x[indices[p]]
            total += sizes[i] * x[i]
            _enter(Q, i, 0 if x[i] > 0.0 else 1, _bucket(Q, gain[i]))
        excess = max(abs(total) - slack, 0.0)
        count, kept, gained, best, missed = 0, 0, 0.0, 0.0, excess
        while count < n and count < kept + patience and (missed > 0.0 or not stop[0]):
            chosen = nobody
            for side in range(2):  # whoever gains most, up to a step; the last who came, which follows a seam
                while top[side] >= 0 and Q.head[side, top[side]] < 0:
                    top[side] -= 1
                if top[side] >= 0:
                    i = Q.head[side, top[side]]
                    after = abs(total - 2.0 * sizes[i] * x[i])
                    if (after <= room or after < abs(total)) and (chosen < 0 or gain[i] > gain[chosen]):
                        chosen = i
            if chosen < 0:
                break
            _leave(Q, chosen, 0 if x[chosen] > 0.0 else 1)
            total -= 2.0 * sizes[chosen] * x[chosen]
            gained += gain[chosen]
            x[chosen] = -x[chosen]
            for p in range(indptr[chosen], indptr[chosen + 1]):
                j = indices[p] + 0  # of 64 bits, as elsewhere: for another type what is called is compiled again
                gain[j] += 2.0 * data[p] * x[chosen] * x[j]
                to = _bucket(Q, gain[j])
                if Q.before[j] > -2 and to != Q.place[j]:
                    side = 0 if x[j] > 0.0 else 1
                    _leave(Q, j, side)
                    _enter(Q, j, side, to)
                    top[side] = max(top[side], to)
            moves[count] = chosen
            count += 1
            left = max(abs(total) - slack, 0.0)
            if left < missed or (left == missed and gained > best):
                kept, best, missed = count, gained, left
        for k in range(kept, count):
            x[moves[k]] = -x[moves[k]]
        if (best <= tol and missed >= excess) or (stop[0] and missed <= 0.0):
            return
