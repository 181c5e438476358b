"""The leading eigenvector by the power method, with pure noise that is drawn for all products at once.

One edge adds to a row of a product A x at most the largest entry of the public x, in every product, and the noise of
all products at a row is one vector of a K-norm mechanism (:class:`~dpgraph.privacy.row_norm.RowNorm`). Several columns
would each have to be paid for. If the degrees are close to the eigenvector, an iterate is its posterior mean, with its
largest entries cut off as far as that pays; otherwise posterior means are taken whole.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_basis
from dpgraph.denoise.iterates import shrunken_degrees
from dpgraph.denoise.products import Products, Steer, average, capped_posterior, posterior
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Measurement
from dpgraph.privacy.grid import query_grid
from dpgraph.privacy.row_norm import NUMBER, RowNorm
from dpgraph.progress import BAR, tqdm
from dpgraph.releases.eigenspaces.power_method import MOST_PRODUCTS, LowRankAdjacency, row_scales
from dpgraph.releases.totals import release_degrees
from dpgraph.tuning import COMMON, RESIDUAL, VECTOR
from dpgraph.typing import FloatArray

#: Iterates are multiples of this, times their largest entry, so that products lie exactly on a public grid, of weighted
#: graphs of up to a million edges a vertex too.
_UNIT = 2.0**-13


@dataclass(frozen=True)
class DegreeResidual:
    """What :func:`release_degree_residual` found."""

    # Released Rayleigh quotient of the clipped degrees, at least 0
    quotient: float
    # Whether the degrees are far from the leading eigenvector, as far as can be said through the noise
    is_large: bool


def release_degree_residual(graph: Graph, mean_degree: float, call: Call) -> DegreeResidual:
    """Release the Rayleigh quotient of the degrees and, where noise allows, whether their residual is large.

    Let h be the degrees, clipped to a multiple D of their average and divided by it, and q their Rayleigh quotient.
    |Ah - q h|^2, over q^2 |h|^2, is the squared tangent of the angle between h and A h. The entries of A h - q h are
    clipped; docs/normalized-adjacency-theory.md says how large the sum is in real graphs. It is least at the quotient,
    so that an error of the released q counts squared, and that of |h|^2 and h'Ah may be larger.

    Notes
    -----
    *Guarantee.* :func:`~dpgraph.bounds.sensitivity.clipped_degrees` for the first two numbers,
    :func:`~dpgraph.bounds.sensitivity.clipped_residual` for the third, where q is public.
    """
    w, n = graph.max_weight, graph.n_vertices
    cap, third = max(RESIDUAL.cap * mean_degree, w), call.part(RESIDUAL.share)
    h = np.minimum(graph.degrees(), cap)[:, None] / cap
    product = graph.multiply(h)
    of_length, of_value = sensitivity.clipped_degrees(w, cap)

    def release(name: str, exact: float, bound: float, size: float, precision: float) -> tuple[float, float]:
        """A number of about this `size`, for its share or for what the relative `precision` costs, the less of both."""
        asked = min(third.epsilon, math.sqrt(2.0) * bound / (precision * size))
        released = call.at_epsilon(asked).release(Measurement(name, np.array([exact]), l1=bound))
        return released.number, released.std

    precise = RESIDUAL.large / 10
    rough = math.sqrt(precise / 4)  # relative errors of the first two numbers count squared
    length, length_std = release(
        "squared length of degrees", float(np.sum(h * h)), of_length, n / RESIDUAL.cap**2, rough
    )
    size = min(max(length, 1.0), float(n))
    value, value_std = release(
        "quotient of degrees", float(np.sum(h * product)), of_value, max(mean_degree, w) * size, rough
    )
    quotient = max(value / size, 0.0)
    findable = RESIDUAL.findable * w * math.sqrt(n) / call.epsilon
    if quotient <= findable:  # products would not find what degrees do not show
        return DegreeResidual(quotient, False)
    limit, squares = RESIDUAL.limit * quotient, quotient**2 * size
    of_quotient = (length_std / size) ** 2 + (value_std / size / quotient) ** 2
    bound = sensitivity.clipped_residual(w, cap, limit, quotient)
    if math.sqrt(2.0) * bound / third.epsilon > RESIDUAL.large * squares:  # the answer would be noise
        return DegreeResidual(quotient, False)
    exact = float(np.sum(np.minimum(np.abs(product - quotient * h), limit) ** 2))
    found, std = release("squared residual of degrees", exact, bound, squares, precise)
    noise = math.hypot(std / squares, math.sqrt(5.0) * of_quotient)
    return DegreeResidual(quotient, found / squares - of_quotient > RESIDUAL.large + noise)


def release_leading_vector(
    graph: Graph, residual: DegreeResidual, call: Call, *, regularization: float
) -> LowRankAdjacency:
    """Release degrees and a rank-one adjacency, for a pure part of a budget.

    `residual` says whether the degrees, from which it starts, are far from the eigenvector; `regularization` is that
    of :func:`~dpgraph.releases.eigenspaces.power_method.release_low_rank_adjacency`.

    Notes
    -----
    *Guarantee.* Pure, for the part's epsilon. Products: :func:`~dpgraph.bounds.sensitivity.repeated_queries`. Each
    iterate is divided by its (public) largest entry.
    """
    w, n = graph.max_weight, graph.n_vertices
    degrees, std = release_degrees(graph, call.part(COMMON.share))
    rows = row_scales(degrees, regularization, w)
    start = (rows * shrunken_degrees(degrees, float(degrees.mean()), std, w))[:, None]
    # A single product costs as much as two. From afar the vector is found in as many steps as stand out of the noise.
    found = VECTOR.far_products * call.epsilon * residual.quotient / (w * math.sqrt(n)) if residual.is_large else 0.0
    iterations = round(min(max(VECTOR.products * math.sqrt(call.epsilon), found, 2), MOST_PRODUCTS))
    steer: Steer | None = None
    if enough_rows(n, 1):
        steer = posterior if residual.is_large else capped_posterior
    products = call.at_epsilon(call.epsilon * (1 - COMMON.share - COMMON.total))
    Q = _iterate(graph, rows, start, iterations, steer, products)
    scaled = rows[:, None] * Q
    value = np.array([float(np.sum(scaled * graph.multiply(scaled)))])
    bound = sensitivity.adjacency_core(w, scaled)
    core = call.part(COMMON.total).release(Measurement("core", value, l1=bound))
    return LowRankAdjacency(degrees, Q, core.value[:, None])


def _iterate(
    graph: Graph, rows: FloatArray, start: FloatArray, iterations: int, steer: Steer | None, call: Call
) -> FloatArray:
    """Unit vector close to the leading eigenvector of diag(rows) A diag(rows), from a public start, shape (n, 1)."""
    norm = RowNorm(iterations, NUMBER)
    step, envelope, epsilon = query_grid(graph.max_weight, 1, graph.weight_unit * _UNIT, call.epsilon)
    moved = sensitivity.repeated_queries(envelope)
    scale = call.at_epsilon(epsilon).scale(f"{iterations} products", moved, law="K-norm")
    everywhere = np.arange(graph.n_vertices)
    queries = call.noise.queries((graph.n_vertices, 1), everywhere, norm, step, scale)
    variance = norm.variance(scale)
    Q = start / np.linalg.norm(start)
    seen = Products(Q, iterations)
    value = 0.0
    for t in tqdm(range(iterations), desc="products", disable=BAR.get() is None):
        largest = float(np.abs(rows[:, None] * Q).max())
        exact = graph.multiply(np.rint(rows[:, None] * Q / (largest * _UNIT)) * _UNIT)
        noisy = queries.read(everywhere, exact)
        product = rows[:, None] * noisy * largest
        seen.add(product, variance * largest**2)
        value = max(value, float(np.sum(Q * product)))
        seen.improve(0.0)
        Q = seen.basis()
        if steer and t < iterations - 1:
            Q = steer(seen, rows, variance / value**2 if value > 0 else math.inf)
    average(seen, rows)
    if steer:
        return posterior_basis(seen.basis(), seen.covariance(), rows)
    return seen.basis() / np.linalg.norm(seen.basis())
