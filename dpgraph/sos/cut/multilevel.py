"""Multilevel bisections: merge strong pairs, cut what is left, and refine on the way back (Karypis, Kumar 1998).

The refinement flips one vertex after another, each once, past losses too, and keeps the best prefix (Fiduccia,
Mattheyses 1982); a new gain costs O(1) to enter. A negative entry merges its vertices on one side, a positive one on
opposite sides. Two cuts are combined by merging only what is on one side, or on opposite ones, in both (Sanders, Schulz
2012).
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.sos.kernels import on_columns
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray, IntArray

_COARSEST = 60  # vertices
_SHRINKS = 0.95  # a level of more vertices than this share of those before is the last
_STALLS = 0.75  # as many, and vertices are also matched with those that share their strongest neighbour
_TRIES = 10  # random cuts of the coarsest level
_LARGEST = 0.05  # share of all vertices that may be merged into one
_PASSES = 16  # about as many are made, with all that depends on a flip
_PATIENCE = 100  # flips past the best prefix, and this share of all vertices
_PATIENCE_SHARE = 0.01
_STEPS = 2**14  # of the gain, where weights differ by more


def multilevel_cut(
    rows: Rows, imbalance: int, rng: np.random.Generator, parents: FloatArray | None = None
) -> FloatArray:
    """One cut (n,) with |sum x| <= imbalance, which is a number of the parity of n, unless the last flips miss it.

    With `parents`, cuts in columns, it merges what they agree on, and starts from them besides.
    """
    n = rows.indptr.size - 1
    given = np.empty((n, 0)) if parents is None else np.ascontiguousarray(parents)  # one type of arrays
    levels, masses = [(rows, np.ones(n))], np.ones(n)
    lifts: list[tuple[IntArray, FloatArray]] = []
    while levels[-1][1].size > _COARSEST:
        A, sizes = levels[-1]
        limit = max(2.0, _LARGEST * n)
        order = rng.permutation(sizes.size)
        joined = at_once(match, 2 * A.indices.size)
        group, signs = joined(A, masses, given, order, limit, False)
        if group.max() + 1 > _STALLS * sizes.size:
            group, signs = joined(A, masses, given, order, limit, True)
        if group.max() + 1 > _SHRINKS * sizes.size:
            break
        count = int(group.max()) + 1
        merged = np.bincount(group, weights=signs * sizes, minlength=count)
        signs = signs * np.where(merged < 0.0, -1.0, 1.0)[group]  # sizes are kept nonnegative
        masses = np.bincount(group, weights=masses)
        levels.append((at_once(_merged_rows, A.indices.size)(A, group, signs, count), np.abs(merged)))
        lifts.append((group, signs))
        first = np.unique(group, return_index=True)[1]
        given = signs[first, None] * given[first]
    A, sizes = levels.pop()
    cuts = np.column_stack([given, np.where(rng.random((sizes.size, _TRIES)) < 0.5, 1.0, -1.0)])
    cuts = refined(A, sizes, cuts, max(float(imbalance), float(sizes.max())))
    product = sparse.csr_array((A.data, A.indices, A.indptr), shape=(sizes.size, sizes.size)) @ cuts
    x = cuts[:, int(np.argmin(np.sum(cuts * product, axis=0)))]
    while lifts:
        (group, signs), (A, sizes) = lifts.pop(), levels.pop()
        slack = float(imbalance) if not levels else max(float(imbalance), float(sizes.max()))
        x = refined(A, sizes, signs * x[group], slack)
    return x


def refined(rows: Rows, sizes: FloatArray, signs: FloatArray, slack: float) -> FloatArray:
    """The cuts, shape (n,) or (n, c), after passes of flips that keep |sizes'x| at most `slack` or lower it."""
    tol = 1e-10 * float(np.abs(rows.data).max(initial=0.0))
    passes = at_once(_passes, _PASSES * signs.size / len(signs) * (rows.indices.size + len(signs)))
    return on_columns(lambda x, stop: passes(rows, sizes, x, slack, tol, stop), signs)


@njit(nogil=True)
def _agree(given: FloatArray, i: int, j: int, sign: float) -> bool:
    """Whether the cuts given all have i and j on one side, for the sign 1, or on opposite ones."""
    k = 0
    while k < given.shape[1] and given[i, k] * given[j, k] == sign:
        k += 1
    return bool(k == given.shape[1])


