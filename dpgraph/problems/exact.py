"""What the solvers of exact data return, cuts and assignments alike. Not private."""

from dataclasses import dataclass, fields
from typing import Any

from dpgraph.result import Result
from dpgraph.sos.seed_search import TraceEntry
from dpgraph.sos.solution import Solution

__all__ = ["ExactResult", "shared_fields"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactResult(Result):
    """A solution for exact data with an upper bound on every solution.

    Attributes
    ----------
    value : float
        What the solution is worth: the weight across a cut, the total that an assignment earns.
    upper_bound : float
        No solution is worth more. How that is known: `certificate`.
    global_correlation, local_correlation : float
        Of the pseudo-distribution that was rounded (:mod:`dpgraph.sos.cut.conditioning`); independent rounding of it
        has expected value ``relaxation_value - local_correlation``.
    status : str
        "optimal" when the upper bound proves the solution optimal, otherwise "bounded".
    certificate : str
        "proven" (rounding errors included), "trivial" (the sum of the positive weights, or of the largest entries), or
        "lanczos" (holds with probability 1 - 1e-10, see :mod:`dpgraph.sos.cut.certificate`).
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
    certificate: str
    relaxation_value: float
    trace: tuple[TraceEntry, ...]

    @property
    def gap(self) -> float:
        """Relative gap ``(upper_bound - value)/max(|upper_bound|, |value|)``; 0 when both are 0."""
        scale = max(abs(self.upper_bound), abs(self.value))
        return (self.upper_bound - self.value) / scale if scale > 0.0 else 0.0


def shared_fields(solution: Solution) -> dict[str, Any]:
    """What a result takes over from the solution of a solver as it is."""
    return {field.name: getattr(solution, field.name) for field in fields(ExactResult)}
