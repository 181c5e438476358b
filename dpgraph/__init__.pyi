"""What dpgraph offers, for editors and type checkers; ``__init__.py`` finds the home of every name here."""

from dpgraph import datasets as datasets
from dpgraph import evaluate as evaluate
from dpgraph import exceptions as exceptions
from dpgraph import plot as plot
from dpgraph import privacy as privacy
from dpgraph import projections as projections
from dpgraph import sklearn as sklearn
from dpgraph import sos as sos
from dpgraph import spectral as spectral
from dpgraph import strategies as strategies
from dpgraph.bounds import cosine as cosine_sensitivity
from dpgraph.exceptions import BudgetExceededError as BudgetExceededError
from dpgraph.exceptions import DatasetError as DatasetError
from dpgraph.exceptions import DPGraphError as DPGraphError
from dpgraph.exceptions import InvalidGraphError as InvalidGraphError
from dpgraph.exceptions import InvalidParameterError as InvalidParameterError
from dpgraph.exceptions import MechanismHalted as MechanismHalted
from dpgraph.exceptions import NotConvergedError as NotConvergedError
from dpgraph.inputs.public_nodes import edge_frame as edge_frame
from dpgraph.inputs.public_nodes import with_public_nodes as with_public_nodes
from dpgraph.instance import TwoCSP as TwoCSP
from dpgraph.interfaces.report.result import Report as Report
from dpgraph.interfaces.report.sections import report as report
from dpgraph.privacy.accountant import PrivacyAccountant as PrivacyAccountant
from dpgraph.privacy.accounting import gaussian_scale as gaussian_scale
from dpgraph.privacy.budget_file import FileAccountant as FileAccountant
from dpgraph.privacy.report import PrivacyReport as PrivacyReport
from dpgraph.problems.communities import private_communities as private_communities
from dpgraph.problems.counts.degrees import private_degree_distribution as private_degree_distribution
from dpgraph.problems.counts.degrees import private_degrees as private_degrees
from dpgraph.problems.counts.statistics import private_statistic as private_statistic
from dpgraph.problems.counts.subgraphs import private_subgraph_counts as private_subgraph_counts
from dpgraph.problems.counts.subgraphs import private_transitivity as private_transitivity
from dpgraph.problems.csp.exact import CSPResult as CSPResult
from dpgraph.problems.csp.exact import max_2csp as max_2csp
from dpgraph.problems.csp.private import private_max_2csp as private_max_2csp
from dpgraph.problems.csp.private import private_max_k_cut as private_max_k_cut
from dpgraph.problems.cut.exact import CutResult as CutResult
from dpgraph.problems.cut.exact import max_bisection as max_bisection
from dpgraph.problems.cut.exact import max_cut as max_cut
from dpgraph.problems.cut.private import private_max_bisection as private_max_bisection
from dpgraph.problems.cut.private import private_max_cut as private_max_cut
from dpgraph.problems.densest import private_densest_subgraph as private_densest_subgraph
from dpgraph.problems.embedding.normalized_adjacency import private_normalized_adjacency as private_normalized_adjacency
from dpgraph.problems.embedding.similarities import private_node_similarities as private_node_similarities
from dpgraph.problems.matrices.diagnostics import PrivateCoherence as PrivateCoherence
from dpgraph.problems.matrices.diagnostics import PrivateSpectrum as PrivateSpectrum
from dpgraph.problems.matrices.diagnostics import private_coherence as private_coherence
from dpgraph.problems.matrices.diagnostics import private_spectrum as private_spectrum
from dpgraph.problems.matrices.perturb_and_project import PrivateProjection as PrivateProjection
from dpgraph.problems.matrices.perturb_and_project import perturb_and_project as perturb_and_project
from dpgraph.problems.matrices.subspaces import private_eigenspace as private_eigenspace
from dpgraph.problems.matrices.subspaces import private_low_rank as private_low_rank
from dpgraph.problems.matrices.subspaces import private_projector as private_projector
from dpgraph.problems.matrices.subspaces import private_singular_subspace as private_singular_subspace
from dpgraph.problems.matrices.symmetric import private_symmetric_matrix as private_symmetric_matrix
from dpgraph.problems.records import linear_queries as linear_queries
from dpgraph.problems.records import marginals as marginals
from dpgraph.problems.records.cosine import private_cosine_similarities as private_cosine_similarities
from dpgraph.problems.records.covariance import private_covariance as private_covariance
from dpgraph.problems.records.linear_queries import private_linear_queries as private_linear_queries
from dpgraph.problems.records.marginals import private_marginals as private_marginals
from dpgraph.problems.synthesis import private_synthetic_graph as private_synthetic_graph
from dpgraph.projections import project_nonnegative_spectral_ball as project_nonnegative_spectral_ball
from dpgraph.results.adjacency import PrivateNormalizedAdjacency as PrivateNormalizedAdjacency
from dpgraph.results.communities import PrivateCommunities as PrivateCommunities
from dpgraph.results.counts import PrivateCounts as PrivateCounts
from dpgraph.results.counts import PrivateEstimate as PrivateEstimate
from dpgraph.results.degrees import PrivateDegreeDistribution as PrivateDegreeDistribution
from dpgraph.results.degrees import PrivateDegrees as PrivateDegrees
from dpgraph.results.densest import PrivateSubgraph as PrivateSubgraph
from dpgraph.results.files import load_result as load_result
from dpgraph.results.files import save_result as save_result
from dpgraph.results.graph_model import PrivateGraphModel as PrivateGraphModel
from dpgraph.results.labels import PrivateCSPResult as PrivateCSPResult
from dpgraph.results.labels import PrivateCutResult as PrivateCutResult
from dpgraph.results.marginals import PrivateMarginals as PrivateMarginals
from dpgraph.results.records import PrivateAnswers as PrivateAnswers
from dpgraph.results.records import PrivateCovariance as PrivateCovariance
from dpgraph.results.records import PrivateSymmetricMatrix as PrivateSymmetricMatrix
from dpgraph.results.similarities import PrivateSimilarities as PrivateSimilarities
from dpgraph.results.subspaces import PrivateLowRank as PrivateLowRank
from dpgraph.results.subspaces import PrivateSingularSubspace as PrivateSingularSubspace
from dpgraph.results.subspaces import PrivateSubspace as PrivateSubspace

