"""Cuts of what was released, a matrix or answers: everything here is post-processing."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.problems.low_rank import SOLVER
from dpgraph.releases.answers import FlippedGraph
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.bisection import repair_and_swap
from dpgraph.sos.cut.objective import BalancedObjective, SparseObjective, penalise_imbalance
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.moments.rounding import solve_cut_by_moments
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.typing import FloatArray


class Cut(NamedTuple):
    """Side 0 or 1 of each vertex, and a bound on every cut of what the solver saw, if that was a matrix."""

    labels: NDArray[np.int8]
    upper_bound: float | None = None


#: Price of the imbalance of a private bisection, in units of the mean row norm, for a matrix and for answers: the
#: solver stays within a few vertices.
_PRICE, _PRICE_OF_ANSWERS = 1 / 40, 1 / 400
#: Annealing sweeps on a private objective: polishing it far below its noise would be wasted.
_SWEEPS = 100


# --- a matrix --------------------------------------------------------------------------------------------------------


def solve(
    objective: CutObjective, rng: np.random.Generator, *, balanced: bool, how: SolverOptions = SOLVER, degree: int = 2
) -> Cut:
    """Cut a released objective by the relaxation of this degree; with `balanced`, in halves."""
    if not balanced:
        solution = _solve(objective, how, rng, degree)
        return Cut(np.asarray(solution.labels, dtype=np.int8), float(solution.upper_bound))
    price = _PRICE * float(objective.row_norms().mean())
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


# --- answers ---------------------------------------------------------------------------------------------------------


def flipped_objective(flipped: FlippedGraph) -> BalancedObjective:
    """Cuts of the expected weights; what other pairs weigh is a multiple of 11' that need not be filled in."""
    weights, rest = flipped.expected_weights()
    n = weights.shape[0]
    base = SparseObjective(weights)
    return BalancedObjective(base, np.ones(n), rest / 4, base.constant + rest / 4 * n * (n - 1))


def cut_answers(
    flipped: FlippedGraph, rng: np.random.Generator, *, balanced: bool, how: SolverOptions = SOLVER
) -> Solution:
    """Cut a released graph, on request in halves; `upper_bound` holds for every such cut of the expected weights."""
    objective = flipped_objective(flipped)
    if not balanced:
        return solve_max_cut(objective, how, rng)
    # A multiple of 11' is the same for all halves.
    base, n = objective.base, objective.n_vertices
    price = _PRICE_OF_ANSWERS * float(base.row_norms().mean())
    solution = solve_max_cut(penalise_imbalance(base, price), how, rng)
    signs = np.where(solution.labels == 1, -1.0, 1.0)
    halves = repair_and_swap(base, signs[:, None], n % 2)[:, 0]
    between = objective.penalty * (n**2 - n % 2)
    return replace(
        solution,
        labels=(halves < 0).astype(np.int64),
        value=float(base.values(halves)) + between,
        upper_bound=solution.upper_bound + price * (n % 2) + between,
    )
