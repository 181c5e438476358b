"""From a relaxation to cuts, and their local improvement: annealing that ends in a 1-opt local optimum, recombination.

Recombination keeps what several good cuts agree on and searches the rest (Houdayer, Martin 1999): connected vertices
whose relative sides are the same in all of them become one vertex of a much smaller problem, which is annealed in turn
(Kirkpatrick, Gelatt, Vecchi 1983; Myklebust 2015). On grids, where annealing is slow because whole domains have to
turn over, it gains several times what longer annealing does.
"""

import numpy as np

from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.kernels import default_sweeps
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray

_CHUNK_ENTRIES = 2_000_000
_MOST_SAMPLES = 20_000_000  # entries of the random cuts of a relaxation
# Temperatures in units of the mean row norm of M, the size of a typical gain in a random cut.
_HOT = 0.45
_WARM = 0.2  # keeps most of a good cut
_COLD = 0.05
_GREEDY_SWEEPS = 1000
_MOST_SWEEPS = 2500
_LONG_ENOUGH = 300  # sweeps
_RECOMBINATIONS, _GENERATIONS = 2, 2
_MOST_RECOMBINED = 62  # bits of a pattern
#: Elementary operations that the default annealing may take, all starts together (a few seconds).
_OPERATIONS = 1e9
#: The same for a patient search, and by starts side by side.
_PATIENT_OPERATIONS, _PATIENT_SWEEPS = 2e8, 5000
_SIDE_BY_SIDE, _SIDE_BY_SIDE_OPERATIONS, _SIDE_BY_SIDE_SWEEPS = 32, 8e8, 10_000


def hyperplane_rounding(
    objective: CutObjective, vectors: FloatArray, rounds: int, rng: np.random.Generator, *, keep: int = 1
) -> FloatArray:
    """The `keep` best of many random hyperplane cuts of unit rows, best first, shape (n, min(keep, rounds)).

    For nonnegative weights each is worth 0.878 times the relaxation in expectation (Goemans, Williamson 1995).
    """
    n, k = vectors.shape
    if k == 1:
        return vectors  # a cut
    rounds = 1 if time_is_up() else affordable_samples(objective, rounds)
    best, values = np.empty((n, 0)), np.empty(0)
    chunk = max(1, int(_CHUNK_ENTRIES / (n * objective.flip_cost())))
    for first in range(0, rounds, chunk):
        normals = rng.standard_normal((k, min(chunk, rounds - first)))
        signs = np.where(vectors @ normals >= 0.0, 1.0, -1.0)
        values = np.append(values, objective.values(signs))
        order = np.argsort(-values, kind="stable")[:keep]
        best, values = np.hstack([best, signs])[:, order], values[order]
        if time_is_up():
            break
    return best


