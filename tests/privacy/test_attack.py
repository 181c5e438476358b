"""A search over graphs, neighbours and all public knobs finds no line of any ledger that moves by more than it says.

How the search works: :mod:`tests.privacy.attack`. Results: docs/audit.md.
"""

import os
import re

import pytest

from dpgraph.bounds import sensitivity
from tests.privacy.attack import planted
from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.mutants import DRAWN, attack_under
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


#: Fault -> (target, line that breaks, least ratio that shows it, trials). Those of issue 18, in its order.
PLANTED = {
    planted.entries_clipped: ("private_covariance", "line: (augmented )?covariance", 1.05, 900),
    planted.small_numbers_from_large_ones: (
        "private_normalized_adjacency, coherence",
        "line: projector",
        10.0,
        200,
    ),
    planted.path_across_kinks: (DRAWN, r"steps to instability \(states\)", 1.02, 40),
    planted.certificate_not_charged: ("private_spectrum, certified", "delta", 2.0, 2),
    planted.fine_grid_kept: ("private_degrees", "support", 2.0, 60),
    planted.tiny_epsilon_answers: ("private_max_cut, pure", "line: adjacency bits", 10.0, 60),
    planted.unit_is_no_power_of_two: ("private_max_cut, pure", "support", 2.0, 60),
    planted.sums_in_floating_point: ("private_linear_queries", "line: linear queries", 1.0, 400),
}


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_fault_that_the_package_once_had_is_found(fault):
    function, line, least, trials = PLANTED[fault]
    broken = attack_under(fault, function, trials=trials).broken()
    assert max((best.ratio for name, best in broken.items() if re.fullmatch(line, name)), default=0.0) > least


def one_endpoint_of_the_degrees_forgotten(patch):
    patch.setattr(sensitivity, "degrees_l2", lambda w, pairs=1: w)


def test_a_planted_fault_is_found_and_gone_afterwards():
    name = "line: degrees"
    broken = attack_under(one_endpoint_of_the_degrees_forgotten, "private_degrees", trials=60, stop=False)
    assert broken.lines[name].ratio > 1.4  # sqrt(2), by the missing end
    assert attack_under(None, "private_degrees", trials=60, stop=False).lines[name].ratio <= 1 + SLACK
