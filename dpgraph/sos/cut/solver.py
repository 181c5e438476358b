"""Max-cut by the degree-2 relaxation, global correlation rounding and local search.

Works on any :class:`~dpgraph.sos.cut.base.CutObjective`; the exact and the private max-cut both call it.
"""

from collections.abc import Iterable

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.conditioning import PinnedNode, condition
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.rounding import best_columns, hyperplane_rounding, improve, independent_signs, one_opt
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution, is_optimal, to_beat
from dpgraph.typing import FloatArray

_MOST_SAMPLES = 20_000_000  # entries of the independent samples of a node


def solve_max_cut(
    objective: CutObjective,
    options: SolverOptions = SolverOptions(),  # noqa: B008 (frozen)
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Cut an objective: relax, condition on seeds, round, improve."""
    generator = as_generator(rng)
    with options.progress_bar("max-cut") as bar:
        root = solve_low_rank(objective, generator, tol=options.tol)
        bar.update()
        cuts = hyperplane_rounding(objective, root.vectors, options.rounds, generator, keep=options.starts)
        tree = condition(
            objective,
            root,
            options,
            generator,
            weights=objective.vertex_weights(),
            lower_bound=to_beat(objective, float(objective.values(one_opt(objective, cuts)).max())),
            on_seed=bar.update,
        )
        cuts = best_columns(objective, round_nodes(objective, tree.nodes, cuts, options, generator), options.starts)
        cut = one_opt(objective, cuts[:, 0]) if options.local_search else cuts[:, 0]
        if options.local_search and not is_optimal(objective, objective.cut_value(cut), tree.upper_bound):
            cut = improve(objective, cuts, generator, sweeps=options.sweeps)
        bar.update()
    labels = (cut != cut[0]).astype(np.int64)
    return Solution.of(objective, labels, bound=tree.upper_bound, certificate=root.certificate.kind, trace=tree.trace)


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
