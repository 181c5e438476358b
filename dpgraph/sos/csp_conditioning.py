"""Driving down global correlation of 2-CSPs: pin seeds, re-solve warm, search their labels with a beam.

With U_ia = V_ia minus its component along v_0, Cov[(i,a), (j,b)] = <U_ia, U_jb>, so that correlations cost O(n q k^2).
As for max-cut (:mod:`dpgraph.sos.conditioning`), the upper bound of the search is the largest over all leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpgraph.sos import csp_kernels
from dpgraph.sos.conditioning import Correlation, TraceEntry
from dpgraph.sos.csp_objective import CSPObjective
from dpgraph.sos.csp_relaxation import CSPRelaxation, solve_csp_relaxation

__all__ = ["CSPNode", "CSPSearch", "condition_csp", "csp_correlation"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_UNCERTAIN = 1e-6  # a label of smaller probability is not divided by


@dataclass(frozen=True, eq=False)
class CSPNode:
    """A node of the search: some variables are pinned.

    Attributes
    ----------
    labels : numpy.ndarray of int, shape (n,)
        Labels of the pinned variables, -1 elsewhere.
    objective : CSPObjective
        Of the other variables, in their order.
    relaxation : CSPRelaxation
        Its solution.
    bound : float
        Upper bound on the assignments that agree with the pins.
    """

    labels: IntArray
    objective: CSPObjective
    relaxation: CSPRelaxation
    bound: float

    def complete(self, rest: IntArray) -> IntArray:
        """Assignments of all variables, shape (c, n), from those of the free ones."""
        full = np.repeat(self.labels[None, :], len(rest), axis=0)
        full[:, self.labels < 0] = rest
        return full


@dataclass(frozen=True, eq=False)
class CSPSearch:
    """Outcome of :func:`condition_csp`: the last beam (best first), the bound over all leaves, and the trace."""

    nodes: tuple[CSPNode, ...]
    upper_bound: float
    trace: tuple[TraceEntry, ...]


def csp_correlation(objective: CSPObjective, V: FloatArray, weights: FloatArray) -> Correlation:
    """Correlations of the pseudo-distribution of label vectors V (n, q, k); weights p of shape (n,).

    The local correlation is in units of the value: independent rounding has expected value ``value - local``.
    """
    U = np.ascontiguousarray(V[:, :, 1:])
    weighted = (weights[:, None, None] * U).reshape(-1, U.shape[2])
    gram = U.reshape(-1, U.shape[2]).T @ weighted
    local = float(np.sum(objective.tables * csp_kernels.pair_moments(objective.pairs, U)))
    explained = np.einsum("iaz,iaz->ia", U @ gram, U)
    p = V[:, :, 0]
    drops = np.where(p > _UNCERTAIN, explained / np.maximum(p, _UNCERTAIN), 0.0).sum(axis=1)
    return Correlation(float(np.sum(gram * gram)), local, drops)


def condition_csp(
    objective: CSPObjective,
    root: CSPRelaxation,
    rng: np.random.Generator,
    *,
    seeds: int,
    target: float,
    beam: int,
    nonnegative: bool,
    tol: float,
    lower_bound: float,
    on_seed: Callable[[], None] | None = None,
) -> CSPSearch:
    """Pin seeds until the global correlation falls to its target.

    Parameters
    ----------
    objective : CSPObjective
        What is maximised.
    root : CSPRelaxation
        Relaxation without pins.
    rng : numpy.random.Generator
        Public randomness.
    seeds, target, beam, on_seed
        As for :func:`dpgraph.sos.conditioning.condition`.
    nonnegative, tol
        As for :func:`~dpgraph.sos.csp_relaxation.solve_csp_relaxation`.
    lower_bound : float
        Nodes whose bound is not above this are closed.

    Returns
    -------
    CSPSearch
    """
    n = objective.n_variables
    weights = objective.spread()
    weights = weights / weights.sum() if weights.any() else np.full(n, 1.0 / n)
    nodes = [CSPNode(np.full(n, -1, dtype=np.int64), objective, root, root.certificate.bound)]
    closed, bound = -np.inf, nodes[0].bound
    state = _measure(nodes[0], weights)
    trace = [TraceEntry(0, root.value, bound, state.global_, state.local)]
    while len(trace) <= min(seeds, n - 1) and state.global_ > target and bound > lower_bound:
        children = [child for node in nodes for child in _children(node, weights, rng, nonnegative, tol)]
        children.sort(key=lambda node: -node.relaxation.value)
        open_ = [child for child in children if child.bound > lower_bound]
        nodes = (open_ or children)[:beam]
        kept = set(map(id, nodes))
        closed = max([closed, *(child.bound for child in children if id(child) not in kept)])
        bound = min(bound, max([closed, *(node.bound for node in nodes)]))
        state = _measure(nodes[0], weights)
        trace.append(TraceEntry(len(trace), nodes[0].relaxation.value, bound, state.global_, state.local))
        if on_seed is not None:
            on_seed()
        if not open_:
            break
    return CSPSearch(tuple(nodes), bound, tuple(trace))


def _measure(node: CSPNode, weights: FloatArray) -> Correlation:
    return csp_correlation(node.objective, node.relaxation.vectors, weights[node.labels < 0])


def _children(
    node: CSPNode, weights: FloatArray, rng: np.random.Generator, nonnegative: bool, tol: float
) -> list[CSPNode]:
    """Pin the variable of largest expected drop to each label; to one only if labels are interchangeable."""
    i = int(_measure(node, weights).drops.argmax())
    keep = np.all(node.objective.pairs != i, axis=1)
    start = node.relaxation.without(i, keep)
    children = []
    for a in range(1 if node.objective.has_label_symmetry else node.objective.alphabet_size):
        labels = node.labels.copy()
        labels[np.flatnonzero(labels < 0)[i]] = a
        rest = node.objective.condition(i, a)
        solved = solve_csp_relaxation(rest, rng, nonnegative=nonnegative, tol=tol, start=start)
        children.append(CSPNode(labels, rest, solved, min(node.bound, solved.certificate.bound)))
    return children
