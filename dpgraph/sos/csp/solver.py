"""Max-2-CSP by the degree-2 relaxation, global correlation rounding and local search.

Seeds are pinned as for max-cut (:mod:`dpgraph.sos.cut.conditioning`). With U_ia = V_ia minus its component along v_0,
Cov[(i,a), (j,b)] = <U_ia, U_jb>, so that correlations cost O(n q k^2).
"""

import math
import time
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.sos.branching.prove import SHARE_BEFORE_PROOF, solve_and_prove
from dpgraph.sos.csp.certificate import MessageProof, proof_of
from dpgraph.sos.csp.forests import move_forests
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import CSPRelaxation, pair_moments, solve_csp_relaxation
from dpgraph.sos.csp.rounding import best_rows, draw_labels, improve_labels, one_opt_labels, round_vectors
from dpgraph.sos.csp.search import ExactSearch
from dpgraph.sos.cut.certificate import Pinned
from dpgraph.sos.cut.solver import SHARE_OF_ROOT, SHARE_OF_SEEDS
from dpgraph.sos.proofs import Proof
from dpgraph.sos.seed_search import Correlation, SolverOptions, TraceEntry, search_seeds
from dpgraph.sos.solution import WORTH, Solution, to_beat
from dpgraph.sos.watch import Watch
from dpgraph.threads import deadline, time_is_up
from dpgraph.typing import FloatArray, IntArray

#: A label of smaller probability is not divided by.
UNCERTAIN = 1e-6
_ENTRIES, _SHARE_OF_SEARCH = 2e8, 0.4  # of tables that a search copies before the relaxation, and of the time
_TIMES_TO_PROVE, _SHARE_OF_PROOF = 50, 0.6  # as many, of two labels, where a proof is wanted; of the time then
_MOST_SEARCHED = 150  # variables that elimination leaves: more are hardly ever proven
_LARGE = 2000  # variables from which the default tolerance grows with their number
_TIMES_TO_COPY = 2.0  # in less than so many times what a greedy search took, no costs can be moved
_LEAST_LEFT = 1e-3  # seconds of a time limit that is over


