"""What a solver returns, and when a bound proves it optimal: one rule for cuts and 2-CSPs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from dpgraph.sos.seed_search import TraceEntry
from dpgraph.typing import IntArray

__all__ = ["Solution", "is_optimal", "to_beat"]

#: Bounds are rounded up by less than this share of their size, and values are rounded too.
_ROUNDING = 1e-12
#: What may be missing besides is less than this share of the least weight.
_SHARE = 1e-3


class Objective(Protocol):
    """What the rule of optimality asks of an objective."""

    @property
    def integral(self) -> bool:
        """Whether every solution has an integer value."""

    def least_weight(self) -> float:
        """Least nonzero difference that one entry makes, rounding errors left out; infinite where nobody lists them."""


def is_optimal(objective: Objective, value: float, bound: float) -> bool:
    """Whether `bound`, which no solution exceeds, leaves no room above `value` but for rounding.

    Integral objectives: no integer above `value` is at most `bound`. Others: `bound` exceeds `value` by at most 1e-12
    of its size, and by at most a thousandth of the least weight. The second condition matters where weights are of
    mixed scales: beside a weight of 1e13 the first would let ten units pass as rounding, and a better solution with
    them.
    """
    if objective.integral:
        return value >= math.floor(bound + 1e-6)
    return value >= bound - min(_ROUNDING * abs(bound), _SHARE * objective.least_weight())


def to_beat(objective: Objective, value: float) -> float:
    """Where a bound is at most this, nothing better than a known `value` is left: an integer would be larger by 1."""
    return value + (1.0 - 1e-6 if objective.integral else 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A cut or an assignment, with a certified upper bound on all of them.

    Attributes
    ----------
    labels : numpy.ndarray of int, shape (n,)
        Side of each vertex, 0 or 1, vertex 0 on side 0; or position of the label of each variable.
    value : float
        Its value.
    relaxation_value : float
        Value of the relaxation that was rounded (after pinning seeds).
    upper_bound : float
        No solution has a larger value; `certificate` says how that is known.
    certificate : str
        "proven", "trivial" or "lanczos", see :class:`dpgraph.sos.cut.certificate.Certificate`.
    global_correlation, local_correlation : float
        Of the rounded pseudo-distribution; independent rounding of it has expected value
        ``relaxation_value - local_correlation``.
    trace : tuple of TraceEntry
        One entry for each number of seeds, from 0.
    status : str
        "optimal" when the bound proves it, otherwise "bounded".
    """

    labels: IntArray
    value: float
    relaxation_value: float
    upper_bound: float
    certificate: str
    global_correlation: float
    local_correlation: float
    trace: tuple[TraceEntry, ...]
    status: str

    @classmethod
    def of(
        cls,
        objective: Objective,
        labels: IntArray,
        value: float,
        *,
        bound: float,
        certificate: str,
        trace: tuple[TraceEntry, ...],
    ) -> Solution:
        """The solution at the end of a search; `bound` may be below `value` by rounding errors."""
        bound, last = max(bound, value), trace[-1]
        return cls(
            labels=labels,
            value=value,
            relaxation_value=last.value,
            upper_bound=bound,
            certificate=certificate,
            global_correlation=last.global_correlation,
            local_correlation=last.local_correlation,
            trace=trace,
            status="optimal" if is_optimal(objective, value, bound) else "bounded",
        )

    def __repr__(self) -> str:
        return (
            f"Solution(n={self.labels.size}, value={self.value:.6g}, upper_bound={self.upper_bound:.6g}, "
            f"status={self.status!r})"
        )
