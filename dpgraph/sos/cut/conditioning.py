"""Driving down global correlation at degree 2 (Barak, Raghavendra, Steurer 2011; Raghavendra, Tan 2012).

Unit rows V_i and a unit vector v_0 are a degree-2 pseudo-distribution of signs: E x_i = <V_i, v_0>,
E x_i x_j = <V_i, V_j>. By the symmetry x -> -x the first pinned vertex is only a gauge: it becomes v_0. Pinning more
vertices merges them with the first one, up to signs, and the relaxation is solved again on what is left, so each
seed costs one re-solve instead of two degrees of the hierarchy.

With c_ij = E x_i x_j - E x_i E x_j the four covariances of the labels of i and j are +-c_ij/4, hence
(docs/sos-theory.md, "Global and local correlation")

    global correlation = sum_ij p_i p_j c_ij^2/4,   local correlation = <W, c> = -1/4 sum_ij M_ij c_ij.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.certificate import Pinned
from dpgraph.sos.cut.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.seed_search import Correlation, SeedSearch, SolverOptions, search_seeds
from dpgraph.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PinnedNode(Pinned):
    """A node of the search: some vertices are pinned relative to the first one.

    The `pins` are vertices with their signs, the gauge first; there are none at the root. Each vertex belongs to a
    `group`, a vertex of the contracted objective, pinned ones to group 0; `solution` is its relaxation.
    """

    solution: LowRankSolution
    pins: tuple[tuple[int, float], ...]
    group: IntArray

    def vectors(self) -> FloatArray:
        """Unit rows for all vertices, shape (n, k); pinned ones are plus or minus the gauge."""
        rows = self.solution.vectors[self.group]
        for vertex, sign in self.pins:
            rows[vertex] *= sign
        return rows

    def means(self) -> FloatArray:
        """Pseudo-expectations E x_i, shape (n,), once there is a gauge."""
        return np.asarray(np.clip(self.vectors() @ self.solution.vectors[0], -1.0, 1.0))


def correlation(
    objective: CutObjective, vectors: FloatArray, weights: FloatArray, gauge: FloatArray | None
) -> Correlation:
    """Correlations, with weights p of sum 1, in O(n k^2); the `gauge` is v_0, None for the one with E x = 0."""
    U = vectors if gauge is None else vectors - np.outer(vectors @ gauge, gauge)  # c = U U'
    gram = U.T @ (weights[:, None] * U)
    local = -0.25 * float(np.sum(U * objective.multiply(U)))
    variance = np.sum(U * U, axis=1)
    explained = np.sum((U @ gram) * U, axis=1)  # sum_j p_j c_ij^2
    uncertain = variance > 1e-9
    drops = np.where(uncertain, explained / np.where(uncertain, 2.0 * variance, 1.0), 0.0)
    return Correlation(0.25 * float(np.sum(gram * gram)), local, drops)


def condition(  # noqa: PLR0913
    objective: CutObjective,
    root: LowRankSolution,
    options: SolverOptions,
    rng: np.random.Generator,
    *,
    weights: FloatArray,
    lower_bound: float = -np.inf,
    on_seed: Callable[[float], bool] | None = None,
    deadline: float = math.inf,
) -> SeedSearch[PinnedNode]:
    """Search over seeds; `weights` are those of the global correlation, `options.tol` is the gap of the re-solves,
    which end at the `deadline`.
    """
    n = objective.n_vertices
    problem = _PinnedCuts(objective, weights, rng, options.tol, deadline)
    first = PinnedNode(root, root.certificate, (), np.arange(n))
    options = replace(options, seeds=min(options.seeds, n))
    return search_seeds(problem, first, options, rng, lower_bound=lower_bound, on_seed=on_seed)


@dataclass(frozen=True, eq=False)
class _PinnedCuts:
    """Cuts for the search; variables are vertices, label 0 is the sign of the gauge."""

    objective: CutObjective
    vertex_weights: FloatArray
    rng: np.random.Generator
    tol: float | None
    deadline: float
    free_seeds: int = 1

    def correlation(self, node: PinnedNode) -> Correlation:
        gauge = node.solution.vectors[0] if node.pins else None
        return correlation(self.objective, node.vectors(), self.vertex_weights, gauge)

    def weights(self, node: PinnedNode) -> FloatArray:
        rest = np.ones(self.vertex_weights.size)
        rest[[vertex for vertex, _ in node.pins]] = 0.0
        return rest * self.vertex_weights if np.any(rest * self.vertex_weights) else rest

    def probabilities(self, node: PinnedNode, variable: int) -> FloatArray:
        if not node.pins:
            return np.ones(1)
        mean = float(node.means()[variable])
        return np.array([0.5 * (1.0 + mean), 0.5 * (1.0 - mean)])

    def pin(self, node: PinnedNode, variable: int, label: int) -> PinnedNode:
        if not node.pins:
            return self._gauged(node, variable)
        removed, sign = node.group[variable], 1.0 - 2.0 * label
        signs, group = np.ones(self.objective.n_vertices), _merged(node.group, removed)
        for pinned, side in (*node.pins, (variable, sign)):
            signs[pinned] = side
        contracted = self.objective.contract(group, signs)
        start = np.delete(node.solution.vectors, removed, axis=0)
        solution = solve_low_rank(contracted, self.rng, tol=self.tol, start=start, deadline=self.deadline)
        best = min(node.certificate, solution.certificate, key=attrgetter("bound"))
        return PinnedNode(solution, best, (*node.pins, (variable, sign)), group)

    def _gauged(self, root: PinnedNode, vertex: int) -> PinnedNode:
        """The root with the vertex as gauge: it becomes group 0."""
        n = self.objective.n_vertices
        order = np.concatenate([[vertex], np.delete(np.arange(n), vertex)])
        group = np.argsort(order)
        moved = replace(root.solution, vectors=root.solution.vectors[order])
        return PinnedNode(moved, root.certificate, ((vertex, 1.0),), group)


def _merged(group: IntArray, removed: int) -> IntArray:
    """Numbers of groups after the one that is removed was merged with group 0."""
    return np.where(group == removed, 0, group - (group > removed))
