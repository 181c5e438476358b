"""Driving down global correlation at degree 2: pin seeds, re-solve warm, search the outcomes with a beam.

Unit rows V_i and a unit vector v_0 are a degree-2 pseudo-distribution of signs: E x_i = <V_i, v_0>,
E x_i x_j = <V_i, V_j>. By the symmetry x -> -x the first pinned vertex is only a gauge: it becomes v_0. Pinning more
vertices merges them with the first one, up to signs, and the relaxation is solved again on what is left, so each
seed costs one re-solve instead of two degrees of the hierarchy.

Covariances are those of the label-extended graph (labels a, b in {0, 1}); with c_ij = E x_i x_j - E x_i E x_j every
one of the four entries is +-c_ij/4, hence

    global correlation = sum_ij p_i p_j c_ij^2/4,   local correlation = <W, c> = -1/4 sum_ij M_ij c_ij.

The local correlation is in units of the cut value: independent rounding has expected value ``value - local``.

References
----------
B. Barak, P. Raghavendra, D. Steurer, Rounding semidefinite programming hierarchies via global correlation, FOCS 2011.
P. Raghavendra, N. Tan, Approximating CSPs with global cardinality constraints using SDP hierarchies, SODA 2012.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.sos.low_rank_sdp import LowRankSolution, solve_low_rank
from dpgraph.sos.objective import CutObjective

__all__ = ["ConditionedSearch", "Correlation", "PinnedNode", "TraceEntry", "condition", "correlation"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class TraceEntry:
    """State of the search after a number of seeds.

    Attributes
    ----------
    seeds : int
        Pinned vertices.
    value : float
        Largest relaxation value among the nodes of the beam.
    upper_bound : float
        Certified upper bound on every cut at this stage.
    global_correlation, local_correlation : float
        Of the node with the largest value.
    """

    seeds: int
    value: float
    upper_bound: float
    global_correlation: float
    local_correlation: float


@dataclass(frozen=True, eq=False)
class Correlation:
    """Correlations of a degree-2 pseudo-distribution of signs.

    Attributes
    ----------
    global_, local : float
        As defined in the module docstring.
    drops : numpy.ndarray, shape (n,)
        Expected drop of the weighted variance when a vertex is conditioned on, 0 for deterministic vertices.
    """

    global_: float
    local: float
    drops: FloatArray


@dataclass(frozen=True, eq=False)
class PinnedNode:
    """A node of the search: some vertices are pinned relative to the first one.

    Attributes
    ----------
    pins : tuple of (int, float)
        Pinned vertices with their signs, the gauge first. Empty at the root.
    group : numpy.ndarray of int, shape (n,)
        Vertex of the contracted objective that each vertex belongs to; pinned vertices are in group 0.
    objective : CutObjective
        What is to be cut.
        The contracted objective.
    solution : LowRankSolution
        Its relaxation.
    bound : float
        Upper bound on the cuts that agree with the pins.
    """

    pins: tuple[tuple[int, float], ...]
    group: IntArray
    objective: CutObjective
    solution: LowRankSolution
    bound: float

    def vectors(self) -> FloatArray:
        """Unit rows for all vertices, shape (n, k); pinned ones are plus or minus the gauge."""
        rows = self.solution.vectors[self.group]
        for vertex, sign in self.pins:
            rows[vertex] *= sign
        return rows

    def means(self) -> FloatArray:
        """Pseudo-expectations E x_i, shape (n,); all zero at the root."""
        if not self.pins:
            return np.zeros(self.group.size)
        return np.clip(self.vectors() @ self.solution.vectors[0], -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class ConditionedSearch:
    """Outcome of :func:`condition`: the last beam (best node first), the bound over all leaves, and the trace."""

    nodes: tuple[PinnedNode, ...]
    upper_bound: float
    trace: tuple[TraceEntry, ...]


def correlation(
    objective: CutObjective, vectors: FloatArray, weights: FloatArray, gauge: FloatArray | None
) -> Correlation:
    """Correlations of the pseudo-distribution with moments ``vectors @ vectors.T``, in O(n k^2).

    Parameters
    ----------
    objective : CutObjective
        What is to be cut.
    vectors : numpy.ndarray, shape (n, k)
        Unit rows.
    weights : numpy.ndarray, shape (n,)
        Vertex weights p, summing to 1.
    gauge : numpy.ndarray, shape (k,), or None
        The unit vector v_0; None for the symmetric pseudo-distribution with E x = 0.
    """
    U = vectors if gauge is None else vectors - np.outer(vectors @ gauge, gauge)  # c = U U'
    gram = U.T @ (weights[:, None] * U)
    local = -0.25 * float(np.sum(U * objective.multiply(U)))
    variance = np.sum(U * U, axis=1)
    explained = np.sum((U @ gram) * U, axis=1)  # sum_j p_j c_ij^2
    uncertain = variance > 1e-9
    drops = np.where(uncertain, explained / np.where(uncertain, 2.0 * variance, 1.0), 0.0)
    return Correlation(0.25 * float(np.sum(gram * gram)), local, drops)


def condition(
    objective: CutObjective,
    root: LowRankSolution,
    rng: np.random.Generator,
    *,
    seeds: int,
    target: float,
    beam: int,
    weights: FloatArray,
    tol: float | None,
    lower_bound: float = -np.inf,
    on_seed: Callable[[], None] | None = None,
) -> ConditionedSearch:
    """Pin seeds until the global correlation falls to its target.

    Parameters
    ----------
    objective : CutObjective
        What is to be cut.
    root : LowRankSolution
        Relaxation without pins.
    rng : numpy.random.Generator
        Public randomness.
    seeds : int
        Largest number of pinned vertices, the gauge included.
    target : float
        Stop once the global correlation of the best node is at most this.
    beam : int
        Nodes kept after each seed.
    weights : numpy.ndarray, shape (n,)
        Vertex weights p of the global correlation.
    tol : float or None
        Relative gap of the re-solves.
    lower_bound : float, optional
        Value of a known cut: nodes that cannot beat it are closed.
    on_seed : callable, optional
        Called after each seed (progress).

    Returns
    -------
    ConditionedSearch
        Its upper bound is the maximum over all leaves, the last bound of every dropped node included.
    """
    n = objective.n_vertices
    nodes = [PinnedNode((), np.arange(n), objective, root, root.certificate.bound)]
    closed = -np.inf  # largest bound among nodes that were dropped
    bound = root.certificate.bound
    state = _measure(objective, nodes[0], weights)
    trace = [TraceEntry(0, root.value, bound, state.global_, state.local)]
    while len(trace) <= min(seeds, n) and state.global_ > target and state.drops.max() > 0.0:
        children = [
            child
            for node in nodes
            for child in _children(objective, node, int(_measure(objective, node, weights).drops.argmax()), rng, tol)
        ]
        children.sort(key=lambda node: -node.solution.value)
        open_ = [child for child in children if child.bound > lower_bound]
        nodes = (open_ or children)[:beam]
        kept = set(map(id, nodes))
        closed = max([closed, *(child.bound for child in children if id(child) not in kept)])
        bound = min(bound, max([closed, *(node.bound for node in nodes)]))
        state = _measure(objective, nodes[0], weights)
        trace.append(TraceEntry(len(trace), nodes[0].solution.value, bound, state.global_, state.local))
        if on_seed is not None:
            on_seed()
        if not open_:
            break
    return ConditionedSearch(tuple(nodes), bound, tuple(trace))


def _measure(objective: CutObjective, node: PinnedNode, weights: FloatArray) -> Correlation:
    gauge = node.solution.vectors[0] if node.pins else None
    return correlation(objective, node.vectors(), weights, gauge)


def _children(
    objective: CutObjective, node: PinnedNode, vertex: int, rng: np.random.Generator, tol: float | None
) -> list[PinnedNode]:
    """Pin one more vertex to each sign; the first vertex only becomes the gauge."""
    if not node.pins:
        return [_gauged(objective, node, vertex)]
    return [_pinned(objective, node, vertex, sign, rng, tol) for sign in (1.0, -1.0)]


def _gauged(objective: CutObjective, node: PinnedNode, vertex: int) -> PinnedNode:
    n = objective.n_vertices
    order = np.concatenate([[vertex], np.delete(np.arange(n), vertex)])
    group = np.empty(n, dtype=np.int64)
    group[order] = np.arange(n)
    root = node.solution
    moved = LowRankSolution(root.vectors[order], root.value, root.certificate, 0, root.converged)
    return PinnedNode(((vertex, 1.0),), group, objective.contract(group, np.ones(n)), moved, node.bound)


def _pinned(
    objective: CutObjective, node: PinnedNode, vertex: int, sign: float, rng: np.random.Generator, tol: float | None
) -> PinnedNode:
    removed = node.group[vertex]
    group = np.where(node.group > removed, node.group - 1, node.group)
    group[vertex] = 0
    pins = (*node.pins, (vertex, sign))
    signs = np.ones(node.objective.n_vertices)
    signs[removed] = sign
    merge = np.arange(signs.size)
    merge = np.where(merge > removed, merge - 1, merge)
    merge[removed] = 0
    contracted = node.objective.contract(merge, signs)
    start = np.delete(node.solution.vectors, removed, axis=0)
    solution = solve_low_rank(contracted, rng, tol=tol, start=start)
    return PinnedNode(pins, group, contracted, solution, min(node.bound, solution.certificate.bound))
