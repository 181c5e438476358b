"""Synthetic graphs, purely private."""

from collections.abc import Hashable
from typing import Literal

import numpy as np

from dpgraph.arguments import check_positive
from dpgraph.denoise.block_model import fit_tightness
from dpgraph.denoise.degree_tails import degree_counts
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.problems.communities import CommunityFacts, most_communities, release_with_edges
from dpgraph.problems.driver import Facts
from dpgraph.releases.subgraphs import check_counts, release_by_ladder, subgraphs_of
from dpgraph.releases.sweeps.communities import ReleasedCommunities
from dpgraph.releases.totals import release_degree_tails
from dpgraph.results.communities import PrivateCommunities
from dpgraph.results.graph_model import PrivateGraphModel
from dpgraph.tuning import SYNTHESIS
from dpgraph.typing import FloatArray, GraphLike, IntArray


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

    Drawn graphs have the vertices of the graph, and about its degrees, communities, edges between communities and
    triangles. Edges count once, whatever they weigh.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon : float
        epsilon > 0.
    delta : float, default 0.0
        0 <= delta < 1. Not spent: the release is pure.
    communities, resolution
        As for :func:`dpgraph.private_communities`.
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
    PrivateGraphModel

    Raises
    ------
    InvalidGraphError
        The input is no undirected graph.
    InvalidParameterError
        epsilon, delta, communities or resolution is out of range.
    BudgetExceededError
        The accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in one vertex pair. Most of epsilon, 87 %, is spent as by
    :func:`dpgraph.private_communities`, with a larger part for the degrees where there are sweeps; the rest on
    the degree distribution (as by :func:`dpgraph.private_degree_distribution`) and on the numbers of triangles and of
    edges (as by :func:`dpgraph.private_subgraph_counts`). The distribution is smoothed; its largest degree goes to the
    vertex of the largest released degree, and so on. Everything else, and every drawn graph, is post-processing.

    References
    ----------
    M. E. J. Newman, "Properties of highly clustered networks", 2003 (groups that overlap). docs/synthetic-graphs.md.

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
    check_counts({"triangle": SYNTHESIS.numbers, "edge": SYNTHESIS.edges}, facts.epsilon)
    wanted = most_communities(communities, facts.n)
    call = open_call(epsilon=facts.epsilon, accountant=accountant, relation=Edge(), noise=rng)
    for_communities = 1 - 2 * SYNTHESIS.numbers - SYNTHESIS.edges
    shares = SYNTHESIS.edges, for_communities, SYNTHESIS.numbers, SYNTHESIS.numbers
    of_edges, of_groups, of_tails, of_triangles = call.split(*shares)
    graph = source.read().unweighted()
    subgraphs = subgraphs_of(graph)
    edges = max(release_by_ladder(subgraphs, "edge", of_edges).value, 0)
    asked = CommunityFacts(
        facts.n,
        1.0,
        for_communities * facts.epsilon,
        communities=wanted,
        resolution=resolution,
        degree_share=SYNTHESIS.degree_share,
    )
    found, _ = release_with_edges(graph, of_groups, asked, edges)
    tails = release_degree_tails(graph, of_tails)
    triangles = max(release_by_ladder(subgraphs, "triangle", of_triangles).value, 0)
    counts = degree_counts(tails.value, facts.n, tails.std, 2.0 * edges)
    return fit_model(graph.nodes, found, found.weights.symmetric, counts, triangles, call)


def fit_model(
    nodes: tuple[Hashable, ...],
    found: ReleasedCommunities | PrivateCommunities,
    weights: FloatArray,
    counts: IntArray,
    triangles: int,
    call: Call,
) -> PrivateGraphModel:
    """A model by released labels, degrees, weights between communities, degree distribution and triangles."""
    degrees, weights = _assigned(counts, found.degrees, call.generator), np.maximum(weights, 0.0)
    tightness = fit_tightness(degrees, found.labels, weights, triangles, call.generator)
    return PrivateGraphModel(nodes, found.labels, degrees, weights, triangles, tightness, call.report())


def _assigned(counts: IntArray, degrees: FloatArray, generator: np.random.Generator) -> IntArray:
    """Degrees of vertices: the largest of the distribution for the largest of `degrees`, and so on; ties at random."""
    sequence = np.repeat(np.arange(counts.size), counts)
    assigned = np.empty(degrees.size, dtype=np.int64)
    assigned[np.lexsort((generator.random(degrees.size), degrees))] = sequence
    return assigned