def affordable_samples(objective: CutObjective, rounds: int) -> int:
    """As many of `rounds` random cuts as are worth their time: those of a large graph are nearly equal."""
    return max(1, min(rounds, _MOST_SAMPLES // objective.n_vertices))


def independent_signs(means: FloatArray, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Independent signs with given means, shape (n, rounds), worth ``relaxation value - local correlation`` each."""
    return np.where(rng.random((means.size, rounds)) < 0.5 * (1.0 + means[:, None]), 1.0, -1.0)


def best_columns(objective: CutObjective, signs: FloatArray, keep: int) -> FloatArray:
    """The `keep` columns of largest cut value, best first (ties by position)."""
    if signs.shape[1] == 1:
        return signs
    order = np.argsort(-objective.values(signs), kind="stable")[:keep]
    return signs[:, order]


class Population:
    """So many of the best cuts, which stay different, so that there is something to combine (Sanders, Schulz 2012)."""

    def __init__(self, objective: CutObjective, cuts: FloatArray, keep: int) -> None:
        self.objective, self.keep, self.cuts = objective, keep, cuts.copy()
        self.values = np.array([objective.cut_value(cut) for cut in cuts.T])

    def enter(self, cut: FloatArray) -> float:
        """Value of a new cut, which takes the place of the most similar one of those that are no better, if all are."""
        value, alike = self.objective.cut_value(cut), np.abs(cut @ self.cuts)
        if self.values.size < self.keep and not np.any(alike == cut.size):
            self.cuts, self.values = np.column_stack([self.cuts, cut]), np.append(self.values, value)
        elif not np.any(alike == cut.size):
            alike[self.values > value] = -1.0
            place = int(alike.argmax())
            if alike[place] >= 0.0:
                self.cuts[:, place], self.values[place] = cut, value
        return value

    def in_order(self) -> FloatArray:
        """The cuts, best first."""
        return self.cuts[:, np.argsort(-self.values, kind="stable")]


def patient_search(objective: CutObjective, starts: int) -> tuple[int, int] | None:
    """Starts and sweeps that take a few seconds where those of the default annealing take less, or None."""
    operations, most = _PATIENT_OPERATIONS, _PATIENT_SWEEPS
    if objective.side_by_side:
        starts = max(starts, _SIDE_BY_SIDE)
        operations, most = _SIDE_BY_SIDE_OPERATIONS, _SIDE_BY_SIDE_SWEEPS
    sweeps = default_sweeps(operations, starts * objective.n_vertices * objective.flip_cost(), most)
    return (starts, sweeps) if sweeps > _MOST_SWEEPS else None


def improve(
    objective: CutObjective, signs: FloatArray, rng: np.random.Generator, *, sweeps: int | None = None
) -> FloatArray:
    """One cut from several, shape (n, c), never worse than the best: eliminate, anneal from each start, recombine.

    Then copies of the best are annealed from a lower temperature and recombined. What they gain in different places
    adds up.
    """
    core, kept, lift = objective.reduced()
    # Of few sweeps, one long annealing is worth more than several short ones.
    signs = signs[:, : max(1, int(_OPERATIONS / (_LONG_ENOUGH * core.n_vertices * core.flip_cost())))]
    if sweeps is None:
        sweeps = default_sweeps(_OPERATIONS, signs.shape[1] * core.n_vertices * core.flip_cost(), _MOST_SWEEPS)
    best = recombine(core, anneal(core, signs[kept], rng, sweeps=sweeps), rng, sweeps=sweeps)
    for _ in range(_GENERATIONS):
        if time_is_up():
            break
        copies = np.repeat(best[:, None], signs.shape[1], axis=1)
        varied = anneal(core, copies, rng, sweeps=sweeps // 2, hot=_WARM)
        best = recombine(core, np.column_stack([best, varied]), rng, sweeps=sweeps)
    return lift(best)


def one_opt(objective: CutObjective, signs: FloatArray) -> FloatArray:
    """Flip single vertices while that gains; signs of shape (n,) or (n, c), a new array is returned."""
    return _run(objective, signs, np.zeros(_GREEDY_SWEEPS), 0)


def anneal(
    objective: CutObjective, signs: FloatArray, rng: np.random.Generator, *, sweeps: int, hot: float = _HOT
) -> FloatArray:
    """Anneal each cut, shape (n,) or (n, c), then flip single vertices while that gains; never worse than 1-opt of it.

    The temperature falls from `hot` times the mean row norm of M in `sweeps` over the vertices.
    """
    annealed, greedy = cooled(objective, signs, rng, sweeps=sweeps, hot=hot), one_opt(objective, signs)
    better = objective.values(annealed) >= objective.values(greedy)
    return np.where(better, annealed, greedy)


def cooled(
    objective: CutObjective, signs: FloatArray, rng: np.random.Generator, *, sweeps: int, hot: float = _HOT
) -> FloatArray:
    """The same, whatever it finds."""
    norms = objective.row_norms
    if not norms.any():
        return signs.copy()
    unit = float(norms[norms > 0.0].mean())
    temperatures = np.concatenate([np.linspace(hot, _COLD, sweeps) * unit, np.zeros(_GREEDY_SWEEPS)])
    return _run(objective, signs, temperatures, int(rng.integers(2**62)))


def recombine(objective: CutObjective, cuts: FloatArray, rng: np.random.Generator, *, sweeps: int) -> FloatArray:
    """One cut from several, shape (n, c), never worse than the best: what they disagree on is annealed."""
    best = cuts[:, int(np.argmax(objective.values(cuts)))]
    if time_is_up():
        return best
    disagrees = cuts[:, :_MOST_RECOMBINED] * best[:, None] < 0.0
    group = objective.connected_groups(disagrees @ (1 << np.arange(disagrees.shape[1])))
    if group.max() == 0:
        return best
    small = objective.contract(group, best)
    start = np.ones((small.n_vertices, _RECOMBINATIONS))
    found = anneal(small, start, rng, sweeps=sweeps)
    return np.asarray(best * found[group, int(np.argmax(small.values(found)))])


def _run(objective: CutObjective, signs: FloatArray, temperatures: FloatArray, seed: int) -> FloatArray:
    return objective.anneal(signs, temperatures, 1e-10 * float(objective.row_norms.max(initial=0.0)), seed)
