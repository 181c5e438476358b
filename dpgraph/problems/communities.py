"""Communities of a private graph, purely private."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.arguments import check_integer, check_memory, check_positive
from dpgraph.denoise.answer_communities import communities_of_answers
from dpgraph.denoise.louvain import louvain
from dpgraph.denoise.modularity import (
    BlockWeights,
    largest_groups,
    merge_labels,
    modularity,
    modularity_interval,
    share_inside,
    weights_between,
)
from dpgraph.graph import Graph, vertex_sets
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.answer_rule import RESPONSE, SWEEPS, average_degree, response_or_sweeps, response_wins
from dpgraph.problems.driver import TOTAL_SHARE, Asked, Facts, Problem, Registry, Strategy, Undecided, decided, release
from dpgraph.problems.options import BoundedIterates, RandomizedResponse
from dpgraph.releases.answers import FlippedGraph, check_response, release_flipped_graph, too_dear
from dpgraph.releases.subgraphs import release_by_ladder, subgraphs_of
from dpgraph.releases.sweeps.communities import ReleasedCommunities, release_communities
from dpgraph.releases.totals import WeightEstimate, release_block_weights, release_degree_excess, release_total_weight
from dpgraph.results.communities import PrivateCommunities
from dpgraph.tuning import ANSWER_RULE, COMMON, COMMUNITIES
from dpgraph.typing import GraphLike, IntArray

if TYPE_CHECKING:
    from dpgraph.strategies import CommunityMechanism

#: The weights between all communities are released: smaller communities than the largest so many count as one.
_MOST = 100


@dataclass(frozen=True)
class CommunityFacts(Facts):
    """At most so many communities, or as many as pay off (None), and what is public."""

    communities: int | None = None
    resolution: float = 1.0
    degree_share: float | None = None  # the default: less at a large epsilon, where degrees need less of it


# --- sweeps in which each vertex takes the label that most of its edges lead to --------------------------------------


def _by_sweeps(_: BoundedIterates, graph: Graph, call: Call, facts: CommunityFacts, _total: Any) -> ReleasedCommunities:
    wanted, share = facts.communities, facts.degree_share or COMMUNITIES.degree_share / max(facts.epsilon, 1.0) ** 0.5
    return release_communities(graph, call, communities=wanted, resolution=facts.resolution, degree_share=share)


# --- randomised response on every pair, then the better of two methods on the answers --------------------------------


def _check_response(_: RandomizedResponse, facts: Facts) -> None:
    check_response(facts.n, facts.epsilon * (1 - COMMUNITIES.block_share))


def _by_response(
    _options: RandomizedResponse, graph: Graph, call: Call, facts: CommunityFacts, _total: Any
) -> ReleasedCommunities:
    of_answers, of_blocks = call.split(1 - COMMUNITIES.block_share, COMMUNITIES.block_share)
    flipped = release_flipped_graph(graph, of_answers)
    labels = louvain(flipped.expected_weights()[0], facts.resolution, call.generator, runs=1)
    expected, _ = flipped.expected_weights(_edges_inside(flipped, labels))
    degrees = graph.max_weight * flipped.edge_counts()
    excesses = flipped.excesses(degrees, max(float(degrees.sum()), graph.max_weight), facts.resolution)
    found = louvain(expected, facts.resolution, call.generator), communities_of_answers(excesses, call.generator)
    labels = max((largest_groups(labels, degrees, _MOST) for labels in found), key=excesses.within)
    if facts.communities is not None and labels.max() >= facts.communities:
        between = BlockWeights.released(weights_between(expected, labels), 0.0)
        groups, _ = merge_labels(between, facts.resolution, least=facts.communities, most=facts.communities)
        labels = groups[labels]
    weights = release_block_weights(graph, labels, of_blocks, name="weights between communities")
    return ReleasedCommunities(labels, BlockWeights.released(*weights), degrees, flipped.unbiased_counts)


def _edges_inside(flipped: FlippedGraph, labels: IntArray) -> float:
    """How many times more edges these communities have inside than degrees explain, at least 1.

    An answer counts by the probability that it is true. What is asked is whether it lies inside a community, so this is
    the probability for a pair inside one.
    """
    degrees, sizes, p = flipped.edge_counts(), np.bincount(labels).astype(np.float64), flipped.flip
    ends = flipped.adjacency.tocoo().coords
    answers = float(np.count_nonzero(labels[ends[0]] == labels[ends[1]]))
    explained = float((np.bincount(labels, weights=degrees) ** 2).sum()) / float(degrees.sum())
    return max((answers - p * float((sizes * (sizes - 1)).sum())) / (1 - 2 * p) / explained, 1.0)


#: ``run(options, graph, call, facts, total)`` returns labels, weights and degrees.
COMMUNITY_STRATEGIES = Registry(
    "communities",
    Strategy("bounded-iterates", BoundedIterates, pure=True, run=_by_sweeps),
    Strategy("randomized-response", RandomizedResponse, pure=True, run=_by_response, check=_check_response),
)
_MAIN_SHARE = 1 - TOTAL_SHARE


def choose(facts: Facts) -> Any:
    """What "auto" takes, or by which released numbers it is chosen: sweeps begin with many labels and merge them.

    Vertices of many edges begin communities in sweeps. Where all degrees are about d there are none: answers may have
    more noise, and any if communities stand out, their eigenvalue x being above s sqrt(n), s^2 the noise on a pair; x^2
    has to be what the degree of two labels has to be. Equal ones of m vertices have r^2 = (6 T - d^3)/n = x^3/m, T
    triangles; x <= min(m, d), so r <= x, and x^2 is r d.
    """
    epsilon = facts.epsilon * _MAIN_SHARE * (1 - COMMUNITIES.block_share)
    counted = COMMUNITIES.least_labels, ANSWER_RULE.even_communities
    uneven, even = (response_or_sweeps(facts, epsilon, labels) for labels in counted)
    if isinstance(uneven, str):
        return uneven

    def stand_out(squared: float) -> bool:
        return response_wins(facts.n, epsilon, squared, 2)

    def by_average(total: WeightEstimate) -> Any:
        if uneven.then(total) == RESPONSE:
            return RESPONSE
        if too_dear(facts.n, epsilon * (1 - TOTAL_SHARE) * (1 - COMMON.share)):  # with what both questions leave
            return SWEEPS
        degree, if_even = min(max(average_degree(facts, total), 0.0), facts.n - 1.0), even.then(total)

        def by_triangles(count: int) -> str:
            return RESPONSE if stand_out(degree * math.sqrt(max(6 * count - degree**3, 0.0) / facts.n)) else SWEEPS

        if if_even == SWEEPS:
            if not stand_out(degree**2):
                return SWEEPS
            if_even = Undecided("triangles", by_triangles, _ask_triangles)
        return Undecided("evenness of degrees", lambda excess: SWEEPS if excess > 0 else if_even, _ask_evenness)

    return Undecided(uneven.question, by_average)


def _ask_evenness(graph: Graph, call: Call, known: Any) -> tuple[float, Call, Any]:
    question, rest = call.split(TOTAL_SHARE, 1 - TOTAL_SHARE)
    return release_degree_excess(graph, COMMON.uneven, question), rest, known


def _ask_triangles(graph: Graph, call: Call, known: Any) -> tuple[int, Call, Any]:
    question, rest = call.split(COMMON.share, 1 - COMMON.share)
    return release_by_ladder(subgraphs_of(graph), "triangle", question).value, rest, known


def release_with_edges(
    graph: Graph, call: Call, facts: CommunityFacts, edges: float
) -> tuple[ReleasedCommunities, str]:
    """Communities where the number of edges has been released, by the strategy that "auto" takes, and its name."""
    choice, call, _ = decided(choose(facts), graph, call, WeightEstimate(edges, 0.0))
    strategy, options = COMMUNITY_STRATEGIES.take(choice)
    found: ReleasedCommunities = strategy.run(options, graph, call, facts, None)
    return found, strategy.name


COMMUNITIES_OF_A_GRAPH = Problem(
    COMMUNITY_STRATEGIES,
    auto=choose,
    pure="mechanism='bounded-iterates'",
    shares=(TOTAL_SHARE, _MAIN_SHARE, 0.0),
    first=release_total_weight,
)


def most_communities(communities: Any, n: int) -> int | None:
    """Return the argument ``communities=`` for a graph of n vertices, None for "auto", or refuse it; at most n."""
    automatic = isinstance(communities, str) and communities == "auto"
    wanted = None if automatic else min(check_integer("communities", communities, 1), n)
    labels = max(wanted or 1, min(COMMUNITIES.most_labels, n))
    check_memory(f"{labels} communities of {n} vertices", counts=(6, n, labels), weights=(4, labels, labels))
    return wanted


@private_function
def private_communities(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    communities: Literal["auto"] | int = "auto",
    resolution: float = 1.0,
    mechanism: CommunityMechanism = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCommunities:
    """Find communities of high modularity with edge-level differential privacy.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon : float
        epsilon > 0.
    delta : float, default 0.0
        0 <= delta < 1. Not spent: the release is pure.
    communities : "auto" or int
        At most how many to find, at least 1. "auto" merges as long as the estimated modularity
        rises; a number of them is also merged down to. Fewer come back where some would be empty.
    resolution : float, default 1.0
        gamma > 0 in the modularity Q = sum_ij (A_ij - gamma d_i d_j / 2m) [c_i = c_j] / 2m: above 1 for smaller
        communities, below 1 for larger ones.
    mechanism : str or options object, default "auto"
        A name means the defaults of its options, an object of :mod:`dpgraph.strategies` sets them.

        ``"bounded-iterates"``, :class:`~dpgraph.problems.options.BoundedIterates`
            Sweeps in which each vertex takes the label that most of its edges lead to. Any size.
        ``"randomized-response"``, :class:`~dpgraph.problems.options.RandomizedResponse`
            Every pair flipped at random, then Louvain's method on the expected edges, or eigenvectors of the
            answers, by their modularity. For small graphs and a large epsilon: at most 5e7 false answers.
        ``"auto"``
            A public rule, by n, epsilon and the released average degree: randomized response where the noise of all
            pairs at a vertex has at most 1.2 times the variance of its edges; where degrees are even, 4.2 times, or
            triangles enough for communities to stand out, both released if they decide. ``result.mechanism`` names it.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show a bar on stderr.

    Returns
    -------
    PrivateCommunities

    Raises
    ------
    InvalidGraphError
        The input is no undirected graph with finite nonnegative weights.
    InvalidParameterError
        epsilon, delta, communities, resolution or mechanism is out of range.
    BudgetExceededError
        The accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`. Half a per
    cent of the budget is for the total weight (w). The sweeps share the rest: degrees (they move by 2 w in l1), sweeps
    in which each vertex counts its edges to each label, or takes the noisy maximum of these counts
    (:func:`dpgraph.bounds.sensitivity.label_counts`, :func:`dpgraph.bounds.sensitivity.label_scores`: w), and the
    weights between labels, after each sweep and in the end (w). Or every pair answers by randomised response, and the
    weights between the communities that are found are released (w). Labels, their merging, the number of
    sweeps and the estimates are functions of these releases.

    *Accuracy.* What counts is epsilon times the average degree: from about 40 on, communities have most of the
    modularity that Louvain finds without privacy, and below 10 little can be found. Below 50 two runs hardly agree on
    which vertices belong together, whatever the modularity. docs/communities.md has tables.

    References
    ----------
    V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", 2008
    (greedy modularity); R. McKenna, D. Sheldon, "Permute-and-flip", NeurIPS 2020 (the last sweep); S. L. Warner,
    "Randomized response", JASA 1965. docs/communities.md.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> graph = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)
    >>> found = dpgraph.private_communities(graph, epsilon=2.0, rng=0)
    >>> [len(community) for community in found.communities], found.privacy.delta
    ([100, 100, 100], 0.0)
    """
    resolution = check_positive("resolution", resolution)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    wanted = most_communities(communities, source.n_vertices)
    facts = CommunityFacts.of(source, epsilon, delta, communities=wanted, resolution=resolution)
    released = release(COMMUNITIES_OF_A_GRAPH, source.read, facts, Asked(mechanism, accountant, rng))
    between = released.found.weights.with_total(released.known.value, released.known.std)
    return publish(released.found, source.nodes, between, resolution, released.mechanism, released.privacy)


def publish(
    found: ReleasedCommunities,
    nodes: tuple[Hashable, ...],
    between: BlockWeights,
    resolution: float,
    mechanism: str,
    privacy: PrivacyReport,
) -> PrivateCommunities:
    """Released labels as communities, the largest first, with what the weights `between` them tell."""
    largest_first = np.argsort(-np.bincount(found.labels), kind="stable")
    labels, order = np.argsort(largest_first)[found.labels], np.ix_(largest_first, largest_first)
    value, std = modularity(between, resolution)
    return PrivateCommunities(
        vertex_sets(nodes, labels),
        labels,
        nodes,
        float(np.clip(value, min(-resolution / 2, 1 - resolution), 1.0)),
        std,
        between.symmetric[order],
        found.degrees,
        mechanism,
        privacy,
        between.stds[order],
        modularity_interval(between, resolution),
        share_inside(between),
    )
