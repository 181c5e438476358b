"""Tighter bounds on the cuts of a solved objective, by cutting planes and, on request, by branch and bound."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dpgraph.exceptions import InvalidParameterError
from dpgraph.sos.branching import odd_cycles
from dpgraph.sos.branching.metric_bound import MetricBound, enumerated, merged, start, tightened
from dpgraph.sos.branching.search import Incumbent, best_first
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.objective import DenseObjective, SparseObjective
from dpgraph.sos.cut.rounding import best_columns, one_opt
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution

_MOST_EDGES, _MOST_MEAN_DEGREE = 2500, 6.0  # for the linear programme to be quick and tight
_MOST_VERTICES = 60, 1000  # for the relaxation with inequalities to be quick, and where a proof is asked for
_FEW = 12  # vertices whose cuts are listed
_ROUNDS_OF_METRIC = 60
_SHARE_OF_LOCAL_SEARCH = 0.05  # of a time limit
_ROUNDS, _ROUNDS_OF_BRANCH = 60, 20


def solve_and_prove(
    objective: CutObjective, options: SolverOptions, rng: int | np.random.Generator | None = None
) -> Solution:
    """The solution of the relaxation and the local search, its bound tightened by cutting planes.

    With ``search="optimal"`` parts are branched on until it is proven to be the largest, or soon after the time limit;
    before that the local search takes a share of the time.
    """
    began, limit, prove = time.monotonic(), options.time_limit, options.search == "optimal"
    first = options
    if prove and not isinstance(objective, SparseObjective | DenseObjective):
        raise InvalidParameterError("search='optimal' needs a graph or a matrix with entries, not factors")
    if prove:
        first = replace(options, search="beam", time_limit=None if limit is None else _SHARE_OF_LOCAL_SEARCH * limit)
    solution = solve_max_cut(objective, first, rng)
    deadline = math.inf if limit is None else began + limit
    if solution.status == "optimal" or solution.gap <= options.gap_tol or time.monotonic() >= deadline:
        return solution
    found = _tighten(objective, solution, options, prove=prove, deadline=deadline)
    if options.callback is not None and (found.value, found.upper_bound) != (solution.value, solution.upper_bound):
        options.callback(time.monotonic() - began, found.value, found.upper_bound)
    return found


def _tighten(
    objective: CutObjective, solution: Solution, options: SolverOptions, *, prove: bool, deadline: float
) -> Solution:
    """The solution with the better of its bound and that of cutting planes, and the better cut."""
    core, kept, lift = objective.reduced()
    best = Incumbent(core, np.where(solution.labels[kept] == 1, -1.0, 1.0), options.gap_tol, deadline)
    if isinstance(core, SparseObjective) and core.matrix.nnz <= _MOST_MEAN_DEGREE * core.n_vertices:
        if core.matrix.nnz > 2 * _MOST_EDGES and not prove:
            return solution
        bound = _by_odd_cycles(core, best, prove=prove)
    elif isinstance(core, SparseObjective | DenseObjective) and core.n_vertices <= _MOST_VERTICES[prove]:
        bound = _by_metric_inequalities(core.dense(), best, prove=prove)
    else:
        return solution
    labels, cut = solution.labels, lift(best.cut)
    if objective.cut_value(cut) > solution.value:
        labels = (cut != cut[0]).astype(np.int64)
    bound, kind = min((bound, "proven"), (solution.upper_bound, solution.certificate))
    return Solution.of(objective, labels, bound=bound, certificate=kind, trace=solution.trace)


def _by_odd_cycles(core: SparseObjective, best: Incumbent, *, prove: bool) -> float:
    """A bound on the cuts of a sparse objective by linear programmes over the shares of its edges."""
    edges = odd_cycles.CutEdges.of(core)

    def solved(node: odd_cycles.CycleBound, rounds: int) -> odd_cycles.CycleBound:
        node = odd_cycles.tightened(edges, node, best.to_beat(), rounds=rounds, deadline=best.deadline)
        best.offer(one_opt(core, odd_cycles.nearest_cut(edges, node)))
        return node

    def branch(node: odd_cycles.CycleBound) -> Iterable[odd_cycles.CycleBound]:
        free = node.least < node.most
        if not free.any():
            return
        edge = int(np.argmax(np.where(free, (node.fractional + 1e-3) * np.abs(edges.weights), -1.0)))
        for side in (0, 1):
            yield solved(odd_cycles.fixed(edges, node, edge, side), _ROUNDS_OF_BRANCH)

    root = solved(odd_cycles.root(edges), _ROUNDS)
    return best_first(root, branch, best) if prove else root.bound


def _by_metric_inequalities(core: DenseObjective, best: Incumbent, *, prove: bool) -> float:
    """A bound on the cuts of a dense objective by the relaxation with triangle and longer inequalities."""

    def solved(node: MetricBound, rounds: int) -> MetricBound:
        if node.objective.n_vertices <= _FEW:
            bound, cut = enumerated(node)
            best.offer(node.lift(cut))
            return replace(node, bound=min(bound, node.bound))
        node = tightened(node, best.to_beat(), rounds=rounds, deadline=best.deadline)
        cuts = one_opt(node.objective, np.where(node.moments >= 0.0, 1.0, -1.0))
        best.offer(node.lift(best_columns(node.objective, cuts, 1)[:, 0]))
        return node

    def branch(node: MetricBound) -> Iterable[MetricBound]:
        if node.objective.n_vertices <= _FEW:
            return
        i, j = _least_decided(node)
        for sign in (1.0, -1.0):
            yield solved(merged(node, i, j, sign), _ROUNDS_OF_METRIC)

    root = solved(start(core), _ROUNDS_OF_METRIC)
    return best_first(root, branch, best) if prove else root.bound


def _least_decided(node: MetricBound) -> tuple[int, int]:
    """The pair of vertices of which it is least known whether they are on one side."""
    size = np.abs(node.moments) + 2.0 * np.eye(len(node.moments))
    i, j = np.unravel_index(int(np.argmin(size)), size.shape)
    return int(min(i, j)), int(max(i, j))
