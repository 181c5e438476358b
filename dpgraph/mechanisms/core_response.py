"""Two pure stages: randomised response inside a core of large degrees, then one look at every other vertex.

Randomised response hides the edges of a vertex among k p false answers, k vertices answering: among few vertices of
many edges that is little, among all vertices of a sparse graph it is more than there is to see. So only a core answers,
its cut is computed from the answers at leisure, and each other vertex reads its edges to those before it once, with the
noise of a single count. Answers tell about the pairs inside the core, looks about all others: both spend the budget.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpgraph.graph import Graph
from dpgraph.mechanisms.bounded_iterates import ITERATE_UNIT, Core
from dpgraph.mechanisms.cut_iterates import BalancedSigns, Signs, halves
from dpgraph.mechanisms.degree_core import degree_order, release_usable_degrees
from dpgraph.mechanisms.randomized_response import FlippedGraph, release_flipped_graph
from dpgraph.privacy.exact_sampling import flip_exponent, flip_probability
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource
from dpgraph.spectral import sensitivity

__all__ = ["release_core_response", "response_core"]

FloatArray = NDArray[np.float64]

#: Share of epsilon for the degrees that choose the core.
DEGREE_SHARE = 0.04
#: A vertex answers if it expects this many edges inside the core for each false answer (tuned on planted, uniform and
#: power-law random graphs, validated on SNAP and Facebook100 graphs, benchmarks/results).
_EDGES_PER_FLIP = 1.5
#: Blocks of the look: nearly one vertex after another.
_BLOCKS = 1000


def release_core_response(
    graph: Graph,
    solve: Callable[[FlippedGraph], NDArray[np.int8]],
    *,
    mean_degree: float,
    ledger: Ledger,
    epsilon: float,
    noise: NoiseSource,
    balanced: bool = False,
) -> NDArray[np.int8]:
    """Release a 0/1 side for each vertex with pure `epsilon`, aiming at a large cut.

    Parameters
    ----------
    graph : Graph
        The private graph.
    solve : callable
        Cuts a released graph: sides of its vertices.
    mean_degree : float
        A private (released) average degree.
    ledger, epsilon, noise
        Budget of the call, epsilon of this release, source of noise.
    balanced : bool
        Make the sides differ by at most one vertex.
    """
    w, n = graph.max_weight, graph.n_vertices
    degrees = release_usable_degrees(
        graph, mean_degree, DEGREE_SHARE * epsilon / ledger.epsilon, ledger=ledger, noise=noise
    )
    epsilon *= 1 - DEGREE_SHARE
    core = response_core(degrees / w, epsilon, noise.generator)
    X = np.zeros((n, 1))
    X[core.rows, 0] = 1.0 - 2.0 * solve(
        release_flipped_graph(graph, ledger=ledger, epsilon=epsilon, noise=noise, core=core)
    )
    fields = np.zeros(n)
    fields[core.rows] = np.copysign(np.inf, -X[core.rows, 0])  # what the core has chosen is certain
    if core.others.size:
        bound = sensitivity.first_sweep(w)
        scale = ledger.laplace("fields, other rows", sensitivity=bound, epsilon=epsilon, pairs="outside the core")
        response = BalancedSigns() if balanced else Signs()
        for block in np.array_split(core.others, min(_BLOCKS, core.others.size)):
            exact = graph.multiply_rows(block, X)
            noisy = noise.laplace_on_grid(exact, graph.weight_unit * ITERATE_UNIT, scale)  # fine, so that ties are rare
            X[block] = response.answer(block, noisy, np.inf, X)
            fields[block] = noisy[:, 0]
    return halves(fields) if balanced else (X[:, 0] < 0).astype(np.int8)


def response_core(degrees: FloatArray, epsilon: float, generator: np.random.Generator) -> Core:
    """As many vertices of large (released) degree as expect enough edges inside the core for each false answer.

    If edges choose their ends in proportion to the degrees, a vertex of degree d has d times the core's share of all
    degrees inside the core, and k p false answers in a core of k vertices.
    """
    order = degree_order(degrees, generator)
    inside = degrees[order] * np.cumsum(degrees[order]) / degrees.sum()
    flips = np.arange(1, degrees.size + 1) * flip_probability(flip_exponent(epsilon))
    worth = np.flatnonzero(inside >= _EDGES_PER_FLIP * flips)
    return Core(order, int(worth[-1]) + 1 if worth.size else 1)
