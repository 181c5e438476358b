"""How networkx and the backend ``dpgraph`` meet: the private graph, conversions, dispatch, budgets and seeds."""

import functools
import inspect
import random
import sys
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from dpgraph.exceptions import DPGraphError, InvalidGraphError
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.guard import private_function

#: Whether networkx runs its own tests with this backend.
_TESTED = False


class PrivateGraph:
    """A networkx graph whose edges only private mechanisms may read.

    Vertices and their order are public (for a graph that was built from its edges see
    :func:`dpgraph.with_public_nodes`). Pass it to networkx functions without ``backend=``, or to a private function of
    dpgraph; whatever is not answered privately is not answered at all, nor by the exact functions of dpgraph. The graph
    is kept, not copied: later changes of it are seen.

    Examples
    --------
    >>> import networkx as nx
    >>> G = PrivateGraph(nx.complete_bipartite_graph(40, 60))
    >>> abs(nx.cut_size(G, range(40), epsilon=1.0, delta=1e-6) - 2400) < 60
    True
    >>> nx.diameter(G)
    Traceback (most recent call last):
    ...
    NotImplementedError: ...
    """

    __networkx_backend__ = "dpgraph"

    def __init__(self, graph: nx.Graph) -> None:
        self._graph = graph

    def __repr__(self) -> str:
        return f"PrivateGraph({len(self)} vertices)"

    def __len__(self) -> int:
        return len(self._graph)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._graph)

    def __contains__(self, node: object) -> bool:
        return node in self._graph

    def is_directed(self) -> bool:
        """Whether the graph is directed (public)."""
        return bool(self._graph.is_directed())

    def is_multigraph(self) -> bool:
        """Whether the graph may hold parallel edges (public)."""
        return bool(self._graph.is_multigraph())


def convert_from_nx(graph: Any, **_: Any) -> PrivateGraph:
    """Wrap a networkx graph; nothing is read or checked, because networkx remembers a failure on the graph."""
    return PrivateGraph(graph)


def convert_to_nx(obj: Any, **_: Any) -> Any:
    """Refuse to turn a private graph back, which would be a way to an exact answer; results pass unchanged."""
    if isinstance(obj, PrivateGraph):
        raise DPGraphError(
            "a dpgraph graph is not turned back into a networkx graph, because networkx would answer exactly; use a "
            "function that the backend implements, or the original graph if you may see its edges"
        )
    return obj


def can_run(name: str, args: Any, kwargs: Any) -> bool:
    """Say yes to everything: the functions themselves tell the user what is missing (networkx would not).

    The tests of networkx do not ask :func:`should_run`, so that its answer for calls of networkx itself is given here.
    """
    return not (_TESTED and _called_by_networkx())


def should_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Run in automatic dispatch only where a budget was given, and only for the user's own call.

    Functions of networkx that call others would mix their private answers with edges that they read themselves.
    """
    given = kwargs.get("epsilon") is not None or nx.config.backends.dpgraph.epsilon is not None
    if given and _called_by_networkx():
        return "networkx itself called it"
    return given or "no epsilon="


def _called_by_networkx() -> bool:
    """Whether the function that is being dispatched was called from code of networkx, not from the user's."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        module = str(frame.f_globals.get("__name__", ""))
        # Between this backend and the caller are the dispatcher and the functions that decorators compile.
        if module in (__name__, "networkx.utils.backends", "networkx.utils.decorators"):
            continue
        if "argmap" in frame.f_code.co_filename:
            continue
        return module.startswith("networkx.") and ".tests" not in module
    return False


def on_start_tests(items: list[Any]) -> None:
    """Give networkx's own tests a budget at which counts come out exact (docs/networkx.md says what still differs)."""
    global _TESTED
    _TESTED = True
    nx.config.backends.dpgraph.epsilon = 1e4
    nx.config.backends.dpgraph.delta = 1e-6
    nx.config.backends.dpgraph.max_weight = 10.0


