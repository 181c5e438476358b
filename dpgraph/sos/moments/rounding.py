"""Rounding of exact moment relaxations: conditioning by reweighting, at the price of one degree for each seed."""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from dpgraph.arguments import as_generator
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import best_rows, draw_labels, improve_labels
from dpgraph.sos.csp.solver import UNCERTAIN
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.moments.pseudo_distribution import PseudoDistribution, global_correlation, local_correlation
from dpgraph.sos.moments.relaxation import lasserre
from dpgraph.sos.seed_search import SolverOptions, TraceEntry
from dpgraph.sos.solution import Solution
from dpgraph.typing import FloatArray


def solve_by_moments(
    instance: TwoCSP,
    degree: int,
    options: SolverOptions,
    *,
    nonnegative: bool = False,
    solver: Literal["auto", "clarabel", "scs"] = "auto",
    rng: int | np.random.Generator | None = None,
) -> Solution:
    """Maximise a small instance: exact relaxation, conditioning on sampled seeds, independent rounding, annealing.

    Up to ``min(seeds, degree - 1)`` variables are conditioned on in turn, the one of largest expected drop of the
    global variance first (``search="sampled"``: random ones), with labels drawn from their marginals in each round
    (``search="all"``: with every assignment of labels, `rounds` rounds each); then all labels are drawn independently.
    The trace follows the most probable labels. The options `beam`, `tol` and `progress` are not read.
    """
    generator = as_generator(rng)
    objective = CSPObjective.of(instance)
    root = lasserre(instance, degree, nonnegative=nonnegative, solver=solver)
    bound = objective.trivial_bound if root.upper_bound is None else root.upper_bound
    seeds = min(options.seeds, root.degree - 1, instance.n_variables)
    options.check_tree(seeds, instance.alphabet_size)
    tree = _SeedTree(root, seeds, options, objective.variable_weights())
    every = options.search == "all"
    leaves = tree.leaves() if every else (tree.sampled_leaf(generator) for _ in range(options.rounds))
    repeats = options.rounds if every else 1
    drawn = np.array([draw_labels(leaf.marginals(), generator) for leaf in leaves for _ in range(repeats)])
    best = best_rows(objective, drawn, options.starts)
    labels = improve_labels(objective, best, generator, sweeps=options.sweeps) if options.local_search else best[0]
    return Solution.of(objective, labels, bound=bound, certificate="proven", trace=tree.trace(bound))


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
    solution = solve_by_moments(instance, degree, options, solver=solver, rng=rng)
    labels = np.where(solution.labels != solution.labels[0], 1, 0)
    constant = objective.constant - 0.5 * float(w.sum()) + float(np.minimum(w, 0.0).sum())
    bound = solution.upper_bound + constant + 1e-13 * float(np.abs(w).sum())
    trace = tuple(entry.shifted(constant) for entry in solution.trace)
    return Solution.of(objective, labels, bound=bound, certificate=solution.certificate, trace=trace)


def expected_drops(pd: PseudoDistribution, weights: FloatArray) -> FloatArray:
    """Expected drop of the global variance, sum_j p_j sum_ab Cov[(i,a), (j,b)]^2/E x_ia, for each variable i."""
    n, q = pd.instance.n_variables, pd.instance.alphabet_size
    explained = (np.square(pd.covariance()) @ np.repeat(weights, q)).reshape(n, q)
    p = pd.marginals()
    return np.asarray(np.where(p > UNCERTAIN, explained / np.maximum(p, UNCERTAIN), 0.0).sum(axis=1))


class _SeedTree:
    """Pseudo-distributions conditioned on seeds; every node on the seeds of largest drop is computed once."""

    def __init__(self, root: PseudoDistribution, seeds: int, options: SolverOptions, weights: FloatArray) -> None:
        self._root, self._seeds, self._weights = root, seeds, weights
        self._target, self._random = options.target_correlation, options.search == "sampled"
        self._known: dict[tuple[tuple[int, int], ...], tuple[PseudoDistribution, int]] = {}

    def sampled_leaf(self, rng: np.random.Generator) -> PseudoDistribution:
        """A leaf on labels drawn from the marginals."""
        pd = self._root
        pins: tuple[tuple[int, int], ...] = ()
        for _ in range(self._seeds):
            pd, i = self._known.get(pins) or (pd, self._seed(pd))
            if i < 0:
                break
            if self._random:
                i = int(rng.choice(self._weights.size, p=self._weights))
            else:
                self._known[pins] = pd, i
            a = int(draw_labels(pd.marginals()[i : i + 1], rng)[0])
            pins = (*pins, (i, a))
            pd = self._known[pins][0] if pins in self._known else _conditioned(pd, i, a)
        return pd

    def leaves(self) -> Iterator[PseudoDistribution]:
        """The leaves of all assignments of possible labels to the seeds."""
        level = [self._root]
        for _ in range(self._seeds):
            below = []
            for pd in level:
                i = self._seed(pd)
                if i < 0:
                    yield pd
                else:
                    labels = np.flatnonzero(pd.marginals()[i] > UNCERTAIN)
                    below += [_conditioned(pd, i, int(a)) for a in labels]
            level = below
        yield from level

    def trace(self, bound: float) -> tuple[TraceEntry, ...]:
        """Value and correlations after each seed, most probable labels first, while moments of degree 2 are left."""
        pd, trace = self._root, []
        for t in range(self._seeds + 1):
            correlations = global_correlation(pd, self._weights), local_correlation(pd, pd.instance)
            trace.append(TraceEntry(t, pd.value, bound, *correlations))
            i = self._seed(pd)
            if i < 0 or pd.degree < 3:
                break
            pd = _conditioned(pd, i, int(pd.marginals()[i].argmax()))
        return tuple(trace)

    def _seed(self, pd: PseudoDistribution) -> int:
        """Variable to condition on next, -1 to stop."""
        if pd.degree < 2 or global_correlation(pd, self._weights) <= self._target:
            return -1
        return int(expected_drops(pd, self._weights).argmax())


def _conditioned(pd: PseudoDistribution, i: int, a: int) -> PseudoDistribution:
    return pd.condition(pd.instance.variables[i], pd.instance.alphabet[a])
