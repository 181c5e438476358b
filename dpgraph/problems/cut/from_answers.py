"""Cuts of the graph that randomised response leaves behind: the expected weights of all pairs given the answers."""

import math
from dataclasses import replace

import numpy as np
from scipy import sparse

from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.problems.cut.solve import SolverSettings, solver_options
from dpgraph.releases.answers import FlippedGraph
from dpgraph.sos.cut.balance import BalancedObjective, penalise_imbalance
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.cut.swaps import repair_and_swap
from dpgraph.sos.solution import Solution

__all__ = ["answer_weights", "cut_answers", "flipped_objective"]

#: Price of the imbalance of halves, in units of the mean row norm: a few vertices are left to exchange.
_PRICE = 1 / 400


def answer_weights(flipped: FlippedGraph) -> tuple[sparse.csr_array, float]:
    """Expected weights of the pairs that answered 1, shape (n, n), and of any other pair.

    If edges choose their ends in proportion to the degrees, and where false answers are not much rarer than true ones,
    an answer says less about two vertices of few edges than about two of many: a pair of degrees a and b is an edge
    with probability about ab/(2m) beforehand. Degrees are estimated from the answers, so that all of this is
    post-processing. Pairs that answered 0 have little weight left, and every pair gets its mean.
    """
    B, p, n = flipped.adjacency, flipped.flip, flipped.adjacency.shape[0]
    answers = np.asarray(B.sum(axis=1)).ravel()
    unbiased = (answers - p * (n - 1)) / (1 - 2 * p)
    spread = math.sqrt((n - 1) * p * (1 - p)) / (1 - 2 * p)
    degrees = shrunken_degrees(unbiased, float(unbiased.mean()), spread, 1.0)
    total = float(degrees.sum())
    row = np.repeat(np.arange(n), np.diff(B.indptr))
    odds = degrees[row] * degrees[B.indices] / total * (1 - p) / p
    w = flipped.max_weight
    weights = sparse.csr_array((w * odds / (1 + odds), B.indices, B.indptr), shape=B.shape)
    return weights, w * p / (1 - p) * total / n**2


def flipped_objective(flipped: FlippedGraph) -> BalancedObjective:
    """Cuts of the expected weights; what other pairs weigh is a multiple of 11' that need not be filled in."""
    weights, rest = answer_weights(flipped)
    n = weights.shape[0]
    base = SparseObjective(weights)
    return BalancedObjective(base, np.ones(n), rest / 4, base.constant + rest / 4 * n * (n - 1))


def cut_answers(
    flipped: FlippedGraph, options: SolverSettings, *, balanced: bool, rng: np.random.Generator
) -> Solution:
    """Cut a released graph; its `upper_bound` holds for every (balanced) cut of the expected weights.

    Parameters
    ----------
    flipped : FlippedGraph
        What was released.
    options : SolverSettings
        Seeds and rounds of the solver.
    balanced : bool
        Whether the sides may differ by one vertex at most. Then a multiple of 11' is the same for all cuts.
    rng : numpy.random.Generator
        Public randomness.
    """
    objective = flipped_objective(flipped)
    solver = solver_options(options)
    if not balanced:
        return solve_max_cut(objective, solver, rng)
    base, n = objective.base, objective.n_vertices
    price = _PRICE * float(base.row_norms().mean())
    solution = solve_max_cut(penalise_imbalance(base, price), solver, rng)
    signs = np.where(solution.labels == 1, -1.0, 1.0)
    halves = repair_and_swap(base, signs[:, None], n % 2)[:, 0]
    between = objective.penalty * (n**2 - n % 2)
    return replace(
        solution,
        labels=(halves < 0).astype(np.int64),
        value=float(base.values(halves)) + between,
        upper_bound=solution.upper_bound + price * (n % 2) + between,
    )
