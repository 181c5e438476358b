"""Max-2-CSP by the degree-2 relaxation, global correlation rounding and local search.

Seeds are pinned as for max-cut (:mod:`dpgraph.sos.cut.conditioning`). With U_ia = V_ia minus its component along v_0,
Cov[(i,a), (j,b)] = <U_ia, U_jb>, so that correlations cost O(n q k^2).
"""

import time
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.branching.prove import SHARE_BEFORE_PROOF, solve_and_prove
from dpgraph.sos.csp.bucket_elimination import solve_by_elimination
from dpgraph.sos.csp.depth_first import prove_assignment
from dpgraph.sos.csp.frontier import search_frontier
from dpgraph.sos.csp.kernels import pair_moments
from dpgraph.sos.csp.messages import improve_by_forests, pass_messages
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import CSPRelaxation, solve_csp_relaxation
from dpgraph.sos.csp.rounding import best_rows, draw_labels, improve_labels, one_opt_labels, round_vectors
from dpgraph.sos.cut.certificate import Certificate
from dpgraph.sos.cut.solver import SHARE_OF_ROOT, SHARE_OF_SEEDS
from dpgraph.sos.seed_search import Correlation, SolverOptions, search_seeds
from dpgraph.sos.solution import Solution, is_optimal, to_beat
from dpgraph.sos.watch import Watch
from dpgraph.typing import FloatArray, IntArray

#: A label of smaller probability is not divided by.
UNCERTAIN = 1e-6
_FIRST_SHARE = 0.1  # of the local search: before the relaxation, which may be needless then
_MOST_PREFIXES, _SHARE_OF_FRONTIER = (2**14, 2**20), (0.3, 0.8)  # by default, and where a proof is asked for
_FORESTS = 200  # disturbances, where no number of sweeps is asked for


