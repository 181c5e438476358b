"""The densest part of a graph: vertices are peeled off in orders that are made of released numbers."""

import math
from typing import NamedTuple

import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.denoise.empirical_bayes import enough_rows, posterior_means
from dpgraph.graph import Graph
from dpgraph.privacy.call import Call, Measurement, Released
from dpgraph.releases.totals import release_degrees, release_weight
from dpgraph.tuning import COMMON, DENSEST
from dpgraph.typing import BoolArray, FloatArray, IntArray


class DensestPart(NamedTuple):
    """Which vertices are inside, and the private estimate of the density with its standard deviation."""

    inside: BoolArray
    density: float
    std: float


def release_densest(graph: Graph, call: Call) -> DensestPart:
    """Choose vertices with many edges among them for a part of a pure budget, then release how many, with the rest.

    In a round the vertices stand in a public order, and each releases how many of its edges lead to vertices before it.
    Sums of these over the first k vertices estimate the edges among them, for every k. What the rounds release gives
    the order of the next one. Of the best first k, those are left out that by the later half of the rounds seem to have
    fewer edges inside than the density: without them it would be larger.

    Notes
    -----
    *Guarantee.* The order of the first round is that of released degrees, each later one a function of what was
    released before. So each is public when it is used, and a round counts the pair {u, v} at one of its ends only: all
    its numbers together have l1-sensitivity w (:func:`~dpgraph.bounds.sensitivity.label_counts`, all vertices having
    one label). Epsilon says how many rounds there are. The vertices are a function of what was released; the weight
    among them is released with noise of its own (:func:`~dpgraph.bounds.sensitivity.partition_weight`), so that the
    choice has not seen it.
    """
    # The order is a new one once at least: it is what the rounds are for.
    again = max(int(DENSEST.rounds_per_epsilon * min(call.epsilon, DENSEST.most_rounds)), 1)
    rounds = min(1 + again, DENSEST.most_rounds)
    degrees, counts, weight = call.split(DENSEST.degree_share, 1 - DENSEST.degree_share - COMMON.share, COMMON.share)
    score = release_degrees(graph, degrees).value
    most, best, density, later = -math.inf, np.arange(0), 0.0, []
    for number in range(1, rounds + 1):
        order = np.argsort(-score, kind="stable")
        read = _release_round(graph, order, number, counts.equal_part(rounds))
        surely, prefix, mean = _best_prefix(order, read)
        if surely > most:
            most, best, density = surely, prefix, mean
        if number > rounds - rounds // 2:
            later.append((order, read, score.copy()))
        score[order] = _edges_inside(order, read, score)
    chosen = _without_the_loose(best, _mean_edges(best, later), density, 1 / len(later))
    inside = np.zeros(graph.n_vertices, dtype=bool)
    inside[chosen] = True
    indicator = inside.astype(np.float64)
    exact = float(indicator @ graph.multiply(indicator)) / 2
    released = release_weight("weight of the densest part", exact, graph, weight)
    return DensestPart(inside, released.value / chosen.size, released.std / chosen.size)


def _release_round(graph: Graph, order: IntArray, number: int, call: Call) -> Released:
    """Release the weight of the edges of each vertex to those before it in a public order."""
    exact = to_earlier(graph, order)
    bound = sensitivity.label_counts(graph.max_weight)
    name = f"edges to earlier vertices, round {number}"
    return call.release(Measurement(name, exact, l1=bound, unit=graph.weight_unit))


def to_earlier(graph: Graph, order: IntArray) -> FloatArray:
    """Weight of the edges of each vertex to those before it in an order."""
    A, place = graph.adjacency, np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    ends = np.repeat(place, np.diff(A.indptr))
    earlier = place[A.indices] < ends
    counted = np.bincount(ends[earlier], weights=A.data[earlier], minlength=order.size)
    return np.asarray(counted[place], dtype=np.float64)


def _best_prefix(order: IntArray, counts: Released) -> tuple[float, IntArray, float]:
    """A lower bound on a density, less the noise of all, the prefix where it is largest, and its noisy density.

    The noisy numbers of a prefix of k add up to the weight inside. Laplace noise of scale b in them adds up to more
    than 2 b sqrt(k L) + b L with probability e^-L at most, as its log-moments are at most k b^2 x^2/(1 - b x). L = ln
    n: a few vertices with large noise do not win. In units of the noise nothing overflows.
    """
    sizes, log = np.arange(1, order.size + 1), math.log(order.size)
    inside = np.cumsum(counts.value[order] / counts.std)
    surely = (inside - np.sqrt(2 * log * sizes) - log / math.sqrt(2)) / sizes
    best = int(surely.argmax())
    return float(surely[best] * counts.std), order[: best + 1], float(inside[best] / sizes[best])


def _mean_edges(those: IntArray, read: list[tuple[IntArray, Released, FloatArray]]) -> FloatArray:
    """How many edges each of `those` has to others of them, a mean over orders, in units of the noise of one.

    Where a clique stands before another one, edges inside the later are taken for edges to the earlier.
    """
    edges = np.zeros(read[0][0].size)
    for order, counts, score in read:
        among = order[np.isin(order, those)]
        edges[among] += _edges_inside(among, counts, score) / counts.std
    return edges[those] / len(read)


def _without_the_loose(prefix: IntArray, edges: FloatArray, density: float, variance: float) -> IntArray:
    """Those of a prefix with as many edges to others of it as it has for each vertex: all have, of a densest set.

    Estimates of these have noise of their own, and less from later vertices. They become posterior means under the law
    of all of them, so that noise alone leaves nobody out, however large a few are. In units of the noise.
    """
    if not enough_rows(prefix.size, 1):
        return prefix
    kept = posterior_means(edges[:, None], variance * np.eye(1))[:, 0] >= density
    return prefix[kept] if kept.any() else prefix


def _edges_inside(order: IntArray, counts: Released, score: FloatArray) -> FloatArray:
    """Estimate how many edges each vertex of an order, or of its prefix, has to all others there; in that order.

    It is known how many edges a vertex has to those before it, not which they are: each edge is taken to lead to
    earlier vertices in proportion to `score`, their degrees or the estimates of the round before. The estimate of a
    vertex adds its own noisy number and the edges that later ones send to it. In units of the noise.
    """
    read = counts.value[order] / counts.std
    size, sent = np.maximum(score[order] / counts.std, 1.0), np.zeros(order.size)  # less than the noise says nothing
    sent[1:] = np.maximum(read[1:], 0.0) / np.cumsum(size)[:-1]
    return np.asarray((read + size * (np.cumsum(sent[::-1])[::-1] - sent)) * counts.std)