@njit(nogil=True)
def match(
    rows: Rows, masses: FloatArray, given: FloatArray, order: IntArray, limit: float, two_hops: bool
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
        if group[i] >= 0:
            continue
        best, strength, sign = -1, 0.0, 1.0
        hub, most, side = masses.size, 0.0, 1.0
        for p in range(indptr[i], indptr[i + 1]):
            j = np.int64(indices[p])
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
def _merged_rows(rows: Rows, group: IntArray, signs: FloatArray, count: int) -> Rows:
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
    top: IntArray  # (2,) no list above is in use
    step: FloatArray  # (2,) least gain, and steps for each unit


@njit(nogil=True)
def _bucket(Q: _Queues, gain: float) -> int:
    return int(min(max(int((gain - Q.step[0]) * Q.step[1]), 0), Q.head.shape[1] - 1))


@njit(nogil=True)
def _enter(Q: _Queues, i: int, side: int, gain: float) -> None:
    b = _bucket(Q, gain)
    j = Q.head[side, b]
    Q.after[i], Q.before[i], Q.head[side, b] = j, -1, i
    if j >= 0:
        Q.before[j] = i
    Q.top[side] = max(Q.top[side], b)


@njit(nogil=True)
def _leave(Q: _Queues, i: int, side: int, gain: float) -> None:
    if Q.before[i] >= 0:
        Q.after[Q.before[i]] = Q.after[i]
    else:
        Q.head[side, _bucket(Q, gain)] = Q.after[i]
    if Q.after[i] >= 0:
        Q.before[Q.after[i]] = Q.before[i]
    Q.before[i] = -2


@njit(nogil=True)
def _best(Q: _Queues, side: int) -> int:
    """Whoever gains most on a side, up to the width of a step; the last who came, which follows a seam."""
    while Q.top[side] >= 0 and Q.head[side, Q.top[side]] < 0:
        Q.top[side] -= 1
    return int(Q.head[side, Q.top[side]]) if Q.top[side] >= 0 else -1


@njit(nogil=True)
def _flip(i: int, rows: Rows, x: FloatArray, gain: FloatArray, Q: _Queues) -> None:
    """Flip vertex i, which is in no list; gain[j] = x_j (M x)_j is what flipping j adds to the cut."""
    indptr, indices, data = rows
    x[i] = -x[i]
    gain[i] = -gain[i]
    for p in range(indptr[i], indptr[i + 1]):
        j = np.int64(indices[p])  # as elsewhere: for another type all that is called is compiled again
        new = gain[j] + 2.0 * data[p] * x[i] * x[j]
        if Q.before[j] > -2:
            side = 0 if x[j] > 0.0 else 1
            if _bucket(Q, new) != _bucket(Q, gain[j]):
                _leave(Q, j, side, gain[j])
                _enter(Q, j, side, new)
        gain[j] = new


@njit(nogil=True)
def _passes(rows: Rows, sizes: FloatArray, x: FloatArray, slack: float, tol: float, stop: Stop) -> None:
    """Passes in place until one neither gains more than `tol` nor improves the balance."""
    indptr, indices, data = rows
    n = x.size
    gain = np.zeros(n)
    most = 0.0
    least = np.inf
    for i in range(n):
        size = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            gain[i] += data[p] * x[i] * x[indices[p]]
            size += abs(data[p])
            if data[p] != 0.0:
                least = min(least, abs(data[p]))
        most = max(most, size)
    steps = int(min(max(2.0 * most / least if least < np.inf else 1.0, 1.0), _STEPS)) + 1
    step = np.array([-most, (steps - 0.5) / (2.0 * most) if most > 0.0 else 1.0])
    Q = _Queues(
        np.empty((2, steps), dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64),
        np.empty(2, dtype=np.int64), step,
    )  # fmt: skip
    while True:
        excess = max(abs(np.sum(sizes * x)) - slack, 0.0)
        gained, left = _pass(rows, sizes, x, slack, gain, Q)
        if (gained <= tol and left >= excess) or (stop[0] and left <= 0.0):
            return


@njit(nogil=True)
def _pass(
    rows: Rows, sizes: FloatArray, x: FloatArray, slack: float, gain: FloatArray, Q: _Queues
) -> tuple[float, float]:
    """One pass in place: what it gains, and by how much the balance is missed then."""
    Q.head[:] = -1
    Q.top[:] = -1
    for i in range(x.size):
        _enter(Q, i, 0 if x[i] > 0.0 else 1, gain[i])
    total = np.sum(sizes * x)
    room = slack + 2.0 * sizes.max()
    patience = _PATIENCE + int(_PATIENCE_SHARE * x.size)
    moves = np.empty(x.size, dtype=np.int64)
    count, kept, gained, best, least = 0, 0, 0.0, 0.0, max(abs(total) - slack, 0.0)
    while count < x.size and count < kept + patience:
        chosen = -1
        for side in range(2):
            i = _best(Q, side)
            if i < 0:
                continue
            after = abs(total - 2.0 * sizes[i] * x[i])
            if (after <= room or after < abs(total)) and (chosen < 0 or gain[i] > gain[chosen]):
                chosen = i
        if chosen < 0:
            break
        total -= 2.0 * sizes[chosen] * x[chosen]
        gained += gain[chosen]
        _leave(Q, chosen, 0 if x[chosen] > 0.0 else 1, gain[chosen])
        _flip(chosen, rows, x, gain, Q)
        moves[count] = chosen
        count += 1
        missed = max(abs(total) - slack, 0.0)
        if missed < least or (missed == least and gained > best):
            kept, best, least = count, gained, missed
    Q.before[:] = -2
    for k in range(count - 1, kept - 1, -1):
        _flip(moves[k], rows, x, gain, Q)
    return best, least
