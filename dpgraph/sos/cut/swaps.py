"""Exactly balanced cuts: annealing with a price on imbalance, repair, and exchanges of two vertices.

References
----------
B. W. Kernighan, S. Lin, An efficient heuristic procedure for partitioning graphs, Bell System Technical Journal 49
(1970).
D. S. Johnson, C. R. Aragon, L. A. McGeoch, C. Schevon, Optimization by simulated annealing: an experimental
evaluation; part I, graph partitioning, Operations Research 37 (1989).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dpgraph.compiled import njit
from dpgraph.sos.cut.balance import BalancedObjective
from dpgraph.sos.cut.objective import SparseObjective

__all__ = ["anneal_balanced", "repair_and_swap"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Temperatures in units of the mean row norm of M; the price is this share of the temperature, so that the imbalance
# keeps fluctuating by a few vertices until the end.
_HOT, _COLD = 0.45, 0.05
_PRICE = 0.1
_OPERATIONS = 1.5e9
_FEWEST_SWEEPS, _MOST_SWEEPS = 20, 2500


def repair_and_swap(objective: SparseObjective, signs: FloatArray, imbalance: int) -> FloatArray:
    """Balance each cut by its cheapest flips, then exchange vertices while that gains.

    Parameters
    ----------
    objective : SparseObjective
        What is to be cut.
    signs : numpy.ndarray, shape (n,) or (n, c)
        Cuts.
    imbalance : int
        The sizes of the sides may differ by at most this; of the parity of n.

    Returns
    -------
    numpy.ndarray of the shape of `signs`
        Cuts with |sum x| <= imbalance that no flip allowed by the balance and no best exchange improves.
    """
    A = objective.matrix
    tol = 1e-10 * float(objective.row_norms().max(initial=0.0))
    columns = np.array(signs.reshape(objective.n_vertices, -1).T, dtype=np.float64, order="C")
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:  # the kernel releases the interpreter lock
        jobs = [pool.submit(_repair_and_swap, A.indptr, A.indices, A.data, x, imbalance, tol) for x in columns]
        for job in jobs:
            job.result()
    return np.ascontiguousarray(columns.T).reshape(signs.shape)


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

    Parameters
    ----------
    objective, signs, imbalance
        As for :func:`repair_and_swap`.
    rng : numpy.random.Generator
        Public randomness.
    sweeps : int, optional
        Sweeps for each cut; by default as many as take a few seconds in all, between 20 and 2500.
    hot : float, default 0.45
        First temperature, in units of the mean row norm.
    """
    n, count = signs.shape
    norms = objective.row_norms()
    if not norms.any():
        return repair_and_swap(objective, signs, imbalance)
    if sweeps is None:
        sweeps = int(np.clip(_OPERATIONS / (count * n * objective.flip_cost()), _FEWEST_SWEEPS, _MOST_SWEEPS))
    temperatures = np.linspace(hot, _COLD, sweeps) * float(norms[norms > 0.0].mean())
    penalised = BalancedObjective(objective, np.ones(n), 0.0)
    columns = np.array(signs.T, dtype=np.float64, order="C")
    seeds = rng.integers(2**63, size=(count,))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [
            pool.submit(penalised.anneal_penalties, x, temperatures, _PRICE * temperatures, 0.0, int(seed))
            for x, seed in zip(columns, seeds, strict=True)
        ]
        for job in jobs:
            job.result()
    return repair_and_swap(objective, np.ascontiguousarray(columns.T), imbalance)


@njit(nogil=True)
def _flip(i: int, indptr: IntArray, indices: IntArray, data: FloatArray, x: FloatArray, gain: FloatArray) -> None:
    """Flip vertex i; gain[j] = x_j (M x)_j is what flipping j adds to the cut."""
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
def _repair_and_swap(
    indptr: IntArray, indices: IntArray, data: FloatArray, x: FloatArray, imbalance: int, tol: float
) -> None:
    """Flips and exchanges in place; every step after the repair gains more than tol, so it ends."""
    n = x.size
    gain = np.zeros(n)
    extra = np.zeros(n)
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            gain[i] += data[p] * x[i] * x[indices[p]]
    total = x.sum()
    while abs(total) > imbalance:
        side = 1.0 if total > 0.0 else -1.0
        _flip(_best(side, x, gain, extra), indptr, indices, data, x, gain)
        total -= 2.0 * side
    while True:
        i, j = _best(1.0, x, gain, extra), _best(-1.0, x, gain, extra)
        if i >= 0 and gain[i] > tol and abs(total - 2.0) <= imbalance:
            _flip(i, indptr, indices, data, x, gain)
            total -= 2.0
            continue
        if j >= 0 and gain[j] > tol and abs(total + 2.0) <= imbalance:
            _flip(j, indptr, indices, data, x, gain)
            total += 2.0
            continue
        if i < 0 or j < 0:
            return
        for p in range(indptr[i], indptr[i + 1]):  # the edge between the two stays cut
            extra[indices[p]] = 2.0 * data[p]
        j = _best(-1.0, x, gain, extra)
        together = gain[i] + gain[j] + extra[j]
        for p in range(indptr[i], indptr[i + 1]):
            extra[indices[p]] = 0.0
        if together <= tol:
            return
        _flip(i, indptr, indices, data, x, gain)
        _flip(j, indptr, indices, data, x, gain)
