"""Communities of a private graph, purely private, and what ``mechanism="auto"`` stands for: a public rule."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from dpgraph.arguments import check_epsilon, check_integer, check_optional_delta, check_positive
from dpgraph.denoise.modularity import BlockWeights, modularity, modularity_interval, share_inside
from dpgraph.graph import vertex_sets
from dpgraph.inputs.graphs import GraphSource, open_graph
from dpgraph.memory import check_memory
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, open_call, private_function, show
from dpgraph.privacy.relation import Edge
from dpgraph.problems.communities.strategy import COMMUNITY_STRATEGIES, CommunityTask
from dpgraph.problems.strategy import Facts, Strategy, Undecided
from dpgraph.releases.answers import answer_noise, expected_flips, flip_limit
from dpgraph.releases.sweeps.communities import ReleasedCommunities
from dpgraph.releases.totals import release_total_weight
from dpgraph.results.communities import PrivateCommunities
from dpgraph.tuning import COMMUNITIES
from dpgraph.typing import GraphLike

if TYPE_CHECKING:
    from dpgraph.problems.mechanisms import CommunityMechanism

#: Share of the budget for the mechanism.
_MAIN_SHARE = 1 - COMMUNITIES.total_share


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
            Every pair flipped at random, then Louvain's method on the expected edges. For small graphs and a large
            epsilon: at most 5e7 false answers.
        ``"auto"``
            A public rule, by n, epsilon and the released total weight: answers where the noise of all answers at a
            vertex together has at most the variance of its edges. ``result.mechanism`` names the choice.
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
    weights between labels (w). Or every pair answers by randomised response, and the weights between the communities
    that are found are released (w). Labels, their merging, the number of sweeps and the estimates are functions of
    these releases.

    *Accuracy.* What counts is epsilon times the average degree: from about 40 on, communities have most of the
    modularity that Louvain finds without privacy, and below 10 little can be found. docs/communities.md has tables.

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
    show(progress)
    check_optional_delta(delta)
    resolution = check_positive("resolution", resolution)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    wanted = most_communities(communities, source.n_vertices)
    choice = _chosen(mechanism, source, check_epsilon(epsilon))
    call = open_call(epsilon=epsilon, accountant=accountant, relation=Edge(), noise=rng)
    main, first = call.split(_MAIN_SHARE, COMMUNITIES.total_share)
    graph = source.read()
    total = release_total_weight(graph, first)
    if isinstance(choice, Undecided):
        taken = choice.then(2 * total.value / graph.n_vertices / graph.max_weight)
        choice = cast(tuple[Strategy, Any], COMMUNITY_STRATEGIES.resolve(taken))
    strategy, options = choice
    found = strategy.run(options, graph, main, CommunityTask(wanted, resolution))
    return publish(
        found, graph.nodes, found.weights.with_total(total.value, total.std), resolution, strategy.name, call
    )


def publish(
    found: ReleasedCommunities,
    nodes: tuple[Hashable, ...],
    between: BlockWeights,
    resolution: float,
    mechanism: str,
    call: Call,
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
        call.report(),
        between.stds[order],
        modularity_interval(between, resolution),
        share_inside(between),
    )


def _chosen(mechanism: Any, source: GraphSource, epsilon: float) -> tuple[Strategy, Any] | Undecided:
    """The strategy and its options, checked before the budget is touched, or by which released number it is chosen."""
    taken = decide(source.n_vertices, epsilon, weighted=source.weighted)
    if isinstance(taken, Undecided):
        if COMMUNITY_STRATEGIES.resolve(mechanism) == (None, None):  # this imports what may run, before the debit
            return taken
        taken = "bounded-iterates"  # not read: a mechanism is named
    strategy, options = COMMUNITY_STRATEGIES.take(mechanism, taken)
    strategy.check(options, Facts(source.n_vertices, source.max_weight, epsilon * _MAIN_SHARE))
    return strategy, options


def decide(n: int, epsilon: float, *, weighted: bool) -> str | Undecided:
    """The strategy that "auto" takes, or by which released number it is chosen.

    Answers that do not fit into memory are never chosen, nor are they where edges may weigh something between 0 and
    `max_weight` (`weighted`), of which a one-bit answer tells little.
    """
    if weighted or n < 2 or expected_flips(n, epsilon * _MAIN_SHARE * (1 - COMMUNITIES.block_share)) > flip_limit():
        return "bounded-iterates"
    return Undecided("average degree, in edges", partial(decide_by_degree, n, epsilon))


def decide_by_degree(n: int, epsilon: float, mean_degree: float) -> str:
    """The choice for a released average degree, in edges.

    An unbiased answer about a pair has standard deviation sigma = 1/(2 sinh(epsilon/2)), the n - 1 answers at a vertex
    have the variance (n - 1) sigma^2 together. The number of edges at a vertex of d edges has about the variance d if
    edges are drawn at random. Where the first is of the order of the second, answers show communities about as well as
    the graph itself does.
    """
    sigma = answer_noise(epsilon * _MAIN_SHARE)
    answers = mean_degree >= COMMUNITIES.edges_per_noise * (n - 1) * sigma * sigma
    return "randomized-response" if answers else "bounded-iterates"
