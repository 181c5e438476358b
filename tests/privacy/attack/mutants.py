"""The harness under a planted fault: ``attack_under(mutant, "private_degrees")``.

A fault is found when the worst ratio on the real package is at most 1 and the worst ratio under the fault is not.
test_attack.py lists the faults, the targets that show them, and the trials after which they are found: on random
inputs, on those of the registry (:mod:`registry_attack`), or where a bound is searched by itself (:mod:`bound_attack`),
as the public interface hardly reaches its worst case.
"""

import math
from collections.abc import Callable

import pytest

from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.registry_attack import REGISTRY, RegistryTarget, registry_target
from tests.privacy.attack.search import Attack, attack
from tests.privacy.attack.stability_attack import DrawnPlans, StabilityTarget, collect
from tests.privacy.attack.targets import Target, target

Mutant = Callable[[pytest.MonkeyPatch], None]
#: Name under which the stability test is attacked on states and plans, and the function whose plans they are.
STABILITY, _PLANNER = "stability test", "private_normalized_adjacency, coherence"
#: The same on plans that are drawn at random, many of which are steeper.
DRAWN, _DRAWN_PLANS = "stability test, drawn plans", 1000


def attack_under(
    mutant: Mutant | None,
    function: str,
    *,
    trials: int | None = None,
    seconds: float = math.inf,
    seed: int = 0,
    stop: bool = True,
) -> Attack:
    """Attack one target of :func:`~tests.privacy.attack.targets.targets`, or :data:`STABILITY`, under a fault.

    Parameters
    ----------
    mutant : callable or None
        Plants the fault with a MonkeyPatch; it goes when the attack is over. None attacks the package as it is.
    function : str
        Name of the target: a public function, "private_normalized_adjacency, coherence", :data:`STABILITY`, or
        "registry: private_degrees" for the registry's inputs of one function.
    trials, seconds, seed, stop
        As for :func:`~tests.privacy.attack.search.attack`; by default the search stops at the first broken line.
    """
    with pytest.MonkeyPatch.context() as patch:
        if mutant is not None:
            mutant(patch)  # first: the taps must see what the fault does
        open_taps(patch)
        chosen = named_target(function, seed)
        return attack(chosen, seed=seed, trials=trials, seconds=seconds, stop=stop)


def named_target(function: str, seed: int = 0) -> Target | StabilityTarget | RegistryTarget:
    """The target of this name."""
    if function.startswith(REGISTRY):
        return registry_target(function)
    if function == DRAWN:
        return StabilityTarget.of(DrawnPlans(_DRAWN_PLANS), name=DRAWN)
    return planned_target(seed) if function == STABILITY else target(function)


def planned_target(seed: int, *, plans: int = 40, seconds: float = math.inf) -> StabilityTarget:
    """The stability test on plans that are recorded anew."""
    return StabilityTarget.of(collect(target(_PLANNER), seed=seed, records=plans, seconds=seconds))
