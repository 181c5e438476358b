"""Max-cut by the degree-2 relaxation, global correlation rounding and local search.

Works on any :class:`~dpgraph.sos.cut.base.CutObjective`; the exact and the private max-cut both call it.
"""

from collections.abc import Iterable

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.conditioning import PinnedNode, condition
from dpgraph.sos.cut.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.cut.rounding import best_columns, hyperplane_rounding, improve, independent_signs, one_opt
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution, is_optimal, to_beat
from dpgraph.typing import FloatArray

_LEAST_ROOM = 1e-2  # below the next whole number: less is not worth the sweeps
_MOST_SAMPLES = 20_000_000  # entries of the independent samples of a node


def solve_max_cut(
    objective: CutObjective,
    options: SolverOptions = SolverOptions(),  # noqa: B008 (frozen)
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Cut an objective: eliminate, relax, condition on seeds, round, improve."""
    generator = as_generator(rng)
    with options.progress_bar("max-cut") as bar:
        core, _, lift = objective.reduced(most=2)
        root = solve_low_rank(core, generator, tol=options.tol)
        bar.update()
        cuts = hyperplane_rounding(core, root.vectors, options.rounds, generator, keep=options.starts)
        known = to_beat(core, float(core.values(one_opt(core, cuts)).max()))
        if core.integral:
            root = close_gap(core, root, known, generator)
        tree = condition(
            core, root, options, generator, weights=core.vertex_weights(), lower_bound=known, on_seed=bar.update
        )
        cuts = best_columns(core, round_nodes(core, tree.nodes, cuts, options, generator), options.starts)
        cut = one_opt(core, cuts[:, 0]) if options.local_search else cuts[:, 0]
        if options.local_search and not is_optimal(core, core.cut_value(cut), tree.upper_bound):
            cut = improve(core, cuts, generator, sweeps=options.sweeps)
        bar.update()
    cut = lift(cut)
    labels = (cut != cut[0]).astype(np.int64)
    kind = tree.kind
    if kind == "trivial" and core.n_vertices < objective.n_vertices:
        kind = "proven"  # trivial only for what the elimination left
    return Solution.of(objective, labels, bound=tree.upper_bound, certificate=kind, trace=tree.trace)


def close_gap(objective: CutObjective, root: LowRankSolution, beat: float, rng: np.random.Generator) -> LowRankSolution:
    """The relaxation solved again if its tolerance is all that keeps it from showing that nothing above `beat` is left.

    That is where cuts are whole numbers, `beat` is next to one, and the relaxation is worth less.
    """
    room = beat - root.value
    if room < _LEAST_ROOM or root.certificate.bound <= beat:
        return root
    scale = max(abs(objective.constant), abs(root.value))
    again = solve_low_rank(
        objective, rng, tol=0.5 * room / scale, max_sweeps=10 * root.sweeps + 100, start=root.vectors
    )
    return again if again.certificate.bound < root.certificate.bound else root


def round_nodes(
    objective: CutObjective,
    nodes: Iterable[PinnedNode],
    cuts: FloatArray,
    options: SolverOptions,
    rng: np.random.Generator,
) -> FloatArray:
    """`cuts`, and the best independent samples and hyperplane cuts of every node that is left."""
    pool, count = [cuts], max(1, min(options.rounds, _MOST_SAMPLES // objective.n_vertices))
    for node in nodes:
        if node.pins:
            pool.append(best_columns(objective, independent_signs(node.means(), count, rng), options.starts))
        if len(node.pins) > 1:  # before that, the hyperplanes of the root are the node's own
            pool.append(hyperplane_rounding(objective, node.vectors(), options.rounds, rng, keep=options.starts))
    return np.hstack(pool)
