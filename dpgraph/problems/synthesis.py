"""Synthetic graphs, purely private."""

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression

from dpgraph.arguments import check_positive
from dpgraph.bounds.count_intervals import half_width, standard_deviation
from dpgraph.denoise.block_model import Blocks, fit_tightness, strength_for, stronger
from dpgraph.denoise.degree_tails import believable_counts
from dpgraph.denoise.louvain import louvain, modularity_of
from dpgraph.denoise.modularity import ends_of, sums_between
from dpgraph.denoise.swaps import Goals, Roots
from dpgraph.graph import Graph
from dpgraph.inputs.graphs import open_graph
from dpgraph.linalg.subgraphs import Subgraphs
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, Released, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.problems.communities import CommunityFacts, most_communities, release_with_edges
from dpgraph.problems.driver import Facts
from dpgraph.releases.subgraphs import ReleasedCount, check_counts, release_by_ladder, subgraphs_of
from dpgraph.releases.totals import release_assortativity, release_clustering, release_degree_tails
from dpgraph.results.graph_model import SHORT, PrivateGraphModel
from dpgraph.tuning import COMMUNITIES, SYNTHESIS
from dpgraph.typing import FloatArray, GraphLike, IntArray

#: Of more edges than that there is no rehearsal; elsewhere labels are found again so often on each twin, and there are
#: twins of so many larger modularities, fewer where they have many edges, of so many that are compared.
_MOST_REHEARSED, _REHEARSALS, _STRONGER, _GRID = 10**6, 4, (2, 5), 200
#: Triangles are looked at again where the median error is a larger part of them.
_CLOSE = 0.1
#: The median of abs(X), X of a Laplace law, over its standard deviation.
_MEDIAN = math.log(2) / math.sqrt(2)
#: The standard deviation of correlations of degrees from graph to graph (Newman 2003 has -.19 to .36).
_USUAL = 0.3
#: No modularity is wanted that is larger than that.
_MOST_WANTED = 0.9
#: A model, and a graph that was drawn from it, if one was.
_WithTwin = tuple[PrivateGraphModel, sparse.csr_array | None]


