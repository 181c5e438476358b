"""The harness under a planted fault: ``attack_under(mutant, "private_degrees")``.

A fault is found when the worst ratio on the real package is at most 1 and the worst ratio under the fault is not.
Found in test_attack.py, seed 0, trial of the first ratio above 1 (q: quick test, s: slow test):

* clipped entries: covariance 113, symmetric matrix 254 (q);
* huge tau: projector, 51 (q);
* certificates that are not charged: 1 (q);
* the fine grid kept: degrees, 7 (q);
* answers at a tiny epsilon: cuts, 21 (q);
* a unit that is no power of two: cuts, 23 (q), by an output that is impossible on the neighbour;
* sums of linear queries in floating point: linear queries, 333 (q).

The public interface hardly reaches the worst cases of some more. Tests of the bounds find them: weights rounded half to
even (test_noise_rounding.py), public and private scores rounded together (test_one_sided_sweeps.py), queries paid for
at one end (test_row_norm.py), the normal quantile (test_discrete_tail.py), and an exit on 65 points or a path across
kinks (tests/spectral/test_exit_time.py).

Some faults of tests/privacy/test_mutants.py need inputs of the registry (:mod:`registry_attack`): test_attack.py has
one for each kind of ratio.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.registry_attack import REGISTRY, RegistryTarget, registry_target
from tests.privacy.attack.search import Attack, attack
from tests.privacy.attack.targets import Target, target

Mutant = Callable[[pytest.MonkeyPatch], None]


def attack_under(
    mutant: Mutant | None,
    function: str,
    *,
    trials: int | None = None,
    seed: int = 0,
    stop: bool = True,
) -> Attack:
    """Attack one target of :func:`~tests.privacy.attack.targets.targets` under a fault.

    Parameters
    ----------
    mutant : callable or None
        Plants the fault with a MonkeyPatch; it goes when the attack is over. None attacks the package as it is.
    function : str
        Name of the target: a public function, "private_normalized_adjacency, coherence", or
        "registry: private_degrees" for the registry's inputs of one function.
    trials, seed, stop
        As for :func:`~tests.privacy.attack.search.attack`; by default the search stops at the first broken line.
    """
    with pytest.MonkeyPatch.context() as patch:
        if mutant is not None:
            mutant(patch)  # first: the taps must see what the fault does
        open_taps(patch)
        return attack(named_target(function), seed=seed, trials=trials, stop=stop)


def named_target(function: str) -> Target | RegistryTarget:
    """The target of this name."""
    return registry_target(function) if function.startswith(REGISTRY) else target(function)
