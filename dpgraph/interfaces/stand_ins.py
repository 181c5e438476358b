"""Stand-ins: public random graphs in place of a private one."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dpgraph.arguments import as_number
from dpgraph.datasets import planted_cut_sparse
from dpgraph.denoise.state_evolution import one_sweep, random_graph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.problems.cut.api import MAIN_SHARE
from dpgraph.tuning import CORE
from dpgraph.typing import FloatArray

__all__ = ["STAND_IN", "expected_degrees", "one_look", "stand_in"]

#: Vertices of a stand-in, where the average degree allows it: most noise at a vertex does not depend on n.
STAND_IN = 600


def expected_degrees(
    average_degree: float | None, degrees: Sequence[float] | None, n: int, max_weight: float = 1.0
) -> FloatArray:
    """The expected degrees, or the one that is expected everywhere."""
    if (average_degree is None) == (degrees is None):
        raise InvalidParameterError("give average_degree or degrees, the one or the other")
    largest = (n - 1) * max_weight
    given = np.asarray([as_number(average_degree)] if degrees is None else degrees, dtype=np.float64)
    expected = given if degrees is None else np.maximum(given, 0.0)
    if expected.ndim != 1 or expected.size == 0 or not 0 < expected.mean() <= largest:
        got = average_degree if degrees is None else f"degrees of shape {given.shape}"
        raise InvalidParameterError(
            f"average_degree, or the mean of degrees, must lie in (0, (n - 1) max_weight = {largest:g}]; got {got!r}"
        )
    return expected


def stand_in(
    n: int, degrees: FloatArray, *, max_weight: float = 1.0, correlation: float = 0.0, seed: int = 0
) -> sparse.csr_array:
    """A public random graph in place of one of n vertices with these (weighted) degrees, or this one everywhere.

    It has at most :data:`STAND_IN` vertices, or as many as its degree needs.
    """
    expected = degrees / max_weight
    vertices, degree = _size(n, float(expected.mean()), correlation)
    if expected.size == 1:
        return planted_cut_sparse(vertices, degree, correlation, rng=seed)[0] * max_weight
    rng = np.random.default_rng(seed)
    return sparse.csr_array(random_graph(expected, vertices, correlation, rng)) * max_weight


def _size(n: int, degree: float, correlation: float) -> tuple[int, float]:
    """Vertices and degree of a stand-in: a planted cut needs (1 + |correlation|) degree <= vertices."""
    spread = 1 + abs(correlation)
    vertices = min(n, max(STAND_IN, math.ceil(spread * degree) + 1))
    return vertices, min(degree, vertices / spread)


def one_look(n: int, degrees: FloatArray, correlation: float, epsilon: float) -> float:
    """What one pure look at every vertex cuts, in the order of the degrees."""
    if degrees.size == 1:
        degrees = np.full(1, _size(n, float(degrees[0]), correlation)[1])
    std = math.sqrt(2) / (epsilon * MAIN_SHARE * (1 - CORE.degree_share))
    places = (np.arange(min(n, 10_000)) * degrees.size) // min(n, 10_000)
    return one_sweep(np.sort(degrees)[places][::-1], std**2)
