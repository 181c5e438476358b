"""A search of the bounds by themselves finds nothing above them, and finds the faults that they once had."""

import pytest

from tests.privacy.attack import planted
from tests.privacy.attack.bound_attack import bound_targets
from tests.privacy.attack.search import attack
from tests.privacy.test_mutants import labels_by_themselves_at_the_price_of_one

TARGETS = {target.name: target for target in bound_targets()}
#: Trials that take about a second.
TRIALS = {
    "weight between grid points": 3000,
    "noisy choice": 600,
    "queries of a row": 4000,
    "queries of labels": 1500,
    "good event": 60,
}


@pytest.mark.parametrize("name", TARGETS)
def test_no_bound_is_exceeded_and_each_is_nearly_attained(name):
    found = attack(TARGETS[name], seed=0, trials=TRIALS[name])
    (best,) = found.lines.values()
    assert best.ratio <= 1, TARGETS[name].describe(best.genome)  # whole steps and exact sums: no slack
    assert best.ratio > 0.99


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        (planted.half_to_even, "weight between grid points"),
        (planted.public_and_private_rounded_together, "noisy choice"),
        (planted.every_norm_costs_the_envelope, "queries of a row"),
        (labels_by_themselves_at_the_price_of_one, "queries of labels"),
        (planted.normal_quantile, "good event"),
    ],
)
def test_a_fault_of_a_bound_is_found(mutant, name, monkeypatch):
    mutant(monkeypatch)
    assert attack(TARGETS[name], seed=0, trials=TRIALS[name], stop=True).worst > 1
