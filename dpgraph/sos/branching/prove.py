"""Tighter bounds on the cuts of a solved objective, by cutting planes and, on request, by branch and bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic

import numpy as np

from dpgraph import threads
from dpgraph.arguments import as_generator
from dpgraph.exceptions import InvalidParameterError
from dpgraph.sos.branching import odd_cycles
from dpgraph.sos.branching.metric_bound import MetricBound, enumerated, merged, start, tightened, time_for_a_round
from dpgraph.sos.branching.narrow import solve_by_elimination
from dpgraph.sos.branching.search import Incumbent, Node, best_first
from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.bisection import solve_bisection
from dpgraph.sos.cut.objective import DenseObjective, SparseObjective
from dpgraph.sos.cut.rounding import best_columns, one_opt
from dpgraph.sos.cut.solver import solve_max_cut
from dpgraph.sos.enumeration import solve_by_enumeration
from dpgraph.sos.proofs import CutProof, Part
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.sos.solution import Solution

_MOST_EDGES, _MOST_MEAN_DEGREE = 2500, (6.0, 10.0)  # for the linear programme to be quick and tight; for a proof
_MOST_VERTICES = 60, 1000  # for the relaxation with inequalities to be quick, and where a proof is asked for
_QUICK = 200  # vertices of a graph that is not sparse, whose linear programme takes longer than the relaxation
_FEW = 12  # vertices whose cuts are listed
_ROUNDS_OF_METRIC, _ROUNDED = 60, 16
SHARE_BEFORE_PROOF = 0.5  #: of a time limit, for what comes before cutting planes
_REPEATS = 10  # of the best value, within a time limit, after which a proof is tried
_ROUNDS, _ROUNDS_OF_BRANCH = 60, 20
_WORK = 1e8  # of linear programmes where no proof is asked for: some seconds


def solve_and_prove(
    objective: CutObjective,
    options: SolverOptions,
    rng: int | np.random.Generator | None = None,
    *,
    imbalance: int | None = None,
) -> Solution:
    """The solution of the relaxation and the local search, its bound tightened by cutting planes.

    With an `imbalance` it is a bisection: what bounds all cuts bounds those. With ``search="optimal"``, or until a time
    limit, parts are branched on after all that until the cut is proven to be the largest.
    """
    generator = as_generator(rng)
    asks_for_rounding = options.seeds > 1 or not options.local_search
    began, limit, asked = time.monotonic(), options.time_limit, options.search == "optimal" and imbalance is None
    if not asks_for_rounding:
        exact = solve_by_enumeration(objective, options, imbalance)
        if exact is None and imbalance is None:
            exact = solve_by_elimination(objective, options, generator)
        if exact is not None:
            return exact
    core, kept, lift = objective.reduced()
    if asked and not isinstance(objective, SparseObjective | DenseObjective):
        raise InvalidParameterError("search='optimal' needs a graph or a matrix with entries, not factors")
    prove = asked or (limit is not None and imbalance is None and not asks_for_rounding)  # with a limit one course
    first = replace(options, search="beam") if asked else options
    if limit is not None and _kinds(core, prove=False):
        first = replace(first, time_limit=max(SHARE_BEFORE_PROOF * limit, math.ulp(0.0)))
    kinds = _kinds(core, prove=prove)
    if imbalance is not None and isinstance(objective, SparseObjective):
        solution = solve_bisection(objective, imbalance, first, generator)
    else:
        solution = solve_max_cut(objective, first, generator, patient=True, repeats=_REPEATS if kinds else math.inf)
    deadline = min(math.inf if limit is None else began + limit, threads.deadline())
    closed = solution.status == "optimal" or solution.gap <= options.gap_tol
    if not kinds or closed or time.monotonic() >= deadline:
        return solution
    best = Incumbent(core, np.where(solution.labels[kept] == 1, -1.0, 1.0), options.gap_tol, deadline)
    bound, kind, proof = solution.upper_bound, solution.bound_kind, solution.proof or solution.uncertified
    tighter, part = _bounded(kinds, best, prove=prove)
    if tighter <= bound or isinstance(proof, str):
        proof = CutProof(part).of_core(kept, lift)
    if tighter < bound:
        bound, kind = tighter, "proven"
    labels, cut = solution.labels, lift(best.cut)
    if imbalance is None and objective.cut_value(cut) > solution.value:
        labels = (cut != cut[0]).astype(np.int64)
    found = Solution.of(objective, labels, bound=bound, kind=kind, trace=solution.trace, proof=proof)
    if options.callback is not None and (found.value, found.upper_bound) != (solution.value, solution.upper_bound):
        options.callback(time.monotonic() - began, found.value, found.upper_bound)
    return found


@dataclass(frozen=True)
class _Tree(Generic[Node]):
    """A kind of bound: the one on all cuts, and how its parts are divided."""

    root: Callable[[], Node]
    branch: Callable[[Node], Iterable[Node]]


def _kinds(core: CutObjective, *, prove: bool) -> list[Callable[[Incumbent], _Tree[Any]]]:
    """The kinds of bounds that the kind and size of an objective allow: both, where a proof is asked for."""
    kinds: list[Callable[[Incumbent], _Tree[Any]]] = []
    if isinstance(core, SparseObjective) and core.matrix.nnz <= _MOST_MEAN_DEGREE[prove] * core.n_vertices:
        if not prove:
            return [partial(_by_odd_cycles, core, prove)] if core.matrix.nnz <= 2 * _MOST_EDGES else []
        kinds.append(partial(_by_odd_cycles, core, prove))
    if isinstance(core, SparseObjective | DenseObjective) and core.n_vertices <= _MOST_VERTICES[prove]:
        kinds.append(partial(_by_metric_inequalities, core.dense()))
    dense = isinstance(core, SparseObjective) and core.matrix.nnz > _MOST_MEAN_DEGREE[False] * core.n_vertices
    return kinds[::-1] if dense and core.n_vertices <= _QUICK else kinds  # most often the first one is enough


def _bounded(kinds: Iterable[Callable[[Incumbent], _Tree[Any]]], best: Incumbent, *, prove: bool) -> tuple[float, Part]:
    """A bound on all cuts, and its proof. A proof divides with the kind that is tighter on all of them."""
    roots: list[tuple[float, Any, _Tree[Any]]] = []
    for kind in kinds:
        tree = kind(best)
        root = tree.root()
        roots.append((root.bound, root, tree))
        if best.closes(root.bound) or best.out_of_time():
            break
    bound, root, tree = min(roots, key=lambda solved: solved[0])
    return best_first(root, tree.branch, best) if prove else bound, root.part


def _by_odd_cycles(core: SparseObjective, prove: bool, best: Incumbent) -> _Tree[odd_cycles.CycleBound]:
    """Linear programmes over the shares of the edges of a sparse objective."""
    edges = odd_cycles.CutEdges.of(core)

    def solved(node: odd_cycles.CycleBound, rounds: int) -> odd_cycles.CycleBound:
        work = math.inf if prove else _WORK
        node = odd_cycles.tightened(edges, node, best.to_beat(), rounds=rounds, deadline=best.deadline, work=work)
        best.offer(one_opt(core, odd_cycles.nearest_cut(edges, node)))
        return node

    def branch(node: odd_cycles.CycleBound) -> Iterable[odd_cycles.CycleBound]:
        free = node.least < node.most
        if not free.any():
            return
        edge = int(np.argmax(np.where(free, (node.fractional + 1e-3) * np.abs(edges.weights), -1.0)))
        children = [solved(odd_cycles.fixed(edges, node, edge, side), _ROUNDS_OF_BRANCH) for side in (0, 1)]
        node.part.pair = int(edges.ends[edge, 0]), int(edges.ends[edge, 1])
        node.part.parts = children[0].part, children[1].part
        yield from children

    return _Tree(lambda: solved(odd_cycles.root(edges), _ROUNDS), branch)


def _by_metric_inequalities(core: DenseObjective, best: Incumbent) -> _Tree[MetricBound]:
    """The relaxation with triangle and longer inequalities, for a dense objective."""

    def solved(node: MetricBound, rounds: int) -> MetricBound:
        if node.objective.n_vertices <= _FEW:
            bound, cut = enumerated(node)
            best.offer(node.lift(cut))
            node.part.listed = True
            return replace(node, bound=min(bound, node.bound))
        node = tightened(node, best.to_beat(), rounds=rounds, deadline=best.deadline)
        rows = best_columns(node.objective, np.where(node.moments >= 0.0, 1.0, -1.0), _ROUNDED)
        cuts = one_opt(node.objective, rows)
        best.offer(node.lift(best_columns(node.objective, cuts, 1)[:, 0]))
        return node

    def branch(node: MetricBound) -> Iterable[MetricBound]:
        if node.objective.n_vertices <= _FEW or not time_for_a_round(node):
            return
        i, j = _most_telling(node)
        first, signs = node.first()
        children = [solved(merged(node, i, j, s * signs[i] * signs[j]), _ROUNDS_OF_METRIC) for s in (1.0, -1.0)]
        node.part.pair = int(first[i]), int(first[j])
        node.part.parts = children[0].part, children[1].part
        yield from children

    return _Tree(lambda: solved(start(core), _ROUNDS_OF_METRIC), branch)


def _most_telling(node: MetricBound) -> tuple[int, int]:
    """A pair of vertices that may as well be on one side as not, while much is known of both beside others.

    To fix it sets what is known of one against what is known of the other, which lowers the bound.
    """
    known = np.abs(node.moments) - np.eye(len(node.moments))
    i, j = np.triu_indices(len(known), 1)
    best = int(np.argmax(((known @ known) * (1.0 - known))[i, j]))
    return int(i[best]), int(j[best])
