"""What private 2-CSPs share: total weight, labels by some strategy, and the weight that the labels earn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dpgraph.arguments import require_delta
from dpgraph.exceptions import MechanismHalted
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.noise import NoiseSource, noise_source
from dpgraph.problems.csp.rule import MAIN_SHARE, TOTAL_SHARE, VALUE_SHARE
from dpgraph.problems.csp.strategy import CSPStrategy, CSPTask
from dpgraph.problems.strategy import Registry, Strategy, Undecided
from dpgraph.releases.constraints import PrivateCSP, release_total, release_value
from dpgraph.results.csp import PrivateCSPResult

__all__ = ["Choice", "release_assignment"]


@dataclass(frozen=True)
class Choice:
    """Which strategy runs: `mechanism` and `on_halt` are those of :func:`~dpgraph.private_max_2csp`."""

    registry: Registry
    mechanism: Any
    #: The strategy that "auto" takes, or by which it is chosen for the released average weight of the constraints on a
    #: variable. It is then opened as bounded iterates: whatever else it may be is pure.
    auto: str | Undecided
    on_halt: str = "raise"


def release_assignment(
    task: CSPTask,
    choice: Choice,
    read: Callable[[], PrivateCSP],
    *,
    accountant: PrivacyAccountant | None,
    rng: int | np.random.Generator | None,
) -> PrivateCSPResult:
    """Check a call, debit its budget, read the private side and release an assignment of it."""
    strategy, options = choice.registry.resolve(choice.mechanism)
    if strategy is None:
        strategy = choice.registry["bounded-iterates" if isinstance(choice.auto, Undecided) else choice.auto]
        options = strategy.defaults
    call = _open(task, strategy, options, accountant, noise_source(rng))
    private = read()
    first, main, last = call.split(TOTAL_SHARE, MAIN_SHARE, VALUE_SHARE)
    total = release_total(private, first)
    mean_degree = 2 * total.value / task.n
    if choice.mechanism == "auto" and isinstance(choice.auto, Undecided):
        strategy = choice.registry[choice.auto.then(mean_degree)]
        options = strategy.defaults
    try:
        labels, used = strategy.run(options, private, main, task, mean_degree), strategy.name
    except MechanismHalted:
        if choice.on_halt == "raise":
            raise
        labels, used = call.generator.integers(0, len(task.alphabet), task.n), "data-independent"
    value = release_value(private, labels, last)
    return PrivateCSPResult(
        assignment={v: task.alphabet[a] for v, a in zip(task.variables, labels.tolist(), strict=True)},
        labels=labels,
        alphabet=task.alphabet,
        estimated_value=value.value,
        estimated_value_std=value.std,
        estimated_total_weight=total.value,
        mechanism=used,
        privacy=call.report(),
    )


def _open(
    task: CSPTask, strategy: Strategy, options: Any, accountant: PrivacyAccountant | None, noise: NoiseSource
) -> Call:
    """Check a strategy and debit the budget."""
    if not strategy.pure(options):
        require_delta(task.delta, f"mechanism={options!r}", "mechanism='bounded-iterates'")
    strategy.check(options, task)
    delta, slack, staged = cast(CSPStrategy, strategy).spending(options, task)
    return open_call(
        epsilon=task.epsilon,
        delta=delta,
        accountant=accountant,
        relation=task.neighbours,
        noise=noise,
        slack=slack,
        staged=staged,
    )