@dataclass(frozen=True)
class Privacy:
    """The keyword-only arguments by which a call asks for privacy, with what is configured filled in."""

    epsilon: float
    delta: float
    accountant: PrivacyAccountant | None = None
    max_weight: float | None = None

    @property
    def budget(self) -> dict[str, Any]:
        """Who pays how much."""
        return {"epsilon": self.epsilon, "delta": self.delta, "accountant": self.accountant}

    def arguments(self, weight: str | None = None) -> dict[str, Any]:
        """What the private functions of dpgraph are called with; the configured bound is meant for weighted graphs."""
        bound = self.max_weight
        if bound is None and weight is not None:
            bound = nx.config.backends.dpgraph.max_weight
        return self.budget | {"weight": weight, "max_weight": bound}


def answered_privately(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the backend from one that takes the budget, as configured where it is not given, as ``asked``."""
    theirs = [p for p in inspect.signature(function).parameters.values() if p.name != "asked"]
    names = ["epsilon", "delta", "accountant"] + ["max_weight"] * any(p.name == "weight" for p in theirs)

    @functools.wraps(function)
    def call(*args: Any, progress: bool = False, **kwargs: Any) -> Any:
        asked = {name: kwargs.pop(name) for name in names if name in kwargs}
        # Wrapping a graph costs nothing and never goes stale; kept in networkx's cache it would only cause its warning.
        cache = getattr(getattr(args[0] if args else None, "_graph", None), "__networkx_cache__", None) or {}
        cache.get("backends", {}).pop("dpgraph", None)
        graph = args[0] if args else kwargs.get("G", kwargs.get("B"))
        if isinstance(graph, PrivateGraph) and graph.is_directed():
            raise InvalidGraphError(
                f"{function.__name__}() of the dpgraph backend needs an undirected graph; got a directed one. Pass "
                "G.to_undirected(). Nothing was read or spent"
            )
        try:
            return function(*args, **kwargs, asked=Privacy(**asked))
        except NotImplementedError as error:
            # networkx answers this error by trying another backend, perhaps its own exact one.
            raise DPGraphError(f"internal error: {function.__name__}() is incomplete") from error

    configured = _configured(private_function(call))
    required, keyword = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    more = [inspect.Parameter(name, keyword, default=required if name == "epsilon" else None) for name in names]
    more.append(inspect.Parameter("progress", keyword, default=False))
    configured.__signature__ = inspect.Signature([*theirs, *more])  # type: ignore[attr-defined]
    return configured


def _configured(function: Callable[..., Any]) -> Callable[..., Any]:
    """Fill in the budget that is configured. The frame keeps no graph in the traceback of an error."""

    @functools.wraps(function)
    def configured(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **(kwargs | _budget(function.__name__, kwargs)))
        finally:
            del args, kwargs

    return configured


def _budget(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Epsilon and delta of a call, from its arguments or from what is configured."""
    asked = {key: given.get(key) for key in ("epsilon", "delta")}
    epsilon, delta = (nx.config.backends.dpgraph[key] if asked[key] is None else asked[key] for key in asked)
    if epsilon is None:
        del given
        raise TypeError(
            f"{name}() of the dpgraph backend requires epsilon=; pass it, or set nx.config.backends.dpgraph.epsilon"
        )
    return {"epsilon": epsilon, "delta": 0.0 if delta is None else delta}


def refused(name: str, instead: str) -> Callable[..., Any]:
    """A function that this backend refuses, so that networkx does not answer one part privately and another exactly."""
    theirs = nx.utils.backends._registered_algorithms[name].orig_func

    @functools.wraps(theirs)
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise DPGraphError(
            f"{name} of networkx combines several numbers, and dpgraph has no private answer of its form. {instead} "
            f"For the exact answer call it where no epsilon is given or configured. Nothing was read or spent"
        )

    return refuse


def as_rng(seed: Any) -> int | np.random.Generator | None:
    """The seed of a networkx call as an ``rng`` of this package: a global generator means that no seed was given."""
    wrapped = getattr(seed, "_rng", seed)  # networkx wraps numpy generators for functions that want random.Random
    unseeded = (None, random, random._inst, np.random, np.random.mtrand._rand)
    if any(wrapped is source for source in unseeded):
        return None
    if isinstance(wrapped, (int, np.integer, np.random.Generator)):
        return wrapped if isinstance(wrapped, np.random.Generator) else int(wrapped)
    draw = wrapped.getrandbits if hasattr(wrapped, "getrandbits") else lambda bits: wrapped.randint(2**31)
    return int(draw(63))
