"""Driving down global correlation of 2-CSPs: pin seeds, re-solve warm, search their labels with a beam.

With U_ia = V_ia minus its component along v_0, Cov[(i,a), (j,b)] = <U_ia, U_jb>, so that correlations cost O(n q k^2).
As for max-cut (:mod:`dpgraph.sos.cut.conditioning`), the upper bound of the search is the largest over all leaves.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpgraph.sos.csp.kernels import pair_moments
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import CSPRelaxation, solve_csp_relaxation
from dpgraph.sos.seed_search import Correlation, SeedSearch, SolverOptions, search_seeds
from dpgraph.typing import FloatArray, IntArray

__all__ = ["UNCERTAIN", "CSPNode", "condition_csp", "csp_correlation"]

#: A label of smaller probability is not divided by.
UNCERTAIN = 1e-6


@dataclass(frozen=True, eq=False)
class CSPNode:
    """A node of the search: some variables are pinned.

    The pinned ones have `labels` >= 0; `objective` and `relaxation` are those of the other variables, in their order;
    `bound` is an upper bound on the assignments that agree with the pins.
    """

    labels: IntArray
    objective: CSPObjective
    relaxation: CSPRelaxation
    bound: float

    @property
    def value(self) -> float:
        """Value of the relaxation."""
        return self.relaxation.value

    def complete(self, rest: IntArray) -> IntArray:
        """Assignments of all variables, shape (c, n), from those of the free ones."""
        full = np.repeat(self.labels[None, :], len(rest), axis=0)
        full[:, self.labels < 0] = rest
        return full


def csp_correlation(objective: CSPObjective, V: FloatArray, weights: FloatArray) -> Correlation:
    """Correlations of the pseudo-distribution of label vectors V (n, q, k); weights p of shape (n,).

    The local correlation is in units of the value: independent rounding has expected value ``value - local``.
    """
    U = np.ascontiguousarray(V[:, :, 1:])
    weighted = (weights[:, None, None] * U).reshape(-1, U.shape[2])
    gram = U.reshape(-1, U.shape[2]).T @ weighted
    local = float(np.sum(objective.tables * pair_moments(objective.pairs, U)))
    explained = np.einsum("iaz,iaz->ia", U @ gram, U)
    p = V[:, :, 0]
    drops = np.where(p > UNCERTAIN, explained / np.maximum(p, UNCERTAIN), 0.0).sum(axis=1)
    return Correlation(float(np.sum(gram * gram)), local, drops)


def condition_csp(
    objective: CSPObjective,
    root: CSPRelaxation,
    options: SolverOptions,
    rng: np.random.Generator,
    *,
    lower_bound: float,
    on_seed: Callable[[], None] | None = None,
) -> SeedSearch[CSPNode]:
    """Pin seeds until the global correlation falls to its target, as :func:`dpgraph.sos.seed_search.search_seeds`.

    Re-solves are as accurate as the `root`.
    """
    n = objective.n_variables
    problem = _PinnedCSP(objective.variable_weights(), rng)
    first = CSPNode(np.full(n, -1, dtype=np.int64), objective, root, root.certificate.bound)
    options = replace(options, seeds=min(options.seeds, n - 1))
    return search_seeds(problem, first, options, rng, lower_bound=lower_bound, on_seed=on_seed)


@dataclass(frozen=True, eq=False)
class _PinnedCSP:
    """2-CSPs for the search; variables are the free ones of a node, in their order."""

    variable_weights: FloatArray
    rng: np.random.Generator
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
        solved = solve_csp_relaxation(rest, self.rng, nonnegative=root.nonnegative, tol=root.tol, start=start)
        return CSPNode(labels, rest, solved, min(node.bound, solved.certificate.bound))
