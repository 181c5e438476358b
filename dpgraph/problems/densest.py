"""The densest part of a private graph."""

import numpy as np

from dpgraph.arguments import check_optional_delta
from dpgraph.graph import vertex_sets
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Edge
from dpgraph.releases.densest import release_densest
from dpgraph.results.densest import PrivateSubgraph
from dpgraph.typing import GraphLike


@private_function
def private_densest_subgraph(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateSubgraph:
    """Find the vertices with the most edges among them for their number, with edge-level differential privacy.

    The density of a set of vertices is the weight of the edges inside over the number of its vertices.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    delta : float, default 0.0
        0 <= delta < 1. Not spent: the release is pure.

    Returns
    -------
    PrivateSubgraph

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`. Degrees are
    released first (2 w in l1). Then, in two to seven rounds, every vertex counts its edges to those before it in a
    public order, of which an edge changes one number (:func:`dpgraph.bounds.sensitivity.label_counts`: w). The best
    prefix of one of these orders is chosen by these numbers alone. Its weight is released last, with noise of its own
    (w), so that the interval of its density holds although the set was chosen.

    *Accuracy.* The noise of a prefix of k vertices is about sqrt(k)/epsilon edges. So a part is found whose density
    stands out of a few times 1/epsilon; in graphs with less all vertices are about as good. docs/communities.md has a
    table.

    References
    ----------
    M. Charikar, "Greedy approximation algorithms for finding dense components in a graph", APPROX 2000 (peeling); L.
    Dhulipala, Q. C. Liu, S. Raskhodnikova, J. Shi, J. Shun, S. Yu, "Differential privacy from locally adjustable graph
    algorithms", FOCS 2022 (the same problem, by levels). That each edge is counted at one end: docs/communities.md.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> G = nx.disjoint_union(nx.complete_graph(60), nx.gnm_random_graph(500, 1500, seed=1))
    >>> found = dpgraph.private_densest_subgraph(G, epsilon=2.0, rng=0)
    >>> low, high = found.interval()
    >>> len(found.vertices & set(range(60))), low < 29.5 <= high
    (60, True)
    """
    check_optional_delta(delta)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    call = open_call(epsilon=epsilon, accountant=accountant, relation=Edge(), noise=rng)
    found = release_densest(source.read(), call)
    labels = found.inside.astype(np.int8)
    return PrivateSubgraph(
        vertex_sets(source.nodes, labels, 2)[1],
        labels,
        source.nodes,
        found.density,
        found.std,
        source.max_weight,
        call.report(),
    )
