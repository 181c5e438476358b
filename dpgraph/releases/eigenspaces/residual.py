"""Whether the degrees are close to the leading eigenvector of an adjacency matrix, for a few hundredths of epsilon.

Let h be the degrees, clipped to a multiple D of their average and divided by it. An edge moves |h|^2, h'Ah and the
squared length of A h, its entries clipped, by a few times what it moves the total weight by, and they are of the order
of the number of vertices and more. So |h|^2 |Ah|^2/(h'Ah)^2 - 1, the squared tangent of the angle between h and A h, is
known well in any graph of some thousand vertices. It is 0.00 to 0.07 where degrees are nearly the leading eigenvector
(random and planted graphs, friendships, mail, votes), and 0.15 where that lives on a group that they do not show (the
circles of one person, co-authors of long papers), so that an iteration from them needs many more products.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.graph import GraphOperator
from dpgraph.privacy.call import Call, Measurement
from dpgraph.tuning import RESIDUAL

__all__ = ["RESIDUAL_SHARE", "DegreeResidual", "release_degree_residual"]

RESIDUAL_SHARE = sum(RESIDUAL.shares)


@dataclass(frozen=True)
class DegreeResidual:
    """What :func:`release_degree_residual` found."""

    # Released Rayleigh quotient of the clipped degrees, at least 0
    quotient: float
    # Whether the degrees are far from the leading eigenvector, as far as can be said through the noise
    is_large: bool


def release_degree_residual(graph: GraphOperator, mean_degree: float, call: Call) -> DegreeResidual:
    """Release the Rayleigh quotient of the degrees and, where noise allows, whether their residual is large.

    At most :data:`RESIDUAL_SHARE` of a pure part of a budget is spent.

    Notes
    -----
    *Guarantee.* :func:`~dpgraph.bounds.sensitivity.clipped_degrees` for the first two numbers,
    :func:`~dpgraph.bounds.sensitivity.clipped_product` for the third.
    """
    w, n = graph.max_weight, graph.n_vertices
    cap = max(RESIDUAL.cap * mean_degree, w)
    h = np.minimum(graph.degrees(), cap)[:, None] / cap
    product = graph.multiply(h)
    of_length, of_value = sensitivity.clipped_degrees(w, cap)
    epsilon, shares = call.epsilon, [share * call.epsilon for share in RESIDUAL.shares]

    def release(k: int, name: str, exact: float, bound: float) -> float:
        return call.at_epsilon(shares[k]).release(Measurement(name, np.array([exact]), l1=bound)).number

    length = release(0, "squared length of degrees", float(np.sum(h * h)), of_length)
    value = release(1, "quotient of degrees", float(np.sum(h * product)), of_value)
    length = min(max(length, 1.0), float(n))
    quotient = max(value / length, 0.0)
    if not quotient:
        return DegreeResidual(0.0, False)
    if epsilon >= RESIDUAL.findable and w * math.sqrt(n) > RESIDUAL.sparse * epsilon * max(mean_degree, w):
        return DegreeResidual(quotient, True)
    limit = RESIDUAL.limit * quotient
    of_squares = sensitivity.clipped_product(w, limit)
    squares = quotient**2 * length  # expected, if the residual is small
    scales = (of_length / length / shares[0], 2 * of_value / value / shares[1], of_squares / squares / shares[2])
    std = math.sqrt(2.0) * math.hypot(*scales)
    if std > RESIDUAL.clear:
        return DegreeResidual(quotient, False)
    exact = float(np.sum(np.minimum(product, limit) ** 2))
    noisy = release(2, "squared product of degrees", exact, of_squares)
    return DegreeResidual(quotient, noisy / squares - 1 > RESIDUAL.large + RESIDUAL.margin * std)
