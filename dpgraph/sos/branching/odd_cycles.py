"""Odd-cycle inequalities: a linear programme that bounds the cuts of a sparse graph (Barahona, Mahjoub 1986).

A cut crosses a cycle an even number of times. So for an odd subset F of the edges of a cycle C and the shares z_e of
the edges across, ``sum over F of z_e - sum over C - F of z_e <= |F| - 1``. With 0 <= z <= 1 these describe the cuts
of graphs without a K5 minor, such as planar ones, and bound those of others.

The numbers of the linear programme are not trusted. For *any* multipliers t >= 0, ``z_e <= 1`` gives

    w'z <= t'b + sum_e max over z_e of (w - A't)_e z_e,

and that is computed with a margin for its rounding errors. Some edges may be fixed to one side of 0 <= z <= 1: the
inequalities are those of all cuts, so that they hold in every branch.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy  # what is optimised with is imported when it is asked for
from scipy import sparse

from dpgraph.compiled import Rows, at_once
from dpgraph.sos.branching.shortest_cycles import violated_cycles
from dpgraph.sos.cut.base import rounding_slack
from dpgraph.sos.cut.objective import SparseObjective, sides_joined
from dpgraph.sos.proofs import DualPoint, Inequality, Part
from dpgraph.threads import on_thread
from dpgraph.typing import FloatArray, IntArray

_LOOSE = 1e-6  # an inequality with more room than this is not tight
_REACHED = 0.2  # about that share of a graph is seen from each vertex
_PATIENCE = 8  # rounds for which an inequality that is not tight is kept
_MOST_STEPS = 2**31 - 1  # that the simplex method counts


@dataclass(frozen=True, eq=False)
class CutEdges:
    """The edges of a sparse objective: ends (m, 2), weights (m,), and the rows of the graph with numbers of edges."""

    ends: IntArray
    weights: FloatArray
    rows: Rows
    numbers: IntArray
    constant: float  #: of the value, beside the weights across
    slack: float  #: of the objective

    @classmethod
    def of(cls, objective: SparseObjective) -> CutEdges:
        """The edges of an objective."""
        M = objective.matrix.sorted_indices()
        rows = np.repeat(np.arange(objective.n_vertices), np.diff(M.indptr))
        low, high = np.minimum(rows, M.indices), np.maximum(rows, M.indices)
        _, first, numbers = np.unique(low * objective.n_vertices + high, return_index=True, return_inverse=True)
        weights = M.data[first]
        constant = objective.cut_value(np.ones(objective.n_vertices))
        ends = np.column_stack([low[first], high[first]])
        return cls(ends, weights, Rows.of(M), numbers, constant, objective.slack)


@dataclass(frozen=True, eq=False)
class CycleBound:
    """A bound on all cuts whose edges are within `least` and `most`, the shares that attain it, what is tight there."""

    bound: float
    crossing: FloatArray
    least: FloatArray
    most: FloatArray
    matrix: sparse.csr_array = field(repr=False)
    limits: FloatArray = field(repr=False)
    part: Part = field(default_factory=Part, repr=False)

    @property
    def fractional(self) -> FloatArray:
        """How far each share is from 0 and from 1."""
        return np.minimum(self.crossing, 1.0 - self.crossing)


def root(edges: CutEdges) -> CycleBound:
    """The bound without inequalities: the sum of the positive weights."""
    m = edges.weights.size
    crossing = np.where(edges.weights > 0.0, 1.0, 0.0)
    none = CycleBound(math.inf, crossing, np.zeros(m), np.ones(m), sparse.csr_array((0, m)), np.zeros(0))
    bound = _dual_bound(edges, none, np.zeros(0))
    return replace(none, bound=bound, part=Part(DualPoint(bound)))


def fixed(edges: CutEdges, parent: CycleBound, edge: int, side: int) -> CycleBound:
    """The parent's relaxation where an edge is across (1) or not (0), not solved yet.

    Two copies of each vertex, for its two sides, are joined by what is fixed: then every edge in one part is known,
    and, as only unknown edges are fixed, some cut is left.
    """
    least, most = parent.least.copy(), parent.most.copy()
    least[edge] = most[edge] = side
    n = edges.rows.indptr.size - 1
    known = least == most
    u, v = edges.ends.T
    part = sides_joined(n, u[known], v[known], least[known] > 0.0)
    same, across = part[u] == part[v], part[u] == part[v + n]
    return replace(parent, part=Part(), least=np.where(across, 1.0, least), most=np.where(same, 0.0, most))


def nearest_cut(edges: CutEdges, at: CycleBound) -> FloatArray:
    """Signs that agree with the shares of the edges that are nearest to 0 or 1, a spanning forest of them."""
    n = edges.rows.indptr.size - 1
    u, v = edges.ends.T
    graph = sparse.csr_array((1.0 + at.fractional, (u, v)), shape=(n, n))
    tree = sparse.csgraph.minimum_spanning_tree(graph).tocoo()
    crossing = sparse.csr_array((np.where(at.crossing > 0.5, 1.0, 0.0), (u, v)), shape=(n, n))
    part = sides_joined(n, tree.row, tree.col, crossing[tree.row, tree.col] > 0.5)
    return np.where(part[:n] < part[n:], 1.0, -1.0)


def tightened(
    edges: CutEdges, start: CycleBound, beat: float, *, rounds: int, deadline: float = math.inf, work: float = math.inf
) -> CycleBound:
    """Solve, and add the inequalities that are violated, until there are none, or the bound is at most `beat`.

    It ends sooner once `work` is done: steps of the simplex method times inequalities. The inequalities are separated
    between the solution and the mean of those before, where they cut deeper (Ben-Ameur, Neto 2007).
    """
    now, mean = start, np.full(start.crossing.size, 0.5)
    idle = np.zeros(now.limits.size, dtype=np.int64)  # rounds for which each inequality was not tight
    scale = float(np.median(np.abs(edges.weights))) if edges.weights.size else 0.0
    for _ in range(rounds if scale else 0):
        inequalities = (now.matrix, now.limits) if now.limits.size else (None, None)
        box = np.column_stack([now.least, now.most])
        left, steps = max(deadline - time.monotonic(), 0.0), int(min(work / max(now.limits.size, 1), _MOST_STEPS))
        solution = scipy.optimize.linprog(
            -edges.weights / scale, *inequalities, bounds=box, method="highs",
            options={"time_limit": left, "maxiter": steps},
        )  # fmt: skip
        if solution.status != 0:  # out of time, or in trouble: without multipliers the bound stands
            return now
        work -= solution.nit * now.limits.size
        t = np.maximum(-scale * solution.ineqlin.marginals, 0.0) if now.limits.size else np.zeros(0)
        bound = _dual_bound(edges, now, t)
        if bound < now.bound:
            now.part.point = DualPoint(bound, partial(_terms, edges, now.matrix[t > 0.0], t[t > 0.0]))
        now = replace(now, crossing=np.clip(solution.x, 0.0, 1.0), bound=min(now.bound, bound))
        if now.bound <= beat or time.monotonic() >= deadline:
            return now
        more, limits = _separated(edges, 0.5 * (now.crossing + mean), now.crossing)
        if not limits.size:
            more, limits = _separated(edges, now.crossing, now.crossing)
            if not limits.size:
                return now
        mean = 0.5 * (now.crossing + mean)
        idle = np.where(now.limits - now.matrix @ now.crossing <= _LOOSE, 0, idle + 1)
        keep = idle < _PATIENCE
        idle = np.append(idle[keep], np.zeros(limits.size, dtype=np.int64))
        now = replace(
            now, matrix=sparse.vstack([now.matrix[keep], more], format="csr"),
            limits=np.append(now.limits[keep], limits),
        )  # fmt: skip
    return now


def _terms(edges: CutEdges, rows: sparse.csr_array, t: FloatArray) -> list[tuple[Inequality, float]]:
    """Inequalities as sums over pairs of vertices that are even for every cut, with their multipliers."""
    ends = edges.ends.tolist()
    return [
        ({"even": [[*ends[e], int(a)] for e, a in zip(rows.indices[p:q], rows.data[p:q], strict=True) if a]}, float(y))
        for (p, q), y in zip(itertools.pairwise(rows.indptr), t, strict=True)
    ]


def _separated(edges: CutEdges, at: FloatArray, crossing: FloatArray) -> tuple[sparse.csr_array, FloatArray]:
    """Inequalities that are violated `at` a point, and by `crossing`, each once: rows and right-hand sides."""
    search = at_once(violated_cycles, _REACHED * edges.rows.indptr.size * edges.rows.indices.size)
    columns, signs, begins = on_thread(search, edges.rows, edges.numbers, at)
    shape = (begins.size - 1, edges.weights.size)
    limits = np.asarray((sparse.csr_array((signs > 0, columns, begins), shape=shape)).sum(axis=1)).ravel() - 1.0
    A = sparse.csr_array((signs.astype(np.float64), columns, begins), shape=shape)
    A.sum_duplicates()
    keys = [A.indices[a:b].tobytes() + A.data[a:b].tobytes() for a, b in itertools.pairwise(A.indptr)]
    violated = A @ crossing - limits > _LOOSE
    distinct = np.sort(list({key: i for i, key in enumerate(keys) if violated[i]}.values())).astype(np.int64)
    return A[distinct], limits[distinct]


def _dual_bound(edges: CutEdges, at: CycleBound, t: FloatArray) -> float:
    """The bound of nonnegative multipliers, with a margin for its rounding errors.

    With :func:`math.fsum` a reduced weight is rounded once, and so has the right sign. Beside that there are a product
    for each inequality and the last sum: three roundings of each of the terms, none of which is negative.
    """
    columns, w = at.matrix.tocsc(), edges.weights.copy()
    priced = np.diff(columns.indptr) > 0
    terms = -columns.data * t[columns.indices]
    for e in np.flatnonzero(priced):
        w[e] = math.fsum([w[e], *terms[columns.indptr[e] : columns.indptr[e + 1]]])
    gains = np.append(np.maximum(at.least * w, at.most * w), t * at.limits)
    # An edge that is fixed to be across may have a negative gain, hence the absolute values.
    margin = rounding_slack(3, abs(edges.constant) + math.fsum(np.abs(gains)))
    return math.fsum(np.append(gains, edges.constant)) + margin + edges.slack
