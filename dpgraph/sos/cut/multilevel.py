"""Multilevel bisections: merge strong pairs, cut what is left, and refine on the way back (Karypis, Kumar 1998).

The refinement flips one vertex after another, each once, past losses too, and keeps the best prefix (Fiduccia,
Mattheyses 1982). A negative entry merges its vertices on one side, a positive one on opposite sides. Two cuts are
combined by merging only what is on one side, or on opposite ones, in both (Sanders, Schulz 2012).
"""

import numpy as np
from scipy import sparse

from dpgraph.compiled import Rows, at_once, njit
from dpgraph.sos.cut.tournament import Tournament, flip, tournament
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
_PATIENCE_SHARE = 0.1


def multilevel_cut(
    matrix: sparse.csr_array, imbalance: int, rng: np.random.Generator, parents: FloatArray | None = None
) -> FloatArray:
    """One cut (n,) with |sum x| <= imbalance, which is a number of the parity of n, unless the last flips miss it.

    With `parents`, cuts in columns, it merges what they agree on, and starts from them besides.
    """
    given = np.empty((matrix.shape[0], 0)) if parents is None else parents
    levels, masses = [(matrix, np.ones(matrix.shape[0]))], np.ones(matrix.shape[0])
    lifts: list[tuple[IntArray, FloatArray]] = []
    while levels[-1][0].shape[0] > _COARSEST:
        A, sizes = levels[-1]
        limit = max(2.0, _LARGEST * matrix.shape[0])
        order = rng.permutation(sizes.size)
        joined = at_once(match, 2 * A.nnz)
        group, signs = joined(Rows.of(A), masses, given, order, limit, False)
        if group.max() + 1 > _STALLS * sizes.size:
            group, signs = joined(Rows.of(A), masses, given, order, limit, True)
        if group.max() + 1 > _SHRINKS * sizes.size:
            break
        P = sparse.csr_array((signs, (np.arange(sizes.size), group)), shape=(sizes.size, int(group.max()) + 1))
        masses = np.bincount(group, weights=masses)
        smaller, merged = sparse.csr_array(P.T @ A @ P), P.T @ sizes
        turned = np.where(merged < 0.0, -1.0, 1.0)  # sizes are kept nonnegative
        smaller = sparse.csr_array(sparse.diags_array(turned) @ smaller @ sparse.diags_array(turned))
        smaller.setdiag(0.0)
        smaller.eliminate_zeros()
        levels.append((smaller, np.abs(merged)))
        lifts.append((group, signs * turned[group]))
        given = np.sign(P.T @ given) * turned[:, None]
    A, sizes = levels.pop()
    cuts = np.column_stack([given, np.where(rng.random((sizes.size, _TRIES)) < 0.5, 1.0, -1.0)])
    cuts = refined(A, sizes, cuts, max(float(imbalance), float(sizes.max())))
    x = cuts[:, int(np.argmin(np.sum(cuts * (A @ cuts), axis=0)))]
    while lifts:
        (group, signs), (A, sizes) = lifts.pop(), levels.pop()
        slack = float(imbalance) if not levels else max(float(imbalance), float(sizes.max()))
        x = refined(A, sizes, signs * x[group], slack)
    return x


def refined(matrix: sparse.csr_array, sizes: FloatArray, signs: FloatArray, slack: float) -> FloatArray:
    """The cuts, shape (n,) or (n, c), after passes of flips that keep |sizes'x| at most `slack` or lower it."""
    rows = Rows.of(matrix)
    tol = 1e-10 * float(np.abs(matrix.data).max(initial=0.0))
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
            j = indices[p]
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
def _passes(rows: Rows, sizes: FloatArray, x: FloatArray, slack: float, tol: float, stop: Stop) -> None:
    """Passes in place until one neither gains more than `tol` nor improves the balance."""
    indptr, indices, data = rows
    gain = np.zeros(x.size)
    for i in range(x.size):
        for p in range(indptr[i], indptr[i + 1]):
            gain[i] += data[p] * x[i] * x[indices[p]]
    while not stop[0]:
        excess = max(abs(np.sum(sizes * x)) - slack, 0.0)
        gained, left = _pass(rows, sizes, x, slack, tournament(x, gain))
        if gained <= tol and left >= excess:
            return


@njit(nogil=True)
def _pass(rows: Rows, sizes: FloatArray, x: FloatArray, slack: float, T: Tournament) -> tuple[float, float]:
    """One pass in place: what it gains, and by how much the balance is missed then."""
    total = np.sum(sizes * x)
    room = slack + 2.0 * sizes.max()
    patience = _PATIENCE + int(_PATIENCE_SHARE * x.size)
    moves = np.empty(x.size, dtype=np.int64)
    count, kept, gained, best, least = 0, 0, 0.0, 0.0, max(abs(total) - slack, 0.0)
    while count < x.size and count < kept + patience:
        chosen = -1
        for side in range(2):
            i = T.winner[side, 1]
            if i < 0 or T.extra[i] < 0.0:
                continue  # all have been flipped
            after = abs(total - 2.0 * sizes[i] * x[i])
            if (after <= room or after < abs(total)) and (chosen < 0 or T.gain[i] > T.gain[chosen]):
                chosen = i
        if chosen < 0:
            break
        total -= 2.0 * sizes[chosen] * x[chosen]
        gained += T.gain[chosen]
        T.extra[chosen] = -np.inf
        flip(chosen, rows, x, T)
        moves[count] = chosen
        count += 1
        missed = max(abs(total) - slack, 0.0)
        if missed < least or (missed == least and gained > best):
            kept, best, least = count, gained, missed
    for k in range(count - 1, kept - 1, -1):
        flip(moves[k], rows, x, T)
    return best, least
