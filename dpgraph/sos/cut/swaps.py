"""Exactly balanced cuts: annealing with a price on imbalance (Johnson, Aragon, McGeoch, Schevon 1989), repair, and
exchanges of two vertices (Kernighan, Lin 1970).
"""

import numpy as np

from dpgraph.compiled import njit
from dpgraph.sos.cut.kernels import anneal_sparse
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.kernels import Rows, default_sweeps, on_columns
from dpgraph.typing import FloatArray

__all__ = ["anneal_balanced", "repair_and_swap"]

# Temperatures in units of the mean row norm of M; the price is this share of the temperature, so that the imbalance
# keeps fluctuating by a few vertices until the end.
_HOT, _COLD = 0.45, 0.05
_PRICE = 0.1
_OPERATIONS = 1.5e9


def repair_and_swap(objective: SparseObjective, signs: FloatArray, imbalance: int) -> FloatArray:
    """Balance each cut, shape (n,) or (n, c), by its cheapest flips, then exchange vertices while that gains.

    The cuts returned have |sum x| <= imbalance, a number of the parity of n, and no flip allowed by the balance and no
    best exchange improves them.
    """
    tol = 1e-10 * float(objective.row_norms().max(initial=0.0))
    return on_columns(lambda x: _repair_and_swap(objective.rows, x, imbalance, tol), signs)


def anneal_balanced(
    objective: SparseObjective,
    signs: FloatArray,
    imbalance: int,
    rng: np.random.Generator,
    *,
    sweeps: int | None = None,
    hot: float = _HOT,
) -> FloatArray:
    """Anneal each column of `signs` (n, c) near balance, then :func:`repair_and_swap`.

    `sweeps` are by default as many as take a few seconds in all, between 20 and 2500. The first temperature is `hot`
    times the mean row norm.
    """
    n, count = signs.shape
    norms = objective.row_norms()
    if not norms.any():
        return repair_and_swap(objective, signs, imbalance)
    if sweeps is None:
        sweeps = default_sweeps(_OPERATIONS, count * n * objective.flip_cost())
    temperatures = np.linspace(hot, _COLD, sweeps) * float(norms[norms > 0.0].mean())
    prices = 4.0 * _PRICE * temperatures

    def cool(x: FloatArray, seed: np.int64) -> None:
        anneal_sparse(objective.rows, np.ones(n), x, temperatures, prices, 0.0, np.uint64(seed))

    annealed = on_columns(cool, signs, rng.integers(2**63, size=(count,)))
    return repair_and_swap(objective, annealed, imbalance)


@njit(nogil=True)
def _flip(i: int, rows: Rows, x: FloatArray, gain: FloatArray) -> None:
    """Flip vertex i; gain[j] = x_j (M x)_j is what flipping j adds to the cut."""
    indptr, indices, data = rows
    x[i] = -x[i]
    gain[i] = -gain[i]
    for p in range(indptr[i], indptr[i + 1]):
        j = indices[p]
        gain[j] += 2.0 * data[p] * x[i] * x[j]


@njit(nogil=True)
def _best(side: float, x: FloatArray, gain: FloatArray, extra: FloatArray) -> int:
    """Vertex on `side` with the largest gain + extra, -1 if there is none."""
    best = -1
    for i in range(x.size):
        if x[i] == side and (best < 0 or gain[i] + extra[i] > gain[best] + extra[best]):
            best = i
    return best


@njit(nogil=True)
def _repair_and_swap(rows: Rows, x: FloatArray, imbalance: int, tol: float) -> None:
    """Flips and exchanges in place; every step after the repair gains more than tol, so it ends."""
    indptr, indices, data = rows
    n = x.size
    gain = np.zeros(n)
    extra = np.zeros(n)
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            gain[i] += data[p] * x[i] * x[indices[p]]
    total = x.sum()
    while abs(total) > imbalance:
        side = 1.0 if total > 0.0 else -1.0
        _flip(_best(side, x, gain, extra), rows, x, gain)
        total -= 2.0 * side
    while True:
        i, j = _best(1.0, x, gain, extra), _best(-1.0, x, gain, extra)
        if i >= 0 and gain[i] > tol and abs(total - 2.0) <= imbalance:
            _flip(i, rows, x, gain)
            total -= 2.0
            continue
        if j >= 0 and gain[j] > tol and abs(total + 2.0) <= imbalance:
            _flip(j, rows, x, gain)
            total += 2.0
            continue
        if i < 0 or j < 0:
            return
        extra[indices[indptr[i] : indptr[i + 1]]] = 2.0 * data[indptr[i] : indptr[i + 1]]  # their edge stays cut
        j = _best(-1.0, x, gain, extra)
        together = gain[i] + gain[j] + extra[j]
        extra[indices[indptr[i] : indptr[i + 1]]] = 0.0
        if together <= tol:
            return
        _flip(i, rows, x, gain)
        _flip(j, rows, x, gain)
