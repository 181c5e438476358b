"""What a sweep of a bounded iteration would cut, predicted from public numbers: degrees and the scale of the noise.

One sweep has a formula (:func:`one_sweep`). In later sweeps neighbours have answered to a vertex's own earlier choice.
That memory has no short formula, so they are run on a public random graph of such degrees (:func:`random_graph`).
"""

import math

import numpy as np

from dpgraph.typing import FloatArray

#: Steps of the fixed point for the odds of edges.
_FITTING = 12


def one_sweep(degrees: FloatArray, variance: float) -> float:
    """Share of the edges that one sweep cuts in a graph of these degrees in which no cut is planted.

    Vertices choose their sides in the order of `degrees`, and their readings have noise of this `variance`. A vertex of
    degree d, a share t of whose neighbours has chosen before it, sees a field of variance t d through noise of variance
    s^2. Against its reading it wins sqrt(2/pi) t d/sqrt(t d + s^2) more edges than it loses, in expectation over a
    Gaussian field. t is the share of all degrees that earlier vertices have.
    """
    total = float(degrees.sum())
    seen = degrees * (np.cumsum(degrees) - degrees) / total
    won = math.sqrt(2 / math.pi) * seen / np.sqrt(np.maximum(seen + variance, np.finfo(float).tiny))
    return min(0.5 + float(won.sum()) / total, 1.0)


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
