"""What a solver returns, and when a bound proves it optimal: one rule for cuts and 2-CSPs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpgraph.result import Result
from dpgraph.sos.proofs import Certificate, Proof
from dpgraph.sos.seed_search import TraceEntry
from dpgraph.typing import IntArray

if TYPE_CHECKING:
    from dpgraph.sos.csp.objective import CSPObjective
    from dpgraph.sos.cut.base import CutObjective

Objective: TypeAlias = "CutObjective | CSPObjective"

_IN_UNITS = ("value", "upper_bound", "relaxation_value", "local_correlation")
#: Of the gap of a value and a bound: a smaller part is not worth as much work again.
WORTH = 0.02
#: Bounds are rounded up by less than this share of the sum of weights, and values are rounded too.
_ROUNDING = 1e-12
#: What may be missing besides is less than this share of the least weight.
_SHARE = 1e-3
#: What a bound may lack to a multiple of the unit, in units, and still allow it: the safe direction.
_MARGIN = 1e-6


def is_optimal(objective: Objective, value: float, bound: float) -> bool:
    """Whether `bound`, which no solution exceeds, leaves no room above `value` but for rounding.

    Where values are multiples of a unit: none of them above `value` is at most `bound`. Elsewhere: `bound` exceeds
    `value` by at most 1e-12 of the sum of all weights, and by at most a thousandth of the least one: beside a weight of
    1e13 the first condition alone would let ten units pass as rounding, and a better solution with them.
    """
    if objective.unit:
        return value >= floored(objective, bound)
    near = value >= bound - _ROUNDING * objective.magnitude
    return near and value >= bound - _SHARE * objective.least_weight()


def to_beat(objective: Objective, value: float) -> float:
    """Where a bound is at most this, nothing better than a known `value` is left: the next is larger by a unit."""
    return value + (1.0 - _MARGIN) * objective.unit


def floored(objective: Objective, bound: float) -> float:
    """The largest value that solutions may have up to `bound`, where values are multiples of a unit."""
    unit = objective.unit
    return math.floor(bound / unit + _MARGIN) * unit if unit and math.isfinite(bound) else bound


def relative_gap(value: float, bound: float) -> float:
    """The gap ``(bound - value)/max(|bound|, |value|)``; 0 when both are 0."""
    scale = max(abs(bound), abs(value))
    return (bound - value) / scale if scale > 0.0 else 0.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactResult(Result):
    """A solution for exact data with an upper bound on every solution.

    Attributes
    ----------
    value : float
        What the solution is worth: the weight across a cut, the total that an assignment earns.
    upper_bound : float
        No solution is worth more. How that is known: `bound_kind` and `certificate`.
    global_correlation, local_correlation : float
        Of the pseudo-distribution that was rounded (:mod:`dpgraph.sos.cut.conditioning`); independent rounding of it
        has expected value ``relaxation_value - local_correlation``. Not numbers where the time limit came first.
    status : str
        "optimal" when the upper bound proves the solution optimal, otherwise "bounded".
    bound_kind : str
        "proven" (rounding errors included), "trivial" (the sum of the positive weights, or of the largest entries), or
        "lanczos" (holds with probability 1 - 1e-10, see :mod:`dpgraph.sos.cut.certificate`).
    certificate : Certificate or None
        What proves a bound to others: ``certificate.save(path)``, then ``python -m dpgraph.sos.check PATH``. Its
        ``certificate.bound`` is that of the relaxation where `upper_bound` owes something to seeds or to a very long
        search. None where nothing of the kind is known: `uncertified` says why.
    uncertified : str
        Why there is no certificate; empty where there is one.
    relaxation_value : float
        Value of the relaxation after pinning seeds.
    trace : tuple of TraceEntry
        Relaxation value, upper bound and correlations after each seed.
    """

    value: float
    upper_bound: float
    global_correlation: float
    local_correlation: float
    status: str
    bound_kind: str
    relaxation_value: float
    trace: tuple[TraceEntry, ...]
    certificate: Certificate | None = None
    uncertified: str = ""

    @property
    def gap(self) -> float:
        """Relative gap ``(upper_bound - value)/max(|upper_bound|, |value|)``; 0 when both are 0."""
        return relative_gap(self.value, self.upper_bound)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Solution(ExactResult):
    """What a solver found, in its own numbers."""

    labels: IntArray  #: side of each vertex, 0 for vertex 0, or position of the label of each variable
    proof: Proof | None = None  #: of the bound, or of a weaker one

    @classmethod
    def of(
        cls,
        objective: Objective,
        labels: IntArray,
        *,
        bound: float,
        kind: str,
        trace: tuple[TraceEntry, ...],
        proof: Proof | str,
    ) -> Solution:
        """The solution at the end of a search; `bound` may be below its value by rounding errors.

        The `proof` is one, or the reason why there is none.
        """
        value, last = objective.value(labels), trace[-1]
        bound = max(floored(objective, bound), value)
        return cls(
            labels=labels,
            value=value,
            relaxation_value=last.value,
            upper_bound=bound,
            bound_kind=kind,
            proof=None if isinstance(proof, str) else proof,
            uncertified=proof if isinstance(proof, str) else "",
            global_correlation=last.global_correlation,
            local_correlation=last.local_correlation,
            trace=trace,
            status="optimal" if is_optimal(objective, value, bound) else "bounded",
        )

    def improved(self, objective: Objective, labels: IntArray, bound: float, proof: Proof) -> Solution:
        """The better labels and the lower bound, which is proven, of these and its own."""
        better = labels if objective.value(labels) > self.value else self.labels
        lower, kind = (bound, "proven") if bound < self.upper_bound else (self.upper_bound, self.bound_kind)
        proof = proof if bound < self.upper_bound or self.proof is None else self.proof
        return Solution.of(objective, better, bound=lower, kind=kind, trace=self.trace, proof=proof)

    @classmethod
    def exact(cls, objective: Objective, labels: IntArray, bound: float, proof: Proof) -> Solution:
        """The best there is, found without a relaxation."""
        value = objective.value(labels)
        trace = (TraceEntry(0, value, max(bound, value), 0.0, 0.0),)
        return cls.of(objective, labels, bound=bound, kind="proven", trace=trace, proof=proof)

    def shared(self, exponent: int = 0, instance: Callable[[], dict[str, Any]] | None = None) -> dict[str, Any]:
        """What a result in the caller's names takes over, for values in units of ``2**exponent``.

        With an `instance`, as in the file of a certificate, its certificate too.
        """
        shared = {field.name: getattr(self, field.name) for field in fields(ExactResult)}
        shared |= {name: float(np.ldexp(shared[name], exponent)) for name in _IN_UNITS}
        if instance is not None and self.proof is not None:
            solved = {"solution": self.labels.tolist(), "value": shared["value"], "bound": shared["upper_bound"]}
            shared["certificate"] = Certificate(instance, solved, self.proof, exponent)
        return shared | {"trace": tuple(entry.scaled(exponent) for entry in self.trace)}
