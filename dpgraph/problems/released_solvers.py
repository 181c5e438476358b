"""Cuts and labels of what was released, a matrix or answers: everything here is post-processing."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dpgraph.arguments import check_memory
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.problems.low_rank import SOLVER, LowRank, is_dense, solver_options
from dpgraph.problems.options import Coherence
from dpgraph.releases.answers import FlippedGraph
from dpgraph.results.adjacency import DENSE_LIMIT
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import improve_labels, solve_factored_csp
from dpgraph.sos.csp.solver import solve_csp
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.multilevel_search import repair_and_swap
from dpgraph.sos.cut.objective import BalancedObjective, SparseObjective, penalise_imbalance
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.moments.rounding import solve_by_moments, solve_cut_by_moments
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.typing import FloatArray, IntArray


class Cut(NamedTuple):
    """Side 0 or 1 of each vertex, and a bound on every cut of what the solver saw, if that was a matrix."""

    labels: NDArray[np.int8]
    upper_bound: float | None = None


#: Price of the imbalance of a private bisection, in units of the mean row norm, for a matrix and for answers: the
#: solver stays within a few vertices.
_PRICE, _PRICE_OF_ANSWERS = 1 / 40, 1 / 400
#: Annealing sweeps on a private objective: polishing it far below its noise would be wasted.
_SWEEPS = 100


def cut_matrix(
    objective: CutObjective, rng: np.random.Generator, *, balanced: bool, how: SolverOptions = SOLVER, degree: int = 2
) -> Cut:
    """Cut a released objective by the relaxation of this degree; with `balanced`, in halves."""
    if not balanced:
        solution = _solve(objective, how, rng, degree)
        return Cut(np.asarray(solution.labels, dtype=np.int8), float(solution.upper_bound))
    price = _PRICE * float(objective.row_norms.mean())
    solution = _solve(penalise_imbalance(objective, price), how, rng, degree)
    # Halves of an odd number of vertices pay for an imbalance of 1, which the bound gets back.
    bound = float(solution.upper_bound) + price * (objective.n_vertices % 2)
    return Cut(_halved(objective, solution.labels), bound)


def _solve(objective: CutObjective, how: SolverOptions, rng: np.random.Generator, degree: int) -> Solution:
    if degree > 2:
        return solve_cut_by_moments(objective, degree, replace(how, starts=8, tol=None), rng=rng)
    return solve_max_cut(objective, replace(how, sweeps=_SWEEPS), rng)


def _halved(objective: CutObjective, labels: NDArray[np.int64]) -> NDArray[np.int8]:
    """Move the vertices whose move costs least from the larger to the smaller side."""
    signs: FloatArray = np.where(labels == 1, -1.0, 1.0)
    surplus = int(abs(signs.sum())) // 2
    if surplus:
        larger = math.copysign(1.0, signs.sum())
        # Moving i changes the cut by x_i (Mx)_i / 2; moves interact little, as few are needed.
        gain = np.where(signs == larger, signs * objective.multiply(signs), -np.inf)
        signs[np.argsort(-gain, kind="stable")[:surplus]] *= -1.0
    return (signs < 0).astype(np.int8)


def flipped_objective(flipped: FlippedGraph) -> BalancedObjective:
    """Cuts of the expected weights; what other pairs weigh is a multiple of 11' that need not be filled in."""
    weights, rest = flipped.expected_weights()
    n = weights.shape[0]
    base = SparseObjective(weights)
    return BalancedObjective(base, np.ones(n), rest / 4, base.constant + rest / 4 * n * (n - 1))


