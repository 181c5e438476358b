"""Private max-cut and max-bisection: a strategy releases, the exact solver does the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.exceptions import MechanismHalted
from dpgraph.inputs.graphs import GraphSource, open_graph
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import check_epsilon, check_optional_delta, require_delta
from dpgraph.privacy.call import open_call
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge
from dpgraph.problems.cut.rule import MAIN_SHARE, decide
from dpgraph.problems.cut.strategy import CUTS, Cut, CutFacts, CutStrategy, CutTask
from dpgraph.problems.strategy import Undecided
from dpgraph.releases.totals import release_cut_weight, release_total_weight
from dpgraph.results.cut import PrivateCutResult, make_partition

__all__ = ["CutPlan", "private_max_bisection", "private_max_cut"]

OnHalt = Literal["raise", "fallback"]

#: Shares of the budget for the weight of the cut and for the total weight (of mu**2, or of epsilon if pure).
_VALUE_SHARE = 0.02
_TOTAL_SHARE = 1 - _VALUE_SHARE - MAIN_SHARE


def private_max_cut(
    G: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: Any = "auto",
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
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon : float
        epsilon > 0.
    delta : float, default 0.0
        0 <= delta < 1. Strategies that add Gaussian noise need it, the others do not use it.
    mechanism : str or options object, default "auto"
        A name means the defaults of its options, an object of :mod:`dpgraph.strategies` sets them:
        ``mechanism=strategies.Coherence(rank=4, projection="spectral")``.

        ``"bounded-iterates"``, :class:`~dpgraph.problems.options.BoundedIterates`
            Private block coordinate descent on a public iterate. Never halts; any size. Pure, unless Gaussian noise is
            asked for.
        ``"randomized-response"``, :class:`~dpgraph.problems.options.RandomizedResponse`
            Every pair flipped at random, then the solver. Pure. Good where the average degree exceeds the
            n/(1 + e**epsilon) false answers at a vertex.
        ``"core-response"``, :class:`~dpgraph.problems.options.CoreResponse`
            Randomized response inside a core of large degrees, one noisy look at every other vertex. Pure.
        ``"permute-and-flip"``, :class:`~dpgraph.problems.options.PermuteAndFlip`
            The noisily largest of all cuts of at most 20 vertices. Pure.
        ``"coherence"``, :class:`~dpgraph.problems.options.Coherence`
            :func:`~dpgraph.private_normalized_adjacency`, projected on request, then the max-cut solver on the private
            matrix or its factors. Needs delta; may halt.
        ``"gaussian"``, :class:`~dpgraph.problems.options.Gaussian`
            Noise on all entries of the normalized adjacency, projection, then the solver (n <= 5000). Needs delta.
        ``"noisy-power"``, :class:`~dpgraph.problems.options.NoisyPower`
            Noisy power method, then the solver on the private factors. Needs delta.
        ``"auto"``
            A public rule (docs/choosing.md) among pure strategies: all cuts of at most 20 vertices; randomized
            response, of all vertices or of a core, where a privately released average degree says that it tells enough;
            otherwise, and with declared weights, bounded iterates. ``result.mechanism`` names the choice.
    on_halt : {"raise", "fallback"}
        What to do when the mechanism halts: raise, or return a random balanced cut that does not depend on the data,
        with its private value where the budget still holds it.
    weight, max_weight, symmetrize
        See :func:`dpgraph.inputs.graphs.open_graph`.
    accountant : PrivacyAccountant, optional
        Debited before the graph is read.
    rng : int or numpy.random.Generator, optional
        For reproducible experiments only; the default is cryptographic noise.
    progress : bool, default False
        Show a progress bar on stderr (bounded iterates).

    Returns
    -------
    PrivateCutResult

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input, or a strategy that needs delta without one.
    BudgetExceededError
        The accountant refuses.
    MechanismHalted
        ``"coherence"`` could not certify what it needs, and ``on_halt="raise"``.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`;
    (epsilon, 0)-DP, delta not being spent, with a pure strategy. Every release is a line of ``result.privacy``. Two per
    cent of the budget buys `estimated_value`, the weight of the released cut: its sensitivity is `max_weight`, because
    the cut is fixed when it is weighed. Solvers see released values only.

    References
    ----------
    DN25a (``"coherence"``); DTTZ14 (``"gaussian"``); HP14 (``"noisy-power"``); docs/cuts.md (``"bounded-iterates"``),
    and :func:`dpgraph.bounds.sensitivity.repeated_readings`; Warner 1965 (``"randomized-response"``); McKenna, Sheldon
    2020 (``"permute-and-flip"``).

    Examples
    --------
    >>> import dpgraph
    >>> G = dpgraph.datasets.planted_cut(600, 100, -0.8, rng=0)
    >>> cut = dpgraph.private_max_cut(G, epsilon=2.0, rng=0)
    >>> sorted(len(side) for side in cut.partition) == [300, 300] or cut.estimated_fraction > 0.8
    True
    >>> spectral = dpgraph.strategies.Coherence(rank=2, projection="frobenius")
    >>> dpgraph.private_max_cut(G, epsilon=16.0, delta=1e-6, mechanism=spectral, rng=0).estimated_fraction > 0.8
    True
    """
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    plan = CutPlan.of(source, mechanism, epsilon, delta, on_halt)
    return _release_cut(source, plan, accountant=accountant, rng=rng, progress=progress)


