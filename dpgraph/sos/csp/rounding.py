"""From label vectors to assignments (Barak, Raghavendra, Steurer 2011; Frieze, Jerrum 1997), and local improvement."""

import numpy as np

from dpgraph.compiled import at_once
from dpgraph.sos.csp.kernels import anneal_labels, ascend_factored
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.kernels import default_sweeps
from dpgraph.threads import Stop, on_threads, time_is_up
from dpgraph.typing import FloatArray, IntArray

_OPERATIONS = 4e8  # elementary operations of the default annealing, all starts together (a few seconds)
# Temperatures in units of a typical change of value in a random assignment.
_HOT, _COLD = 0.45, 0.05
_GREEDY_SWEEPS = 1000
_MOST_SWEEPS = 8000
_FACTORED_SWEEPS = 200


def draw_labels(marginals: FloatArray, rng: np.random.Generator) -> IntArray:
    """Positions of labels drawn independently from the rows of `marginals` (n, q), clipped and scaled to sum 1."""
    p = np.cumsum(np.maximum(marginals, 0.0), axis=1)
    threshold = rng.random(len(p)) * p[:, -1]
    return np.asarray(np.minimum((threshold[:, None] >= p).sum(axis=1), p.shape[1] - 1))


def round_vectors(V: FloatArray, rounds: int, rng: np.random.Generator) -> IntArray:
    """Assignments drawn from the degree-2 pseudo-distribution of label vectors V (n, q, k), shape (rounds, n).

    Three ways in turn, none of which is best for every instance: labels drawn independently from the marginals; the
    same from the marginals conditioned on one random variable, <V_ia, V_jb>/<V_jb, v_0>, which degree 2 allows; and
    the label whose vector is largest in a random direction (Frieze, Jerrum 1997). v_0 is the first basis vector.
    """
    n, _, k = V.shape
    drawn = np.empty((rounds, n), dtype=np.int64)
    for r in range(rounds):
        if r % 3 == 0:
            direction = np.concatenate([[1.0], rng.standard_normal(k - 1)])
            drawn[r] = np.argmax(V @ direction, axis=1)
        elif r % 3 == 1:
            j = int(rng.integers(n))
            b = draw_labels(V[j : j + 1, :, 0], rng)[0]
            drawn[r] = draw_labels(np.maximum(V @ V[j, b], 0.0) + 1e-12, rng)
        else:
            drawn[r] = draw_labels(V[:, :, 0], rng)
    return drawn


def best_rows(objective: CSPObjective, assignments: IntArray, keep: int) -> IntArray:
    """The `keep` rows of largest value, best first (ties by position)."""
    values = np.array([objective.rounded_value(row) for row in assignments])
    return assignments[np.argsort(-values, kind="stable")[:keep]]


def one_opt_labels(objective: CSPObjective, assignments: IntArray) -> IntArray:
    """Change single labels while that gains; rows of shape (c, n), a new array is returned."""
    return _run(objective, assignments, np.zeros(_GREEDY_SWEEPS), np.zeros(len(assignments), dtype=np.int64))


def improve_labels(
    objective: CSPObjective,
    assignments: IntArray,
    rng: np.random.Generator,
    *,
    sweeps: int | None = None,
    share: float = 1.0,
) -> IntArray:
    """The best assignment found by annealing each row (c, n), shape (n,); never worse than 1-opt of the best row.

    Without a number of `sweeps`: the `share` of the usual effort.
    """
    count = len(assignments)
    if time_is_up():
        return np.asarray(assignments[0])
    if sweeps is None:
        size = objective.n_variables + 0.2 * len(objective.pairs) * objective.alphabet_size
        sweeps = default_sweeps(share * _OPERATIONS, count * size, _MOST_SWEEPS)
    unit = 2.0 * float(objective.spread().mean())
    temperatures = np.concatenate([np.linspace(_HOT, _COLD, sweeps) * unit, np.zeros(_GREEDY_SWEEPS)])
    annealed = _run(objective, assignments, temperatures, rng.integers(2**63, size=count))
    greedy = one_opt_labels(objective, assignments)
    return np.asarray(best_rows(objective, np.concatenate([greedy, annealed]), 1)[0])


def _run(objective: CSPObjective, assignments: IntArray, temperatures: FloatArray, seeds: IntArray) -> IntArray:
    rows = np.array(assignments, dtype=np.int64, order="C")
    tol = 1e-10 * float(objective.spread().max(initial=0.0))

    steps = rows.size * (objective.alphabet_size + 1.0)  # of a sweep; a greedy search is over after a few
    kernel = anneal_labels if temperatures[0] > 0.0 else at_once(anneal_labels, 4.0 * steps)

    def cool(row: IntArray, seed: np.int64, stop: Stop) -> None:
        if not stop[0]:
            state = np.array([seed], dtype=np.uint64)
            kernel(objective.constraints, row, objective.unary.copy(), temperatures, tol, state, stop)

    on_threads(cool, rows, seeds)
    return rows


def solve_factored_csp(
    factor: FloatArray, core: FloatArray, q: int, *, starts: int, rng: np.random.Generator
) -> IntArray:
    """Best of `starts` coordinate ascents on U B U', all that is known of a label-extended matrix, shape (n,).

    Row ``i * q + a`` of U, shape (n q, r), is variable i with label a; B is symmetric. The diagonal q x q blocks of
    U B U' are ignored.
    """
    n = factor.shape[0] // q
    U = np.ascontiguousarray(factor)
    UB = np.ascontiguousarray(U @ core)
    best, best_value = np.zeros(n, dtype=np.int64), -np.inf
    for _ in range(starts):
        labels = rng.integers(0, q, size=n)
        value = ascend_factored(U, UB, q, labels, rng.permutation(n), _FACTORED_SWEEPS)
        if value > best_value:
            best, best_value = labels, value
    return best
