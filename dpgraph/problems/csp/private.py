"""Private 2-CSPs and private max-k-cut."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import (
    check_choice,
    check_epsilon,
    check_integer,
    check_memory,
    check_optional_delta,
    check_scale,
)
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import is_weighted
from dpgraph.inputs.graphs import open_graph
from dpgraph.instance import TwoCSP
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Constraint, Edge, LabelEdge, Relation
from dpgraph.problems.driver import Asked, Problem, release
from dpgraph.problems.labels import EDGE_LABELS, TABLE_LABELS, LabelFacts
from dpgraph.releases.constraints import PrivateCSP, PrivateTables, RelatedEdges, public_relation
from dpgraph.results.labels import PrivateCSPResult
from dpgraph.typing import GraphLike

if TYPE_CHECKING:
    from dpgraph.strategies import CSPMechanism, KCutMechanism

#: Fields of n vertices are arrays of shape (n, k).
MOST_PARTS = 256
_RELATIONS: dict[str, Relation] = {
    "label-edge": LabelEdge(),
    "constraint": Constraint(),
    "edge": Edge("the weight of one pair of variables, by at most max_weight, under a public relation"),
}


@private_function
def private_max_2csp(  # noqa: PLR0913
    instance: TwoCSP,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CSPMechanism = "auto",
    adjacency: Literal["label-edge", "constraint", "edge"] = "label-edge",
    relation: ArrayLike | None = None,
    max_weight: float = 1.0,
    on_halt: Literal["raise", "fallback"] = "raise",
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCSPResult:
    r"""Release an assignment of a 2-CSP whose constraints are private.

    Parameters
    ----------
    instance : TwoCSP
        Variables and alphabet are public, the constraints are private. Constraints on the same pair are summed, and
        entries of the summed table above `max_weight` are capped.
    epsilon, delta : float
        epsilon > 0, 0 <= delta < 1; only "coherence" needs and spends delta, other calls are pure.
    mechanism : str or options object, default "auto"
        "bounded-iterates" (never halts), which "auto" takes unless the adjacency is "edge"; "coherence", which releases
        a low-rank label-extended matrix, solves it like an exact one, and needs "label-edge" and a delta; for "edge"
        what :func:`~dpgraph.private_max_k_cut` offers, with its rule for "auto". Or an object of
        :mod:`dpgraph.strategies`.
    adjacency : {"label-edge", "constraint", "edge"}
        Neighbours differ in one entry of one pair's table (one edge of the label-extended graph); or in the whole table
        of one pair: a constraint is added, removed or replaced on the same pair; or, all tables being a weight times
        one public relation, in the weight of one pair. Where it applies, as for max-k-cut, "edge" costs least.
    relation : array_like, shape (q, q), optional
        For "edge": the public relation, symmetric, entries in [0, 1] (rounded to multiples of 2**-8). By default labels
        must differ, as in max-k-cut and colouring.
    max_weight : float, default 1
        Public upper bound on a table entry; for "edge" on the weight of a pair.
    on_halt : {"raise", "fallback"}
        What to do when "coherence" halts: raise, or return random labels.
    accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.

    Returns
    -------
    PrivateCSPResult

    Raises
    ------
    InvalidParameterError, BudgetExceededError
        Bad input; after the debit, for "edge", a table that is not a multiple of the relation. The accountant refuses.
    MechanismHalted
        "coherence" could not certify what it needs, and ``on_halt="raise"``.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for the chosen neighbours. Fields of public simplex rows have l2-sensitivity
    sqrt(2) w for each sweep under "label-edge" and sqrt(2 q) w under "constraint"
    (:func:`dpgraph.bounds.sensitivity.constraint_rows`); all queries of repeated sweeps together have sensitivity 2 w,
    or 4 w, in the norm of their noise (:func:`dpgraph.bounds.sensitivity.repeated_queries`). "edge" is proved at
    :func:`dpgraph.releases.sweeps.iteration.label_iteration`. What a released assignment earns and what it leaves move
    by w together under "edge", else by 2 w (:func:`dpgraph.bounds.sensitivity.split_table`).

    References
    ----------
    DN25a, section 7 (label-extended graphs, "coherence"); docs/constraint-problems.md ("bounded-iterates").

    Examples
    --------
    >>> import dpgraph, networkx as nx
    >>> instance = dpgraph.TwoCSP.from_networkx(nx.complete_multipartite_graph(30, 30, 30), "max-k-cut", 3)
    >>> result = dpgraph.private_max_2csp(instance, epsilon=4.0, rng=0)
    >>> len(result.assignment), result.privacy.delta
    (90, 0.0)
    """
    if not isinstance(instance, TwoCSP):
        raise InvalidParameterError(f"instance must be a dpgraph.TwoCSP; got {type(instance).__name__}")
    check_choice("adjacency", adjacency, _RELATIONS)
    if adjacency != "edge" and relation is not None:
        raise InvalidParameterError(
            f"relation= is public and belongs to adjacency='edge'; with adjacency={adjacency!r} all tables are private"
        )
    max_weight = check_scale("max_weight", max_weight)
    facts = LabelFacts(
        len(instance.variables),
        max_weight,
        check_epsilon(epsilon),
        check_optional_delta(delta),
        is_weighted(None, max_weight),
        _RELATIONS[adjacency],
        variables=instance.variables,
        alphabet=instance.alphabet,
    )
    asked = Asked(mechanism, accountant, rng, on_halt)
    if adjacency != "edge":
        return _release_assignment(TABLE_LABELS, partial(PrivateTables.read, instance, max_weight), facts, asked)
    edges = partial(RelatedEdges.read, instance, public_relation(relation, len(facts.alphabet)), max_weight)
    return _release_assignment(EDGE_LABELS, edges, facts, asked)


@private_function
def private_max_k_cut(  # noqa: PLR0913
    G: GraphLike,
    k: int,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: KCutMechanism = "auto",
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
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`~dpgraph.private_max_cut`.
    k : int
        Number of parts, 2 <= k <= 256.
    mechanism : str or options object, default "auto"
        "bounded-iterates" or "randomized-response", as for :func:`~dpgraph.private_max_cut`, which is
        also where "auto" is explained; with declared weights it is bounded iterates.
    delta : float, default 0.0
        0 <= delta < 1; not spent, as all strategies are pure.

    Returns
    -------
    PrivateCSPResult
        ``result.partition`` holds the k parts, ``result.labels`` their numbers 0..k-1 in the order of the vertices,
        ``result.estimated_value`` a private estimate of the weight between parts.

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input; the accountant refuses.

    Notes
    -----
    *Guarantee.* (epsilon, delta)-DP for graphs that differ in the weight of one vertex pair by at most `max_weight`.
    Each pure sweep reads an edge at one of its ends, or all queries of a vertex share their noise
    (:func:`~dpgraph.bounds.sensitivity.repeated_queries`); proved at
    :func:`~dpgraph.releases.sweeps.iteration.label_iteration`. The mechanism never halts.

    References
    ----------
    R. McKenna, D. Sheldon, "Permute-and-flip: a new mechanism for differentially private selection", NeurIPS 2020
    (the last choice of each vertex).

    Examples
    --------
    >>> import dpgraph, networkx as nx
    >>> G = nx.complete_multipartite_graph(60, 60, 60)
    >>> cut = dpgraph.private_max_k_cut(G, 3, epsilon=2.0, rng=0)
    >>> len(cut.partition), cut.estimated_fraction > 0.9
    (3, True)
    """
    k = check_integer("k, the number of parts,", k, 2, MOST_PARTS)
    source = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    facts = LabelFacts.of(source, epsilon, delta, variables=source.nodes, alphabet=tuple(range(k)))
    differ = public_relation(None, k)
    asked = Asked(mechanism, accountant, rng)
    return _release_assignment(EDGE_LABELS, lambda: RelatedEdges(source.read(), differ), facts, asked)


def _release_assignment(
    problem: Problem, read: Callable[[], PrivateCSP], facts: LabelFacts, asked: Asked
) -> PrivateCSPResult:
    q = len(facts.alphabet)
    check_memory(f"{q} labels of {facts.n} variables", fields=(16, facts.n, q))
    released = release(problem, read, facts, asked)
    labels = released.found
    return PrivateCSPResult(
        assignment={v: facts.alphabet[a] for v, a in zip(facts.variables, labels.tolist(), strict=True)},
        labels=labels,
        alphabet=facts.alphabet,
        estimated_value=released.worth.value,
        estimated_value_std=released.worth.std,
        estimated_total_weight=released.worth.total,
        mechanism=released.mechanism,
        privacy=released.privacy,
        most_weight=math.comb(facts.n, 2) * facts.max_weight,
    )
