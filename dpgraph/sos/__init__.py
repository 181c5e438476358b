"""Sum-of-squares solvers: relaxations, certificates, global correlation rounding. Nothing here sees private data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpgraph.sos.csp import TwoCSP
    from dpgraph.sos.moment_relaxation import lasserre
    from dpgraph.sos.pseudo_distribution import (
        PseudoDistribution,
        global_correlation,
        independent_rounding,
        local_correlation,
    )

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
    "PseudoDistribution": "pseudo_distribution",
    "TwoCSP": "csp",
    "global_correlation": "pseudo_distribution",
    "independent_rounding": "pseudo_distribution",
    "lasserre": "moment_relaxation",
    "local_correlation": "pseudo_distribution",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
