"""Every degree of a graph with noise."""

import math
from typing import Any, Literal

import numpy as np

from dpgraph.arguments import check_choice, check_epsilon, check_optional_delta, require_delta
from dpgraph.bounds import sensitivity
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.releases.totals import release_degrees
from dpgraph.results.degrees import PrivateDegrees

__all__ = ["private_degrees"]


def private_degrees(  # noqa: PLR0913
    G: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: Literal["auto", "laplace", "gaussian"] = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
) -> PrivateDegrees:
    """Release every (weighted) degree of a graph with edge-level differential privacy.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon : float
        epsilon > 0.
    delta : float, default 0.0
        0 <= delta < 1; needed by the Gaussian mechanism, not used by the Laplace mechanism, which is pure.
    mechanism : {"auto", "laplace", "gaussian"}
        Discrete Laplace noise of scale ``2 w / epsilon``, or Gaussian noise of standard deviation
        ``sqrt(2) w / mu(epsilon, delta)``, on each degree, rounded to the weight grid. "auto" takes the one of smaller
        standard deviation: Laplace up to about epsilon = 8 for delta = 1e-6, and always for delta = 0.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.

    Returns
    -------
    PrivateDegrees

    Raises
    ------
    InvalidGraphError
        The input is no undirected graph with finite nonnegative weights.
    InvalidParameterError
        epsilon, delta or mechanism is out of range.
    BudgetExceededError
        The accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP with Gaussian noise, epsilon-DP with Laplace noise, for graphs that differ in the
    weight of one vertex pair by at most `max_weight`. Sensitivity: two degrees move by at most w, sqrt(2) w in l2 and
    2 w in l1.

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
    gaussian = mechanism == "gaussian" or (mechanism == "auto" and _gaussian_is_quieter(epsilon, delta))
    if gaussian:
        require_delta(delta, "mechanism='gaussian'", "mechanism='laplace'")
    noise = noise_source(rng)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize, products=False)
    call = open_call(
        epsilon=epsilon,
        delta=delta if gaussian else 0.0,
        accountant=accountant,
        relation=Edge(),
        noise=noise,
    )
    graph = source.read()
    return PrivateDegrees(release_degrees(graph, call).value, graph.nodes, call.report())


def _gaussian_is_quieter(epsilon: float, delta: float) -> bool:
    """Whether Gaussian noise on the degrees of a graph has the smaller standard deviation."""
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    if delta == 0:
        return False
    return sensitivity.degrees_l2(1.0) / gdp_mu(epsilon, delta) < math.sqrt(2.0) * sensitivity.degrees_l1(1.0) / epsilon
