"""What private 2-CSPs share: total weight, labels by some strategy, and the weight that the labels earn."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from dpgraph.arguments import check_choice
from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.accounting import require_delta
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.privacy.relation import Constraint, Relation
from dpgraph.problems.csp.rule import MAIN_SHARE, TOTAL_SHARE, VALUE_SHARE
from dpgraph.problems.options import BoundedIterates
from dpgraph.problems.strategy import Registry, Strategy
from dpgraph.releases.constraints import PrivateCSP, release_total, release_value
from dpgraph.releases.sweeps.gaussian import LOOK_DELTA, is_pure
from dpgraph.results.csp import PrivateCSPResult

__all__ = ["CSPStrategy", "Request", "Spending", "check_noise", "release_assignment", "spending_of_iterates"]

IntArray = NDArray[np.int64]
Data = TypeVar("Data", bound=PrivateCSP)


@dataclass(frozen=True)
class Request:
    """The public side of a call.

    Parameters
    ----------
    variables, alphabet : tuple of hashable
        Names.
    epsilon, delta, mechanism, on_halt, progress
        As for :func:`~dpgraph.private_max_2csp`.
    neighbours : Relation
        What neighbours differ in.
    max_weight : float
        Public bound on a weight.
    """

    variables: tuple[Hashable, ...]
    alphabet: tuple[Hashable, ...]
    epsilon: float
    delta: float
    mechanism: Any
    neighbours: Relation
    max_weight: float
    on_halt: str = "raise"
    progress: bool = False

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def whole_table(self) -> bool:
        """Whether neighbours differ in the whole table of a pair."""
        return isinstance(self.neighbours, Constraint)


@dataclass(frozen=True)
class Spending:
    """How a strategy spends a budget: with this delta, so much of it for good events, in one stage or in several."""

    delta: float = 0.0
    slack: float = 0.0
    staged: bool = False


@dataclass(frozen=True)
class CSPStrategy(Strategy):
    """One way to label privately.

    ``run(options, private, call, request, mean_degree)`` returns labels; `call` is the part of the budget for it, and
    `mean_degree` the released average weight of the constraints on a variable.

    Parameters
    ----------
    spending : callable
        ``spending(options, request)``.
    """

    spending: Callable[[Any, Request], Spending] = field(default=lambda options, request: Spending())


def check_noise(options: BoundedIterates, request: Request) -> None:
    """Refuse noise that does not exist."""
    check_choice("noise", options.noise, ("auto", "gaussian", "laplace"))


def spending_of_iterates(options: BoundedIterates, request: Request) -> Spending:
    """Pure with delta = 0 and with Laplace noise, and where "auto" takes Laplace noise whatever is released.

    Otherwise "auto" may release degrees purely before they decide: it goes in stages.
    """
    auto = options.noise == "auto"
    # A whole table moves a row by more in l1 than in l2: one look at it is not worth Laplace noise.
    if request.delta == 0 or (is_pure(options.noise, request.epsilon) and not (auto and request.whole_table)):
        return Spending()
    return Spending(request.delta, LOOK_DELTA * request.delta * auto, staged=auto)


def release_assignment(
    request: Request,
    registry: Registry,
    read: Callable[[], Data],
    decide: Callable[[float], str],
    *,
    accountant: PrivacyAccountant | None,
    rng: int | np.random.Generator | None,
) -> PrivateCSPResult:
    """Check a request, debit its budget, read the private side and release an assignment of it.

    Parameters
    ----------
    request : Request
        The public side.
    registry : Registry
        The strategies.
    read : callable
        Reads the private side.
    decide : callable
        Name of the strategy that "auto" takes, for the released average weight of the constraints on a variable.
    accountant, rng
        As for :func:`~dpgraph.private_max_2csp`.
    """
    strategy, options = registry.resolve(request.mechanism)
    # "auto" is opened as bounded iterates: whatever else it may choose is pure.
    opened = cast(CSPStrategy, strategy or registry["bounded-iterates"])
    call = _open(request, opened, options, accountant, noise_source(rng))
    private = read()
    first, main, last = call.split(TOTAL_SHARE, MAIN_SHARE, VALUE_SHARE)
    total = release_total(private, first)
    mean_degree = 2 * total.value / request.n
    if strategy is None:
        strategy = registry[decide(mean_degree)]
        options = strategy.options()
    try:
        labels, used = strategy.run(options, private, main, request, mean_degree), strategy.name
    except MechanismHalted:
        if request.on_halt == "raise":
            raise
        labels, used = call.generator.integers(0, len(request.alphabet), request.n), "data-independent"
    value = release_value(private, labels, last)
    return PrivateCSPResult(
        assignment={v: request.alphabet[a] for v, a in zip(request.variables, labels.tolist(), strict=True)},
        labels=labels,
        alphabet=request.alphabet,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        mechanism=used,
        privacy=call.report(),
    )


def _open(
    request: Request, strategy: CSPStrategy, options: Any, accountant: PrivacyAccountant | None, noise: NoiseSource
) -> Call:
    """Check a strategy and debit the budget."""
    options = strategy.options() if options is None else options
    if not strategy.pure(options):
        require_delta(request.delta, f"mechanism={request.mechanism!r}", "mechanism='bounded-iterates'")
    strategy.check(options, request)
    spending = strategy.spending(options, request)
    return open_call(
        epsilon=request.epsilon,
        delta=spending.delta,
        accountant=accountant,
        relation=request.neighbours,
        noise=noise,
        slack=spending.slack,
        staged=spending.staged,
    )
