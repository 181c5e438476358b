"""Options of all strategies: written by `python -m tests.stubs`, and compared by the tests."""

from typing import Literal, TypeAlias

from dpgraph.problems.counts.subgraphs import Ladder as Ladder
from dpgraph.problems.counts.subgraphs import LocalSensitivity as LocalSensitivity
from dpgraph.problems.counts.subgraphs import Smooth as Smooth
from dpgraph.problems.embedding.strategies import CommunityBlocks as CommunityBlocks
from dpgraph.problems.matrices.subspace_strategies import Projector as Projector
from dpgraph.problems.options import BoundedIterates as BoundedIterates
from dpgraph.problems.options import Coherence as Coherence
from dpgraph.problems.options import CoherentAdjacency as CoherentAdjacency
from dpgraph.problems.options import Gaussian as Gaussian
from dpgraph.problems.options import NoisyPower as NoisyPower
from dpgraph.problems.options import PermuteAndFlip as PermuteAndFlip
from dpgraph.problems.options import RandomizedResponse as RandomizedResponse
from dpgraph.problems.records.covariance_noise import NuclearLaplace as NuclearLaplace
from dpgraph.problems.records.covariance_noise import SymmetricGaussian as SymmetricGaussian
from dpgraph.problems.records.covariance_noise import WishartDifference as WishartDifference
from dpgraph.problems.records.query_noise import EllipsoidNoise as EllipsoidNoise
from dpgraph.problems.records.query_noise import FactorizationNoise as FactorizationNoise
from dpgraph.problems.records.query_noise import GaussianAnswers as GaussianAnswers
from dpgraph.problems.records.query_noise import KNormNoise as KNormNoise
from dpgraph.problems.records.query_noise import LaplaceAnswers as LaplaceAnswers

#: Of communities.
CommunityMechanism: TypeAlias = (
    Literal["auto", "bounded-iterates", "randomized-response"] | BoundedIterates | RandomizedResponse
)
#: Of counts of subgraphs.
CountMechanism: TypeAlias = (
    Literal["auto", "ladder", "smooth", "local-sensitivity"] | Ladder | LocalSensitivity | Smooth
)
#: Of a covariance.
CovarianceMechanism: TypeAlias = (
    Literal["auto", "wishart-difference", "nuclear-laplace", "gaussian"]
    | NuclearLaplace
    | SymmetricGaussian
    | WishartDifference
)
#: Of a constraint problem, whatever its neighbours.
CSPMechanism: TypeAlias = (
    Literal["auto", "bounded-iterates", "randomized-response", "coherence"]
    | BoundedIterates
    | Coherence
    | RandomizedResponse
)
#: Of cuts and bisections.
CutMechanism: TypeAlias = (
    Literal[
        "auto", "coherence", "gaussian", "noisy-power", "bounded-iterates", "randomized-response", "permute-and-flip"
    ]
    | BoundedIterates
    | Coherence
    | Gaussian
    | NoisyPower
    | PermuteAndFlip
    | RandomizedResponse
)
#: Of a normalized adjacency, and of similarities.
EmbeddingMechanism: TypeAlias = (
    Literal["auto", "coherence", "gaussian", "noisy-power", "randomized-response", "communities"]
    | CoherentAdjacency
    | CommunityBlocks
    | Gaussian
    | NoisyPower
    | RandomizedResponse
)
#: Of a cut into k parts.
KCutMechanism: TypeAlias = (
    Literal["auto", "bounded-iterates", "randomized-response"] | BoundedIterates | RandomizedResponse
)
#: Of eigenspaces and singular subspaces.
MatrixMechanism: TypeAlias = Literal["auto", "coherence", "noisy-power", "gaussian"] | Gaussian | NoisyPower | Projector
#: Of linear queries.
QueryMechanism: TypeAlias = (
    Literal["auto", "gaussian", "ellipsoid", "factorization", "laplace", "k-norm"]
    | EllipsoidNoise
    | FactorizationNoise
    | GaussianAnswers
    | KNormNoise
    | LaplaceAnswers
)
__all__ = [
    "BoundedIterates",
    "Coherence",
    "CoherentAdjacency",
    "CommunityBlocks",
    "EllipsoidNoise",
    "FactorizationNoise",
    "Gaussian",
    "GaussianAnswers",
    "KNormNoise",
    "Ladder",
    "LaplaceAnswers",
    "LocalSensitivity",
    "NoisyPower",
    "NuclearLaplace",
    "PermuteAndFlip",
    "Projector",
    "RandomizedResponse",
    "Smooth",
    "SymmetricGaussian",
    "WishartDifference",
]
