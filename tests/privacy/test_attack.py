"""A search over graphs, neighbours and all public knobs finds no line of any ledger that moves by more than it says.

How the search works: :mod:`tests.privacy.attack`. Results: docs/audit.md.
"""

import os

import pytest

from dpgraph.spectral import sensitivity
from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.mutants import attack_under
from tests.privacy.attack.search import SLACK
from tests.privacy.attack.suite import attack_all, attack_quickly, names, share_of

#: Processor time of the long version, all targets together.
SECONDS = float(os.environ.get("DPGRAPH_ATTACK_SECONDS", "360"))


@pytest.fixture
def taps(monkeypatch):
    open_taps(monkeypatch)


def check(attack):
    lines = [
        f"{line}: {best.ratio:.9g} {best.remark} at {attack.target.describe(best.genome)} (trial {best.trial})"
        for line, best in attack.broken().items()
    ]
    assert not lines, f"{attack.target.name}\n" + "\n".join(lines)
    answered = attack.statuses["answered"] + attack.statuses["halted"]
    assert answered > attack.trials / 3, f"most calls had no answer, so the search tests little: {attack.statuses}"


@pytest.mark.usefixtures("taps")
@pytest.mark.parametrize("name", names())
def test_no_line_of_a_ledger_moves_by_more_than_its_sensitivity(name):
    check(attack_quickly(name))


@pytest.mark.slow
@pytest.mark.usefixtures("taps")
@pytest.mark.parametrize("name", names())
def test_nor_does_a_long_search_find_one(name):
    for attack in attack_all([name], seconds=SECONDS * share_of(name, names()), seed=1):
        check(attack)


def one_endpoint_of_the_degrees_forgotten(patch):
    patch.setattr(sensitivity, "degrees_l2", lambda w: w)


def test_a_planted_fault_is_found_and_gone_afterwards():
    name = "line: degrees"
    broken = attack_under(one_endpoint_of_the_degrees_forgotten, "private_degrees", trials=60, stop=False)
    assert broken.lines[name].ratio > 1.4  # sqrt(2), by the missing end
    assert attack_under(None, "private_degrees", trials=60, stop=False).lines[name].ratio <= 1 + SLACK
