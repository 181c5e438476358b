"""Numba kernels of the max-cut solver: coordinate ascent, annealing, tabu search.

Conventions: ``M`` is symmetric with zero diagonal, rows of ``V`` are unit vectors, ``x`` has entries -1 and +1.
The value of a cut is ``constant - x'Mx/4``; flipping vertex ``i`` gains ``x_i (Mx)_i``. Kernels end after the sweep in
which ``stop[0]`` becomes 1.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import Rows, njit
from dpgraph.sos.kernels import REORDER, uniform
from dpgraph.threads import Stop
from dpgraph.typing import FloatArray as Floats
from dpgraph.typing import IntArray

Numbers = NDArray[Any]  # floats, or whole numbers of sixteen bits

# Over-relaxation of coordinate ascent, in [0, 1): measured on Gset, 0.9 needs a tenth of the sweeps of 0.
_BEYOND = 0.9

_PART = 128  # numbers whose largest is found at once
_TENURE = 20  # steps for which a vertex is not flipped again, and as many more at random
_PATIENCE, _SHAKEN = 5, 8  # steps for each vertex without a gain; up to a share of the vertices is flipped then
# Random waiting times of annealing: a run of them, from a random place on, serves the starts of a vertex.
_WAITS = 4096
#: Whole numbers of sixteen bits: no flip gains or loses as much.
LARGEST_LOSS = 2.0**14


@njit(fastmath=REORDER)
def _move_row(V: Floats, i: int, g: Floats) -> float:
    """Move row i beyond the best unit vector u = g/|g| and return how much the relaxation value grows.

    The row goes to the direction of u + _BEYOND (u - V_i): on the sphere this stays closer to u than V_i was, so the
    value grows in every step, and slowly converging sweeps make several times the progress of the exact maximisation.
    """
    length = 0.0
    inner = 0.0
    for c in range(g.size):
        length += g[c] * g[c]
        inner += g[c] * V[i, c]
    length = np.sqrt(length)
    if length == 0.0:
        return 0.0
    cosine = inner / length
    scale = 1.0 / np.sqrt((1.0 + _BEYOND) ** 2 + _BEYOND**2 - 2.0 * (1.0 + _BEYOND) * _BEYOND * cosine)
    forward = scale * (1.0 + _BEYOND) / length
    back = scale * _BEYOND
    for c in range(g.size):
        V[i, c] = forward * g[c] - back * V[i, c]
    return float(0.5 * (forward * length * length - (1.0 + back) * inner))


@njit(nogil=True, fastmath=REORDER)
def ascend_sparse(
    rows: Rows, u: Floats, price: float, V: Floats, sweeps: int, tol: float, stop: Stop
) -> tuple[int, float]:
    """Over-relaxed ascent on M + price (u u' - diag(u^2)), M sparse, until a sweep gains `tol`: sweeps, last gain."""
    indptr, indices, data = rows
    n, k = V.shape
    g, old, total = np.empty(k), np.empty(k), np.empty(k)
    gain = 0.0
    for sweep in range(sweeps):
        gain, total[:] = 0.0, 0.0  # afresh in every sweep, so that rounding errors do not pile up
        for i in range(n if price != 0.0 else 0):
            for c in range(k):
                total[c] += u[i] * V[i, c]
        for i in range(n):
            if stop[0]:
                break
            for c in range(k):
                g[c] = 0.0
            if price != 0.0:
                for c in range(k):
                    old[c] = V[i, c]
                    g[c] = -price * u[i] * (total[c] - u[i] * V[i, c])
            for p in range(indptr[i], indptr[i + 1]):
                a = data[p]
                j = indices[p]
                for c in range(k):
                    g[c] -= a * V[j, c]
            gain += _move_row(V, i, g)
            if price != 0.0:
                for c in range(k):
                    total[c] += u[i] * (V[i, c] - old[c])
        if gain <= tol or stop[0]:
            return sweep + 1, gain
    return sweeps, gain


@njit(nogil=True, fastmath=REORDER)
def ascend_factored(
    U: Floats, UB: Floats, diagonal: Floats, V: Floats, sweeps: int, tol: float, stop: Stop
) -> tuple[int, float]:
    """The same on M = U B U' - diag, UB = U B: P = U'V (r x k) is maintained, O(n r k) for a sweep."""
    n, k = V.shape
    r = U.shape[1]
    g = np.empty(k)
    old = np.empty(k)
    gain = 0.0
    for sweep in range(sweeps):
        P = np.dot(U.T, V)  # afresh in every sweep, so that rounding errors do not pile up
        gain = 0.0
        for i in range(n):
            for c in range(k):
                old[c] = V[i, c]
                g[c] = diagonal[i] * V[i, c]
            for a in range(r):
                b = UB[i, a]
                for c in range(k):
                    g[c] -= b * P[a, c]
            gain += _move_row(V, i, g)
            for a in range(r):
                u = U[i, a]
                for c in range(k):
                    P[a, c] += u * (V[i, c] - old[c])
        if gain <= tol or stop[0]:
            return sweep + 1, gain
    return sweeps, gain


@njit(nogil=True)
def _largest(score: IntArray) -> int:
    """The place of the largest: that of each part first, which is vectorised for whole numbers and not for others."""
    best, where = score[0], 0
    for start in range(0, score.size, _PART):
        part = score[start : start + _PART]
        most = part[0]
        for k in range(part.size):
            most = max(most, part[k])
        if most > best:
            best, where = most, start
    while score[where] < best:
        where += 1
    return where


@njit(nogil=True)
def search_past_losses(rows: Rows, x: Floats, steps: int, seed: np.uint64, stop: Stop) -> None:
    """Tabu search in place: flip what gains most, or loses least, but no vertex again soon; x becomes the best cut.

    Where that gains nothing for long, it goes on from there with some vertices flipped at random (Palubeckis 2006).
    Scores are gains plus `above`, of vertices that may not be flipped yet half of that. All are positive, so that their
    bits, read as whole numbers, are in the same order.
    """
    indptr, indices, data = rows
    n = x.size
    state = np.array([seed], dtype=np.uint64)
    best, score, until, above = x.copy(), np.zeros(n), np.zeros(n, dtype=np.int64), 1e-300
    for i in range(n):
        size = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            score[i] += x[i] * data[p] * x[indices[p]]
            size += abs(data[p])
        above = max(above, 8.0 * size)
    score += above
    bits, held, count = score.view(np.int64), np.empty(2 * _TENURE + 1, dtype=np.int64), 0
    value, top, near, last, shaken = 0.0, 0.0, 0.0, 0, 0
    for step in range(steps):
        for k in range(count - 1, -1, -1):
            if until[held[k]] <= step:
                score[held[k]] += 0.5 * above
                count -= 1
                held[k] = held[count]
        if shaken > 0:
            pick = int(uniform(state) * n)
            shaken -= 1
            near, last = -np.inf, step
        else:
            pick = _largest(bits)
            for k in range(count):  # it may, for the best cut of all
                if score[held[k]] + 0.5 * above > score[pick] and value + score[held[k]] - 0.5 * above > top:
                    pick = held[k]
        gain = score[pick] - above
        if until[pick] > step:
            gain += 0.5 * above
        else:
            held[count] = pick
            count += 1
        until[pick] = step + 1 + min(_TENURE, n // 4) + int(uniform(state) * _TENURE)
        value += gain
        score[pick] = 0.5 * above - gain
        x[pick] = -x[pick]
        for p in range(indptr[pick], indptr[pick + 1]):
            score[indices[p]] += 2.0 * x[indices[p]] * data[p] * x[pick]
        if value > near + 1e-10 * above:
            near, last = value, step
        if value > top + 1e-10 * above:
            top = value
            for i in range(n):
                best[i] = x[i]
        if step - last > _PATIENCE * n:
            shaken = 1 + int(uniform(state) * n / _SHAKEN)
        if stop[0]:
            break
    for i in range(n):
        x[i] = best[i]


@njit(nogil=True, fastmath=REORDER)
def anneal_rows(  # noqa: PLR0913
    rows: Rows, u: Numbers, x: Numbers, temperatures: Floats, prices: Numbers, tol: float, seed: np.uint64, stop: Stop
) -> None:
    """Metropolis annealing in place of all columns of x, shape (n, c), until nothing moves at temperature 0.

    The matrix is M + price (u u' - diag(u^2)). A loss up to T times an exponential waiting time is accepted, which is
    the Metropolis rule. What is done for all starts at once is vectorised: one of many takes a fifth of the time that
    it takes alone, and less in numbers of sixteen bits, where M is whole. The last rows of the field are u'x, and the
    step.
    """
    indptr, indices, data = rows
    (n, starts), kind = x.shape, x.dtype.type
    state, whole = np.array([seed], dtype=np.uint64), kind(0.5) == 0.0
    waits = np.empty(_WAITS + starts)
    for k in range(waits.size):
        waits[k] = -np.log(1.0 - uniform(state))
    field, losses = np.zeros((n + 2, starts), x.dtype), np.zeros(waits.size, x.dtype)
    total, step = field[n], field[n + 1]
    for i in range(n):
        for c in range(starts):
            total[c] += kind(u[i] * x[i, c])
        for p in range(indptr[i], indptr[i + 1]):
            j, a = indices[p], data[p]
            for c in range(starts):
                field[i, c] += kind(a * x[j, c])
    for t in range(temperatures.size):
        flips, least = 0, kind(tol if temperatures[t] == 0.0 else 0.0)
        for k in range(waits.size):
            loss = temperatures[t] * waits[k]
            losses[k] = kind(min(np.ceil(loss), LARGEST_LOSS) if whole else loss)
        for i in range(n):
            first, moved = int(uniform(state) * _WAITS), kind(0)
            price, own, near = kind(prices[t] * u[i]), x[i], field[i]
            limits = losses[first : first + starts]
            for c in range(starts):
                gain = kind(own[c] * kind(near[c] + kind(price * total[c])) - kind(price * u[i]))
                step[c] = kind(kind(-2) * own[c]) if gain > kind(least - limits[c]) else kind(0)
                moved = max(moved, kind(abs(step[c])))
            if moved > 0:
                flips += 1
                for c in range(starts):
                    own[c] += step[c]
                    total[c] += kind(u[i] * step[c])
                for p in range(indptr[i], indptr[i + 1]):
                    other, a = field[indices[p]], data[p]
                    for c in range(starts):
                        other[c] += kind(a * step[c])
        if (flips == 0 and temperatures[t] == 0.0) or stop[0]:
            return


@njit(nogil=True, fastmath=REORDER)
def anneal_factored(  # noqa: PLR0913
    U: Floats, UB: Floats, diagonal: Floats, x: Floats, temperatures: Floats, tol: float, seed: np.uint64, stop: Stop
) -> None:
    """The same of one cut (n,) on M = U B U' - diag, O(r) for a trial."""
    n, r = U.shape
    state = np.array([seed], dtype=np.uint64)
    for temperature in temperatures:
        P = np.dot(U.T, x)
        flips = 0
        for i in range(n):
            inner = 0.0
            for a in range(r):
                inner += UB[i, a] * P[a]
            gain, hot = x[i] * inner - diagonal[i], temperature > 0.0
            if gain > tol or (hot and gain > -30.0 * temperature and uniform(state) < np.exp(gain / temperature)):
                x[i] = -x[i]
                for a in range(r):
                    P[a] += 2.0 * x[i] * U[i, a]
                flips += 1
        if (flips == 0 and temperature == 0.0) or stop[0]:
            return
