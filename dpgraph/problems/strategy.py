"""What a strategy of a problem is, and how the strategies of a problem are found.

A strategy is one way to solve a problem privately. It is one module in the folder ``strategies`` of its problem that
defines ``STRATEGY``. Validation, the automatic rule, planning, the command line, the tables of the documents and the
privacy tests read the registry: to add a strategy is to add a file.
"""

import dataclasses
import importlib
import math
import pkgutil
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from dpgraph.exceptions import InvalidParameterError

__all__ = ["Facts", "Registry", "Strategy", "Undecided", "names_in"]


class Facts(NamedTuple):
    """What is public about a graph and a call before anything is read; `epsilon` is what is left for the strategy.

    Edges may have weights between 0 and `max_weight` if the graph is `weighted`.
    """

    n: int
    max_weight: float
    epsilon: float
    delta: float = 0.0
    weighted: bool = False


def _unlimited(_options: Any, _public: Any) -> None:
    """Nothing is refused."""


def _unpredicted(*_: Any) -> float:
    """Nothing is known about the error in advance."""
    return math.inf


@dataclasses.dataclass(frozen=True)
class Strategy:
    """One way to solve a problem privately."""

    #: What ``mechanism=`` calls it.
    name: str
    #: Frozen dataclass of its options, public as a name of :mod:`dpgraph.strategies`.
    options: type
    #: What it does, for whom, in one sentence.
    summary: str
    #: ``pure(options)``: whether it spends no delta.
    pure: Callable[[Any], bool]
    #: ``run(options, ...)``: the release; each problem says with which arguments.
    run: Callable[..., Any]
    #: ``check(options, public)``: raises :class:`InvalidParameterError` for values that are out of range, or too large
    #: for the `public` facts of a call (:class:`Facts` where it is about a graph).
    check: Callable[[Any, Any], None] = _unlimited
    #: ``slack_share(options)``: the part of delta that good events may use.
    slack_share: Callable[[Any], float] = lambda _: 0.0
    #: ``expected(options, ...)``: the error that public facts predict, by which "auto" compares.
    expected: Callable[..., Any] = _unpredicted
    #: Options that this problem does not read, although others that share the dataclass do: they keep their defaults.
    unread: tuple[str, ...] = ()
    #: Place in lists; equal numbers by name.
    order: int = 0

    @cached_property
    def defaults(self) -> Any:
        """What the name alone means."""
        return self.options()


@dataclasses.dataclass(frozen=True)
class Undecided:
    """The choice of a strategy that needs a released number."""

    #: What has to be released.
    question: str
    #: Name of the strategy for the answer.
    then: Callable[[Any], str]


def names_in(package: str) -> tuple[str, ...]:
    """Names of the strategies in a package, without importing them: those of their modules, with hyphens."""
    path = importlib.import_module(package).__path__
    return tuple(module.name.replace("_", "-") for module in pkgutil.iter_modules(path))


class Registry:
    """The strategies of one problem: each module of a package that defines ``STRATEGY`` adds one."""

    def __init__(self, package: str) -> None:
        self._package = package

    @cached_property
    def strategies(self) -> dict[str, Strategy]:
        """Strategies by name, in the order of lists."""
        package = importlib.import_module(self._package)
        modules = [importlib.import_module(f"{self._package}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
        found: list[Strategy] = [module.STRATEGY for module in modules if hasattr(module, "STRATEGY")]
        return {strategy.name: strategy for strategy in sorted(found, key=lambda s: (s.order, s.name))}

    @property
    def names(self) -> tuple[str, ...]:
        """What ``mechanism=`` may be called."""
        return ("auto", *self.strategies)

    def __getitem__(self, name: str) -> Strategy:
        return self.strategies[name]

    def resolve(self, mechanism: Any) -> tuple[Strategy | None, Any]:
        """Strategy and options for the argument ``mechanism``; ``(None, None)`` for "auto".

        An :class:`InvalidParameterError` says that it is neither the name of a strategy of this problem nor an options
        object of one, or that it sets an option that this problem does not read.
        """
        known = self.strategies  # imported here: what may run is imported before a budget is debited
        if isinstance(mechanism, str):
            if mechanism == "auto":
                return None, None
            if mechanism in known:
                return known[mechanism], known[mechanism].defaults
        for strategy in known.values():
            if type(mechanism) is strategy.options:
                _refuse_unread(strategy, mechanism)
                return strategy, mechanism
        objects = ", ".join(dict.fromkeys(f"strategies.{s.options.__name__}" for s in known.values()))
        raise InvalidParameterError(
            f"mechanism must be one of {', '.join(map(repr, self.names))}, or an options object ({objects}); "
            f"got {mechanism!r}"
        )

    def table(self) -> str:
        """The strategies as a table in Markdown, for the documents."""
        rows = ["| `mechanism=` | options | delta | |", "| --- | --- | --- | --- |"]
        for strategy in self.strategies.values():
            names = [f.name for f in dataclasses.fields(strategy.options) if f.name not in strategy.unread]
            delta = "pure" if strategy.pure(strategy.defaults) else "needed"
            options = ", ".join(f"`{name}`" for name in names) or "none"
            rows.append(f'| `"{strategy.name}"` | {options} | {delta} | {strategy.summary} |')
        return "\n".join(rows)


def _refuse_unread(strategy: Strategy, options: Any) -> None:
    for field in dataclasses.fields(options):
        if field.name in strategy.unread and getattr(options, field.name) != field.default:
            raise InvalidParameterError(
                f"{type(options).__name__}({field.name}=...) is not read by this function; leave it out"
            )
