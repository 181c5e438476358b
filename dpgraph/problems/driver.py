"""The steps of every private call that chooses a strategy: check, debit, read, choose, run, report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpgraph.arguments import check_choice
from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.report import PrivacyReport
from dpgraph.problems.strategy import Registry, Undecided


class Asked(NamedTuple):
    """What the caller of a public function wants beside the data and the budget."""

    mechanism: Any
    accountant: PrivacyAccountant | None
    rng: int | np.random.Generator | None
    on_halt: str = "raise"


@dataclass(frozen=True)
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
        return replace(facts, epsilon=facts.epsilon * self.shares_of(facts)[1])


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
    :class:`~dpgraph.problems.strategy.Facts`. Where a released number chooses the strategy, what may be chosen is
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
    while isinstance(choice, Undecided):
        answer, main, known = choice.ask(private, main, known)
        choice = choice.then(answer)
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
