"""Rounding of exact moment relaxations: conditioning by reweighting, at the price of one degree for each seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import as_generator
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.rounding import best_rows, improve_labels
from dpgraph.sos.csp.solver import CSPSolution
from dpgraph.sos.cut.objective import CutObjective
from dpgraph.sos.cut.solver import MaxCutSolution
from dpgraph.sos.moments.pseudo_distribution import (
    PseudoDistribution,
    draw_labels,
    global_correlation,
    local_correlation,
)
from dpgraph.sos.moments.relaxation import lasserre
from dpgraph.sos.optimality import solution_status
from dpgraph.sos.seed_search import SearchMode, TraceEntry, check_options, check_search

__all__ = ["expected_drops", "solve_by_moments", "solve_cut_by_moments"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_UNCERTAIN = 1e-6


def solve_by_moments(
    instance: TwoCSP,
    degree: int,
    *,
    nonnegative: bool = False,
    solver: Literal["auto", "clarabel", "scs"] = "auto",
    seeds: int = 1,
    rounds: int = 100,
    local_search: bool = True,
    rng: int | np.random.Generator | None = None,
    target_correlation: float = 0.0,
    starts: int = 8,
    sweeps: int | None = None,
    search: SearchMode = "beam",
) -> CSPSolution:
    """Maximise a small instance: exact relaxation, conditioning on sampled seeds, independent rounding, annealing.

    Up to ``min(seeds, degree - 1)`` variables are conditioned on in turn, the one of largest expected drop of the
    global variance first (``search="sampled"``: random ones, as in the papers), with labels drawn from their marginals
    in each round (``search="all"``: with every assignment of labels, `rounds` rounds each); then all labels are drawn
    independently. The trace follows the most probable labels of the variables of largest drop.

    Parameters
    ----------
    instance : TwoCSP
        What is maximised.
    degree, nonnegative, solver
        As for :func:`dpgraph.sos.lasserre`.
    seeds, rounds, local_search, rng, target_correlation, starts, sweeps, search
        As for :func:`dpgraph.sos.csp.solver.solve_csp`.

    Returns
    -------
    CSPSolution
    """
    check_options(seeds=seeds, rounds=rounds, starts=starts, sweeps=sweeps, target=target_correlation)
    generator = as_generator(rng)
    objective = CSPObjective.of(instance)
    root = lasserre(instance, degree, nonnegative=nonnegative, solver=solver)
    bound = float(root.upper_bound) if root.upper_bound is not None else objective.trivial_bound
    seeds = min(seeds, root.degree - 1, instance.n_variables)
    check_search(search, seeds, instance.alphabet_size)
    weights = objective.spread()
    weights = weights / weights.sum() if weights.any() else np.full(weights.size, 1.0 / weights.size)
    trace = _follow(root, bound, seeds, target_correlation, weights)
    tree = _SeedTree(root, seeds, target_correlation, weights, search == "sampled")
    leaves = tree.leaves() if search == "all" else (tree.sampled_leaf(generator) for _ in range(rounds))
    per_leaf = rounds if search == "all" else 1
    drawn = np.array([draw_labels(leaf.marginals(), generator) for leaf in leaves for _ in range(per_leaf)])
    best = best_rows(objective, drawn, starts)
    labels = improve_labels(objective, best, generator, sweeps=sweeps) if local_search else best[0]
    value = objective.value(labels)
    return CSPSolution(
        labels=labels,
        value=value,
        relaxation_value=trace[-1].value,
        upper_bound=max(bound, value),
        certificate="proven",
        global_correlation=trace[-1].global_correlation,
        local_correlation=trace[-1].local_correlation,
        trace=trace,
        status=solution_status(objective, value, max(bound, value)),
    )


def solve_cut_by_moments(
    objective: CutObjective,
    degree: int,
    *,
    solver: Literal["auto", "clarabel", "scs"] = "auto",
    seeds: int = 1,
    rounds: int = 100,
    local_search: bool = True,
    rng: int | np.random.Generator | None = None,
    target_correlation: float = 0.0,
    starts: int = 8,
    sweeps: int | None = None,
    search: SearchMode = "beam",
) -> MaxCutSolution:
    """Max-cut of a small objective by the moment relaxation of any even degree; weights of either sign.

    An edge of negative weight is a constraint to be equal, of positive weight; values differ by a constant.
    Parameters as for :func:`solve_by_moments`.
    """
    n = objective.n_vertices
    M = objective.multiply(np.eye(n))
    u, v = np.triu_indices(n, 1)
    w = M[u, v]
    instance = TwoCSP(n, 2)
    equal = np.where(w[:, None, None] < 0.0, np.eye(2), 1.0 - np.eye(2))
    instance.add_constraints(np.stack([u, v], axis=1)[w != 0.0], (np.abs(w)[:, None, None] * equal)[w != 0.0])
    solution = solve_by_moments(
        instance, degree, solver=solver, seeds=seeds, rounds=rounds, local_search=local_search, rng=rng,
        target_correlation=target_correlation, starts=starts, sweeps=sweeps, search=search,
    )  # fmt: skip
    labels = np.where(solution.labels != solution.labels[0], 1, 0)
    value = objective.cut_value(1.0 - 2.0 * labels)
    constant = objective.constant - 0.5 * float(w.sum()) + float(np.minimum(w, 0.0).sum())
    bound = max(solution.upper_bound + constant + 1e-13 * float(np.abs(w).sum()), value)
    return MaxCutSolution(
        labels=labels,
        value=value,
        relaxation_value=solution.relaxation_value + constant,
        upper_bound=bound,
        certificate=solution.certificate,
        global_correlation=solution.global_correlation,
        local_correlation=solution.local_correlation,
        trace=tuple(
            replace(entry, value=entry.value + constant, upper_bound=entry.upper_bound + constant)
            for entry in solution.trace
        ),
        status=solution_status(objective, value, bound),
    )


def expected_drops(pd: PseudoDistribution, weights: FloatArray) -> FloatArray:
    """Expected drop of the global variance, sum_j p_j sum_ab Cov[(i,a), (j,b)]^2/E x_ia, for each variable i."""
    n, q = pd.instance.n_variables, pd.instance.alphabet_size
    explained = (np.square(pd.covariance()) @ np.repeat(weights, q)).reshape(n, q)
    p = pd.marginals()
    return np.where(p > _UNCERTAIN, explained / np.maximum(p, _UNCERTAIN), 0.0).sum(axis=1)


class _SeedTree:
    """Pseudo-distributions conditioned on seeds; every node on the seeds of largest drop is computed once."""

    def __init__(
        self, root: PseudoDistribution, seeds: int, target: float, weights: FloatArray, random_seeds: bool
    ) -> None:
        self._root, self._seeds, self._target, self._weights = root, seeds, target, weights
        self._random = random_seeds
        self._known: dict[tuple[tuple[int, int], ...], tuple[PseudoDistribution, int]] = {}

    def sampled_leaf(self, rng: np.random.Generator) -> PseudoDistribution:
        """A leaf on labels drawn from the marginals."""
        pd = self._root
        pins: tuple[tuple[int, int], ...] = ()
        for _ in range(self._seeds):
            pd, i = self._node(pd, pins, rng)
            if i < 0:
                break
            a = int(draw_labels(pd.marginals()[i : i + 1], rng)[0])
            pins = (*pins, (i, a))
            pd = self._known[pins][0] if pins in self._known else _conditioned(pd, i, a)
        return pd

    def _node(
        self, pd: PseudoDistribution, pins: tuple[tuple[int, int], ...], rng: np.random.Generator
    ) -> tuple[PseudoDistribution, int]:
        """A node and its seed."""
        if self._random:
            i = _seed(pd, self._target, self._weights)
            return pd, i if i < 0 else int(rng.choice(self._weights.size, p=self._weights))
        if pins not in self._known:
            self._known[pins] = pd, _seed(pd, self._target, self._weights)
        return self._known[pins]

    def leaves(self) -> Iterator[PseudoDistribution]:
        """The leaves of all assignments of possible labels to the seeds."""
        level = [self._root]
        for _ in range(self._seeds):
            below = []
            for pd in level:
                i = _seed(pd, self._target, self._weights)
                if i < 0:
                    yield pd
                else:
                    labels = np.flatnonzero(pd.marginals()[i] > _UNCERTAIN)
                    below += [_conditioned(pd, i, int(a)) for a in labels]
            level = below
        yield from level


def _seed(pd: PseudoDistribution, target: float, weights: FloatArray) -> int:
    """Variable to condition on next, -1 to stop."""
    if pd.degree < 2 or global_correlation(pd, weights) <= target:
        return -1
    return int(expected_drops(pd, weights).argmax())


def _conditioned(pd: PseudoDistribution, i: int, a: int) -> PseudoDistribution:
    return pd.condition(pd.instance.variables[i], pd.instance.alphabet[a])


def _follow(
    pd: PseudoDistribution, bound: float, seeds: int, target: float, weights: FloatArray
) -> tuple[TraceEntry, ...]:
    """Value and correlations after each seed, while moments of degree 2 are left."""
    trace = []
    for t in range(seeds + 1):
        correlations = global_correlation(pd, weights), local_correlation(pd, pd.instance)
        trace.append(TraceEntry(t, pd.value, bound, *correlations))
        i = _seed(pd, target, weights)
        if i < 0 or pd.degree < 3:
            break
        pd = _conditioned(pd, i, int(pd.marginals()[i].argmax()))
    return tuple(trace)
