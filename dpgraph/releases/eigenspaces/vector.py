"""The leading eigenvector by the power method, with pure noise that is drawn for all products together.

As the noisy power method does (:mod:`~dpgraph.releases.eigenspaces.power_method`), this releases products A x with
public iterates x and keeps all of them. But one edge adds to a row of a product at most the largest entry of x, in
every product, and the noise of all products at a row is one vector
(:class:`~dpgraph.privacy.reading_norm.ReadingNorm`). Several columns would each have to be paid for, so that for more
than one column Gaussian noise is better.

If the degrees are close to the eigenvector, an iterate is the posterior mean of it, with its largest entries cut off as
far as that pays (they set the noise of the next product), and few products are enough. If the degrees are far from it
(:mod:`~dpgraph.releases.eigenspaces.residual`), cut-off iterates would not get there: posterior means are taken whole,
and more products are released.
"""

import math

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis
from dpgraph.denoise.products import Products, Steer, average, capped_posterior, posterior
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.reading_norm import ReadingNorm, reading_grid
from dpgraph.releases.degrees import release_degrees
from dpgraph.releases.eigenspaces.power_method import LowRankAdjacency, row_scales
from dpgraph.releases.eigenspaces.residual import DegreeResidual
from dpgraph.releases.sweeps.core import shrunken_degrees
from dpgraph.tuning import VECTOR
from dpgraph.typing import FloatArray

__all__ = ["release_leading_vector"]


#: Iterates are multiples of this, times their largest entry, so that products lie exactly on a public grid, of weighted
#: graphs of up to a million edges a vertex too.
_UNIT = 2.0**-13


def release_leading_vector(
    graph: GraphOperator, residual: DegreeResidual, call: Call, *, regularization: float, denoise: bool = False
) -> LowRankAdjacency:
    """Release degrees and a rank-one adjacency.

    Parameters
    ----------
    graph : GraphOperator
        The private graph.
    residual : DegreeResidual
        Whether the degrees, from which it starts, are far from the eigenvector.
    call : Call
        Pure part of a budget.
    regularization, denoise
        As for :func:`~dpgraph.releases.eigenspaces.power_method.release_low_rank_adjacency`.

    Notes
    -----
    *Guarantee.* Pure, for the part's epsilon. Products: :func:`~dpgraph.bounds.sensitivity.repeated_readings`, from a
    start that is not zero: the norm is that of a cube, where this costs nothing more for two products or more, and
    twice as much for a single one. Each iterate is divided by its (public) largest entry.
    """
    w, n = graph.max_weight, graph.n_vertices
    degrees, std = release_degrees(graph, call.part(VECTOR.degree_share))
    rows = row_scales(degrees, regularization, w)
    start = (rows * shrunken_degrees(degrees, float(degrees.mean()), std, w))[:, None]
    iterations = _iterations(call.epsilon, residual, w * math.sqrt(n))
    steer: Steer | None = None
    if denoise and enough_rows(n, 1):
        steer = posterior if residual.is_large else capped_posterior
    products = call.at_epsilon(call.epsilon * (1 - VECTOR.degree_share - VECTOR.value_share))
    Q = _iterate(graph, rows, start, iterations, steer, products)
    scaled = rows[:, None] * Q
    value = np.array([float(np.sum(scaled * graph.multiply(scaled)))])
    bound = sensitivity.adjacency_core(w, scaled)
    core = call.at_epsilon(call.epsilon * VECTOR.value_share).release(Measurement("core", value, l1=bound))
    return LowRankAdjacency(degrees, Q, core.value[:, None])


def _iterations(epsilon: float, residual: DegreeResidual, size: float) -> int:
    """Products to release: the farther from the eigenvector they start, the more; the more noise, the fewer.

    `size` is the norm of a column of noise of scale w.
    """
    if residual.is_large:
        found = VECTOR.far_products * epsilon * residual.quotient / size
        return min(
            max(round(found), round(VECTOR.unknown_products * epsilon**VECTOR.power), VECTOR.far_least), VECTOR.far_most
        )
    return min(max(round(VECTOR.products * epsilon**VECTOR.power), VECTOR.least), VECTOR.most)


def _iterate(
    graph: GraphOperator, rows: FloatArray, start: FloatArray, iterations: int, steer: Steer | None, call: Call
) -> FloatArray:
    """Unit vector close to the leading eigenvector of diag(rows) A diag(rows), from a public start, shape (n, 1)."""
    norm = ReadingNorm(iterations, ratio=1.0)
    step, envelope, epsilon = reading_grid(graph.max_weight, 1, graph.weight_unit * _UNIT, call.epsilon)
    moved = sensitivity.repeated_readings(envelope, norm, from_zero=False)
    scale = call.at_epsilon(epsilon).scale(f"{iterations} products", moved, law="K-norm")
    everywhere = np.arange(graph.n_vertices)
    readings = call.noise.readings((graph.n_vertices, 1), everywhere, norm, step, scale)
    variance = norm.variances(scale)[1]
    Q = start / np.linalg.norm(start)
    seen = Products(Q, iterations)
    value = 0.0
    for t in range(iterations):
        largest = float(np.abs(rows[:, None] * Q).max())
        exact = graph.multiply(np.rint(rows[:, None] * Q / (largest * _UNIT)) * _UNIT)
        noisy = readings.later(everywhere, exact) if t else readings.first(everywhere, exact)
        product = rows[:, None] * noisy * largest
        seen.add(product, variance * largest**2)
        value = max(value, float(np.sum(Q * product)))
        seen.improve(VECTOR.decay)
        Q = seen.basis()
        if steer and t < iterations - 1:
            Q = steer(seen, rows, variance / value**2 if value > 0 else math.inf)
    average(seen, rows)
    if steer:
        return posterior_basis(seen.basis(), seen.covariance(), rows)
    return seen.basis() / np.linalg.norm(seen.basis())