def private_max_bisection(
    G: Any,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: Any = "auto",
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
    G : networkx.Graph, igraph.Graph, scipy sparse or numpy matrix
        The private graph; its vertices and their order are public: see :func:`dpgraph.with_public_nodes`.
    epsilon : float
        epsilon > 0.
    delta : float, default 0.0
        0 <= delta < 1.
    mechanism : str or options object, default "auto"
        As for :func:`private_max_cut`, with its rule for "auto". Bounded iterates get a multiplier on the sum of the
        iterate, released graphs are cut with a price on imbalance, and vertices exchanged.
    on_halt, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`private_max_cut`.

    Returns
    -------
    PrivateCutResult
        The sides differ by at most one vertex.

    Raises
    ------
    InvalidGraphError, InvalidParameterError
        Bad input, or a strategy that needs delta without one.
    BudgetExceededError
        The accountant refuses.
    MechanismHalted
        ``"coherence"`` could not certify what it needs, and ``on_halt="raise"``.

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
    plan = CutPlan.of(source, mechanism, epsilon, delta, on_halt)
    return _release_cut(source, plan, balanced=True, accountant=accountant, rng=rng, progress=progress)


@dataclass(frozen=True)
class CutPlan:
    """What public arguments say about a call.

    Parameters
    ----------
    choice : (Strategy, options), or Undecided
        The strategy, or by which released number it is chosen among pure ones.
    epsilon, delta, slack : float
        What the call spends, and the part of delta that good events may use.
    fallback : bool
        Whether a halt gives a random cut.
    """

    choice: tuple[CutStrategy, Any] | Undecided
    epsilon: float
    delta: float
    slack: float
    fallback: bool

    @classmethod
    def of(cls, source: GraphSource, mechanism: Any, epsilon: float, delta: float, on_halt: str) -> CutPlan:
        """Check public arguments; raises :class:`InvalidParameterError` before the budget is touched."""
        epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
        check_choice("on_halt", on_halt, ("raise", "fallback"))
        fallback = on_halt == "fallback"
        found, options = CUTS.resolve(mechanism)
        if found is None:
            taken = decide(source.n_vertices, epsilon, weighted=source.weighted)
            if isinstance(taken, Undecided):
                return cls(taken, epsilon, 0.0, 0.0, fallback)
            found, options = CUTS.resolve(taken)
        strategy = cast(CutStrategy, found)
        strategy.check(options, CutFacts(source.n_vertices, source.max_weight, epsilon * MAIN_SHARE))
        if strategy.pure(options):
            return cls((strategy, options), epsilon, 0.0, 0.0, fallback)
        require_delta(delta, f"mechanism={mechanism!r}", "mechanism='bounded-iterates'")
        return cls((strategy, options), epsilon, delta, delta * strategy.slack_share(options), fallback)

    def decide(self, mean_degree: float) -> tuple[CutStrategy, Any]:
        """The strategy and its options, for a released average degree in edges."""
        if isinstance(self.choice, Undecided):
            strategy = cast(CutStrategy, CUTS[self.choice.then(mean_degree)])
            return strategy, strategy.options()
        return self.choice


def _release_cut(
    source: GraphSource,
    plan: CutPlan,
    *,
    accountant: PrivacyAccountant | None,
    rng: int | np.random.Generator | None,
    balanced: bool = False,
    progress: bool = False,
) -> PrivateCutResult:
    """Debit the budget, read the graph, release and solve."""
    call = open_call(
        epsilon=plan.epsilon,
        delta=plan.delta,
        accountant=accountant,
        relation=Edge(),
        noise=noise_source(rng),
        slack=plan.slack,
    )
    first, main, last = call.split(_TOTAL_SHARE, MAIN_SHARE, _VALUE_SHARE)
    graph = source.read()
    total = release_total_weight(graph, first)
    mean_degree = 2 * total.value / graph.n_vertices
    strategy, options = plan.decide(2 * total.value / graph.max_weight / graph.n_vertices)
    try:
        cut, used = strategy.run(options, graph, main, CutTask(balanced, mean_degree, progress)), strategy.name
    except MechanismHalted:
        if not plan.fallback:
            raise
        # A random balanced cut, which cuts at least half of the edges in expectation.
        cut = Cut((call.generator.permutation(graph.n_vertices) % 2).astype(np.int8))
        used = "data-independent"
    value = release_cut_weight(graph, cut.labels, last)
    return PrivateCutResult(
        partition=make_partition(graph.nodes, cut.labels),
        labels=cut.labels,
        nodes=graph.nodes,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        upper_bound=cut.upper_bound,
        mechanism=used,
        privacy=call.report(),
    )
