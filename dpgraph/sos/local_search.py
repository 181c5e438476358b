"""Local improvement of cuts: simulated annealing that ends in a 1-opt local optimum.

References
----------
S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by simulated annealing, Science 220 (1983).
T. G. J. Myklebust, Solving maximum cut problems by simulated annealing, arXiv:1505.03068.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpgraph.sos.objective import CutObjective

__all__ = ["anneal", "default_sweeps", "one_opt"]

FloatArray = NDArray[np.float64]

# Temperatures in units of the mean row norm of M, the size of a typical gain in a random cut.
_HOT = 0.45
_COLD = 0.05
_GREEDY_SWEEPS = 1000

#: Elementary operations that the default annealing of one start may take (a second or two).
_OPERATIONS = 2e8
_MOST_SWEEPS = 5000


def one_opt(objective: CutObjective, signs: FloatArray) -> FloatArray:
    """Flip single vertices while that gains; signs of shape (n,) or (n, c), a new array is returned."""
    return _run(objective, signs, np.zeros(_GREEDY_SWEEPS), np.zeros(_columns(signs), dtype=np.int64))


def anneal(
    objective: CutObjective, signs: FloatArray, rng: np.random.Generator, *, sweeps: int | None = None
) -> FloatArray:
    """Anneal each cut, then flip single vertices while that gains; never worse than 1-opt of the input.

    Parameters
    ----------
    objective : CutObjective
        What is to be cut.
    signs : numpy.ndarray, shape (n,) or (n, c)
        Starting cuts, entries -1 and 1.
    rng : numpy.random.Generator
        Public randomness.
    sweeps : int, optional
        Sweeps over the vertices for each cut; by default as many as take a second or two, at most 5000.

    Returns
    -------
    numpy.ndarray of the shape of `signs`
    """
    norms = objective.row_norms()
    if not norms.any():
        return signs.copy()
    unit = float(norms[norms > 0.0].mean())
    sweeps = default_sweeps(objective) if sweeps is None else sweeps
    temperatures = np.concatenate([np.linspace(_HOT, _COLD, sweeps) * unit, np.zeros(_GREEDY_SWEEPS)])
    seeds = rng.integers(2**63, size=_columns(signs))
    annealed = _run(objective, signs, temperatures, seeds)
    greedy = one_opt(objective, signs)
    better = objective.values(annealed) >= objective.values(greedy)
    return np.where(better, annealed, greedy)


def default_sweeps(objective: CutObjective) -> int:
    """Annealing sweeps that fit into a second or two, between 20 and 5000."""
    return int(np.clip(_OPERATIONS / (objective.n_vertices * objective.flip_cost()), 20, _MOST_SWEEPS))


def _columns(signs: FloatArray) -> int:
    return 1 if signs.ndim == 1 else int(signs.shape[1])


def _run(objective: CutObjective, signs: FloatArray, temperatures: FloatArray, seeds: NDArray[np.int64]) -> FloatArray:
    tol = 1e-10 * float(objective.row_norms().max(initial=0.0))
    columns = np.array(signs.reshape(objective.n_vertices, -1).T, dtype=np.float64, order="C")
    for column, seed in zip(columns, seeds, strict=True):
        objective.anneal(column, temperatures, tol, int(seed))
    return np.ascontiguousarray(columns.T).reshape(signs.shape)
