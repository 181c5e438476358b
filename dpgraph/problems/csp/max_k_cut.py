"""Private max-k-cut."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpgraph.arguments import check_integer
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.csp.edges import (
    EdgeMechanism,
    EdgeRequest,
    RelatedEdges,
    public_relation,
    release_edge_assignment,
)
from dpgraph.problems.csp.release import CSPNames
from dpgraph.results.csp import PrivateCSPResult

__all__ = ["private_max_k_cut"]

#: Fields of n vertices are arrays of shape (n, k).
MOST_PARTS = 256


def private_max_k_cut(
    G: Any,
    k: int,
    *,
    epsilon: float,
    delta: float,
    mechanism: EdgeMechanism = "auto",
    noise: Literal["auto", "gaussian", "laplace"] = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCSPResult:
    r"""Release a partition into k parts with many edges between parts, with edge-level differential privacy.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    k : int
        Number of parts, 2 <= k <= 256.
    epsilon, delta : float
        epsilon > 0, 0 < delta < 1.
    mechanism : {"auto", "bounded-iterates", "core-response", "randomized-response"}
        As for :func:`~dpgraph.private_max_cut`: vertices choose one after another; every pair, or every pair inside a
        core of large degrees, answers at random, and the answers are labelled. "auto" takes one of them by a public
        rule from a privately released average degree; bounded iterates with declared weights and with
        ``noise="gaussian"``. ``result.mechanism`` names the choice.
    noise : {"auto", "gaussian", "laplace"}
        Noise of the bounded iterates. ``"laplace"`` makes the call pure, (epsilon, 0)-DP: one to five sweeps over all
        vertices. ``"gaussian"`` affords 24 or more sweeps of a core of large degrees, and several such calls compose
        exactly under one accountant. "auto" is ``"laplace"`` below epsilon = 1.5; from there on released degrees
        choose, Gaussian sweeps where they are large for epsilon.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show a progress bar on stderr.

    Returns
    -------
    PrivateCSPResult
        ``result.partition`` holds the k parts, ``result.labels`` their numbers 0..k-1 in the order of the vertices,
        ``result.estimated_value`` a private estimate of the weight between parts.

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input.
    BudgetExceededError
        The accountant refuses.

    See Also
    --------
    private_max_cut : two parts.
    private_max_2csp : the same mechanism for other public relations (``adjacency="edge"``), and private relations.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`.
    Each pure sweep reads an edge at one of its ends; proved at
    :func:`~dpgraph.releases.sweeps.labels.release_label_iterates`. The mechanism never halts.

    References
    ----------
    R. McKenna, D. Sheldon, "Permute-and-flip: a new mechanism for differentially private selection", NeurIPS 2020
    (the last choice of each vertex).

    Examples
    --------
    >>> import dpgraph, networkx as nx
    >>> G = nx.complete_multipartite_graph(60, 60, 60)
    >>> cut = dpgraph.private_max_k_cut(G, 3, epsilon=2.0, delta=1e-6, rng=0)
    >>> len(cut.partition), cut.estimated_fraction > 0.9
    (3, True)
    """
    k = check_integer("k, the number of parts,", k, 2, MOST_PARTS)
    graph = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    differ = public_relation(None, k)
    return release_edge_assignment(
        CSPNames(graph.nodes, tuple(range(k))),
        lambda: RelatedEdges(graph.read(), differ),
        EdgeRequest(epsilon, delta, mechanism, noise, graph.max_weight, graph.weighted, progress),
        accountant=accountant,
        neighbours=Edge(),
        noise=noise_source(rng),
    )
