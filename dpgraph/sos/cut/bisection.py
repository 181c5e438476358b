"""Max-bisection: the degree-2 relaxation with the balance constraint, conditioning, and balanced local search."""

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.cut.balance import penalise_imbalance
from dpgraph.sos.cut.base import CutObjective, rounding_slack
from dpgraph.sos.cut.conditioning import PinnedNode, condition
from dpgraph.sos.cut.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.cut.rounding import best_columns, hyperplane_rounding, improve, independent_signs
from dpgraph.sos.cut.swaps import anneal_balanced, repair_and_swap
from dpgraph.sos.definiteness import DENSE_LIMIT
from dpgraph.sos.seed_search import SeedSearch, SolverOptions
from dpgraph.sos.solution import Solution, is_optimal, to_beat
from dpgraph.typing import FloatArray

__all__ = ["solve_bisection"]

_PENALTIES = 6  # tries, each four times the one before
_WARM = 0.15  # first temperature from a good cut


def solve_bisection(
    objective: SparseObjective, imbalance: int, options: SolverOptions, rng: int | np.random.Generator | None = None
) -> Solution:
    """Cut an objective into sides whose sizes differ by at most `imbalance`, which is at least the parity of n.

    The upper bound holds for all cuts within the imbalance.
    """
    options.check_tree(max(options.seeds - 1, 0), 2)
    n = objective.n_vertices
    largest = min(imbalance, n) - (min(imbalance, n) - n) % 2  # |sum x| has the parity of n
    generator = as_generator(rng)
    free = solve_low_rank(objective, generator, tol=options.tol)
    penalised, penalty, root = _balanced_relaxation(objective, free, largest, generator, options.tol)
    allowance = penalty * largest**2
    cuts = hyperplane_rounding(objective, root.vectors, options.rounds, generator, keep=options.starts)
    cuts = repair_and_swap(objective, cuts, largest)
    known = float(objective.values(cuts).max())
    beat = to_beat(objective, known) - allowance
    weights = objective.vertex_weights()
    tree = condition(penalised, root, options, generator, weights=weights, lower_bound=beat)
    cuts = repair_and_swap(objective, _round_nodes(objective, tree, cuts, options.rounds, generator), largest)
    cuts = best_columns(objective, cuts, options.starts)
    # What the penalty takes from a bound and the allowance gives back are both rounded.
    rounding = rounding_slack(2, abs(tree.upper_bound) + allowance) if allowance else 0.0
    bound = min(free.certificate.bound, tree.upper_bound + allowance + rounding)
    if options.local_search and not is_optimal(objective, known, bound):
        cuts = _improve(objective, cuts, largest, generator, options.sweeps)
    cut = best_columns(objective, cuts, 1)[:, 0]
    certificate = (free if bound == free.certificate.bound else root).certificate.kind
    trace = tuple(entry.shifted(allowance) for entry in tree.trace)
    return Solution.of(objective, (cut != cut[0]).astype(np.int64), bound=bound, certificate=certificate, trace=trace)


def _balanced_relaxation(
    objective: SparseObjective, free: LowRankSolution, largest: int, rng: np.random.Generator, tol: float | None
) -> tuple[CutObjective, float, LowRankSolution]:
    """Objective with the smallest tried penalty whose relaxation is balanced, the penalty, and the relaxation.

    Penalty 0 if the relaxation without the constraint is balanced already. Certificates of large instances are
    looser with a penalty, because a dense proof is too costly; the tolerance allows for that.
    """
    n = objective.n_vertices
    penalised: CutObjective = objective
    penalty, root = 0.0, free
    unit = 0.125 * float(objective.absolute_row_sums().mean()) / n
    tol = max(tol or 0.0, 1e-2) if n > DENSE_LIMIT else tol
    for attempt in range(_PENALTIES):
        total = root.vectors.sum(axis=0)
        if float(total @ total) <= largest**2 + 1e-3 * n or unit == 0.0:
            break
        penalty = unit * 4.0**attempt
        penalised = penalise_imbalance(objective, penalty)
        root = solve_low_rank(penalised, rng, tol=tol, start=root.vectors)
    return penalised, penalty, root


def _round_nodes(
    objective: SparseObjective, tree: SeedSearch[PinnedNode], cuts: FloatArray, rounds: int, rng: np.random.Generator
) -> FloatArray:
    """`cuts`, and as many of the best samples of every pinned node that is left."""
    pool, keep = [cuts], cuts.shape[1]
    for node in tree.nodes:
        if len(node.pins) > 1:
            pool.append(best_columns(objective, independent_signs(node.means(), rounds, rng), keep))
            pool.append(hyperplane_rounding(objective, node.vectors(), rounds, rng, keep=keep))
    return np.hstack(pool)


def _improve(
    objective: SparseObjective, cuts: FloatArray, largest: int, rng: np.random.Generator, sweeps: int | None
) -> FloatArray:
    """`cuts` and what annealing near balance makes of them and of the best unbalanced cut."""
    annealed = anneal_balanced(objective, cuts, largest, rng, sweeps=sweeps)
    unbalanced = improve(objective, cuts, rng, sweeps=sweeps)[:, None]
    repaired = repair_and_swap(objective, unbalanced, largest)
    warm = np.repeat(best_columns(objective, np.hstack([annealed, repaired]), 1), cuts.shape[1], axis=1)
    again = anneal_balanced(objective, warm, largest, rng, sweeps=sweeps, hot=_WARM)
    return np.hstack([cuts, annealed, repaired, again])
