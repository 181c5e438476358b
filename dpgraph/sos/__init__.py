"""Sum-of-squares solvers: relaxations, certificates, global correlation rounding. Nothing here sees private data."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpgraph.instance import TwoCSP
    from dpgraph.sos.moments.pseudo_distribution import (
        PseudoDistribution,
        global_correlation,
        independent_rounding,
        local_correlation,
    )
    from dpgraph.sos.moments.relaxation import lasserre

__all__ = [
    "PseudoDistribution",
    "TwoCSP",
    "global_correlation",
    "independent_rounding",
    "lasserre",
    "local_correlation",
]

# Imported on first use: some of them load numba.
_MODULES = {
    "PseudoDistribution": "dpgraph.sos.moments.pseudo_distribution",
    "TwoCSP": "dpgraph.instance",
    "global_correlation": "dpgraph.sos.moments.pseudo_distribution",
    "independent_rounding": "dpgraph.sos.moments.pseudo_distribution",
    "lasserre": "dpgraph.sos.moments.relaxation",
    "local_correlation": "dpgraph.sos.moments.pseudo_distribution",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
