"""Private counts of triangles and other small subgraphs, and the transitivity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpgraph.arguments import check_choice, check_optional_delta
from dpgraph.bounds.count_intervals import standard_deviation
from dpgraph.exceptions import InvalidParameterError, did_you_mean
from dpgraph.inputs.graphs import open_graph
from dpgraph.linalg.subgraphs import PATTERNS, Subgraphs
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.guard import private_function
from dpgraph.privacy.relation import GRAPHS
from dpgraph.problems.driver import Asked, Facts, Problem, Registry, Strategy, release
from dpgraph.releases.nodes import release_edge_count
from dpgraph.releases.subgraphs import (
    ReleasedCount,
    check_counts,
    release_by_ladder,
    release_by_local_bounds,
    release_by_smooth_sensitivity,
    subgraphs_of,
)
from dpgraph.results.counts import PrivateCounts, PrivateEstimate
from dpgraph.typing import GraphLike

if TYPE_CHECKING:
    from dpgraph.strategies import CountMechanism


@dataclass(frozen=True)
class Ladder:
    """Integers around the count, less probable the more edges away from the graph they could be a count. Pure.

    References
    ----------
    J. Zhang, G. Cormode, C. Procopiuc, D. Srivastava, X. Xiao, "Private release of graph statistics using ladder
    functions", SIGMOD 2015; :mod:`dpgraph.bounds.ladder` (raised widths, nearly twice the rate).
    """


@dataclass(frozen=True)
class Smooth:
    """Cauchy noise in proportion to the smooth sensitivity: pure, but one answer in twenty is far off.

    References
    ----------
    K. Nissim, S. Raskhodnikova, A. Smith, "Smooth sensitivity and sampling in private data analysis", STOC 2007;
    :func:`dpgraph.bounds.ladder.smooth_scale` (the discrete law, with tighter constants).
    """


@dataclass(frozen=True)
class LocalSensitivity:
    """A private upper bound on what one edge adds, then Laplace noise of that size. Needs delta: the bound may fail.

    References
    ----------
    V. Karwa, S. Raskhodnikova, A. Smith, G. Yaroslavtsev, "Private analysis of graph structure", VLDB 2011.
    """


@dataclass(frozen=True)
class CountFacts(Facts):
    """What is public, and the share of the budget for each pattern."""

    shares: tuple[tuple[str, float], ...] = ()


def _each(
    release: Callable[[Subgraphs, str, Call], ReleasedCount], _: Any, subgraphs: Subgraphs, call: Call,
    facts: CountFacts, _known: None,
) -> dict[str, ReleasedCount]:  # fmt: skip
    return {name: release(subgraphs, name, call.part(share)) for name, share in facts.shares}


def _by_bounds(
    _: LocalSensitivity, subgraphs: Subgraphs, call: Call, facts: CountFacts, _known: None
) -> dict[str, ReleasedCount]:
    stage, delta = call.stage(slack=facts.delta), facts.delta
    return {
        name: release_by_local_bounds(subgraphs, name, stage.part(share), delta * share) for name, share in facts.shares
    }


def _check(options: Ladder | Smooth, facts: CountFacts) -> None:
    check_counts(dict(facts.shares), facts.epsilon, smooth=isinstance(options, Smooth))


#: ``run(options, subgraphs, call, facts, None)`` returns a count for each pattern. `subgraphs` is private
#: (:class:`~dpgraph.linalg.subgraphs.Subgraphs`).
COUNTS = Registry(
    "counts of subgraphs",
    Strategy("ladder", Ladder, pure=True, run=partial(_each, release_by_ladder), check=_check),
    Strategy("smooth", Smooth, pure=True, run=partial(_each, release_by_smooth_sensitivity), check=_check),
    Strategy("local-sensitivity", LocalSensitivity, pure=False, run=_by_bounds, staged=True),
)
COUNT = Problem(COUNTS, auto=lambda _facts: "ladder", pure="mechanism='ladder'")


@private_function
def private_subgraph_counts(  # noqa: PLR0913
    G: GraphLike,
    patterns: str | Sequence[str] = ("triangle",),
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CountMechanism = "auto",
    adjacency: Literal["edge", "node"] = "edge",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateCounts:
    """Release how many triangles, or other small subgraphs, a graph has, with differential privacy for edges.

    Copies are counted that need not be induced; edges count once, whatever they weigh.

    Parameters
    ----------
    G, epsilon, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`dpgraph.private_max_cut`.
    patterns : str or sequence of str, default ("triangle",)
        Of "edge", "wedge" (two edges at a vertex), "triangle", "3-star" (three edges at a vertex), "4-cycle" and
        "4-clique". The budget is divided evenly among them.
    delta : float, default 0.0
        0 <= delta < 1. Spent by ``"local-sensitivity"`` only.
    mechanism : str or options object, default "auto"
        "ladder" (pure: noise of standard deviation about 1.6 A/epsilon on the triangles, A the most common neighbours
        of two vertices), "smooth" (pure; about the same median error, but heavy tails) or "local-sensitivity" (needs
        delta); see :mod:`dpgraph.strategies`. "auto" is the ladder, whose noise is the least on every graph that was
        tried, with delta or without.
    adjacency : {"edge", "node"}
        Neighbours differ in one vertex pair, or in all edges of one vertex. The latter is for ``patterns="edge"`` only;
        other counts need an accountant with ``edges_per_person=`` (docs/persons.md).

    Returns
    -------
    PrivateCounts

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        Bad input, such as a pattern that is unknown or named twice; the accountant refuses.

    Notes
    -----
    *Guarantee.* epsilon-DP, or (epsilon, delta)-DP with ``"local-sensitivity"``, for graphs that differ in one vertex
    pair. What one pair adds to a count is private too. The ladder lets it steer the noise without a leak, and releases
    it with 10 % of epsilon for `std` and for intervals: :mod:`dpgraph.bounds.ladder` has the theorem with its proof,
    docs/counts.md the constants of each pattern.

    With ``adjacency="node"`` it is epsilon-DP for graphs in which all edges of one vertex are replaced, the vertices
    being public. Half of epsilon chooses a limit D, the rest pays for Laplace noise on the largest number of edges, in
    fractions, of which each vertex has at most D: it changes by D (:func:`dpgraph.bounds.nodes.flow`). What is counted
    is at most the number of edges, so that :meth:`~dpgraph.PrivateCounts.interval` has no upper end.

    *Time.* Triangles, and the common neighbours of two vertices, take time in proportion to the sum over edges of
    degrees: seconds for ten million edges. 4-cycles and 4-cliques take minutes there.

    References
    ----------
    Zhang et al., SIGMOD 2015 (ladder); Nissim, Raskhodnikova, Smith, STOC 2007 (smooth sensitivity); Karwa et al., VLDB
    2011 (bounds on local sensitivity). S. Kasiviswanathan, K. Nissim, S. Raskhodnikova, A. Smith, "Analyzing graphs
    with node differential privacy", TCC 2013 (flow).

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> G = nx.powerlaw_cluster_graph(2000, 10, 0.5, seed=1)
    >>> counted = dpgraph.private_subgraph_counts(G, ("triangle", "wedge"), epsilon=2.0, rng=0)
    >>> exact = sum(nx.triangles(G).values()) // 3
    >>> low, high = counted.interval("triangle")
    >>> low < exact < high, abs(counted.counts["triangle"] / exact - 1) < 0.05
    (True, True)
    """
    several = isinstance(patterns, Iterable) and not isinstance(patterns, (str, dict))
    names: tuple[Any, ...] = tuple(patterns) if several else (patterns,)
    if not names or not all(names.count(name) == 1 and name in PATTERNS for name in names):
        hint = next((did_you_mean(name, PATTERNS) for name in names if name not in PATTERNS), "")
        raise InvalidParameterError(
            f"patterns must be some of {', '.join(map(repr, PATTERNS))}, each once; got {patterns!r}{hint}"
        )
    check_choice("adjacency", adjacency, GRAPHS)
    door = {"weight": weight, "max_weight": max_weight, "symmetrize": symmetrize}
    asked = Asked(mechanism, accountant, rng)
    if adjacency == "node":
        return _count_edges(G, names, door, (epsilon, delta), asked)
    return _count(G, dict.fromkeys(names, 1 / len(names)), door, (epsilon, delta), asked)


@private_function
def private_transitivity(  # noqa: PLR0913
    G: GraphLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CountMechanism = "auto",
    weight: str | None = None,
    max_weight: float | None = None,
    symmetrize: bool = False,
    accountant: PrivacyAccountant | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool = False,
) -> PrivateEstimate:
    """Release the transitivity, 3 triangles/wedges, of a graph with edge-level differential privacy.

    Parameters
    ----------
    G, epsilon, delta, mechanism, weight, max_weight, symmetrize, accountant, rng, progress
        As for :func:`private_subgraph_counts`.

    Returns
    -------
    PrivateEstimate
        Clipped to [0, 1].

    Raises
    ------
    InvalidGraphError, InvalidParameterError, BudgetExceededError
        As for :func:`private_subgraph_counts`.

    Notes
    -----
    *Guarantee.* That of :func:`private_subgraph_counts` for triangles and wedges, with half of epsilon each; the
    quotient is post-processing.

    References
    ----------
    As for :func:`private_subgraph_counts`.

    Examples
    --------
    >>> import networkx as nx, dpgraph
    >>> G = nx.powerlaw_cluster_graph(2000, 10, 0.5, seed=1)
    >>> found = dpgraph.private_transitivity(G, epsilon=2.0, rng=0)
    >>> low, high = found.interval()
    >>> low < nx.transitivity(G) < high
    True
    """
    shares = dict.fromkeys(("triangle", "wedge"), 1 / 2)
    door = {"weight": weight, "max_weight": max_weight, "symmetrize": symmetrize}
    counted = _count(G, shares, door, (epsilon, delta), Asked(mechanism, accountant, rng))
    value = 3 * counted.counts["triangle"] / max(counted.counts["wedge"], 1)
    return PrivateEstimate(min(max(value, 0.0), 1.0), counted, counted.privacy)


def _count(
    G: GraphLike, shares: dict[str, float], door: dict[str, Any], budget: tuple[float, float], asked: Asked
) -> PrivateCounts:
    """Release each pattern for its share."""
    source = open_graph(G, **door)
    facts = CountFacts.of(source, *budget, shares=tuple(shares.items()))
    released = release(COUNT, lambda: subgraphs_of(source.read()), facts, asked)
    noise = {name: count.noise for name, count in released.found.items()}
    return PrivateCounts(
        {name: count.value for name, count in released.found.items()},
        {name: standard_deviation(law) for name, law in noise.items()},
        noise,
        released.mechanism,
        released.privacy,
    )


def release_counts(G: GraphLike, names: Sequence[str], budget: Mapping[str, Any]) -> list[int]:
    """Counts of :data:`~dpgraph.linalg.subgraphs.ORDERS` by ladders, with equal parts of epsilon, which are pure."""
    shares, asked = dict.fromkeys(names, 1 / len(names)), Asked("ladder", budget["accountant"], None)
    return list(_count(G, shares, {}, (budget["epsilon"], budget["delta"]), asked).counts.values())


def _count_edges(
    G: GraphLike, names: tuple[str, ...], door: dict[str, Any], budget: tuple[float, float], asked: Asked
) -> PrivateCounts:
    """The number of edges, for neighbours that differ in all edges of one vertex."""
    if names != ("edge",) or asked.mechanism != "auto":
        raise InvalidParameterError(
            "with adjacency='node', patterns must be 'edge' and mechanism 'auto': what one vertex may change in other "
            "counts leaves nothing of them. For persons with up to k edges, call with adjacency='edge' under an "
            "accountant with edges_per_person=k. Nothing was released and nothing was spent"
        )
    check_optional_delta(budget[1])
    source = open_graph(G, **door)
    call = open_call(epsilon=budget[0], accountant=asked.accountant, relation=GRAPHS["node"], noise=asked.rng)
    value, limit, scale = release_edge_count(source.read(), call)
    noise = {"law": "Laplace", "scale": scale, "edges_of_a_vertex": limit}
    return PrivateCounts({"edge": value}, {"edge": standard_deviation(noise)}, {"edge": noise}, "flow", call.report())