@private_function
def private_synthetic_graph(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    communities: Literal["auto"] | int = "auto",
    resolution: float = 1.0,
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateGraphModel:
    """Release a model of a graph from which synthetic graphs can be drawn, with edge-level differential privacy.

    Drawn graphs have the vertices of the graph, and about its degrees, communities, modularity, triangles, clustering
    and degree correlation. Edges count once, whatever they weigh.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    delta : float, default 0.0
        0 <= delta < 1. Not spent: the release is pure.
    communities, resolution
        As for :func:`dpgraph.private_communities`.

    Returns
    -------
    PrivateGraphModel

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in one vertex pair. Most of epsilon, 78.5 % and more (less where the
    released number of edges says that labels can tell little, and where that of triangles has a large error), is spent
    as by :func:`dpgraph.private_communities`, with a larger part for the degrees where there are sweeps; the rest on
    the degree distribution (as by :func:`dpgraph.private_degree_distribution`), on the numbers of triangles and of
    edges (as by :func:`dpgraph.private_subgraph_counts`), and on two sums of bounded sensitivity:
    :func:`dpgraph.bounds.sensitivity.clustering_of_edges` and
    :func:`dpgraph.bounds.sensitivity.root_degree_products`. The distribution is smoothed; its largest degree goes to
    the vertex of the largest released degree, and so on. Everything else, and every drawn graph, is post-processing.

    References
    ----------
    M. E. J. Newman, "Properties of highly clustered networks", 2003 (groups that overlap); M. Gjoka, M. Kurant, A.
    Markopoulou, "2.5K-graphs: from sampling to generation", 2013 (swaps). docs/synthetic-graphs-theory.md.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> G = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)
    >>> model = dpgraph.private_synthetic_graph(G, epsilon=4.0, rng=0)
    >>> twin = model.sample(rng=1)
    >>> len(twin), abs(twin.number_of_edges() / G.number_of_edges() - 1) < 0.05, model.privacy.delta
    (300, True, 0.0)
    """
    resolution = check_positive("resolution", resolution)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    facts = Facts.of(source, epsilon, delta)
    less = max(facts.epsilon, 1.0) ** -0.5
    others = [less * share for share in SYNTHESIS.of_numbers]
    check_counts({"edge": others[0], "triangle": others[2]}, facts.epsilon)
    wanted = most_communities(communities, facts.n)
    call = open_call(epsilon=facts.epsilon, accountant=accountant, relation=Edge(), noise=rng)
    graph = source.read().unweighted()
    subgraphs = subgraphs_of(graph)
    counted = release_by_ladder(subgraphs, "edge", call.part(others[0]))
    edges = max(counted.value, 0)
    labels, degree = 1 - sum(others), max(2 * edges / max(facts.n, 1), 1.0)
    told = min(facts.epsilon * degree / COMMUNITIES.signal_per_label, 1.0)  # of one label, by a vertex
    more = 1 + (1 - told) * labels / sum(others[1:])  # for numbers, which need what labels cannot use
    of_groups, *of_numbers = call.split(told * labels, *(more * share for share in others[1:]))
    of_tails, of_triangles, of_clustering, of_pairs = of_numbers
    triangles, of_groups = release_triangles(subgraphs, of_triangles, of_groups)
    asked = CommunityFacts(
        facts.n, 1.0, of_groups.epsilon, communities=wanted, resolution=resolution, degree_share=SYNTHESIS.degree_share
    )
    found, _ = release_with_edges(graph, of_groups, asked, edges)
    tails = release_degree_tails(graph, of_tails)
    between = found.weights.with_total(*_edges_of_all(counted, tails, found.unshrunk))
    edges = max(round(float(between.values.sum())), 0)
    counts = believable_counts(tails, found.unshrunk, 2 * edges)
    degrees = assigned_degrees(counts, found.degrees, call.generator)
    blocks = Blocks.fit(degrees, found.labels, between.symmetric)
    roots = Roots.fit(degrees.astype(np.float64))
    clustering = release_clustering(subgraphs, of_clustering)
    pairs = release_assortativity(graph, roots, of_pairs)
    unit = max(roots.variance * edges, 1.0)
    goals = Goals(
        *_likely(triangles, clustering, facts.n),
        _shrunk(pairs, unit),
        (half_width(triangles.noise, 1 / 2), _MEDIAN * clustering.std / facts.n, _MEDIAN * pairs.std / unit),
    )
    fitted = fit_model(graph.nodes, blocks, goals, call)
    if int(fitted[0].degrees.sum()) > 2 * _MOST_REHEARSED:
        return fitted[0]

    def again(A: sparse.csr_array) -> IntArray:
        public = call.on_public_data(asked.epsilon)
        return release_with_edges(Graph(A, graph.nodes), public, asked, edges)[0].labels

    return strengthened(fitted, again, call.generator)


def _edges_of_all(counted: ReleasedCount, tails: Released, degrees: Released) -> tuple[float, float]:
    """The number of edges and its standard deviation, by what tells it best; all of these are public.

    That is the count, or half the sum of all degrees, where noise of a pair may be in two; and of a small graph, where
    noise of the count is large, half the sum of the numbers of vertices of at least 1, 2, ... edges.
    """
    told = [(float(counted.value), standard_deviation(counted.noise))]
    for (values, std), used in ((degrees, True), (tails, told[0][1] > _CLOSE * counted.value)):
        told += [(float(values.sum()) / 2, math.sqrt(values.size / 2) * std)] * used
    return min(told, key=lambda one: one[1])


def release_triangles(subgraphs: Subgraphs, first: Call, rest: Call) -> tuple[ReleasedCount, Call]:
    """Release the triangles, again for twice as much of the rest if that says little, and say what is left of the rest.

    There is no second look where it would take more than half.
    """
    found, share = release_by_ladder(subgraphs, "triangle", first), 2 * first.epsilon / rest.epsilon
    if half_width(found.noise, 1 / 2) <= _CLOSE * found.value or share > 1 / 2:
        return found, rest
    second, left = rest.split(share, 1 - share)
    return release_by_ladder(subgraphs, "triangle", second), left


def _likely(triangles: ReleasedCount, clustering: Released, n: int) -> tuple[int, float]:
    """How many triangles, and the mean clustering: nan where noise of twice its standard deviation explains it.

    Then Stein shrinks the triangles by what both numbers say for any.
    """
    number, most, seen = max(triangles.value, 0), math.comb(n, 3), min(max(clustering.number, 0.0), float(n))
    if seen > 2 * clustering.std:
        return min(number, most), seen / n
    said = (number / standard_deviation(triangles.noise)) ** 2 + (seen / clustering.std) ** 2
    return min(int(number * (1 - 1 / max(said, 1.0))), most), math.nan


def _shrunk(released: Released, unit: float) -> float:
    """A correlation by its sum in this unit: its mean under noise, where those of most graphs are within `_USUAL`."""
    return min(max(released.number / unit, -1.0), 1.0) / (1 + (released.std / unit / _USUAL) ** 2)


def fit_model(nodes: tuple[Hashable, ...], blocks: Blocks, goals: Goals, call: Call) -> _WithTwin:
    """A model by released degrees, labels, weights between communities, and counts; a twin too if one was drawn."""
    fitted = blocks.labels, blocks.degrees, blocks.edges, int(goals.triangles), *goals[1:3]
    model = PrivateGraphModel(nodes, *fitted, math.nan, 0.0, 1, 0.0, call.report(), goals.errors)
    return _tightened(model, call.generator)


def _tightened(model: PrivateGraphModel, generator: np.random.Generator) -> _WithTwin:
    """With the least groups for its triangles: none if swaps alone make them, as on a twin; groups blur labels.

    Communities that are split at random have groups: the labels are not what Louvain's method finds, and groups are.
    So have those of a model that had groups before.
    """
    if model.parts == 1 and model.tightness == 0 and int(model.degrees.sum()) <= 2 * _MOST_REHEARSED:
        twin = model.adjacency(generator)
        if _held(model, twin) >= 1 - SHORT:
            return model, twin
    blocks = stronger(model.blocks, model.parts, model.strength, generator)
    return replace(model, tightness=fit_tightness(*blocks, model.triangles, model.errors[0], generator)), None


def _held(model: PrivateGraphModel, twin: sparse.csr_array) -> float:
    """Triangles of a twin over those wanted."""
    return Subgraphs(twin.indptr, twin.indices).count("triangle") / max(model.triangles, 1)


def strengthened(
    fitted: _WithTwin, again: Callable[[sparse.csr_array], IntArray], generator: np.random.Generator
) -> PrivateGraphModel:
    """A model on whose twins the same mechanism finds labels as good as those of the private graph, by rehearsals.

    A twin is public. Labels are found on it `again`. If they may have less modularity there than those of the private
    graph, twins of several larger modularities are drawn: up to the largest until labels as good are found, then of
    those that are likely by what was found so far. The mean of these is taken in the end. A modularity is too large if
    twins lack triangles, or labels are lost among too many parts.
    """
    own = modularity_of(sparse.csr_array(ends_of(fitted[0].block_weights)), 1.0)
    twin, found, reached = _rehearsed(fitted, again, generator)
    model = replace(fitted[0], modularity=_best_modularity(twin, generator))
    rehearsed, most = {own: found}, _MOST_WANTED
    if not 0 < np.mean(found) < (1 + _spread([found])) * own or own >= most:
        return model
    for _ in range(int(np.clip(2 * _MOST_REHEARSED // max(int(model.degrees.sum()), 1), *_STRONGER))):
        enough = max(map(np.mean, rehearsed.values())) >= own
        wanted = (max(rehearsed) + most) / 2
        if enough:
            grid, likely = _likely_modularities(rehearsed, own, most)
            wanted = float(generator.choice(grid, p=likely))
        _, more, held = _rehearsed(_with_modularity(model, wanted, generator), again, generator)
        lost = np.mean(more) < (1 - 2 * _spread([*rehearsed.values(), more])) * np.mean(found)
        if held < min(reached, 1 - SHORT) or lost:
            most = min(wanted, most)
        else:
            rehearsed[wanted] = more
    grid, likely = _likely_modularities(rehearsed, own, most)
    strong = _with_modularity(model, float(grid @ likely), generator)
    return replace(strong[0], modularity=_best_modularity(_drawn(strong, generator), generator))


def _likely_modularities(rehearsed: dict[float, list[float]], own: float, most: float) -> tuple[FloatArray, FloatArray]:
    """Modularities of blocks, and how likely each is where labels with `own` were found, by those `rehearsed`.

    The expected modularity of labels that are found rises with that of blocks, to 1 at 1; the standard deviation is a
    part of it.
    """
    wanted, found = np.array(sorted(rehearsed)), np.array([rehearsed[one] for one in sorted(rehearsed)])
    level, grid = np.append(found.mean(axis=1), 1.0), np.linspace(own, most, _GRID)
    expected = np.interp(grid, np.append(wanted, 1.0), isotonic_regression(level).x)
    likely = np.exp(-0.5 * ((expected - own) / (_spread(found) * own)) ** 2) + np.finfo(float).tiny
    return grid, likely / likely.sum()


def _spread(found: list[list[float]] | FloatArray) -> float:
    """The standard deviation of what is found, as a part of it, by what is found on the same twin."""
    return math.sqrt(np.var(found, axis=1, ddof=1).sum() / (np.mean(found, axis=1) ** 2).sum()) + 1 / _GRID


def _rehearsed(
    fitted: _WithTwin, again: Callable[[sparse.csr_array], IntArray], generator: np.random.Generator
) -> tuple[sparse.csr_array, list[float], float]:
    """A twin, the modularity of labels that are found again on it, and its triangles over those wanted."""
    twin = _drawn(fitted, generator)
    found = [modularity_of(sums_between(twin, again(twin)), 1.0) for _ in range(_REHEARSALS)]
    return twin, found, _held(fitted[0], twin)


def _with_modularity(model: PrivateGraphModel, wanted: float, generator: np.random.Generator) -> _WithTwin:
    """A model whose blocks, of which drawn communities may be parts, have this modularity."""
    parts, strength = strength_for(model.block_weights, wanted)
    return _tightened(replace(model, parts=parts, strength=strength), generator)


def _drawn(fitted: _WithTwin, generator: np.random.Generator) -> sparse.csr_array:
    """A twin: the one that was drawn, if one was."""
    model, twin = fitted
    return model.adjacency(generator) if twin is None else twin


def _best_modularity(twin: sparse.csr_array, generator: np.random.Generator) -> float:
    """By Louvain's method."""
    return modularity_of(sums_between(twin, louvain(twin, 1.0, generator, runs=1)), 1.0)


def assigned_degrees(counts: IntArray, degrees: FloatArray, generator: np.random.Generator) -> IntArray:
    """Degrees of vertices: the largest of the distribution for the largest of `degrees`, and so on; ties at random."""
    sequence = np.repeat(np.arange(counts.size), counts)
    assigned = np.empty(degrees.size, dtype=np.int64)
    assigned[np.lexsort((generator.random(degrees.size), degrees))] = sequence
    return assigned
