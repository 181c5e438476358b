"""Who is best to flip on either side of a cut, kept up to date as vertices flip."""

from typing import NamedTuple

import numpy as np

from dpgraph.compiled import Rows, njit
from dpgraph.typing import FloatArray, IntArray


class Tournament(NamedTuple):
    """Who is best to flip on either side, as a tree of winners: a new gain costs O(log n) to enter.

    ``winner[s, v]`` is the better of those at 2 v and 2 v + 1, the root is at 1, -1 is nobody. Vertex i plays on its
    side s at the leaf n' + i, n' a power of two, with gain[i] + extra[i]; of equals the first wins.
    """

    winner: IntArray
    gain: FloatArray
    extra: FloatArray


@njit(nogil=True)
def play(T: Tournament, side: int, node: int) -> int:
    """The winner at an inner node."""
    left, right = T.winner[side, 2 * node], T.winner[side, 2 * node + 1]
    if left < 0 or (right >= 0 and T.gain[right] + T.extra[right] > T.gain[left] + T.extra[left]):
        return int(right)
    return int(left)


@njit(nogil=True)
def enter(i: int, x: FloatArray, T: Tournament) -> None:
    """Play again what vertex i, whose gain or side has changed, takes part in."""
    half = T.winner.shape[1] // 2
    for side in range(2):
        before = T.winner[side, half + i]
        T.winner[side, half + i] = i if x[i] == 1.0 - 2.0 * side else -1
        if before < 0 and T.winner[side, half + i] < 0:
            continue
        node = (half + i) // 2
        while node > 0:
            T.winner[side, node] = play(T, side, node)
            node //= 2


@njit(nogil=True)
def tournament(x: FloatArray, gain: FloatArray) -> Tournament:
    """Everybody on the side of its sign, by gain."""
    half = 1
    while half < x.size:
        half *= 2
    T = Tournament(np.full((2, 2 * half), -1, dtype=np.int64), gain, np.zeros(x.size))
    for side in range(2):
        for i in range(x.size):
            if x[i] == 1.0 - 2.0 * side:
                T.winner[side, half + i] = i
        for node in range(half - 1, 0, -1):
            T.winner[side, node] = play(T, side, node)
    return T


@njit(nogil=True)
def flip(i: int, rows: Rows, x: FloatArray, T: Tournament) -> None:
    """Flip vertex i; gain[j] = x_j (M x)_j is what flipping j adds to the cut."""
    indptr, indices, data = rows
    x[i] = -x[i]
    T.gain[i] = -T.gain[i]
    enter(i, x, T)
    for p in range(indptr[i], indptr[i + 1]):
        j = indices[p]
        T.gain[j] += 2.0 * data[p] * x[i] * x[j]
        enter(j, x, T)
