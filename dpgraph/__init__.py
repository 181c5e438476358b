"""Differentially private spectral graph algorithms.

Names are loaded when they are first used, so that ``import dpgraph`` stays light.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: Public name -> module that defines it.
_EXPORTS = {
    # errors
    "BudgetExceededError": "dpgraph.exceptions",
    "DPGraphError": "dpgraph.exceptions",
    "DatasetError": "dpgraph.exceptions",
    "InvalidGraphError": "dpgraph.exceptions",
    "InvalidParameterError": "dpgraph.exceptions",
    "MechanismHalted": "dpgraph.exceptions",
    "NotConvergedError": "dpgraph.exceptions",
    # privacy
    "PrivacyAccountant": "dpgraph.privacy.accountant",
    "PrivacyReport": "dpgraph.privacy.report",
    "gaussian_scale": "dpgraph.privacy.accounting",
    # graph privatisation
    "PrivateDegrees": "dpgraph.mechanisms.degrees",
    "PrivateNormalizedAdjacency": "dpgraph.mechanisms.private_adjacency",
    "private_coherence": "dpgraph.mechanisms.diagnostics",
    "private_degrees": "dpgraph.mechanisms.degrees",
    "private_eigenspace": "dpgraph.mechanisms.low_rank",
    "private_low_rank": "dpgraph.mechanisms.low_rank",
    "private_normalized_adjacency": "dpgraph.mechanisms.normalized_adjacency",
    "private_projector": "dpgraph.mechanisms.low_rank",
    "private_singular_subspace": "dpgraph.mechanisms.low_rank",
    "private_spectrum": "dpgraph.mechanisms.diagnostics",
    # convex sets and perturb-and-project
    "PrivateProjection": "dpgraph.mechanisms.perturb_and_project",
    "PrivateSymmetricMatrix": "dpgraph.mechanisms.symmetric_release",
    "perturb_and_project": "dpgraph.mechanisms.perturb_and_project",
    "private_symmetric_matrix": "dpgraph.mechanisms.symmetric_release",
    "project_nonnegative_spectral_ball": "dpgraph.projections",
    # problems
    "CSPResult": "dpgraph.problems.exact_max_2csp",
    "CutResult": "dpgraph.problems.exact_max_cut",
    "PrivateCutResult": "dpgraph.problems.private_cut",
    "max_2csp": "dpgraph.problems.exact_max_2csp",
    "max_bisection": "dpgraph.problems.exact_max_bisection",
    "max_cut": "dpgraph.problems.exact_max_cut",
    "PrivateCSPResult": "dpgraph.problems.private_csp",
    "TwoCSP": "dpgraph.sos.csp",
    "private_max_bisection": "dpgraph.problems.private_max_bisection",
    "private_max_2csp": "dpgraph.problems.private_max_2csp",
    "private_max_cut": "dpgraph.problems.private_max_cut",
    "private_max_k_cut": "dpgraph.problems.private_max_k_cut",
    # planning, files and tables
    "Plan": "dpgraph.planning",
    "edge_frame": "dpgraph.edge_frames",
    "load_result": "dpgraph.persistence",
    "plan": "dpgraph.planning",
    "save_result": "dpgraph.persistence",
    "with_public_nodes": "dpgraph.public_nodes",
    # queries
    "PrivateAnswers": "dpgraph.queries.linear_queries",
    "PrivateMarginals": "dpgraph.queries.marginals",
    "PrivateCovariance": "dpgraph.queries.covariance",
    "PrivateSimilarities": "dpgraph.queries.cosine",
    "private_cosine_similarities": "dpgraph.queries.cosine",
    "private_covariance": "dpgraph.queries.covariance",
    "private_marginals": "dpgraph.queries.marginals",
    "private_linear_queries": "dpgraph.queries.linear_queries",
}

#: Public module -> where it lives.
_MODULES = {
    "cosine_sensitivity": "dpgraph.queries.cosine_sensitivity",
    "datasets": "dpgraph.datasets",
    "evaluate": "dpgraph.evaluate",
    "exceptions": "dpgraph.exceptions",
    "linear_queries": "dpgraph.queries.linear_queries",
    "plot": "dpgraph.plot",
    "privacy": "dpgraph.privacy",
    "projections": "dpgraph.projections",
    "sos": "dpgraph.sos",
    "spectral": "dpgraph.spectral",
}

__all__ = [*_EXPORTS, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'dpgraph' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
