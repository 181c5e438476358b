"""Private max-cut and max-bisection."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from dpgraph.graph import vertex_sets
from dpgraph.inputs.graphs import GraphSource, open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.problems.driver import Asked, release
from dpgraph.problems.labels import CUT, LabelFacts
from dpgraph.releases.constraints import RelatedEdges
from dpgraph.results.labels import PrivateCutResult
from dpgraph.typing import GraphLike

if TYPE_CHECKING:
    from dpgraph.strategies import CutMechanism

OnHalt = Literal["raise", "fallback"]


@private_function
def private_max_cut(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CutMechanism = "auto",
    on_halt: OnHalt = "raise",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCutResult:
    r"""Release a large cut of a graph with edge-level differential privacy.

    Parameters
    ----------
    G : networkx.Graph, igraph.Graph, a table of edges, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon : float
        epsilon > 0.
    delta : float, default 0.0
        0 <= delta < 1. Strategies that add Gaussian noise need it, the others do not use it.
    mechanism : str or options object, default "auto"
        A name means the defaults of its options, an object of :mod:`dpgraph.strategies`, where each strategy is
        explained, sets them. Pure: "bounded-iterates" (for any size), "randomized-response" (for average degrees above
        n/(1 + e**epsilon)) and "permute-and-flip" (at most 20 vertices). Delta is needed by "coherence", which may
        halt, "gaussian" (n <= 5000) and "noisy-power": these release a matrix, which the solver cuts. "auto" is a
        public rule among the pure ones, by n, epsilon and a privately released average degree (docs/mechanisms.md);
        ``result.mechanism`` names the choice.
    on_halt : {"raise", "fallback"}
        When the mechanism halts: raise, or return a random balanced cut that does not depend on the data.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show progress bars on stderr (blocks of a table that are read, sweeps of bounded iterates).

    Returns
    -------
    PrivateCutResult

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input, or a strategy that needs delta without one; the accountant refuses.
    MechanismHalted
        ``"coherence"`` could not certify what it needs, and ``on_halt="raise"``.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`;
    (epsilon, 0)-DP, delta not being spent, with a pure strategy. Two per cent of the budget buys the weights across
    and inside the sides, together of sensitivity `max_weight`, because the cut is fixed when it is weighed. Their sum
    is `estimated_total_weight`. Solvers see released values only.

    References
    ----------
    DN25a (``"coherence"``); DTTZ14 (``"gaussian"``); HP14 (``"noisy-power"``); docs/cuts.md (``"bounded-iterates"``);
    Warner 1965 (``"randomized-response"``); McKenna, Sheldon 2020 (``"permute-and-flip"``).

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_cut(600, 100, -0.8, rng=0)
    >>> dpgraph.private_max_cut(G, epsilon=2.0, rng=0).estimated_fraction > 0.8
    True
    >>> spectral = dpgraph.strategies.Coherence(rank=2, projection="frobenius")
    >>> dpgraph.private_max_cut(G, epsilon=16.0, delta=1e-6, mechanism=spectral, rng=0).estimated_fraction > 0.8
    True
    """
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    asked = Asked(mechanism, accountant, rng, on_halt)
    return _release_cut(source, (epsilon, delta), asked)


@private_function
def private_max_bisection(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CutMechanism = "auto",
    on_halt: OnHalt = "raise",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCutResult:
    r"""Release a large cut into two halves with edge-level differential privacy.

    Parameters
    ----------
    G, epsilon, delta, on_halt, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`private_max_cut`.
    mechanism : str or options object, default "auto"
        As for :func:`private_max_cut`, with its rule for "auto". Released graphs are cut with a price on
        imbalance. In the end vertices are exchanged.

    Returns
    -------
    PrivateCutResult
        The sides differ by at most one vertex.

    Raises
    ------
    DPGraphError
        The errors of :func:`private_max_cut`.

    Notes
    -----
    *Guarantee.* That of :func:`private_max_cut`, with the same sensitivities: balance is a public constraint, imposed
    on released values.

    References
    ----------
    DN25a, section 7; docs/cuts.md.

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_bisection(400, 100, -0.8, rng=0)
    >>> half = dpgraph.private_max_bisection(G, epsilon=2.0, rng=0)
    >>> [len(side) for side in half.partition]
    [200, 200]
    """
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    asked = Asked(mechanism, accountant, rng, on_halt)
    return _release_cut(source, (epsilon, delta), asked, balanced=True)


def _release_cut(
    source: GraphSource, budget: tuple[float, float], asked: Asked, *, balanced: bool = False
) -> PrivateCutResult:
    facts = LabelFacts.of(source, *budget, balanced=balanced)
    released = release(CUT, lambda: RelatedEdges.of_cut(source.read()), facts, asked)
    cut, value = released.found, released.worth
    first, second = vertex_sets(source.nodes, cut.labels, 2)
    return PrivateCutResult(
        partition=(first, second),
        labels=cut.labels,
        nodes=source.nodes,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=value.total,
        upper_bound=cut.upper_bound,
        mechanism=released.mechanism,
        privacy=released.privacy,
        most_weight=math.comb(facts.n, 2) * source.max_weight,
    )
