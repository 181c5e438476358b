"""Private degrees of a graph."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import GraphOperator, open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_delta
from dpgraph.privacy.ledger import Ledger, open_ledger
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.privacy.report import PrivacyReport
from dpgraph.spectral import sensitivity

__all__ = ["PrivateDegrees", "private_degrees", "release_degrees", "release_degrees_purely"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class PrivateDegrees:
    """Noisy degrees.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Unbiased noisy weighted degrees in the order of `nodes`; some may be negative.
    nodes : tuple of hashable
        The caller's vertex labels in the caller's order.
    privacy : PrivacyReport
        The guarantee.
    """

    values: FloatArray
    nodes: tuple[Hashable, ...]
    privacy: PrivacyReport

    def __repr__(self) -> str:
        scale = self.privacy.entries[0].scale
        return f"PrivateDegrees({len(self.nodes)} vertices, noise scale {scale:.4g}, {self.privacy!r})"

    def as_dict(self) -> dict[Hashable, float]:
        """Noisy degree of each vertex label."""
        return dict(zip(self.nodes, self.values.tolist(), strict=True))


def release_degrees(graph: GraphOperator, *, ledger: Ledger, mu: float, noise: NoiseSource) -> FloatArray:
    """Release all weighted degrees with GDP parameter `mu`: l2-sensitivity sqrt(2) w, noise on the weight grid."""
    scale = ledger.gaussian("degrees", sensitivity=sensitivity.degrees_l2(graph.max_weight), mu=mu)
    return noise.gaussian_on_grid(graph.degrees(), graph.weight_unit, scale)


def release_degrees_purely(graph: GraphOperator, *, ledger: Ledger, epsilon: float, noise: NoiseSource) -> FloatArray:
    """Release all weighted degrees with pure `epsilon`: l1-sensitivity 2 w, noise on the weight grid."""
    scale = ledger.laplace("degrees", sensitivity=sensitivity.degrees_l1(graph.max_weight), epsilon=epsilon)
    return noise.laplace_on_grid(graph.degrees(), graph.weight_unit, scale)


def private_degrees(
    G: Any,
    *,
    epsilon: float,
    delta: float | None = None,
    mechanism: Literal["gaussian", "laplace"] = "gaussian",
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
    delta : float, optional
        0 < delta < 1; needed by the Gaussian mechanism, not used by the Laplace mechanism, which is pure.
    mechanism : {"gaussian", "laplace"}
        Gaussian noise of standard deviation ``sqrt(2) w / mu(epsilon, delta)`` or discrete Laplace noise of scale
        ``2 w / epsilon``, on each degree, rounded to the weight grid.
    weight, max_weight, symmetrize
        See :func:`dpgraph.graph.open_graph`.
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
    *Guarantee.* (epsilon, delta)-DP, or epsilon-DP with ``"laplace"``, for graphs that differ in the weight of one
    vertex pair by at most `max_weight`. Sensitivity: two degrees move by at most w, sqrt(2) w in l2 and 2 w in l1.

    References
    ----------
    BW18 (analytic Gaussian mechanism); C. Dwork, F. McSherry, K. Nissim, A. Smith, TCC 2006 (Laplace mechanism).

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> noisy = dpgraph.private_degrees(nx.star_graph(50), epsilon=2.0, delta=1e-6, rng=0)
    >>> len(noisy.values), noisy.privacy.seeded
    (51, True)
    """
    check_choice("mechanism", mechanism, ("gaussian", "laplace"))
    if mechanism == "gaussian" and delta is None:
        raise InvalidParameterError(
            "the Gaussian mechanism needs delta in (0, 1); got None. Use mechanism='laplace' for pure DP"
        )
    if delta is not None:
        check_delta(delta)
    noise = noise_source(rng)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize, products=False)
    ledger = open_ledger(
        epsilon=epsilon,
        delta=delta if mechanism == "gaussian" else None,
        accountant=accountant,
        relation=Edge(),
        noise=noise,
    )
    graph = source.read()
    if mechanism == "gaussian":
        values = release_degrees(graph, ledger=ledger, mu=ledger.mu, noise=noise)
    else:
        values = release_degrees_purely(graph, ledger=ledger, epsilon=ledger.epsilon, noise=noise)
    return PrivateDegrees(values, graph.nodes, ledger.report())
