"""Rounding of exact moment relaxations: conditioning by reweighting, at the price of one degree for each seed."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.exceptions import InvalidParameterError
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import best_rows, draw_labels, improve_labels, one_opt_labels
from dpgraph.sos.csp.solver import UNCERTAIN
from dpgraph.sos.cut.base import CutObjective, rounding_slack
from dpgraph.sos.cut.bisection import largest_sum
from dpgraph.sos.cut.multilevel_search import anneal_balanced, repair_and_swap
from dpgraph.sos.cut.objective import SparseObjective, penalise_imbalance
from dpgraph.sos.cut.rounding import best_columns
from dpgraph.sos.moments.pseudo_distribution import PseudoDistribution, global_correlation, local_correlation
from dpgraph.sos.moments.relaxation import lasserre
from dpgraph.sos.seed_search import Correlation, SolverOptions, search_seeds
from dpgraph.sos.solution import Solution
from dpgraph.sos.watch import Watch
from dpgraph.typing import FloatArray

_NO_PROOF = "bounds of moment relaxations are not written down; the bound of degree 2 is"


def solve_by_moments(
    instance: TwoCSP,
    degree: int,
    options: SolverOptions,
    *,
    nonnegative: bool = False,
    solver: Literal["auto", "clarabel", "scs"] = "auto",
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Maximise a small instance: exact relaxation, conditioning by reweighting, independent rounding, annealing.

    A seed costs one degree, so that there are at most degree - 1 of them. The tolerance is that of the interior points.
    """
    if options.tol is not None:
        raise InvalidParameterError(f"tol is for relaxation='lowrank', others are solved to 1e-7; got {options.tol!r}")
    generator = as_generator(rng)
    objective = CSPObjective.of(instance)
    watch = Watch(objective, options, "moments")
    root = lasserre(instance, degree, nonnegative=nonnegative, solver=solver)
    bound = objective.trivial_bound if root.upper_bound is None else root.upper_bound
    seeds = replace(options, seeds=min(options.seeds, root.degree - 1, instance.n_variables))
    problem = _Reweighting(objective.variable_weights())
    watch.step(bound=bound)
    tree = search_seeds(problem, _Conditioned(root, bound), seeds, generator, lower_bound=-np.inf, on_seed=watch.seed)
    marginals = [node.pd.marginals() for node in tree.nodes]
    drawn = np.array([draw_labels(p, generator) for p in marginals for _ in range(options.rounds)])
    if options.initial is not None:
        drawn = np.vstack([options.initial, drawn])
    best = best_rows(objective, drawn, options.starts)
    labels = one_opt_labels(objective, best[:1])[0] if options.local_search else best[0]
    watch.found(objective.value(labels))
    for sweeps in watch.efforts() if options.local_search else ():
        improved = improve_labels(objective, best, generator, sweeps=sweeps)
        labels = best_rows(objective, np.stack([improved, labels]), 1)[0]
        watch.found(objective.value(labels))
    watch.step()
    known = tuple(entry for entry in tree.trace if not math.isnan(entry.global_correlation)) or tree.trace
    return Solution.of(objective, labels, bound=bound, kind="proven", proof=_NO_PROOF, trace=known)


