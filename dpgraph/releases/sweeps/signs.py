"""Private cuts by bounded iterates: vertices take the side against their fields, with balance on request."""

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call
from dpgraph.releases.sweeps.core import release_core_iterates
from dpgraph.releases.sweeps.oracle import ITERATE_UNIT, FieldOracle, Iteration
from dpgraph.tuning import CORE
from dpgraph.typing import FloatArray, IntArray

__all__ = ["BalancedSigns", "Signs", "cut_iteration", "cut_labels", "release_cut_labels"]


class Signs:
    """Each row takes the side opposite to its field."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Random signs."""
        return generator.choice(np.array([-1.0, 1.0]), size=(size, 1))

    def answer(self, block: IntArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        """Return the opposite of the fields, as certain as they are precise."""
        opinion = -np.sign(ratio) if math.isinf(sharpness) else -np.tanh(sharpness * ratio)
        return np.rint(opinion / ITERATE_UNIT) * ITERATE_UNIT


class BalancedSigns(Signs):
    """The same with a multiplier for each block that keeps the sum of the iterate within its chance fluctuation.

    A random half of the vertices has sum of order sqrt(n), so that much is left alone: forcing every block to balance
    exactly would misplace vertices of a planted bisection. So is a tenth of what the rows that are not yet set can make
    up for: if hubs were all left on one side, every later row would be forced to the other.
    """

    def answer(self, block: IntArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        """Return the same, with a multiplier taken off the fields."""
        others = float(X.sum() - X[block].sum())
        total = others - float(np.sign(ratio).sum())
        unset = np.count_nonzero(X == 0.0) - np.count_nonzero(X[block] == 0.0)
        excess = math.copysign(max(abs(total) - math.sqrt(len(X)) - CORE.balance_slack * unset, 0.0), total)
        if excess == 0.0:
            return super().answer(block, ratio, sharpness, X)
        ups = np.sum(ratio < 0) - excess / 2
        multiplier = np.quantile(ratio, min(max(ups / len(ratio), 0.0), 1.0))
        return super().answer(block, ratio - multiplier, sharpness, X)


def release_cut_labels(
    graph: GraphOperator,
    call: Call,
    *,
    mean_degree: float,
    balanced: bool = False,
    together: bool = False,
    progress: bool = False,
) -> NDArray[np.int8]:
    """Release a 0/1 side for each vertex for a part of the budget, aiming at a large cut.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    call : Call
        Part of the budget.
    mean_degree : float
        A private (released) average degree.
    balanced : bool
        Make the sides differ by at most one vertex.
    together : bool
        As for :func:`~dpgraph.releases.sweeps.core.release_core_iterates`.
    progress : bool
        Show a bar on stderr.
    """
    iteration = cut_iteration(graph, balanced=balanced, progress=progress)
    X, fields = release_core_iterates(graph, iteration, call, mean_degree=mean_degree, together=together)
    return cut_labels(X, fields, balanced=balanced)


def cut_iteration(graph: GraphOperator, *, balanced: bool, progress: bool = False) -> Iteration:
    """Signs against their fields: one column, which an edge moves by at most its weight."""
    w = graph.max_weight
    oracle = FieldOracle(
        rows=graph.n_vertices,
        columns=1,
        fields=graph.multiply_rows,
        unit=graph.weight_unit * ITERATE_UNIT,
        row_bound=w,
        row_bound_l1=w,
        envelope=w,
    )
    return Iteration(oracle, BalancedSigns() if balanced else Signs(), progress=progress)


def cut_labels(X: FloatArray, fields: FloatArray, *, balanced: bool) -> NDArray[np.int8]:
    """Sides 0 and 1 of a released iterate of signs; on request halves, for which rows of small fields change sides.

    Rows of field 0 have read nothing, and others have relied on them: they stay as long as others can move.
    """
    labels = (X[:, 0] < 0).astype(np.int8)
    if not balanced:
        return labels
    n, ones = labels.size, int(labels.sum())
    larger = int(2 * ones > n)
    rows = np.flatnonzero(labels == larger)
    # A row on side 0 costs as much as its field is negative; the multiplier may have put it against its field.
    cost = fields[rows, 0] if larger else -fields[rows, 0]
    moved = np.argsort(np.where(cost == 0.0, np.inf, cost), kind="stable")[: rows.size - (n + 1) // 2]
    labels[rows[moved]] = 1 - larger
    return labels
