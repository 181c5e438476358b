"""Released degrees and total weights: of all edges, between groups, or of the cut of a partition that is public."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.bounds.count_intervals import wanted_tails
from dpgraph.denoise.iterates import degree_excess
from dpgraph.denoise.swaps import Roots
from dpgraph.graph import Graph
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.privacy.call import Call, Measurement, Released


class WeightEstimate(NamedTuple):
    """Unbiased private estimate of a weight, and its standard deviation; of a cut also one of all edges."""

    value: float
    std: float
    total: float = math.nan


def release_total_weight(graph: Graph, call: Call) -> WeightEstimate:
    """Release the total weight of all edges (sensitivity w) for this part of the budget."""
    total = float(graph.degrees().sum()) / 2
    return release_weight("total weight", total, graph, call)


def release_degree_excess(graph: Graph, share: float, call: Call, above: float | None = None) -> float:
    """Release by how much the excess of degrees over a number, in sum, is more than this share of all degrees.

    The number is public, or else their average.

    Sensitivity: :func:`~dpgraph.bounds.sensitivity.degrees_beyond`, or
    :func:`~dpgraph.bounds.sensitivity.degree_excess`.
    """
    degrees = graph.degrees()
    change = sensitivity.degree_excess if above is None else sensitivity.degrees_beyond
    excess = degree_excess(degrees, float(degrees.mean()) if above is None else above, share)
    bound = change(graph.max_weight, share)
    return call.release(Measurement("excess of degrees", np.array([excess]), l1=bound)).number


def release_weight(name: str, weight: float, graph: Graph, call: Call, *, times: int = 1) -> WeightEstimate:
    """Release a multiple of the graph's weight unit that changes by at most `times` w, for this part of the budget."""
    bound = times * sensitivity.partition_weight(graph.max_weight)
    exact = np.array([weight])
    if call.pure:
        # Answers that earn a fraction of a weight lie between grid points. Rounded half up, they change by whole steps,
        # and by no more steps than the largest weight has (half to even, 0.5 and 1.5 would change by 2).
        exact = np.floor(exact / graph.weight_unit + 0.5) * graph.weight_unit
    released = call.release(Measurement(name, exact, l1=bound, l2=bound, unit=graph.weight_unit, few=True))
    return WeightEstimate(released.number, released.std)


def release_block_weights(
    graph: Graph, groups: NDArray[np.int64], call: Call, *, name: str = "group weights"
) -> Released:
    """Release the weight between every two groups of a public grouping, and inside each, for this part of the budget.

    Every vertex pair counts in one of these weights, so that all of them together have sensitivity w, in l1 and in l2.
    They come as an upper triangle, shape (k, k): entry (a, b) is the weight between groups a < b, entry (a, a) that
    inside a.
    """
    k = int(groups.max(initial=0)) + 1
    exact = np.triu(graph.weights_between(groups, k))
    exact[np.diag_indices(k)] /= 2.0
    bound, place = sensitivity.partition_weight(graph.max_weight), np.triu_indices(k)
    weights = np.zeros((k, k))
    measurement = Measurement(name, exact[place], l1=bound, l2=bound, unit=graph.weight_unit, few=True)
    weights[place], std = call.release(measurement)
    return Released(weights, std)


def release_degrees(graph: Graph, call: Call) -> Released:
    """Release all weighted degrees for this part of the budget: one edge changes two of them by at most w each.

    Where up to k edges of a person are protected, which share a vertex, the l2-sensitivity is that of all of them over
    k, for the ledger's line about one edge.
    """
    w = graph.max_weight
    l1, l2 = sensitivity.degrees_l1(w), sensitivity.degrees_l2(w, call.edges) / call.edges
    return call.release(Measurement("degrees", graph.degrees(), l1=l1, l2=l2, unit=graph.weight_unit))


def release_degree_tails(graph: Graph, call: Call) -> Released:
    """Release the numbers of vertices with at least k edges, for this part of a pure budget.

    k is 1, 2, ..., up to n - 1 or until noisy numbers show that the rest is 0
    (:func:`~dpgraph.bounds.count_intervals.wanted_tails`), which is post-processing of all of them.
    """
    counts, tails = np.bincount(graph.edge_counts()), np.zeros(graph.n_vertices - 1)
    tails[: counts.size - 1] = np.cumsum(counts[:0:-1])[::-1]
    bound = sensitivity.degree_tails()
    return call.release(Measurement("vertices of at least k edges", tails, l1=bound, unit=1.0, wanted=wanted_tails))


def release_clustering(subgraphs: Subgraphs, call: Call) -> Released:
    """Release the sum of all local clustering coefficients, in which no edge counts more than 1."""
    exact, bound = np.array([subgraphs.clustering(1.0)]), sensitivity.clustering_of_edges(1.0)
    return call.release(Measurement("clustering", exact, l1=bound, few=True))


def release_assortativity(graph: Graph, roots: Roots, call: Call) -> Released:
    """Release the sum over edges of the products of the centred roots of both degrees, for public :class:`Roots`.

    What one edge changes by at most is :func:`~dpgraph.bounds.sensitivity.root_degree_products`.
    """
    values = roots.of(graph.edge_counts().astype(np.float64))
    exact = np.array([float(values @ graph.multiply(values[:, None])[:, 0]) / 2])
    bound = sensitivity.root_degree_products(roots.smallest, roots.largest, roots.mean)
    bound = bound or 1.0  # where all roots are alike the sum is 0
    return call.release(Measurement("degrees of neighbours", exact, l1=bound, few=True))
