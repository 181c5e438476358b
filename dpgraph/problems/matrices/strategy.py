"""What the strategies for the subspaces of a private matrix share."""

from typing import Any, NamedTuple

from dpgraph.problems.strategy import Registry
from dpgraph.typing import FloatArray

#: The strategies: ``run(options, opened, matrix, asked)`` returns :class:`Factors`.
MATRICES = Registry("dpgraph.problems.matrices.strategies")


class Asked(NamedTuple):
    """What a function for symmetric matrices asks for: a core; algebraically largest eigenvalues, not those of size."""

    core: bool = False
    signed: bool = False


class Factors(NamedTuple):
    """Released orthonormal bases of leading left and right singular vectors: the same one of a symmetric matrix."""

    left: FloatArray
    right: FloatArray
    #: Noisy leading singular values, or |eigenvalues|.
    spectrum: FloatArray
    #: Of the result.
    estimated_sine: float
    #: Of a symmetric matrix, if it was asked for: the matrix is close to left core left'.
    core: Any = None
