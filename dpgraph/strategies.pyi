"""Options of all strategies: written by `python -m tests.stubs`, and compared by the tests."""

from dpgraph.problems.counts.strategies.ladder import Ladder as Ladder
from dpgraph.problems.counts.strategies.local_sensitivity import LocalSensitivity as LocalSensitivity
from dpgraph.problems.counts.strategies.smooth import Smooth as Smooth
from dpgraph.problems.matrices.strategies.coherence import Projector as Projector
from dpgraph.problems.options import BoundedIterates as BoundedIterates
from dpgraph.problems.options import Coherence as Coherence
from dpgraph.problems.options import CoreResponse as CoreResponse
from dpgraph.problems.options import Gaussian as Gaussian
from dpgraph.problems.options import NoisyPower as NoisyPower
from dpgraph.problems.options import PermuteAndFlip as PermuteAndFlip
from dpgraph.problems.options import RandomizedResponse as RandomizedResponse
from dpgraph.problems.records.strategies.covariance.gaussian import SymmetricGaussian as SymmetricGaussian
from dpgraph.problems.records.strategies.covariance.nuclear_laplace import NuclearLaplace as NuclearLaplace
from dpgraph.problems.records.strategies.covariance.wishart_difference import WishartDifference as WishartDifference
from dpgraph.problems.records.strategies.linear_queries.ellipsoid import EllipsoidNoise as EllipsoidNoise
from dpgraph.problems.records.strategies.linear_queries.factorization import FactorizationNoise as FactorizationNoise
from dpgraph.problems.records.strategies.linear_queries.gaussian import GaussianAnswers as GaussianAnswers
from dpgraph.problems.records.strategies.linear_queries.k_norm import KNormNoise as KNormNoise
from dpgraph.problems.records.strategies.linear_queries.laplace import LaplaceAnswers as LaplaceAnswers
from dpgraph.problems.records.strategies.linear_queries.streaming import StreamingNoise as StreamingNoise

def names_in(package: str) -> tuple[str, ...]: ...

__all__ = [
    "BoundedIterates",
    "Coherence",
    "CoreResponse",
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
    "StreamingNoise",
    "SymmetricGaussian",
    "WishartDifference",
]
