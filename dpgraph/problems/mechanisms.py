"""What ``mechanism=`` takes, by problem: written by `python -m tests.stubs`, and compared by the tests.

A name means the defaults of a strategy, an options object sets them. Read by type checkers only.
"""

from typing import Literal, TypeAlias

from dpgraph.problems.counts.subgraphs import Ladder, LocalSensitivity, Smooth
from dpgraph.problems.matrices.subspace_strategies import Projector
from dpgraph.problems.options import (
    BoundedIterates,
    Coherence,
    CoherentAdjacency,
    Gaussian,
    NoisyPower,
    PermuteAndFlip,
    RandomizedResponse,
)
from dpgraph.problems.records.covariance_noise import NuclearLaplace, SymmetricGaussian, WishartDifference
from dpgraph.problems.records.query_noise import (
    EllipsoidNoise,
    FactorizationNoise,
    GaussianAnswers,
    KNormNoise,
    LaplaceAnswers,
)

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
    Literal["auto", "coherence", "gaussian", "noisy-power", "randomized-response"]
    | CoherentAdjacency
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
