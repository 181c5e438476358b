"""Largest cuts of graphs of small treewidth: all vertices are eliminated, as the variables of a 2-CSP."""

import time

import numpy as np
from scipy import sparse

from dpgraph.sos.csp.costs import IntegerCosts
from dpgraph.sos.csp.elimination import reduced
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.search import ExactSearch
from dpgraph.sos.cut.base import CutObjective, common_divisor, on_binary_grid
from dpgraph.sos.cut.objective import SparseObjective
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution
from dpgraph.threads import deadline, within

_MOST_VERTICES, _MOST_EDGES = 20_000, 24  # and for each vertex: more take seconds, or tables that are too large
_MOST_STEPS = 2**31  # half a second
_IN_A_SECOND = 4000  # vertices, of which a fifth of it tells whether there is an order
_SHARE = 0.8  # of a time limit


def solve_by_elimination(objective: CutObjective, options: SolverOptions, rng: np.random.Generator) -> Solution | None:
    """The largest cut of a graph; None where the tables of an elimination would be too large."""
    n, left = objective.n_vertices, deadline() - time.monotonic()
    if not isinstance(objective, SparseObjective) or n > min(_MOST_VERTICES, _IN_A_SECOND * left):
        return None
    if objective.matrix.nnz > 2 * _MOST_EDGES * n:
        return None
    with within(_SHARE * left):
        tables = _as_tables(objective)
        costs = IntegerCosts.of(tables)
        core = reduced(costs, _MOST_STEPS)
    if core.kept.size:
        return None
    exact = ExactSearch(tables, (costs, core), options, rng)
    found = Solution.exact(objective, exact.labels ^ exact.labels[0], exact.bound, exact.proof)
    if options.callback is not None:
        options.callback(0.0, found.value, found.upper_bound)
    return found


def _as_tables(objective: SparseObjective) -> CSPObjective:
    """What edges earn between the sides, beside the value of the cut that has all vertices on one."""
    upper = sparse.triu(objective.matrix, k=1).tocoo()
    tables, constant = upper.data[:, None, None] * (1.0 - np.eye(2)), objective.cut_value(np.ones(upper.shape[0]))
    unit = common_divisor(upper.data) if on_binary_grid(np.append(upper.data, constant)) else 0.0
    pairs, unary = np.column_stack([upper.row, upper.col]).astype(np.int64), np.zeros((upper.shape[0], 2))
    return CSPObjective(pairs, tables, unary, constant, unit, objective.slack)
