"""Sum-of-squares solvers: relaxations, certificates, global correlation rounding. Nothing here sees private data.

Sources are cited by name and year; docs/sos-theory.md lists them under "Sources".
"""

import importlib
from typing import TYPE_CHECKING, Any

from dpgraph.exceptions import no_attribute

if TYPE_CHECKING:
    from dpgraph.instance import TwoCSP
    from dpgraph.sos.moments.pseudo_distribution import (
        PseudoDistribution,
        global_correlation,
        independent_rounding,
        local_correlation,
    )
    from dpgraph.sos.moments.relaxation import lasserre
    from dpgraph.sos.seed_search import SolverOptions

__all__ = [
    "PseudoDistribution",
    "SolverOptions",
    "TwoCSP",
    "global_correlation",
    "independent_rounding",
    "lasserre",
    "local_correlation",
]

# Imported on first use: some of them load numba.
_ELSEWHERE = {
    "SolverOptions": "dpgraph.sos.seed_search",
    "TwoCSP": "dpgraph.instance",
    "lasserre": "dpgraph.sos.moments.relaxation",
}


if not TYPE_CHECKING:  # a checker that saw this would take any name

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise no_attribute(__name__, name, __all__)
        module = _ELSEWHERE.get(name, "dpgraph.sos.moments.pseudo_distribution")
        return getattr(importlib.import_module(module), name)
