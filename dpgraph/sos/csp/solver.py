"""Max-2-CSP by the degree-2 relaxation, global correlation rounding and local search."""

from dataclasses import replace

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.csp.conditioning import condition_csp
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import solve_csp_relaxation
from dpgraph.sos.csp.rounding import best_rows, improve_labels, one_opt_labels, round_vectors
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution, to_beat

__all__ = ["solve_csp"]


def solve_csp(
    objective: CSPObjective,
    options: SolverOptions,
    *,
    nonnegative: bool | None = None,
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Maximise an objective of values of either sign: relax, condition on seeds, round, improve.

    `nonnegative` requires nonnegative pair probabilities, by default for more than two labels. Two labels without it
    are a max-cut on one more vertex and solved as such. The result is a deterministic function of `rng`, which is
    public.
    """
    options.check_tree(options.seeds, objective.alphabet_size)
    generator = as_generator(rng)
    if objective.alphabet_size == 2 and not nonnegative:
        cut = solve_max_cut(objective.signed(), replace(options, seeds=options.seeds + 1), generator)
        return replace(cut, labels=cut.labels[1:])
    tol = (1e-5 if objective.n_variables <= 300 else 1e-4) if options.tol is None else options.tol
    with options.progress_bar("max-2-csp") as bar:
        root = solve_csp_relaxation(objective, generator, nonnegative=nonnegative is None or nonnegative, tol=tol)
        bar.update()
        rounded = best_rows(objective, round_vectors(root.vectors, options.rounds, generator), options.starts)
        known = best_rows(objective, one_opt_labels(objective, rounded), 1)[0]
        bound = to_beat(objective, objective.value(known))
        tree = condition_csp(objective, root, options, generator, lower_bound=bound, on_seed=bar.update)
        pool = [rounded]
        for node in tree.nodes:
            if np.any(node.labels >= 0):
                pool.append(node.complete(round_vectors(node.relaxation.vectors, options.rounds, generator)))
        rounded = best_rows(objective, np.concatenate(pool), options.starts)
        labels = rounded[0]
        if options.local_search:
            labels = improve_labels(objective, rounded, generator, sweeps=options.sweeps)
        bar.update()
    return Solution.of(objective, labels, bound=tree.upper_bound, certificate=root.certificate.kind, trace=tree.trace)