__version__: str
__all__ = [
    "BudgetExceededError",
    "CSPResult",
    "CutResult",
    "DPGraphError",
    "DatasetError",
    "FileAccountant",
    "InvalidGraphError",
    "InvalidParameterError",
    "MechanismHalted",
    "NotConvergedError",
    "PrivacyAccountant",
    "PrivacyReport",
    "PrivateAnswers",
    "PrivateCSPResult",
    "PrivateCoherence",
    "PrivateCommunities",
    "PrivateCounts",
    "PrivateCovariance",
    "PrivateCutResult",
    "PrivateDegreeDistribution",
    "PrivateDegrees",
    "PrivateEstimate",
    "PrivateGraphModel",
    "PrivateLowRank",
    "PrivateMarginals",
    "PrivateNormalizedAdjacency",
    "PrivateProjection",
    "PrivateSimilarities",
    "PrivateSingularSubspace",
    "PrivateSpectrum",
    "PrivateSubgraph",
    "PrivateSubspace",
    "PrivateSymmetricMatrix",
    "Report",
    "TwoCSP",
    "__version__",
    "cosine_sensitivity",
    "datasets",
    "edge_frame",
    "evaluate",
    "exceptions",
    "gaussian_scale",
    "linear_queries",
    "load_result",
    "marginals",
    "max_2csp",
    "max_bisection",
    "max_cut",
    "perturb_and_project",
    "plot",
    "privacy",
    "private_coherence",
    "private_communities",
    "private_cosine_similarities",
    "private_covariance",
    "private_degree_distribution",
    "private_degrees",
    "private_densest_subgraph",
    "private_eigenspace",
    "private_linear_queries",
    "private_low_rank",
    "private_marginals",
    "private_max_2csp",
    "private_max_bisection",
    "private_max_cut",
    "private_max_k_cut",
    "private_node_similarities",
    "private_normalized_adjacency",
    "private_projector",
    "private_singular_subspace",
    "private_spectrum",
    "private_statistic",
    "private_subgraph_counts",
    "private_symmetric_matrix",
    "private_synthetic_graph",
    "private_transitivity",
    "project_nonnegative_spectral_ball",
    "projections",
    "report",
    "save_result",
    "sklearn",
    "sos",
    "spectral",
    "strategies",
    "with_public_nodes",
]
