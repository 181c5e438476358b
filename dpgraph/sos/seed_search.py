"""The search over seeds: how hard it tries, which variables are pinned to which labels, and what is kept.

docs/sos-theory.md describes the two ways of searching under "Seeds". The largest bound over all leaves of a beam,
dropped ones included, is an upper bound; "sampled" (Barak, Raghavendra, Steurer 2011, section 5) proves nothing beyond
the bound of the root, but costs one re-solve for each seed and sample instead of q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np

from dpgraph.arguments import as_number, check_choice, check_integer, check_nonnegative, check_positive
from dpgraph.exceptions import InvalidParameterError
from dpgraph.threads import time_is_up
from dpgraph.typing import FloatArray, IntArray

SearchMode = Literal["beam", "sampled", "optimal"]
#: Takes seconds, value and upper bound.
Callback = Callable[[float, float, float], object]


@dataclass(frozen=True)
class SolverOptions:
    """Options of a solver, as :func:`dpgraph.max_cut` explains them, checked when they are made.

    The public functions fill it from their keywords; the solvers inside take it whole.

    >>> SolverOptions(seeds=2, time_limit=1.0).seeds
    2
    """

    seeds: int = 1
    rounds: int = 100
    local_search: bool = True
    target_correlation: float = 0.0
    beam: int = 2
    starts: int = 8
    sweeps: int | None = None
    tol: float | None = None
    search: SearchMode = "beam"
    progress: bool = False
    time_limit: float | None = None
    gap_tol: float = 0.0
    initial: IntArray | None = None  #: labels by position
    callback: Callback | None = None

    def __post_init__(self) -> None:
        for name, least in (("seeds", 0), ("rounds", 1), ("beam", 1), ("starts", 1)):
            check_integer(name, getattr(self, name), least)
        if self.sweeps is not None:
            check_integer("sweeps", self.sweeps, 0)
        if self.tol is not None and not 0.0 < as_number(self.tol) < 1.0:
            raise InvalidParameterError(f"tol must be in (0, 1); got {self.tol!r}")
        if math.isnan(as_number(self.target_correlation)):
            raise InvalidParameterError(f"target_correlation must be a number; got {self.target_correlation!r}")
        check_choice("search", self.search, ("beam", "sampled", "optimal"))
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit)
        check_nonnegative("gap_tol", self.gap_tol)
        if not (self.callback is None or callable(self.callback)):
            raise InvalidParameterError(f"callback must be a function or None; got {type(self.callback).__name__}")

    @property
    def as_analysed(self) -> bool:
        """Whether the search is the one that the papers analyse: sampled seeds, then labels drawn independently."""
        return self.search == "sampled" and not self.local_search

    def calling_back(self, value: Callable[[float], float], bound: Callable[[float], float]) -> SolverOptions:
        """The same options for a solver whose values and bounds are to be changed before they are called back with."""
        if (callback := self.callback) is None:
            return self
        return replace(self, callback=lambda seconds, v, b: callback(seconds, value(v), bound(b)))

    def in_units(self, exponent: int) -> SolverOptions:
        """The same options for a solver whose values are in units of ``2**exponent``."""
        return self.calling_back(*[lambda value: float(np.ldexp(value, exponent))] * 2)


@dataclass(frozen=True)
class TraceEntry:
    """State of the search after some seeds: certified bound, and the node of largest value among those left."""

    seeds: int
    value: float
    upper_bound: float
    global_correlation: float
    local_correlation: float

    def scaled(self, exponent: int) -> TraceEntry:
        """The same state of an objective whose values are larger by the factor ``2**exponent``."""
        value, bound, local = (np.ldexp(x, exponent) for x in (self.value, self.upper_bound, self.local_correlation))
        return replace(self, value=float(value), upper_bound=float(bound), local_correlation=float(local))

    def shifted(self, constant: float, margin: float) -> TraceEntry:
        """The same state of an objective whose values are larger by a constant, a margin for rounding included."""
        return replace(self, value=self.value + constant, upper_bound=self.upper_bound + constant + margin)


@dataclass(frozen=True, eq=False)
class Correlation:
    """Correlations of a node."""

    global_: float
    local: float  #: in units of the value: independent rounding loses it
    drops: FloatArray  #: by how much conditioning on each variable lowers the weighted variance in expectation


class SeedNode(Protocol):
    """A relaxation with some variables pinned."""

    @property
    def value(self) -> float:
        """Value of the relaxation."""

    @property
    def bound(self) -> float:
        """No solution that agrees with the pins is worth more."""

    @property
    def kind(self) -> str:
        """How the bound is known: the kind of a :class:`~dpgraph.sos.cut.certificate.Certificate`."""


Node = TypeVar("Node", bound=SeedNode)


class SeedProblem(Protocol[Node]):
    """What the search asks of a problem; variables are numbered as in ``correlation(node).drops``."""

    @property
    def free_seeds(self) -> int:
        """How many of the first seeds cost no re-solve."""

    def correlation(self, node: Node) -> Correlation:
        """Correlations of the pseudo-distribution of a node."""

    def weights(self, node: Node) -> FloatArray:
        """Nonnegative weights of the variables in the global correlation, 0 for pinned ones."""

    def probabilities(self, node: Node, variable: int) -> FloatArray:
        """Pseudo-probabilities of the labels to try: all of them, or fewer when symmetry makes them equivalent."""

    def pin(self, node: Node, variable: int, label: int) -> Node:
        """Pin a variable and solve again."""


@dataclass(frozen=True, eq=False)
class SeedSearch(Generic[Node]):
    """Outcome of :func:`search_seeds`: the nodes left (best first), the bound on all solutions, its kind, the trace."""

    nodes: tuple[Node, ...]
    upper_bound: float
    kind: str
    trace: tuple[TraceEntry, ...]


def search_seeds(
    problem: SeedProblem[Node],
    root: Node,
    options: SolverOptions,
    rng: np.random.Generator,
    *,
    lower_bound: float,
    on_seed: Callable[[float], bool] | None = None,
) -> SeedSearch[Node]:
    """Pin seeds until the global correlation falls to its target, at most `options.seeds` and no more than there are.

    Nodes that cannot beat `lower_bound` are closed. `rng` serves search="sampled"; `on_seed` is called with the
    bound after each seed, and says whether to stop.
    """
    mode, beam, by_value = options.search, options.beam, attrgetter("value")
    nodes = [root] * (beam if mode == "sampled" else 1)
    bound, kind = root.bound, root.kind
    closed, kinds = -np.inf, set[str]()  # largest bound, and kinds, of nodes that were dropped
    if time_is_up():
        return SeedSearch((root,), bound, kind, (TraceEntry(0, root.value, bound, math.nan, math.nan),))
    state = problem.correlation(root)
    trace = [TraceEntry(0, root.value, bound, state.global_, state.local)]
    exhausted = False
    while (
        not (exhausted or time_is_up())
        and len(trace) <= options.seeds
        and state.global_ > options.target_correlation
        and state.drops.max() > 0.0
    ):
        if bound <= lower_bound and len(trace) > problem.free_seeds:
            break
        if mode == "sampled":
            nodes = sorted((_sampled(problem, node, rng) for node in nodes), key=by_value, reverse=True)
        else:
            found = [child for node in nodes for child in _children(problem, node)]
            if time_is_up():  # some may be missing
                break
            children = sorted(found, key=by_value, reverse=True)
            open_ = [child for child in children if child.bound > lower_bound]
            nodes = (open_ or children)[:beam]
            kept = set(map(id, nodes))
            dropped = [child for child in children if id(child) not in kept]
            closed = max([closed, *(child.bound for child in dropped)])
            kinds.update(child.kind for child in dropped)
            if (lower := max([closed, *(node.bound for node in nodes)])) < bound:
                # As sure as the least sure leaf. What is trivial in a leaf is not so at the root.
                bound, kind = lower, "lanczos" if "lanczos" in kinds.union(node.kind for node in nodes) else "proven"
            exhausted = not open_
        state = problem.correlation(nodes[0])
        trace.append(TraceEntry(len(trace), nodes[0].value, bound, state.global_, state.local))
        if on_seed is not None and on_seed(bound):
            break
    return SeedSearch(tuple(nodes), bound, kind, tuple(trace))


def _children(problem: SeedProblem[Node], node: Node) -> list[Node]:
    drops = problem.correlation(node).drops
    if drops.max() <= 0.0:  # all of it is decided: the first variable, pinned again, would be another problem
        return [node]
    variable = int(drops.argmax())
    labels = range(problem.probabilities(node, variable).size)
    return [problem.pin(node, variable, a) for a in labels if not time_is_up()]


def _sampled(problem: SeedProblem[Node], node: Node, rng: np.random.Generator) -> Node:
    weights = shares(problem.weights(node))
    variable = int(rng.choice(weights.size, p=weights))
    probabilities = shares(np.maximum(problem.probabilities(node, variable), 0.0))
    return problem.pin(node, variable, int(rng.choice(probabilities.size, p=probabilities)))


def shares(weights: FloatArray) -> FloatArray:
    """Nonnegative weights scaled to sum 1, uniform if all are zero."""
    return weights / weights.sum() if weights.any() else np.full(weights.size, 1.0 / weights.size)
