"""Communities of a private graph, purely private."""

from typing import Any, Literal

import numpy as np

from dpgraph.arguments import check_choice, check_integer, check_optional_delta, check_positive
from dpgraph.denoise.modularity import modularity
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.sweeps.communities import release_communities
from dpgraph.results.communities import PrivateCommunities, make_communities

__all__ = ["most_communities", "private_communities"]


def most_communities(communities: Any, n: int) -> int | None:
    """Return the argument ``communities=`` for a graph of n vertices, None for "auto", or refuse it."""
    automatic = isinstance(communities, str) and communities == "auto"
    return None if automatic else check_integer("communities", communities, 1, n)


def private_communities(  # noqa: PLR0913
    G: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    communities: Literal["auto"] | int = "auto",
    resolution: float = 1.0,
    mechanism: Literal["auto", "one-sided-sweeps"] = "auto",
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
        At most how many to find, from 1 to the number of vertices. "auto" merges as long as the estimated modularity
        rises; a number of them is also merged down to. Fewer come back where some would be empty.
    resolution : float, default 1.0
        gamma > 0 in the modularity Q = sum_ij (A_ij - gamma d_i d_j / 2m) [c_i = c_j] / 2m: above 1 for smaller
        communities, below 1 for larger ones.
    mechanism : {"auto", "one-sided-sweeps"}
        There is one: "auto" takes it.
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
    *Guarantee.* epsilon-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`. The budget
    is shared by the degrees (they move by 2 w in l1), sweeps in which each vertex counts its edges to each label, or
    takes the noisy maximum of these counts (:func:`dpgraph.bounds.sensitivity.label_counts`,
    :func:`dpgraph.bounds.sensitivity.label_scores`: w), and the weights between labels (w). Labels, their merging, the
    number of sweeps and the estimates are functions of these releases.

    *Accuracy.* What counts is epsilon times the average degree: from about 40 on, communities have most of the
    modularity that Louvain finds without privacy, and below 10 little can be found. docs/communities.md has tables.

    References
    ----------
    V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", 2008
    (greedy modularity); R. McKenna, D. Sheldon, "Permute-and-flip", NeurIPS 2020 (the last sweep). docs/communities.md.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> graph = nx.planted_partition_graph(3, 100, 0.4, 0.02, seed=1)
    >>> found = dpgraph.private_communities(graph, epsilon=2.0, rng=0)
    >>> [len(community) for community in found.communities], found.privacy.delta
    ([100, 100, 100], 0.0)
    """
    check_optional_delta(delta)
    check_choice("mechanism", mechanism, ("auto", "one-sided-sweeps"))
    resolution = check_positive("resolution", resolution)
    noise = noise_source(rng)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    wanted = most_communities(communities, source.n_vertices)
    call = open_call(epsilon=epsilon, accountant=accountant, relation=Edge(), noise=noise)
    graph = source.read()
    found = release_communities(graph, call, communities=wanted, resolution=resolution, progress=progress)
    largest_first = np.argsort(-np.bincount(found.labels), kind="stable")
    labels = np.argsort(largest_first)[found.labels]
    weights = found.weights.symmetric[np.ix_(largest_first, largest_first)]
    value, std = modularity(found.weights, resolution)
    return PrivateCommunities(
        make_communities(graph.nodes, labels),
        labels,
        graph.nodes,
        value,
        std,
        weights,
        found.degrees,
        "one-sided-sweeps",
        call.report(),
    )
