"""Functions of networkx that are numbers of edges between public groups, or numbers that one edge moves by one."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any

import networkx as nx
import numpy as np

from dpgraph.bounds import sensitivity
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.interfaces.networkx.private_graph import Privacy, PrivateGraph, answered_privately
from dpgraph.privacy.call import Call, Measurement, open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.counts.statistics import private_statistic
from dpgraph.problems.counts.subgraphs import private_subgraph_counts, release_counts
from dpgraph.problems.densest import private_densest_subgraph
from dpgraph.releases.totals import release_block_weights
from dpgraph.typing import FloatArray, IntArray

Nodes = Collection[Hashable]


def opened(G: PrivateGraph, asked: Privacy, weight: str | None, rng: Any = None) -> tuple[Graph, Call]:
    """The budget is debited before an edge is read."""
    source = open_graph(G, weight=weight, max_weight=asked.arguments(weight)["max_weight"])
    call = open_call(**asked.budget, relation=Edge(), noise=noise_source(rng))
    return source.read(), call


def possible(value: float, pairs: float, weight: str | None, max_weight: float = 1.0) -> float:
    """A released weight, moved to where so many pairs can be: a whole number where edges are counted."""
    kept = min(max(float(value), 0.0), pairs * max_weight)
    return round(kept) if weight is None else kept


def group_numbers(G: PrivateGraph, communities: Iterable[Nodes]) -> IntArray:
    """Number of the community of each vertex; both are public."""
    nodes, sets = list(G), [set(community) for community in communities if len(community) > 0]
    number = {node: k for k, community in enumerate(sets) for node in community}
    if sum(map(len, sets)) != len(nodes) or number.keys() != set(nodes):
        raise nx.community.quality.NotAPartition(G, sets)
    return np.array([number[node] for node in nodes], dtype=np.int64)


@answered_privately
def number_connected_components(G: PrivateGraph, *, asked: Privacy) -> int:
    """Connected components with noise of scale 1/epsilon: :func:`dpgraph.private_statistic`."""
    return round(private_statistic(G, "components", **asked.budget).value)


@answered_privately
def edge_connectivity(
    G: PrivateGraph,
    s: Hashable | None = None,
    t: Hashable | None = None,
    flow_func: Callable[..., Any] | None = None,
    cutoff: float | None = None,
    *,
    asked: Privacy,
) -> int:
    """Edges of a minimum cut with noise of scale 1/epsilon: :func:`dpgraph.private_statistic`."""
    if s is not None or t is not None or cutoff is not None:
        raise InvalidParameterError("s, t and cutoff must be None: the private answer is about the whole graph")
    return round(private_statistic(G, "edge-connectivity", **asked.budget).value)


@answered_privately
def densest_subgraph(
    G: PrivateGraph, iterations: int = 1, *, method: str = "fista", asked: Privacy
) -> tuple[float, set[Hashable]]:
    """Private density, and the vertices: :func:`dpgraph.private_densest_subgraph`."""
    found = private_densest_subgraph(G, **asked.budget)
    most = (len(found.vertices) - 1) / 2
    return min(max(found.estimated_density, 0.0), most), found.vertices


def is_partition(G: PrivateGraph, communities: Iterable[Nodes]) -> bool:
    """Whether public sets are a partition of the vertices, which networkx asks before it calls partition_quality."""
    return bool(nx.community.is_partition.orig_func(G, communities))


@answered_privately
def partition_quality(G: PrivateGraph, partition: Iterable[Nodes], *, asked: Privacy) -> tuple[float, float]:
    """Coverage and performance of a public partition, from the noisy numbers of edges inside and between its parts."""
    groups = group_numbers(G, partition)
    sizes = np.bincount(groups).astype(np.float64)
    pairs = math.comb(len(G), 2)
    pairs_inside = float((sizes * (sizes - 1) / 2).sum())
    graph, call = opened(G, asked, None)
    rows = np.repeat(np.arange(groups.size), np.diff(graph.adjacency.indptr))
    same = groups[rows] == groups[graph.adjacency.indices]
    exact = np.array([np.count_nonzero(same), np.count_nonzero(~same)]) / 2
    bound = sensitivity.partition_weight(graph.max_weight)
    found = call.release(Measurement("edges inside and between", exact, l1=bound, l2=bound, unit=1.0, few=True)).value
    inside = possible(found[0], pairs_inside, None)
    between = possible(found[1], pairs - pairs_inside, None)
    coverage = inside / (inside + between) if inside + between else 0.0
    return coverage, (inside + pairs - pairs_inside - between) / pairs if pairs else 0.0


def _mixing(G: PrivateGraph, attribute: str, nodes: Nodes | None, asked: Privacy) -> tuple[list[Any], FloatArray]:
    """Values of a public attribute in the order of the vertices, and noisy numbers of edges, each from both ends."""
    if nodes is not None and set(nodes) != set(G):
        raise InvalidParameterError("nodes must be None: all vertices count")
    values = [data.get(attribute) for _, data in G._graph.nodes(data=True)]
    if not any(attribute in data for _, data in G._graph.nodes(data=True)):
        raise InvalidParameterError(f"no vertex has an attribute {attribute!r}. Nothing was spent")
    number = {value: k for k, value in enumerate(dict.fromkeys(values))}
    groups = np.array([number[value] for value in values], dtype=np.int64)
    graph, call = opened(G, asked, None)
    released = np.maximum(np.rint(release_block_weights(graph, groups, call, name="edges between groups").value), 0.0)
    sizes = np.bincount(groups).astype(np.float64)
    pairs = np.outer(sizes, sizes) - np.diag(sizes * (sizes + 1) / 2)
    kept = np.minimum(released, pairs)
    return list(number), np.asarray(kept + kept.T)


@answered_privately
def attribute_mixing_matrix(
    G: PrivateGraph,
    attribute: str,
    nodes: Nodes | None = None,
    mapping: Mapping[Any, int] | None = None,
    normalized: bool = True,
    *,
    asked: Privacy,
) -> FloatArray:
    """Noisy numbers of edges between public groups of vertices, from both ends, or their shares."""
    places = {} if mapping is None else mapping
    rows = range(2 * len(G) + len(places))
    if not all(isinstance(place, (int, np.integer)) and place in rows for place in places.values()):
        raise InvalidParameterError("mapping must give each value a row, a small nonnegative int. Nothing was spent")
    values, mixing = _mixing(G, attribute, nodes, asked)
    if mapping is not None:
        known = [(k, mapping[value]) for k, value in enumerate(values) if value in mapping]
        inner, outer = np.array(known, dtype=np.int64).reshape(-1, 2).T
        size = max(len(mapping), max(mapping.values(), default=-1) + 1)
        placed = np.zeros((size, size))
        placed[np.ix_(outer, outer)] = mixing[np.ix_(inner, inner)]
        mixing = placed
    total = mixing.sum()
    return mixing / total if normalized and total else mixing


@answered_privately
def attribute_assortativity_coefficient(
    G: PrivateGraph, attribute: str, nodes: Nodes | None = None, *, asked: Privacy
) -> float:
    """Assortativity by a public attribute, from noisy numbers of edges between its groups, in [-1, 1] or NaN."""
    _, mixing = _mixing(G, attribute, nodes, asked)
    mixing = mixing / max(mixing.sum(), 1.0)
    chance = float(np.sum(mixing.sum(axis=0) ** 2))
    if not 0 < chance < 1:
        return math.nan
    return min(max((float(np.trace(mixing)) - chance) / (1 - chance), -1.0), 1.0)


@answered_privately
def triangles(G: PrivateGraph, nodes: Nodes | None = None, *, asked: Privacy) -> int:
    """How many triangles there are in all: :func:`dpgraph.private_subgraph_counts`."""
    if nodes is not None:
        raise InvalidParameterError("nodes must be None: the private answer is how many triangles there are in all")
    count = private_subgraph_counts(G, "triangle", **asked.budget).counts["triangle"]
    return min(max(count, 0), math.comb(len(G), 3))


@answered_privately
def degree_assortativity_coefficient(
    G: PrivateGraph,
    x: str = "out",
    y: str = "in",
    weight: str | None = None,
    nodes: Nodes | None = None,
    *,
    asked: Privacy,
) -> float:
    """Correlation of the degrees at the ends of an edge, from four noisy counts, in [-1, 1]; NaN where there is none.

    Over edges, with m edges, W wedges and S stars of three edges: sum (d_u + d_v) = 2 W + 2 m, sum (d_u^2 + d_v^2) =
    6 S + 6 W + 2 m, and sum d_u d_v = sum (d_u - 1)(d_v - 1) + 2 W + m, of which a quarter is released.
    """
    if weight is not None or nodes is not None:
        raise InvalidParameterError("weight and nodes must be None: all vertices count, and every edge counts 1")
    m, wedges, stars, quarter = release_counts(G, ("edge", "wedge", "3-star", "edge-degrees"), asked.budget)
    ends, squares, products = 2 * wedges + 2 * m, 6 * stars + 6 * wedges + 2 * m, 4 * quarter + 2 * wedges + m
    spread = 2 * m * squares - ends**2
    return min(max((4 * m * products - ends**2) / spread, -1.0), 1.0) if m > 0 and spread > 0 else math.nan
