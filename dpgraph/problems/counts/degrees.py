"""Every degree of a graph with noise, and how many vertices have which degree."""

import math
from collections.abc import Hashable
from importlib import import_module
from typing import Literal, cast

import numpy as np

from dpgraph.arguments import check_choice, check_epsilon, check_optional_delta, require_delta
from dpgraph.bounds import sensitivity
from dpgraph.denoise.degree_tails import block_counts, degree_counts
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import GRAPHS, Edge
from dpgraph.releases.nodes import release_truncated_tails
from dpgraph.releases.totals import release_degree_tails, release_degrees
from dpgraph.results.degrees import PrivateDegreeDistribution, PrivateDegrees
from dpgraph.typing import GraphLike


@private_function
def private_degrees(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: Literal["auto", "laplace", "gaussian"] = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateDegrees:
    """Release every (weighted) degree of a graph with edge-level differential privacy.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    delta : float, default 0.0
        0 <= delta < 1; needed by the Gaussian mechanism, not used by the Laplace mechanism, which is pure.
    mechanism : {"auto", "laplace", "gaussian"}
        Discrete Laplace noise of scale ``2 w / epsilon``, or Gaussian noise of standard deviation
        ``sqrt(2) w / mu(epsilon, delta)``, on each degree, rounded to the weight grid. "auto" takes the one of smaller
        standard deviation: Laplace noise above epsilon = 0.0003 for delta = 1e-6, and always for delta = 0.

    Returns
    -------
    PrivateDegrees

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP with Gaussian noise, epsilon-DP with Laplace noise, for graphs that differ in the
    weight of one vertex pair by at most `max_weight`. Sensitivity: two degrees change by at most w, sqrt(2) w in l2
    and 2 w in l1.

    References
    ----------
    BW18 (analytic Gaussian mechanism); C. Dwork, F. McSherry, K. Nissim, A. Smith, TCC 2006 (Laplace mechanism).

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> noisy = dpgraph.private_degrees(nx.star_graph(50), epsilon=2.0, rng=0)
    >>> len(noisy.values), noisy.privacy.delta
    (51, 0.0)
    """
    check_choice("mechanism", mechanism, ("auto", "laplace", "gaussian"))
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    gaussian = mechanism == "gaussian" or (mechanism == "auto" and _gaussian_is_quieter(epsilon, delta))
    if gaussian:
        require_delta(delta, "mechanism='gaussian'", "mechanism='laplace'")
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    spent = delta if gaussian else 0.0
    call = open_call(epsilon=epsilon, delta=spent, accountant=accountant, relation=Edge(), noise=rng)
    graph = source.read()
    labels = cast("tuple[Hashable, ...]", graph.labels)  # as which they are read
    return PrivateDegrees(release_degrees(graph, call).value, labels, call.report())


@private_function
def private_degree_distribution(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    adjacency: Literal["edge", "node"] = "edge",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateDegreeDistribution:
    """Release how many vertices of a graph have which degree, with differential privacy for edges or for vertices.

    Degrees count edges, whatever they weigh; a pair of weight 0 is no edge.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    delta : float, default 0.0
        0 <= delta < 1. Not spent: the release is pure.
    adjacency : {"edge", "node"}
        Neighbours differ in one vertex pair, or in all edges of one vertex (docs/persons.md).

    Returns
    -------
    PrivateDegreeDistribution

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP for graphs that differ in one vertex pair. The numbers N_k of vertices of degree at least k,
    k = 1, ..., n - 1, change by 2 in l1 (:func:`dpgraph.bounds.sensitivity.degree_tails`) and are released once, with
    discrete Laplace noise of scale 2/epsilon each. The rest is post-processing: the mean of N given the noisy N, if the
    numbers of vertices of each degree are near a rate that changes slowly with the degree.

    With ``adjacency="node"`` it is epsilon-DP for graphs in which all edges of one vertex are replaced. A part of
    epsilon chooses a limit D. Edges are kept in a public order while both ends have fewer than D. That changes the
    numbers of vertices with at least 1, ..., D edges by 2 D in l1 (:func:`dpgraph.bounds.nodes.truncated_tails`). Sums
    over blocks of degrees are released. What lies between and beyond them is interpolated.

    *Accuracy.* At epsilon = 1 the Kolmogorov-Smirnov distance to the true distribution is close to what no private
    mechanism can be below (docs/degrees-theory.md). Noise on the sorted degrees (Hay et al.), which has the same
    sensitivity, is several times further away: there an error of one in a degree moves all vertices of this degree.

    References
    ----------
    M. Hay, C. Li, G. Miklau, D. Jensen, "Accurate estimation of the degree distribution of private networks", ICDM 2009
    (isotonic regression of noisy sorted degrees, to which this is the transpose). W.-Y. Day, N. Li, M. Lyu, "Publishing
    graph degree distribution with node differential privacy", SIGMOD 2016 (truncation).

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> found = dpgraph.private_degree_distribution(nx.barabasi_albert_graph(2000, 5, seed=1), epsilon=1.0, rng=0)
    >>> int(found.counts.sum()), found.privacy.delta, bool(abs(found.mean_degree - 9.975) < 0.1)
    (2000, 0.0, True)
    """
    check_optional_delta(delta)
    check_choice("adjacency", adjacency, GRAPHS)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    import_module("scipy.optimize")  # nothing is imported after the debit
    call = open_call(epsilon=epsilon, accountant=accountant, relation=GRAPHS[adjacency], noise=rng)
    n = source.n_vertices
    if adjacency == "node":
        means, ends, std = release_truncated_tails(source.read(), call)
        return PrivateDegreeDistribution(block_counts(means, ends, n), std, call.report(), means, ends)
    tails = release_degree_tails(source.read(), call)
    return PrivateDegreeDistribution(degree_counts(tails.value, n, tails.std), tails.std, call.report(), tails.value)


def _gaussian_is_quieter(epsilon: float, delta: float) -> bool:
    """Whether Gaussian noise on the degrees of a graph has the smaller standard deviation."""
    if delta == 0:
        return False
    return sensitivity.degrees_l2(1.0) / gdp_mu(epsilon, delta) < math.sqrt(2.0) * sensitivity.degrees_l1(1.0) / epsilon
