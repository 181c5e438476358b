"""What a strategy of a problem is, how the strategies of a problem are found, and the steps of those that label.

A strategy is one way to solve a problem privately. It is one module in the folder ``strategies`` of its problem that
defines ``STRATEGY``. Validation, the automatic rule, planning, the command line, the tables of the documents and the
privacy tests read the registry: to add a strategy is to add a file.
"""

import dataclasses
import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpgraph.arguments import check_choice, require_delta
from dpgraph.exceptions import InvalidParameterError, MechanismHalted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.report import PrivacyReport
from dpgraph.releases.totals import WeightEstimate

#: Share of the budget (of mu**2, or of epsilon if pure) that a strategy for labels has; the rest goes to two weights.
MAIN_SHARE = 0.975


class Facts(NamedTuple):
    """What is public about a graph and a call before anything is read.

    Edges may have weights between 0 and `max_weight` if the graph is `weighted`.
    """

    n: int
    max_weight: float
    epsilon: float
    delta: float = 0.0
    weighted: bool = False

    @property
    def mu(self) -> float:
        """What Gaussian releases have at most; infinite if they are none."""
        return gdp_mu(self.epsilon, self.delta) if self.delta else math.inf


class Spending(NamedTuple):
    """How a strategy spends: with this delta, so much of it for good events, in one stage or in several."""

    delta: float = 0.0
    slack: float = 0.0
    staged: bool = False


@dataclasses.dataclass(frozen=True)
class Strategy:
    """One way to solve a problem privately."""

    #: What ``mechanism=`` calls it.
    name: str
    #: Frozen dataclass of its options, public as a name of :mod:`dpgraph.strategies`. The first line of its docstring
    #: says what the strategy does.
    options: type
    #: ``pure(options)``: whether it spends no delta.
    pure: Callable[[Any], bool]
    #: ``run(options, ...)``: the release; each problem says with which arguments.
    run: Callable[..., Any]
    #: ``check(options, public)``: raises :class:`InvalidParameterError` for values that are out of range, or too large
    #: for the `public` facts of a call (:class:`Facts` where it is about a graph).
    check: Callable[[Any, Any], None] = lambda _options, _public: None
    #: ``slack_share(options)``: the part of delta that good events may use.
    slack_share: Callable[[Any], float] = lambda _: 0.0
    #: ``expected(options, ...)``: the error that public facts predict, by which "auto" compares.
    expected: Callable[..., Any] = lambda *_: math.inf
    #: Options that this problem does not read, although others that share the dataclass do: they keep their defaults.
    unread: tuple[str, ...] = ()
    #: Place in lists; equal numbers by name.
    order: int = 0

    @cached_property
    def defaults(self) -> Any:
        """What the name alone means."""
        return self.options()

    def spends(self, options: Any, public: Any, pure_alternative: str) -> Spending:
        """Check the options for the public facts of a call, its delta among them; what it will spend of delta."""
        self.check(options, public)
        pure = self.pure(options)
        if not pure:
            shown = repr(self.name) if options == self.defaults else options
            require_delta(public.delta, f"mechanism={shown}", pure_alternative)
        return Spending() if pure else Spending(public.delta, self.slack_share(options) * public.delta)


@dataclasses.dataclass(frozen=True)
class Undecided:
    """The choice of a strategy that needs a released number."""

    #: What has to be released.
    question: str
    #: Name of the strategy for the answer.
    then: Callable[[Any], str]


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
                for field in dataclasses.fields(strategy.options):
                    if field.name in strategy.unread and getattr(mechanism, field.name) != field.default:
                        option = f"{type(mechanism).__name__}({field.name}=...)"
                        raise InvalidParameterError(f"{option} is not read by this function; leave it out")
                return strategy, mechanism
        objects = ", ".join(dict.fromkeys(f"strategies.{s.options.__name__}" for s in known.values()))
        raise InvalidParameterError(
            f"mechanism must be one of {', '.join(map(repr, self.names))}, or an options object ({objects}); "
            f"got {mechanism!r}"
        )

    def take(self, mechanism: Any, auto: str) -> tuple[Strategy, Any]:
        """The same, with the defaults of the strategy `auto` for "auto"."""
        strategy, options = self.resolve(mechanism)
        return (self[auto], self[auto].defaults) if strategy is None else (strategy, options)

    def table(self) -> str:
        """The strategies as a table in Markdown, for the documents."""
        rows = ["| `mechanism=` | options | delta | |", "| --- | --- | --- | --- |"]
        for strategy in self.strategies.values():
            names = [f.name for f in dataclasses.fields(strategy.options) if f.name not in strategy.unread]
            delta = "pure" if strategy.pure(strategy.defaults) else "needed"
            options = ", ".join(f"`{name}`" for name in names) or "none"
            summary = (inspect.getdoc(strategy.options) or "").partition("\n")[0]
            rows.append(f'| `"{strategy.name}"` | {options} | {delta} | {summary} |')
        return "\n".join(rows)


# --- labels ----------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Labelling:
    """A problem that labels vertices or variables: its strategies, and what is released beside their labels.

    Strategies ``run(options, private, call, task, mean_degree)``: `call` is their part of the budget, `task` says what
    is public, `mean_degree` is the released average weight at a vertex or variable.
    """

    strategies: Registry
    #: Shares for the total weight, for the strategy, and for the weight that the labels earn.
    shares: tuple[float, float, float]
    #: ``total(private, call)`` and ``value(private, labels, call)`` release these weights.
    total: Callable[[Any, Call], WeightEstimate]
    value: Callable[[Any, Any, Call], WeightEstimate]
    #: ``at_random(generator, task)``: labels that do not depend on the data.
    at_random: Callable[[np.random.Generator, Any], Any]


class Arguments(NamedTuple):
    """Arguments of a public function, as its caller gave them."""

    mechanism: Any
    accountant: PrivacyAccountant | None
    rng: int | np.random.Generator | None
    on_halt: str = "raise"


def release_labels(
    problem: Labelling, task: Any, asked: Arguments, auto: str | Undecided, read: Callable[[], Any]
) -> tuple[Any, str, WeightEstimate, WeightEstimate, PrivacyReport]:
    """Check a call, debit its budget, read the private side, and release labels and what they earn.

    Returns the labels, the name of what found them, the total weight, the weight that they earn, and the report. `auto`
    is the strategy that "auto" takes, or by which it is chosen for the released average degree, in units of the largest
    weight: the call is then opened as for bounded iterates, as whatever else may be chosen is pure.
    """
    check_choice("on_halt", asked.on_halt, ("raise", "fallback"))
    registry, first_choice = problem.strategies, "bounded-iterates" if isinstance(auto, Undecided) else auto
    strategy, options = registry.take(asked.mechanism, first_choice)
    delta, slack, _ = strategy.spends(options, task, "mechanism='bounded-iterates'")
    call = open_call(
        epsilon=task.epsilon,
        delta=delta,
        accountant=asked.accountant,
        relation=task.neighbours,
        noise=asked.rng,
        slack=slack,
    )
    private = read()
    first, main, last = call.split(*problem.shares)
    total = problem.total(private, first)
    mean_degree = 2 * total.value / task.n
    if isinstance(auto, Undecided):
        strategy, options = registry.take(asked.mechanism, auto.then(mean_degree / task.max_weight))
    try:
        labels, used = strategy.run(options, private, main, task, mean_degree), strategy.name
    except MechanismHalted:
        if asked.on_halt == "raise":
            raise
        labels, used = problem.at_random(call.generator, task), "data-independent"
    return labels, used, total, problem.value(private, labels, last), call.report()