def solve_cut_by_moments(
    objective: CutObjective,
    degree: int,
    options: SolverOptions,
    *,
    solver: Literal["auto", "clarabel", "scs"] = "auto",
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Max-cut of a small objective as :func:`solve_by_moments`; a negative weight is that of a wish to be equal."""
    n = objective.n_vertices
    M = objective.multiply(np.eye(n))
    u, v = np.triu_indices(n, 1)
    w = M[u, v]
    instance = TwoCSP(n, 2)
    equal = np.where(w[:, None, None] < 0.0, np.eye(2), 1.0 - np.eye(2))
    instance.add_constraints(np.stack([u, v], axis=1)[w != 0.0], (np.abs(w)[:, None, None] * equal)[w != 0.0])
    constant = objective.constant - 0.5 * float(w.sum()) + float(np.minimum(w, 0.0).sum())
    margin = 1e-13 * float(np.abs(w).sum())
    shifted = options.calling_back(lambda value: value + constant, lambda bound: bound + constant + margin)
    solution = solve_by_moments(instance, degree, shifted, solver=solver, rng=rng)
    labels = np.where(solution.labels != solution.labels[0], 1, 0)
    bound = solution.upper_bound + constant + margin
    trace = tuple(entry.shifted(constant, margin) for entry in solution.trace)
    return Solution.of(objective, labels, bound=bound, kind=solution.bound_kind, proof=_NO_PROOF, trace=trace)


def solve_bisection_by_moments(
    objective: SparseObjective,
    imbalance: int,
    degree: int,
    options: SolverOptions,
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """The best small cut whose sides differ by at most `imbalance` >= the parity of n, and a bound on such cuts.

    A price on (sum x)^2 makes the pseudo-distribution almost balanced, and with it all its moments: by Cauchy and
    Schwarz (E p sum x)^2 <= E p^2 E(sum x)^2. A cut with the allowed imbalance gets back what it pays. The bound of
    all cuts holds too, and is smaller where they are about balanced.
    """
    generator = as_generator(rng)
    n = objective.n_vertices
    largest = largest_sum(n, imbalance)
    price = float(objective.absolute_row_sums.mean())  # of the imbalance: of the size of what a vertex weighs
    found = solve_cut_by_moments(penalise_imbalance(objective, price), degree, options, rng=generator)
    allowance = price * largest**2
    cuts = repair_and_swap(objective, np.where(found.labels == 0, 1.0, -1.0)[:, None], largest)
    if options.local_search:
        annealed = anneal_balanced(objective, cuts, largest, generator, sweeps=options.sweeps)
        cuts = best_columns(objective, np.hstack([cuts, annealed]), 1)
    labels = (cuts[:, 0] != cuts[0, 0]).astype(np.int64)
    free = solve_cut_by_moments(objective, degree, SolverOptions(seeds=0, rounds=1, local_search=False), rng=generator)
    margin = rounding_slack(2, abs(found.upper_bound) + allowance)
    bound = min(free.upper_bound, found.upper_bound + allowance + margin)
    trace = tuple(entry.shifted(allowance, margin) for entry in found.trace)
    return Solution.of(objective, labels, bound=bound, kind=found.bound_kind, proof=_NO_PROOF, trace=trace)


def expected_drops(pd: PseudoDistribution, weights: FloatArray) -> FloatArray:
    """Expected drop of the global variance, sum_j p_j sum_ab Cov[(i,a), (j,b)]^2/E x_ia, for each variable i."""
    n, q = pd.instance.n_variables, pd.instance.alphabet_size
    explained = (np.square(pd.covariance()) @ np.repeat(weights, q)).reshape(n, q)
    p = pd.marginals()
    return np.asarray(np.where(p > UNCERTAIN, explained / np.maximum(p, UNCERTAIN), 0.0).sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Conditioned:
    """A node of the search: `pins` are the variables that were conditioned on. No pin lowers the bound of the root."""

    pd: PseudoDistribution
    bound: float
    pins: tuple[int, ...] = ()
    kind: str = "proven"

    @property
    def value(self) -> float:
        """Pseudo-expectation of the value; without second moments, that of independent labels."""
        if self.pd.degree >= 2:
            return self.pd.value
        instance, p = self.pd.instance, self.pd.marginals()
        u, v = instance.pairs.T
        return float(np.einsum("ea,eab,eb->", p[u], instance.tables, p[v]))


@dataclass(frozen=True)
class _Reweighting:
    """Conditioning for the search: a moment given a label is a moment of one degree more over a probability."""

    variable_weights: FloatArray
    free_seeds: int = 0

    def correlation(self, node: _Conditioned) -> Correlation:
        if node.pd.degree < 2:
            return Correlation(math.nan, math.nan, np.zeros(self.variable_weights.size))
        drops = expected_drops(node.pd, self.variable_weights)
        both = global_correlation(node.pd, self.variable_weights), local_correlation(node.pd, node.pd.instance)
        return Correlation(*both, drops)

    def weights(self, node: _Conditioned) -> FloatArray:
        free = self.variable_weights.copy()
        free[list(node.pins)] = 0.0
        return free

    def probabilities(self, node: _Conditioned, variable: int) -> FloatArray:
        return np.asarray(node.pd.marginals()[variable])

    def pin(self, node: _Conditioned, variable: int, label: int) -> _Conditioned:
        if node.pd.marginals()[variable, label] <= UNCERTAIN:
            return node  # nothing can be conditioned on a label without probability
        instance = node.pd.instance
        pd = node.pd.condition(instance.variables[variable], instance.alphabet[label])
        return _Conditioned(pd, node.bound, (*node.pins, variable))