def solve_csp(
    objective: CSPObjective,
    options: SolverOptions,
    *,
    nonnegative: bool | None = None,
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Maximise an objective of values of either sign: relax, condition on seeds, round, improve.

    An exact search comes first, and needs no relaxation where it ends with a proof. It is left out of large instances
    without a limit of time, and where what the relaxation says is asked for: more than one seed, or the rounding alone
    (``local_search=False``).

    `nonnegative` requires nonnegative pair probabilities, by default for more than two labels. Two labels without it
    are a max-cut on one more vertex and solved as such.
    """
    generator, began = as_generator(rng), time.monotonic()
    start = np.zeros(objective.n_variables, dtype=np.int64) if options.initial is None else options.initial
    if time_is_up():
        return _late(objective, start, objective.trivial_bound, MessageProof(objective))
    prove, as_cut = options.search == "optimal", objective.alphabet_size == 2 and not nonnegative
    asks_for_rounding = (options.seeds > 1 or not options.local_search) and not prove
    if asks_for_rounding or (as_cut and not ExactSearch.fits(objective)):
        return _relaxed(objective, options, nonnegative, generator, None)

    def left(share: float) -> SolverOptions:
        limit = options.time_limit
        limit = None if limit is None else max(began + share * limit - time.monotonic(), _LEAST_LEFT)
        return replace(options, search="beam", time_limit=limit)

    if options.time_limit is not None:  # all else may take longer, of large instances
        start = one_opt_labels(objective, start[None])[0]
        if deadline() - time.monotonic() < _TIMES_TO_COPY * (time.monotonic() - began):
            start = improve_labels(objective, start[None], generator, sweeps=options.sweeps)
            return _late(objective, start, objective.trivial_bound, MessageProof(objective))
    costs, core = ExactSearch.eliminated(objective)
    hopeless = core.kept.size > _MOST_SEARCHED and not prove and options.time_limit is None
    if hopeless and as_cut:
        return _relaxed(objective, options, nonnegative, generator, None)
    exact = ExactSearch(objective, (costs, core), options, generator)
    if options.time_limit is not None:
        exact.improved_by(start)
    with Watch(objective, left(1.0), "search") as watch:
        long = as_cut and (prove if options.time_limit is None else core.kept.size <= _MOST_SEARCHED)
        entries = 0.0 if hopeless else _ENTRIES * (_TIMES_TO_PROVE if long else 1)
        if exact.run(watch, entries=entries, deadline=watch.until(_SHARE_OF_PROOF if long else _SHARE_OF_SEARCH)):
            solution = Solution.exact(objective, exact.labels, exact.bound, exact.proof)
            return replace(solution, status="optimal") if exact.alone else solution
    if time_is_up():
        return _late(objective, exact.labels, exact.bound, exact.proof)
    if as_cut:  # which has a proof of its own
        return _relaxed(objective, replace(left(1.0), search=options.search), nonnegative, generator, exact)
    goes_on = prove if options.time_limit is None else exact.gains  # with a limit, whether or not a proof is asked for
    first = left(SHARE_BEFORE_PROOF if goes_on else 1.0)
    solution = _relaxed(objective, first, nonnegative, generator, exact)
    if goes_on and solution.status != "optimal" and solution.gap > options.gap_tol:
        with Watch(objective, left(1.0), "proof") as watch:
            watch.found(solution.value, solution.upper_bound)
            exact.improved_by(solution.labels)
            exact.run(watch, deadline=watch.until(1.0))
        solution = solution.improved(objective, exact.labels, exact.bound, exact.proof)
    return solution


def _late(objective: CSPObjective, labels: IntArray, bound: float, proof: Proof) -> Solution:
    """What is known when the time is up before there is a relaxation."""
    trace = (TraceEntry(0, bound, bound, math.nan, math.nan),)
    return Solution.of(objective, labels, bound=bound, kind="proven", trace=trace, proof=proof)


def _relaxed(
    objective: CSPObjective,
    options: SolverOptions,
    nonnegative: bool | None,
    rng: np.random.Generator,
    exact: ExactSearch | None,
) -> Solution:
    """What the relaxation and the local search add to the labels and the bound of a search, if there was one."""
    given = [options.initial] if options.initial is not None else []
    if exact is not None:
        given.append(exact.labels)
    if objective.alphabet_size > 2 or nonnegative:
        bound = math.inf if exact is None else exact.bound
        solution = _solve(objective, options, nonnegative is None or nonnegative, rng, given, bound)
    else:  # a max-cut on one more vertex
        initial = np.append(0, max(given, key=objective.value)) if given else None
        signed = replace(options, seeds=options.seeds + 1, initial=initial)
        cut = solve_and_prove(objective.signed(), signed, rng)
        # As if it were of tables: in the cut, rounding may have hidden small weights beside large ones.
        proof = cut.proof or cut.uncertified
        solution = Solution.of(
            objective, cut.labels[1:], bound=cut.upper_bound, kind=cut.bound_kind, trace=cut.trace, proof=proof
        )
    if exact is None:
        return solution
    return solution.improved(objective, exact.labels, exact.bound, exact.proof)


def _solve(
    objective: CSPObjective,
    options: SolverOptions,
    nonnegative: bool,
    generator: np.random.Generator,
    given: list[IntArray],
    bound: float,
) -> Solution:
    """Relax, condition on seeds, round, and search locally from there and from the labels that are given.

    Where labels and a `bound` are known, relaxations and seeds are to lower it by some of the gap.
    """
    tol = options.tol
    if tol is None:
        tol = 1e-5 if objective.n_variables <= 300 else 1e-4 * max(1.0, objective.n_variables / _LARGE)
    with Watch(objective, options, "max-2-csp") as watch:
        between = max(map(objective.value, given), default=-math.inf), bound
        root = solve_csp_relaxation(
            objective, generator, nonnegative=nonnegative, tol=tol, deadline=watch.until(SHARE_OF_ROOT), between=between
        )
        drawn = np.vstack([*given, _round(root, options, generator)])
        rounded = best_rows(objective, drawn, options.starts)
        known = rounded[0] if options.as_analysed else best_rows(objective, one_opt_labels(objective, rounded), 1)[0]
        watch.step(objective.value(known if options.local_search else rounded[0]), root.certificate.bound)
        node = CSPNode(root, root.certificate, np.full(objective.n_variables, -1), objective)
        seeds = min(options.seeds, objective.n_variables - 1)
        if seeds == 1 and _share_of_a_seed(objective, root) <= WORTH:
            seeds = 0
        tree = search_seeds(
            _PinnedCSP(objective.variable_weights(), generator, watch.until(SHARE_OF_SEEDS), between[0]),
            node,
            replace(options, seeds=seeds),
            generator,
            lower_bound=to_beat(objective, objective.value(known)),
            on_seed=watch.seed,
        )
        pool = [rounded]
        for node in tree.nodes:
            if np.any(node.labels >= 0):
                pool.append(node.complete(_round(node.solution, options, generator)))
        rounded = best_rows(objective, np.concatenate(pool), options.starts)
        labels = best_rows(objective, np.stack([known, rounded[0]]), 1)[0] if options.local_search else rounded[0]
        watch.found(objective.value(labels), tree.upper_bound)
        for sweeps in watch.efforts() if options.local_search else ():
            improved = improve_labels(objective, rounded, generator, sweeps=sweeps)
            improved = move_forests(objective, improved, generator, moves=sweeps)
            labels = best_rows(objective, np.stack([improved, labels]), 1)[0]
            rounded = generator.integers(objective.alphabet_size, size=rounded.shape)
            watch.found(objective.value(labels))
        watch.step()
    proof = proof_of(objective, root.certificate)
    return Solution.of(objective, labels, bound=tree.upper_bound, kind=tree.kind, trace=tree.trace, proof=proof)


def _share_of_a_seed(objective: CSPObjective, relaxation: CSPRelaxation) -> float:
    """The share of the gap that a seed closes if that is as its share of the variance of all variables."""
    p, weights = relaxation.marginals(), objective.variable_weights()
    variance = float(weights @ (p - p**2).sum(axis=1))
    drop = float(csp_correlation(objective, relaxation.vectors, weights).drops.max())
    return drop / variance if variance > 0.0 else 1.0


def _round(relaxation: CSPRelaxation, options: SolverOptions, rng: np.random.Generator) -> IntArray:
    """Assignments of a relaxation, shape (rounds, n)."""
    if not options.as_analysed:
        return round_vectors(relaxation.vectors, 1 if time_is_up() else options.rounds, rng)
    marginals = relaxation.marginals()
    return np.array([draw_labels(marginals, rng) for _ in range(options.rounds)])


@dataclass(frozen=True, eq=False)
class CSPNode(Pinned):
    """A node of the search: variables with `labels` >= 0 are pinned, objective and solution are those of the rest."""

    solution: CSPRelaxation
    labels: IntArray
    objective: CSPObjective

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
    known: float  #: value of a solution
    free_seeds: int = 0

    def correlation(self, node: CSPNode) -> Correlation:
        return csp_correlation(node.objective, node.solution.vectors, self.weights(node))

    def weights(self, node: CSPNode) -> FloatArray:
        return self.variable_weights[node.labels < 0]

    def probabilities(self, node: CSPNode, variable: int) -> FloatArray:
        # Interchangeable labels: one of them stands for all.
        return np.ones(1) if node.objective.has_label_symmetry else node.solution.marginals()[variable]

    def pin(self, node: CSPNode, variable: int, label: int) -> CSPNode:
        labels = node.labels.copy()
        labels[np.flatnonzero(labels < 0)[variable]] = label
        rest = node.objective.condition(variable, label)
        root = node.solution
        kept = np.all(node.objective.pairs != variable, axis=1)
        start = np.delete(root.frames, variable, axis=0), root.multipliers[kept]
        solved = solve_csp_relaxation(
            rest, self.rng, nonnegative=root.nonnegative, tol=root.tol, start=start, deadline=self.deadline,
            between=(self.known, node.bound),
        )  # fmt: skip
        best = min(node.certificate, solved.certificate, key=attrgetter("bound"))
        return CSPNode(solved, best, labels, rest)
