"""Public random graphs in place of private ones of which only the degrees are known: what a plan is made on."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dpgraph.arguments import as_number
from dpgraph.datasets import planted_cut_sparse
from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray, IntArray

#: Vertices of a stand-in, where the average degree allows it: most noise at a vertex does not depend on n.
STAND_IN = 600
#: For communities: they are harder to begin in a larger graph.
_BLOCK_STAND_IN = 4000
#: Steps of the fixed point for the odds of edges.
_FITTING = 12
#: How often more edges are drawn, where some were loops or there already.
_ROUNDS = 20


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


def random_graph(degrees: FloatArray, vertices: int, correlation: float, generator: np.random.Generator) -> FloatArray:
    """Adjacency matrix of a public random graph whose expected degrees are quantiles of `degrees`, of any number.

    The pair {i, j} is an edge with probability p (1 + correlation s_i s_j), at most 1, where s are planted sides,
    p/(1 - p) = x_i x_j, and x_i = d_i / sum_j x_j/(1 + x_i x_j): the law of largest entropy with these degrees. So a
    share (1 - correlation)/2 of the edges runs across a planted bisection, correlation in [-1, 1].
    """
    places = (np.arange(vertices) + generator.random()) / vertices * degrees.size
    wanted = np.clip(np.sort(degrees)[places.astype(np.int64)], 0.0, 0.999 * (vertices - 1))
    x = wanted / math.sqrt(max(wanted.sum(), 1.0))
    for _ in range(_FITTING):
        inverse = 1 / (1 + np.outer(x, x))
        x = np.sqrt(x * wanted / np.maximum(inverse @ x - inverse.diagonal() * x, 1e-12))  # the root: no oscillation
    odds = np.outer(x, x)
    sides = generator.permutation(np.arange(vertices) % 2) * 2.0 - 1
    p = odds / (1 + odds) * (1 + correlation * np.outer(sides, sides))
    upper = np.triu(generator.random(p.shape) < p, 1).astype(np.float64)
    return upper + upper.T


def block_stand_in(
    n: int, degrees: FloatArray, *, blocks: int, correlation: float, max_weight: float = 1.0, seed: int = 0
) -> tuple[sparse.csr_array, IntArray]:
    """A public random graph with planted blocks of equal size in place of one of n vertices, and the block of each.

    Degrees have the quantiles of these, or of an exponential law where there is but one, their mean. An end of an edge
    is a vertex v with probability d_v / sum d. So is the other end, among the vertices of the same block with
    probability `correlation`, else among all: a share correlation + (1 - correlation)/blocks of the edges is inside.
    Pairs are drawn until there are sum d / 2. It has at most 4000 vertices.
    """
    rng, vertices = np.random.default_rng(seed), min(n, _BLOCK_STAND_IN)
    places, mean = (np.arange(vertices) + rng.random()) / vertices, float(degrees.mean()) / max_weight
    law = np.sort(degrees)[(places * degrees.size).astype(np.int64)] if degrees.size > 1 else -np.log1p(-places)
    law = np.maximum(law, np.finfo(float).tiny)
    wanted = rng.permutation(np.minimum(law * (mean / law.mean()), vertices - 1.0))
    wanted *= min(vertices / (1 + (blocks - 1) * correlation) / wanted.mean(), 1.0)  # as many as blocks have room for
    labels = np.sort(np.arange(vertices) % blocks)
    ends = np.concatenate([[0.0], np.cumsum(wanted)])
    low, high = (ends[np.searchsorted(labels, labels, side=side)] for side in ("left", "right"))
    pairs = np.zeros(0, dtype=np.int64)
    for _ in range(_ROUNDS):
        more = round(ends[-1] / 2) - pairs.size
        own, first, second = rng.random((3, max(more, 0)))
        tails = _at(ends, first * ends[-1])
        heads = _at(ends, np.where(own < correlation, low[tails] + second * (high - low)[tails], second * ends[-1]))
        found = np.minimum(tails, heads) * vertices + np.maximum(tails, heads)
        pairs = np.union1d(pairs, found[tails != heads])
    half = sparse.coo_array((np.full(pairs.size, max_weight), np.divmod(pairs, vertices)), shape=(vertices,) * 2)
    return sparse.csr_array(half + half.T), labels


def _at(ends: FloatArray, drawn: FloatArray) -> IntArray:
    """Vertex v where a number lies between ends v and v + 1."""
    return np.clip(np.searchsorted(ends, drawn, side="right") - 1, 0, ends.size - 2)


def _size(n: int, degree: float, correlation: float) -> tuple[int, float]:
    """Vertices and degree of a stand-in: a planted cut needs (1 + |correlation|) degree <= vertices."""
    spread = 1 + abs(correlation)
    vertices = min(n, max(STAND_IN, math.ceil(spread * degree) + 1))
    return vertices, min(degree, vertices / spread)
