"""Private calls that choose a strategy: what a strategy is, those of a problem, and the steps of a call.

A strategy is one way to solve a problem privately. Those of a problem stand in a :class:`Registry`, which validation,
the automatic rule, the command line, the tables of the documents and the privacy tests read. :func:`release` takes all
steps of a call: check, debit, read, choose, run, report.
"""

import dataclasses
import inspect
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from dpgraph.arguments import check_choice, check_epsilon, check_optional_delta, require_delta, shown
from dpgraph.exceptions import InvalidParameterError, MechanismHalted, did_you_mean
from dpgraph.inputs.graphs import GraphSource
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import gdp_mu
from dpgraph.privacy.call import LEAST_MU, Call, open_call
from dpgraph.privacy.relation import Edge, Relation
from dpgraph.privacy.report import PrivacyReport
from dpgraph.tuning import COMMON

#: Shares of the budget (of mu**2, or of epsilon if pure) for the total weight, for a strategy for cuts or labels, and
#: for what its answer is worth.
TOTAL_SHARE, MAIN_SHARE, WORTH_SHARE = COMMON.total, 0.975, 0.02
_EDGE = Edge()


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is public about a graph and a call before anything is read; problems add what else they are asked for.

    Edges may have weights between 0 and `max_weight` if the graph is `weighted`.
    """

    n: int
    max_weight: float
    epsilon: float
    delta: float = 0.0
    weighted: bool = False
    neighbours: Relation = _EDGE

    @classmethod
    def of(cls, source: GraphSource, epsilon: Any, delta: Any, **asked: Any) -> Self:
        """Of a graph that has not been read, for a budget that is checked here."""
        epsilon, delta = check_epsilon(epsilon), check_optional_delta(delta)
        return cls(source.n_vertices, source.max_weight, epsilon, delta, source.weighted, **asked)

    @property
    def mu(self) -> float:
        """What Gaussian releases have at most; infinite if they are none."""
        return gdp_mu(self.epsilon, self.delta) if self.delta else math.inf


class Spending(NamedTuple):
    """How a call is opened: with this delta, so much of it for good events, in one stage or in several."""

    delta: float = 0.0
    slack: float = 0.0
    staged: bool = False
    #: A smaller Gaussian-DP parameter is refused.
    least_mu: float = LEAST_MU


_NOTHING = Spending()


@dataclasses.dataclass(frozen=True)
class Strategy:
    """One way to solve a problem privately."""

    #: What ``mechanism=`` calls it.
    name: str
    #: Frozen dataclass of its options, public as a name of :mod:`dpgraph.strategies`. The first line of its docstring
    #: says what the strategy does.
    options: type
    #: Whether it spends no delta.
    pure: bool
    #: ``run(options, ...)``: the release; each problem says with which arguments.
    run: Callable[..., Any]
    #: ``check(options, public)``: raises :class:`InvalidParameterError` for values that are out of range, or too large
    #: for the `public` facts of a call (:class:`Facts` where it is about a graph).
    check: Callable[[Any, Any], None] = lambda _options, _public: None
    #: ``also_pure(public)``: whether it spends none for these public facts although it usually does.
    also_pure: Callable[[Any], bool] = lambda _: False
    #: ``slack_share(public)``: the part of delta that good events may use.
    slack_share: Callable[[Any], float] = lambda _: 0.0
    #: Whether it releases purely, delta being for good events alone (:meth:`~dpgraph.privacy.call.Call.stage`).
    staged: bool = False
    #: ``least_mu(public)``: the least Gaussian-DP parameter that it can be computed exactly for.
    least_mu: Callable[[Any], float] = lambda _: LEAST_MU
    #: ``expected(...)``: the error that public facts predict, by which "auto" compares.
    expected: Callable[..., Any] = lambda *_: math.inf

    @cached_property
    def defaults(self) -> Any:
        """What the name alone means."""
        return self.options()

    def spends_no_delta(self, public: Any) -> bool:
        """Whether a call with these public facts is pure."""
        return self.pure or self.also_pure(public)

    def spends(self, options: Any, public: Any, pure_alternative: str) -> Spending:
        """Check the options for the public facts of a call, its delta among them; what it will spend of delta."""
        self.check(options, public)
        pure = self.spends_no_delta(public)
        if not pure:
            shown = repr(self.name) if options == self.defaults else options
            require_delta(public.delta, f"mechanism={shown}", pure_alternative)
        if pure:
            return Spending()
        slack = self.slack_share(public) * public.delta
        return Spending(public.delta, slack, self.staged, self.least_mu(public))


@dataclasses.dataclass(frozen=True)
class Undecided:
    """The choice of a strategy that needs a released number."""

    #: What has to be released.
    question: str
    #: The ``mechanism=`` for the answer, or the next question.
    then: Callable[[Any], Any]
    #: ``ask(private, call, known)`` releases the answer. Returns it, the rest of the call, and what is known now. By
    #: default the answer is known: it is what the problem releases first.
    ask: Callable[[Any, Any, Any], tuple[Any, Any, Any]] = lambda _private, call, known: (known, call, known)
    #: Those that may be chosen and have limits to check, and how the call is opened for them.
    candidates: tuple[Any, ...] = ()
    spending: Spending = _NOTHING


def decided(choice: Any, private: Any, call: Any, known: Any) -> tuple[Any, Any, Any]:
    """The ``mechanism=`` that a choice comes to, all questions asked; what is left of the call, and is known then."""
    while isinstance(choice, Undecided):
        answer, call, known = choice.ask(private, call, known)
        choice = choice.then(answer)
    return choice, call, known


class Registry:
    """The strategies `of` one problem, by name, in the order of lists."""

    def __init__(self, of: str, *strategies: Strategy) -> None:
        self.of = of
        self.strategies = {strategy.name: strategy for strategy in strategies}

    @property
    def names(self) -> tuple[str, ...]:
        """What ``mechanism=`` may be called."""
        return ("auto", *self.strategies)

    def __getitem__(self, name: str) -> Strategy:
        return self.strategies[name]

    def resolve(self, mechanism: Any) -> tuple[Strategy | None, Any]:
        """Strategy and options for the argument ``mechanism``; ``(None, None)`` for "auto".

        An object of a subclass, which has more options, is taken if it leaves these at their defaults. Anything else
        is refused by an :class:`InvalidParameterError`.
        """
        known = self.strategies
        if isinstance(mechanism, str):
            if mechanism == "auto":
                return None, None
            if mechanism in known:
                return known[mechanism], known[mechanism].defaults
        for strategy in known.values():
            if isinstance(mechanism, strategy.options):
                return strategy, _narrowed(mechanism, strategy.options)
        objects = ", ".join(dict.fromkeys(f"strategies.{s.options.__name__}" for s in known.values()))
        raise InvalidParameterError(
            f"mechanism must be one of {', '.join(map(repr, self.names))}, or an options object ({objects}); "
            f"got {shown(mechanism)}{did_you_mean(mechanism, self.names)}"
        )

    def take(self, mechanism: Any, auto: Any = None) -> tuple[Strategy, Any]:
        """The same, with `auto` in the place of "auto"."""
        strategy, options = self.resolve(mechanism)
        return (strategy, options) if strategy is not None else self.take(auto)

    def table(self) -> str:
        """The strategies as a table in Markdown, for the documents."""
        rows = ["| `mechanism=` | options | delta | |", "| --- | --- | --- | --- |"]
        for strategy in self.strategies.values():
            names = [field.name for field in dataclasses.fields(strategy.options)]
            delta = "pure" if strategy.pure else "needed"
            options = ", ".join(f"`{name}`" for name in names) or "none"
            summary = (inspect.getdoc(strategy.options) or "").partition("\n")[0]
            rows.append(f'| `"{strategy.name}"` | {options} | {delta} | {summary} |')
        return "\n".join(rows)


def _narrowed(options: Any, kind: type) -> Any:
    """Options as an object of `kind`, a base class of theirs; refuses those that it does not have."""
    fields = dataclasses.fields(options)
    known = {field.name for field in dataclasses.fields(kind)}
    values = {field.name: getattr(options, field.name) for field in fields}
    for field in fields:
        if field.name not in known and values[field.name] != field.default:
            option = f"{type(options).__name__}({field.name}=...)"
            raise InvalidParameterError(f"{option} is not read by this function; leave it out")
    return kind(**{name: values[name] for name in known})


class Asked(NamedTuple):
    """What the caller of a public function wants beside the data and the budget."""

    mechanism: Any
    accountant: PrivacyAccountant | None
    rng: int | np.random.Generator | None
    on_halt: str = "raise"


@dataclasses.dataclass(frozen=True)
class Problem:
    """What the driver has to know about a problem.

    Strategies ``run(options, private, call, facts, known)``: `call` is their part of the budget, `known` is what was
    released before.
    """

    strategies: Registry
    #: ``auto(facts)``: the ``mechanism=`` that "auto" stands for, or what has to be released to choose one.
    auto: Callable[[Any], Any]
    #: What to use in place of a strategy that needs delta, in words.
    pure: str
    #: Shares of the budget for what is released first, for the strategy, and for what its answer is worth; where they
    #: depend on what is public, ``shares(facts)``.
    shares: tuple[float, float, float] | Callable[[Any], tuple[float, float, float]] = (0.0, 1.0, 0.0)
    #: ``first(private, call)`` and ``worth(private, found, call)`` release these. Without a share nothing comes first.
    first: Callable[[Any, Call], Any] = lambda _private, _call: None
    worth: Callable[[Any, Any, Call], Any] = lambda _private, _found, _call: None
    #: ``at_random(generator, facts)``: an answer that does not depend on the data, in place of one that halted.
    at_random: Callable[[np.random.Generator, Any], Any] | None = None

    def shares_of(self, facts: Any) -> tuple[float, float, float]:
        """The three shares of a call."""
        return self.shares(facts) if callable(self.shares) else self.shares

    def part(self, facts: Any) -> Any:
        """The facts of a call with the epsilon that a strategy has."""
        return dataclasses.replace(facts, epsilon=facts.epsilon * self.shares_of(facts)[1])


class Outcome(NamedTuple):
    """What a call has released."""

    #: What the strategy returned, and its name.
    found: Any
    mechanism: str
    #: What was released first, and in the end.
    known: Any
    worth: Any
    privacy: PrivacyReport


def release(problem: Problem, read: Callable[[], Any], facts: Any, asked: Asked) -> Outcome:
    """Check a call, debit its budget, `read` the private side, and release what was asked for.

    `facts` are public; they have an epsilon, a delta and the relation of neighbours, such as
    :class:`Facts`. Where a released number chooses the strategy, what may be chosen is
    checked before the debit.
    """
    shares = problem.shares_of(facts)
    check_choice("on_halt", asked.on_halt, ("raise", "fallback"))
    registry, part = problem.strategies, problem.part(facts)
    choice = asked.mechanism if registry.resolve(asked.mechanism)[0] is not None else problem.auto(facts)
    if isinstance(choice, Undecided):
        spending = choice.spending
        for candidate in choice.candidates:
            strategy, options = registry.take(candidate)
            strategy.check(options, part)
    else:
        strategy, options = registry.take(choice)
        spending = strategy.spends(options, part, problem.pure)
    call = open_call(
        epsilon=facts.epsilon,
        accountant=asked.accountant,
        relation=facts.neighbours,
        noise=asked.rng,
        delta=spending.delta,
        slack=spending.slack,
        staged=spending.staged,
        least_mu=spending.least_mu,
    )
    private = read()
    first, main, last = call.split(*shares)
    known = problem.first(private, first) if shares[0] else None
    undecided = isinstance(choice, Undecided)
    choice, main, known = decided(choice, private, main, known)
    strategy, options = registry.take(choice)
    if undecided and spending.staged:
        main = main.decide(pure=strategy.spends_no_delta(part))
    try:
        found, used = strategy.run(options, private, main, facts, known), strategy.name
    except MechanismHalted:
        if asked.on_halt == "raise" or problem.at_random is None:
            raise
        found, used = problem.at_random(call.generator, facts), "data-independent"
    return Outcome(found, used, known, problem.worth(private, found, last), call.report())
