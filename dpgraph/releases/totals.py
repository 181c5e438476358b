"""Released degrees and total weights: of all edges, between groups, or of the cut of a partition that is public."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpgraph.bounds import sensitivity
from dpgraph.graph import Graph
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


def release_cut_weight(graph: Graph, labels: NDArray[np.int8], call: Call) -> WeightEstimate:
    """Release the weights across and inside the sides of a public 0/1 labelling, for this part of the budget.

    The labelling must have been released before: for a fixed labelling one pair counts in one of the two weights, so
    that both together change by at most w, in l1 and in l2. The total weight is their sum: it costs nothing more.
    """
    across = _crossing(graph, labels)
    exact, w = np.array([across, float(graph.degrees().sum()) / 2 - across]), graph.max_weight
    bound = sensitivity.partition_weight(w)
    released = call.release(Measurement("cut weight", exact, l1=bound, l2=bound, unit=graph.weight_unit, few=True))
    return WeightEstimate(released.number, released.std, float(released.value.sum()))


def _crossing(graph: Graph, labels: NDArray[np.int8]) -> float:
    return float(graph.weights_between(labels, 2)[0, 1])


def release_cut_advantage(graph: Graph, labels: NDArray[np.int8], call: Call) -> WeightEstimate:
    """Release by how much a public cut exceeds random halves in expectation, for this part of a Gaussian budget.

    Halves separate the share f = 2 a b/(n (n - 1)) >= 1/2 of all pairs, a = floor(n/2), b = n - a, so that this is the
    sum over pairs of weight times ([separated] - f), f rounded up to 2**-10. One pair changes it by at most f w.
    """
    n = graph.n_vertices
    share = rounded_up(2 * (n // 2) * (n - n // 2) / (n * (n - 1))) if n > 1 else 0.5
    exact = _crossing(graph, labels) - share * float(graph.degrees().sum()) / 2
    return release_advantage(exact, sensitivity.advantage(graph.max_weight, share), call)


def rounded_up(share: float) -> float:
    """A share of chance as a multiple of 2**-10, so that products with sums of weights are exact."""
    return math.ceil(share * 2.0**10) * 2.0**-10


def release_advantage(exact: float, bound: float, call: Call) -> WeightEstimate:
    """Release an advantage over chance, of sensitivity `bound`, for this part of a Gaussian budget."""
    released = call.release(Measurement("advantage over chance", np.array([exact]), l2=bound, few=True))
    return WeightEstimate(released.number, released.std)


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
    """Release the numbers of vertices with at least k edges, k = 1, ..., n - 1, for this part of a pure budget."""
    n = graph.n_vertices
    counts = np.bincount(graph.edge_counts(), minlength=n)
    tails = np.cumsum(counts[::-1], dtype=np.float64)[::-1][1:]
    return call.release(Measurement("vertices of at least k edges", tails, l1=sensitivity.degree_tails(), unit=1.0))
