"""When a bound proves a solution optimal: one rule for all solvers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.cut.objective import CutObjective, DenseObjective, SparseObjective

__all__ = ["is_optimal", "solution_status"]

#: Bounds are rounded up by less than this share of their size, and values are rounded too.
_ROUNDING = 1e-12
#: What may be missing besides is less than this share of the least weight.
_SHARE = 1e-3


def is_optimal(objective: CutObjective | CSPObjective, value: float, bound: float) -> bool:
    """Whether `bound`, which no solution exceeds, leaves no room above `value` but for rounding.

    Integral objectives: no integer above `value` is at most `bound`. Others: `bound` exceeds `value` by at most 1e-12
    of its size, and by at most a thousandth of the least nonzero weight. The second condition matters where weights are
    of mixed scales: beside a weight of 1e13 the first would let ten units pass as rounding, and a better solution with
    them. Entries that are smaller than the rounding errors of the objective count as zero.
    """
    if objective.integral:
        return value >= math.floor(bound + 1e-6)
    return value >= bound - min(_ROUNDING * abs(bound), _SHARE * _least_weight(objective))


def solution_status(objective: CutObjective | CSPObjective, value: float, bound: float) -> str:
    """Whether a value is "optimal" (:func:`is_optimal`) or "bounded"."""
    return "optimal" if is_optimal(objective, value, bound) else "bounded"


def _least_weight(objective: CutObjective | CSPObjective) -> float:
    """Least nonzero difference that one entry, or two labels in one table, make; infinite where nobody lists them."""
    sizes: NDArray[np.float64]
    if isinstance(objective, CSPObjective):
        tables = objective.tables.reshape(len(objective.pairs), objective.alphabet_size**2)
        sizes = np.concatenate([np.diff(np.sort(part, axis=1)).ravel() for part in (tables, objective.unary)])
    elif isinstance(objective, SparseObjective):
        sizes = np.abs(objective.matrix.data)
    elif isinstance(objective, DenseObjective):
        sizes = np.abs(objective.matrix)
    else:
        return math.inf
    return float(np.min(sizes[sizes > objective.slack], initial=math.inf))
