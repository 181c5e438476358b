"""Differentially private spectral graph algorithms.

Names are loaded when they are first used, so that ``import dpgraph`` stays light. What editors and type checkers see of
them stands in ``__init__.pyi``, which ``python -m tests.stubs`` writes from the two tables here.
"""

import importlib
from typing import Any

__version__ = "0.2.0"

#: Module -> the public names that it defines.
_EXPORTS = {
    "dpgraph.exceptions": (
        "BudgetExceededError",
        "DPGraphError",
        "DatasetError",
        "InvalidGraphError",
        "InvalidParameterError",
        "MechanismHalted",
        "NotConvergedError",
    ),
    "dpgraph.privacy.accountant": ("PrivacyAccountant",),
    "dpgraph.privacy.accounting": ("gaussian_scale",),
    "dpgraph.privacy.budget_file": ("FileAccountant",),
    "dpgraph.privacy.report": ("PrivacyReport",),
    # results
    "dpgraph.results.adjacency": ("PrivateNormalizedAdjacency",),
    "dpgraph.results.communities": ("PrivateCommunities",),
    "dpgraph.results.counts": ("PrivateCounts", "PrivateEstimate"),
    "dpgraph.results.labels": ("PrivateCSPResult", "PrivateCutResult"),
    "dpgraph.results.densest": ("PrivateSubgraph",),
    "dpgraph.results.degrees": ("PrivateDegreeDistribution", "PrivateDegrees"),
    "dpgraph.results.files": ("load_result", "save_result"),
    "dpgraph.results.graph_model": ("PrivateGraphModel",),
    "dpgraph.results.marginals": ("PrivateMarginals",),
    "dpgraph.results.records": ("PrivateAnswers", "PrivateCovariance", "PrivateSymmetricMatrix"),
    "dpgraph.results.similarities": ("PrivateSimilarities",),
    "dpgraph.results.subspaces": ("PrivateLowRank", "PrivateSingularSubspace", "PrivateSubspace"),
    # graphs
    "dpgraph.inputs.public_nodes": ("edge_frame", "with_public_nodes"),
    "dpgraph.instance": ("TwoCSP",),
    "dpgraph.interfaces.report.result": ("Report",),
    "dpgraph.interfaces.report.sections": ("report",),
    "dpgraph.problems.communities": ("private_communities",),
    "dpgraph.problems.counts.degrees": ("private_degree_distribution", "private_degrees"),
    "dpgraph.problems.counts.statistics": ("private_statistic",),
    "dpgraph.problems.counts.subgraphs": ("private_subgraph_counts", "private_transitivity"),
    "dpgraph.problems.csp.private": ("private_max_2csp", "private_max_k_cut"),
    "dpgraph.problems.csp.exact": ("CSPResult", "max_2csp"),
    "dpgraph.problems.cut.private": ("private_max_bisection", "private_max_cut"),
    "dpgraph.problems.cut.exact": ("CutResult", "max_bisection", "max_cut"),
    "dpgraph.problems.densest": ("private_densest_subgraph",),
    "dpgraph.problems.embedding.normalized_adjacency": ("private_normalized_adjacency",),
    "dpgraph.problems.embedding.similarities": ("private_node_similarities",),
    "dpgraph.problems.synthesis": ("private_synthetic_graph",),
    # matrices and records
    "dpgraph.problems.matrices.diagnostics": (
        "PrivateCoherence",
        "PrivateSpectrum",
        "private_coherence",
        "private_spectrum",
    ),
    "dpgraph.problems.matrices.perturb_and_project": ("PrivateProjection", "perturb_and_project"),
    "dpgraph.problems.matrices.subspaces": (
        "private_eigenspace",
        "private_low_rank",
        "private_projector",
        "private_singular_subspace",
    ),
    "dpgraph.problems.records.cosine": ("private_cosine_similarities",),
    "dpgraph.problems.records.covariance": ("private_covariance",),
    "dpgraph.problems.records.linear_queries": ("private_linear_queries",),
    "dpgraph.problems.records.marginals": ("private_marginals",),
    "dpgraph.projections": ("project_nonnegative_spectral_ball",),
    "dpgraph.problems.matrices.symmetric": ("private_symmetric_matrix",),
}
_HOME = {name: module for module, names in _EXPORTS.items() for name in names}

#: Public module -> where it lives.
_MODULES = {
    "cosine_sensitivity": "dpgraph.bounds.cosine",
    "datasets": "dpgraph.datasets",
    "evaluate": "dpgraph.evaluate",
    "exceptions": "dpgraph.exceptions",
    "linear_queries": "dpgraph.problems.records.linear_queries",
    "marginals": "dpgraph.problems.records.marginals",
    "plot": "dpgraph.plot",
    "privacy": "dpgraph.privacy",
    "projections": "dpgraph.projections",
    "sklearn": "dpgraph.sklearn",
    "sos": "dpgraph.sos",
    "spectral": "dpgraph.spectral",
    "strategies": "dpgraph.strategies",
}

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        raise importlib.import_module("dpgraph.exceptions").no_attribute(__name__, name, __all__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
