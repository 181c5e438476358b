"""Private 2-CSPs and private max-k-cut, and what ``mechanism="auto"`` stands for: a public rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpgraph.arguments import check_choice, check_epsilon, check_integer, check_optional_delta, check_scale
from dpgraph.exceptions import InvalidParameterError
from dpgraph.graph import is_weighted
from dpgraph.inputs.graphs import open_graph
from dpgraph.instance import TwoCSP
from dpgraph.memory import check_memory
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import Constraint, Edge, LabelEdge, Relation
from dpgraph.problems.csp.strategy import EDGES, TABLES, CSPTask
from dpgraph.problems.cut.api import edges_per_flip
from dpgraph.problems.strategy import MAIN_SHARE, Arguments, Labelling, Registry, Undecided, release_labels
from dpgraph.releases.answers import expected_flips
from dpgraph.releases.constraints import (
    PrivateCSP,
    PrivateTables,
    RelatedEdges,
    public_relation,
    release_total,
    release_value,
)
from dpgraph.releases.sweeps.two_stage import core_may_answer
from dpgraph.results.csp import PrivateCSPResult
from dpgraph.tuning import ANSWER_RULE
from dpgraph.typing import GraphLike

if TYPE_CHECKING:
    from dpgraph.problems.mechanisms import CSPMechanism, KCutMechanism

_TOTAL_SHARE = 0.005
#: Expected answers times squared labels beyond this number would not fit into memory.
_TABLE_LIMIT = 3e7
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
    (:func:`dpgraph.bounds.sensitivity.constraint_rows`); all readings of repeated sweeps together move by w, or 2 w,
    in the norm of their noise (:func:`dpgraph.bounds.sensitivity.repeated_readings`). "edge" is proved at
    :func:`dpgraph.releases.sweeps.iteration.label_iteration`. The value of a released assignment has sensitivity w.

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
    task = CSPTask(
        instance.variables,
        instance.alphabet,
        check_epsilon(epsilon),
        check_optional_delta(delta),
        _RELATIONS[adjacency],
        check_scale("max_weight", max_weight),
    )
    asked = Arguments(mechanism, accountant, rng, on_halt)
    if adjacency != "edge":
        tables = partial(PrivateTables.read, instance, task.max_weight)
        return _release_assignment(TABLES, task, asked, "bounded-iterates", tables)
    edges = partial(RelatedEdges.read, instance, public_relation(relation, len(task.alphabet)), task.max_weight)
    return _release_assignment(EDGES, task, asked, _decide(task, weighted=is_weighted(None, max_weight)), edges)


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
        "bounded-iterates", "core-response" or "randomized-response", as for :func:`~dpgraph.private_max_cut`, which is
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
    Each pure sweep reads an edge at one of its ends, or all readings of a vertex share their noise
    (:func:`~dpgraph.bounds.sensitivity.repeated_readings`); proved at
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
    graph = open_graph(G, weight=weight, max_weight=max_weight, symmetrize=symmetrize)
    epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
    task = CSPTask(graph.nodes, tuple(range(k)), epsilon, delta, Edge(), graph.max_weight)
    differ = public_relation(None, k)
    asked, auto = Arguments(mechanism, accountant, rng), _decide(task, weighted=graph.weighted)
    return _release_assignment(EDGES, task, asked, auto, lambda: RelatedEdges(graph.read(), differ))


def _release_assignment(
    strategies: Registry, task: CSPTask, asked: Arguments, auto: str | Undecided, read: Callable[[], PrivateCSP]
) -> PrivateCSPResult:
    labels = len(task.alphabet)
    check_memory(f"{labels} labels of {task.n} variables", fields=(16, task.n, labels))
    problem = Labelling(
        strategies,
        (_TOTAL_SHARE, MAIN_SHARE, 1 - MAIN_SHARE - _TOTAL_SHARE),
        total=release_total,
        value=release_value,
        at_random=lambda generator, task: generator.integers(0, len(task.alphabet), task.n),
    )
    labels, mechanism, total, value, report = release_labels(problem, task, asked, auto, read)
    return PrivateCSPResult(
        assignment={v: task.alphabet[a] for v, a in zip(task.variables, labels.tolist(), strict=True)},
        labels=labels,
        alphabet=task.alphabet,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        mechanism=mechanism,
        privacy=report,
    )


def _decide(task: CSPTask, *, weighted: bool) -> str | Undecided:
    """The strategy that "auto" takes, or by which released number it is chosen.

    One bit tells little of a weight between 0 and max_weight: where such weights are declared, no pair answers.
    """
    if weighted:
        return "bounded-iterates"
    by_degree = partial(decide_labels, task.n, task.epsilon, labels=len(task.alphabet))
    return Undecided("average degree, in edges", by_degree)


def decide_labels(n: int, epsilon: float, mean_degree: float, labels: int) -> str:
    """The strategy for a released average degree, in edges.

    Randomised response hides the edges of a vertex among n/(1 + e**epsilon) false answers: all vertices answer from 3
    edges for each false answer on, and a core does from 1.25 on (0.6 from epsilon = 3 on). Elsewhere bounded iterates
    pay for one row at a time, whatever n.
    """
    ratio = edges_per_flip(n, epsilon, mean_degree)
    answers = n * max(mean_degree, 0.0) / 2 + expected_flips(n, epsilon * MAIN_SHARE)
    least = ANSWER_RULE.core_labels if epsilon >= ANSWER_RULE.labels_epsilon else ANSWER_RULE.core
    if ratio < least or answers * labels**2 > _TABLE_LIMIT:
        return "bounded-iterates"
    if ratio >= ANSWER_RULE.all_late:
        return "randomized-response"
    return "core-response" if core_may_answer(epsilon * MAIN_SHARE) else "bounded-iterates"