def solve_csp(
    objective: CSPObjective,
    options: SolverOptions,
    *,
    nonnegative: bool | None = None,
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Maximise an objective of values of either sign: relax, condition on seeds, round, improve.

    Instances of small treewidth are solved exactly instead, unless what the relaxation says is asked for: more than one
    seed, or the rounding alone (``local_search=False``).

    `nonnegative` requires nonnegative pair probabilities, by default for more than two labels. Two labels without it
    are a max-cut on one more vertex and solved as such.
    """
    generator = as_generator(rng)
    if not _asks_for_rounding(options) and (proven := solve_by_elimination(objective, options)) is not None:
        return proven
    if objective.alphabet_size == 2 and not nonnegative:
        initial = None if options.initial is None else np.append(0, options.initial)
        signed = replace(options, seeds=options.seeds + 1, initial=initial)
        cut = solve_and_prove(objective.signed(), signed, generator)
        return replace(cut, labels=cut.labels[1:])
    began = time.monotonic()
    if options.search != "optimal":
        return _solve(objective, options, nonnegative, generator)
    limit = None if options.time_limit is None else SHARE_BEFORE_PROOF * options.time_limit
    first = replace(options, search="beam", time_limit=limit)
    solution = _solve(objective, first, nonnegative, generator, prove=True)
    if solution.status == "optimal" or solution.gap <= options.gap_tol:
        return solution
    return prove_assignment(objective, solution, options, began)


def _asks_for_rounding(options: SolverOptions) -> bool:
    return options.seeds > 1 or not options.local_search


def _solve(
    objective: CSPObjective,
    options: SolverOptions,
    nonnegative: bool | None,
    generator: np.random.Generator,
    *,
    prove: bool = False,
) -> Solution:
    """Without branch and bound; where that follows, the frontier is searched for longer."""
    tol = (1e-5 if objective.n_variables <= 300 else 1e-4) if options.tol is None else options.tol
    with Watch(objective, options, "max-2-csp") as watch:
        messages = pass_messages(objective)
        first, bound = messages.labels, messages.bound
        if not _asks_for_rounding(options):
            starts = generator.integers(objective.alphabet_size, size=(options.starts - 1, objective.n_variables))
            first = improve_labels(
                objective, np.vstack([first, starts]), generator, sweeps=options.sweeps, share=_FIRST_SHARE
            )
            if not is_optimal(objective, objective.value(first), bound):
                until = watch.until(_SHARE_OF_FRONTIER[prove])
                first, other = search_frontier(objective, first, messages.proof.shares, _MOST_PREFIXES[prove], until)
                bound = min(bound, other)
            if is_optimal(objective, objective.value(first), bound):  # the relaxation has nothing to add
                return Solution.exact(objective, first, bound, options, messages.proof)
        watch.found(objective.value(first), bound)
        signs = nonnegative is None or nonnegative
        root = solve_csp_relaxation(
            objective, generator, nonnegative=signs, tol=tol, deadline=watch.until(SHARE_OF_ROOT)
        )
        drawn = _round(root, options, generator)
        if not options.as_analysed:
            drawn = np.vstack([first, drawn])
        if options.initial is not None:
            drawn = np.vstack([options.initial, drawn])
        rounded = best_rows(objective, drawn, options.starts)
        known = rounded[0] if options.as_analysed else best_rows(objective, one_opt_labels(objective, rounded), 1)[0]
        watch.step(objective.value(known if options.local_search else rounded[0]), root.certificate.bound)
        node = CSPNode(np.full(objective.n_variables, -1), objective, root, root.certificate)
        tree = search_seeds(
            _PinnedCSP(objective.variable_weights(), generator, watch.until(SHARE_OF_SEEDS)),
            node,
            replace(options, seeds=min(options.seeds, objective.n_variables - 1)),
            generator,
            lower_bound=to_beat(objective, objective.value(known)),
            on_seed=watch.seed,
        )
        pool = [rounded]
        for node in tree.nodes:
            if np.any(node.labels >= 0):
                pool.append(node.complete(_round(node.relaxation, options, generator)))
        rounded = best_rows(objective, np.concatenate(pool), options.starts)
        labels = best_rows(objective, np.stack([known, rounded[0]]), 1)[0] if options.local_search else rounded[0]
        watch.found(objective.value(labels), tree.upper_bound)
        for sweeps in watch.efforts() if options.local_search else ():
            improved = improve_labels(objective, rounded, generator, sweeps=sweeps)
            best = best_rows(objective, np.stack([improved, labels]), 1)
            labels = improve_by_forests(objective, best, generator, _FORESTS if sweeps is None else sweeps)[0]
            rounded = generator.integers(objective.alphabet_size, size=rounded.shape)
            watch.found(objective.value(labels))
        watch.step()
    kind = tree.kind if tree.upper_bound <= bound else "proven"
    bound = min(tree.upper_bound, bound)
    return Solution.of(objective, labels, bound=bound, kind=kind, trace=tree.trace, proof=messages.proof)


def _round(relaxation: CSPRelaxation, options: SolverOptions, rng: np.random.Generator) -> IntArray:
    """Assignments of a relaxation, shape (rounds, n)."""
    if not options.as_analysed:
        return round_vectors(relaxation.vectors, options.rounds, rng)
    marginals = relaxation.marginals()
    return np.array([draw_labels(marginals, rng) for _ in range(options.rounds)])


@dataclass(frozen=True, eq=False)
class CSPNode:
    """A node of the search: variables with `labels` >= 0 are pinned, objective and relaxation are those of the rest."""

    labels: IntArray
    objective: CSPObjective
    relaxation: CSPRelaxation
    certificate: Certificate

    @property
    def value(self) -> float:
        """Value of the relaxation."""
        return self.relaxation.value

    @property
    def bound(self) -> float:
        """No solution that agrees with the pins is worth more."""
        return self.certificate.bound

    @property
    def kind(self) -> str:
        """How the bound is known."""
        return self.certificate.kind

    def complete(self, rest: IntArray) -> IntArray:
        """Assignments of all variables, shape (c, n), from those of the free ones."""
        full = np.repeat(self.labels[None, :], len(rest), axis=0)
        full[:, self.labels < 0] = rest
        return full


def csp_correlation(objective: CSPObjective, V: FloatArray, weights: FloatArray) -> Correlation:
    """Correlations of the pseudo-distribution of label vectors V (n, q, k), with `weights` p of the variables."""
    U = np.ascontiguousarray(V[:, :, 1:])
    weighted = (weights[:, None, None] * U).reshape(-1, U.shape[2])
    gram = U.reshape(-1, U.shape[2]).T @ weighted
    local = float(np.sum(objective.tables * pair_moments(objective.pairs, U)))
    explained = np.einsum("iaz,iaz->ia", U @ gram, U)
    p = V[:, :, 0]
    drops = np.where(p > UNCERTAIN, explained / np.maximum(p, UNCERTAIN), 0.0).sum(axis=1)
    return Correlation(float(np.sum(gram * gram)), local, drops)


@dataclass(frozen=True, eq=False)
class _PinnedCSP:
    """2-CSPs for the search; variables are the free ones of a node, in their order."""

    variable_weights: FloatArray
    rng: np.random.Generator
    deadline: float
    free_seeds: int = 0

    def correlation(self, node: CSPNode) -> Correlation:
        return csp_correlation(node.objective, node.relaxation.vectors, self.weights(node))

    def weights(self, node: CSPNode) -> FloatArray:
        return self.variable_weights[node.labels < 0]

    def probabilities(self, node: CSPNode, variable: int) -> FloatArray:
        # Interchangeable labels: one of them stands for all.
        return np.ones(1) if node.objective.has_label_symmetry else node.relaxation.marginals()[variable]

    def pin(self, node: CSPNode, variable: int, label: int) -> CSPNode:
        labels = node.labels.copy()
        labels[np.flatnonzero(labels < 0)[variable]] = label
        rest = node.objective.condition(variable, label)
        root = node.relaxation
        kept = np.all(node.objective.pairs != variable, axis=1)
        start = np.delete(root.frames, variable, axis=0), root.multipliers[kept]
        solved = solve_csp_relaxation(
            rest, self.rng, nonnegative=root.nonnegative, tol=root.tol, start=start, deadline=self.deadline
        )
        best = min(node.certificate, solved.certificate, key=attrgetter("bound"))
        return CSPNode(labels, rest, solved, best)