def cut_answers(flipped: FlippedGraph, rng: np.random.Generator, *, balanced: bool) -> Solution:
    """Cut a released graph, on request in halves; `upper_bound` holds for every such cut of the expected weights."""
    objective = flipped_objective(flipped)
    if not balanced:
        return solve_max_cut(objective, SOLVER, rng)
    # A multiple of 11' is the same for all halves.
    base, n = objective.base, objective.n_vertices
    price = _PRICE_OF_ANSWERS * float(base.row_norms.mean())
    solution = solve_max_cut(penalise_imbalance(base, price), SOLVER, rng)
    signs = np.where(solution.labels == 1, -1.0, 1.0)
    halves = repair_and_swap(base, signs[:, None], n % 2)[:, 0]
    between = objective.penalty * (n**2 - n % 2)
    return replace(
        solution,
        labels=(halves < 0).astype(np.int64),
        value=float(base.values(halves)) + between,
        upper_bound=solution.upper_bound + price * (n % 2) + between,
    )


#: Random starts of the annealing of randomised-response outputs, and its sweeps.
_ANNEALED, _ANNEALING_SWEEPS = 2, 500


def label_answers(flipped: FlippedGraph, relation: FloatArray, *, rng: np.random.Generator) -> IntArray:
    """Label a randomised-response output: much expected weight, times a public relation, of the pairs that say 1.

    What the other pairs weigh is left out: together they are a small share of the edges, spread over all pairs, and
    favour nothing but balance, as the others do too.
    """
    n, q = flipped.adjacency.shape[0], len(relation)
    pairs = sparse.triu(flipped.expected_weights()[0], k=1).tocoo()
    ends = np.stack(pairs.coords, axis=1).astype(np.int64)
    objective = CSPObjective(ends, pairs.data[:, None, None] * relation, np.zeros((n, q)))
    return improve_labels(objective, rng.integers(q, size=(_ANNEALED, n)), rng, sweeps=_ANNEALING_SWEEPS)


#: Up to so many rows the matrix is relaxed by default, a few seconds; ascents of larger ones end at equal values.
_RELAXED = 600
_STARTS = 16


def _relaxed(options: Coherence, rows: int) -> bool:
    """Whether the released matrix is relaxed, as an exact instance is: if it is small, or an option asks for it."""
    return options.seeds > 0 or options.degree > 2 or is_dense(options) or rows <= _RELAXED


def check_relaxed(options: Coherence, rows: int) -> None:
    """Refuse a label-extended matrix that would be relaxed and is too large."""
    if not _relaxed(options, rows):
        return
    if rows > DENSE_LIMIT:
        raise InvalidParameterError(
            f"seeds={options.seeds} relaxes a dense matrix of {rows} rows, variables times labels; the limit is "
            f"{DENSE_LIMIT}. Use seeds=0"
        )
    check_memory(f"a dense matrix of {rows} labels", copies=(12, rows, rows))


def label_matrix(found: LowRank, options: Coherence, shape: tuple[int, int], rng: np.random.Generator) -> IntArray:
    """Give n variables one of q labels each by a released label-extended matrix."""
    n, q = shape
    if not _relaxed(options, n * q):
        return solve_factored_csp(*found.factored(), q, starts=_STARTS, rng=rng)
    objective = released_objective(found.dense(options.projection), q)
    how = replace(solver_options(options), sweeps=_SWEEPS)
    if options.degree == 2:
        return np.asarray(solve_csp(objective, how, rng=rng).labels)
    # An instance has nonnegative tables: what is added to all entries of a table is earned by all assignments.
    instance = TwoCSP(n, q)
    tables = objective.tables - objective.tables.min(axis=(1, 2), keepdims=True)
    instance.add_constraints(objective.pairs, tables)
    how = replace(how, starts=8, tol=None, sweeps=None)
    return np.asarray(solve_by_moments(instance, options.degree, how, rng=rng).labels)


def released_objective(extended: FloatArray, q: int) -> CSPObjective:
    """The 2-CSP whose label-extended matrix this is, shape (n q, n q); blocks on the diagonal are ignored."""
    n = len(extended) // q
    u, v = np.triu_indices(n, 1)
    tables = extended.reshape(n, q, n, q).transpose(0, 2, 1, 3)[u, v]
    return CSPObjective(np.stack([u, v], axis=1), np.ascontiguousarray(tables), np.zeros((n, q)))
