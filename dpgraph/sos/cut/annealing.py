"""Annealing by matrix products, in plain numpy: nothing is compiled, so that a first call costs no seconds.

A few vertices, drawn at random, are tried at a time, as if the others stood still. So few of them flip at once that
what is found is as good as one by one.
"""

import numpy as np

from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray

_AT_ONCE = 16  # vertices at most, and groups at least


def cool(
    M: FloatArray, x: FloatArray, temperatures: FloatArray, prices: FloatArray, tol: float, rng: np.random.Generator
) -> None:
    """Anneal all columns of x (n, c) in place on M + price (11' - I), one vertex at a time once the temperature is 0.

    A loss up to the temperature times an exponential waiting time is accepted, which is the Metropolis rule.
    """
    order, most = rng.permutation(len(x)), min(_AT_ONCE, -(-len(x) // _AT_ONCE))
    rows, signs = M[np.ix_(order, order)], x[order]
    for temperature, price in zip(temperatures, prices, strict=True):
        size, moved = most if temperature else 1, temperature > 0.0
        for first in range(0, len(x), size):
            own, field = signs[first : first + size], rows[first : first + size] @ signs
            if price:
                field += price * (signs.sum(axis=0) - own)
            loss = temperature * rng.standard_exponential(own.shape) if temperature else -tol
            moves = own * field > -loss
            own *= np.where(moves, -1.0, 1.0)
            moved = moved or bool(moves.any())
        if not moved or time_is_up():
            break
    x[order] = signs


def passed(M: FloatArray, signs: FloatArray, largest: float, tol: float) -> FloatArray:
    """The cuts (n, c) after passes of flips with |sum x| <= largest, or nearer to that, until none gains over `tol`.

    Half of the vertices flip in a pass, each once, whoever gains most next, past losses too; the best prefix is kept
    (Fiduccia, Mattheyses 1982).
    """
    best, each = np.ascontiguousarray(signs.T), np.arange(signs.shape[1])
    far = 4.0 * float(np.abs(M).sum()) + 1.0  # what no value makes up for
    again = True  # after the first pass they are balanced
    while again:
        x, field, total, done = best.copy(), best @ M, best.sum(axis=1), np.zeros(best.shape, dtype=bool)
        value, most = np.zeros(each.size), -far * np.maximum(np.abs(total) - largest, 0.0)
        start = most.copy()
        for _ in range(-(-len(M) // 2)):
            room = np.maximum(largest + 2.0, np.abs(total) - 1.0)
            gain = np.where(done | (np.abs(total[:, None] - 2.0 * x) > room[:, None]), -np.inf, x * field)
            chosen = gain.argmax(axis=1)
            step = np.where(gain[each, chosen] > -np.inf, -2.0 * x[each, chosen], 0.0)
            value += np.where(step == 0.0, 0.0, gain[each, chosen])
            x[each, chosen] += step
            done[each, chosen] = True
            field += step[:, None] * M[chosen]
            total += step
            now = value - far * np.maximum(np.abs(total) - largest, 0.0)
            better = now > most + tol
            best[better], most[better] = x[better], now[better]
        again = bool(np.any(most > start + tol)) and not time_is_up()
    return np.ascontiguousarray(best.T)
