"""Differentially private spectral graph algorithms.

Names are loaded when they are first used, so that ``import dpgraph`` stays light.
"""

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
    "PrivateCounts": "dpgraph.results.counts",
    "PrivateDegreeDistribution": "dpgraph.results.degrees",
    "PrivateDegrees": "dpgraph.results.degrees",
    "PrivateNormalizedAdjacency": "dpgraph.results.adjacency",
    "private_coherence": "dpgraph.problems.matrices.diagnostics",
    "private_degree_distribution": "dpgraph.problems.counts.degree_distribution",
    "private_degrees": "dpgraph.problems.counts.degrees",
    "private_eigenspace": "dpgraph.problems.matrices.subspaces",
    "private_low_rank": "dpgraph.problems.matrices.subspaces",
    "private_node_similarities": "dpgraph.problems.embedding.similarities",
    "private_normalized_adjacency": "dpgraph.problems.embedding.api",
    "private_projector": "dpgraph.problems.matrices.subspaces",
    "private_subgraph_counts": "dpgraph.problems.counts.subgraphs",
    "private_transitivity": "dpgraph.problems.counts.subgraphs",
    "PrivateGraphModel": "dpgraph.results.graph_model",
    "private_synthetic_graph": "dpgraph.problems.synthesis",
    "PrivateEstimate": "dpgraph.results.counts",
    "private_singular_subspace": "dpgraph.problems.matrices.singular",
    "private_spectrum": "dpgraph.problems.matrices.diagnostics",
    # convex sets and perturb-and-project
    "PrivateProjection": "dpgraph.problems.matrices.perturb_and_project",
    "PrivateSymmetricMatrix": "dpgraph.releases.symmetric",
    "perturb_and_project": "dpgraph.problems.matrices.perturb_and_project",
    "private_symmetric_matrix": "dpgraph.releases.symmetric",
    "project_nonnegative_spectral_ball": "dpgraph.projections",
    # problems
    "CSPResult": "dpgraph.problems.csp.exact",
    "CutResult": "dpgraph.problems.cut.exact",
    "PrivateCommunities": "dpgraph.results.communities",
    "PrivateCutResult": "dpgraph.results.cut",
    "max_2csp": "dpgraph.problems.csp.exact",
    "max_bisection": "dpgraph.problems.cut.exact",
    "max_cut": "dpgraph.problems.cut.exact",
    "PrivateCSPResult": "dpgraph.results.csp",
    "TwoCSP": "dpgraph.instance",
    "private_communities": "dpgraph.problems.communities",
    "private_max_bisection": "dpgraph.problems.cut.api",
    "private_max_2csp": "dpgraph.problems.csp.api",
    "private_max_cut": "dpgraph.problems.cut.api",
    "private_max_k_cut": "dpgraph.problems.csp.api",
    # planning, files and tables
    "Plan": "dpgraph.interfaces.planning",
    "edge_frame": "dpgraph.inputs.public_nodes",
    "load_result": "dpgraph.results.files",
    "plan": "dpgraph.interfaces.planning",
    "save_result": "dpgraph.results.files",
    "with_public_nodes": "dpgraph.inputs.public_nodes",
    # queries
    "PrivateAnswers": "dpgraph.results.records",
    "PrivateMarginals": "dpgraph.results.marginals",
    "PrivateCovariance": "dpgraph.results.records",
    "PrivateSimilarities": "dpgraph.results.similarities",
    "private_cosine_similarities": "dpgraph.problems.records.cosine",
    "private_covariance": "dpgraph.problems.records.covariance",
    "private_marginals": "dpgraph.problems.records.marginals",
    "private_linear_queries": "dpgraph.problems.records.linear_queries",
}

#: Public module -> where it lives.
_MODULES = {
    "cosine_sensitivity": "dpgraph.bounds.cosine",
    "datasets": "dpgraph.datasets",
    "evaluate": "dpgraph.evaluate",
    "exceptions": "dpgraph.exceptions",
    "linear_queries": "dpgraph.problems.records.linear_queries",
    "plot": "dpgraph.plot",
    "privacy": "dpgraph.privacy",
    "projections": "dpgraph.projections",
    "sklearn": "dpgraph.sklearn",
    "sos": "dpgraph.sos",
    "spectral": "dpgraph.spectral",
    "strategies": "dpgraph.strategies",
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
