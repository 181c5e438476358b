"""A search over graphs, neighbours and all public knobs finds no line of any ledger that moves by more than it says.

How the search works: :mod:`tests.privacy.attack`. Results: docs/audit.md.
"""

import os
import re

import pytest

from tests.privacy import test_mutants
from tests.privacy.attack import planted
from tests.privacy.attack.hooks import open_taps
from tests.privacy.attack.search import SLACK, attack
from tests.privacy.attack.suite import attack_all, attack_quickly, names, share_of
from tests.privacy.attack.targets import target

#: Processor time of the long version, all targets together.
SECONDS = float(os.environ.get("DPGRAPH_ATTACK_SECONDS", "360"))


@pytest.fixture
def taps(monkeypatch):
    open_taps(monkeypatch)


def check(found):
    lines = [
        f"{line}: {best.ratio:.9g} {best.remark} at {found.target.describe(best.genome)} (trial {best.trial})"
        for line, best in found.broken().items()
    ]
    assert not lines, f"{found.target.name}\n" + "\n".join(lines)
    answered = found.statuses["answered"] + found.statuses["halted"]
    assert answered > found.trials / 3, f"most calls had no answer, so the search tests little: {found.statuses}"


@pytest.mark.usefixtures("taps")
@pytest.mark.parametrize("name", names())
def test_no_line_of_a_ledger_moves_by_more_than_its_sensitivity(name):
    check(attack_quickly(name))


@pytest.mark.slow
@pytest.mark.usefixtures("taps")
@pytest.mark.parametrize("name", names())
def test_nor_does_a_long_search_find_one(name):
    for found in attack_all([name], seconds=SECONDS * share_of(name, names()), seed=1):
        check(found)


def attack_under(fault, name, *, trials, seed=0, stop=True):
    """Attack a target under a fault, or None: the taps must see what the fault does, so it is planted first."""
    with pytest.MonkeyPatch.context() as patch:
        if fault is not None:
            fault(patch)
        open_taps(patch)
        return attack(target(name), seed=seed, trials=trials, stop=stop)


#: The public interface hardly reaches the worst cases of other faults that were there; tests of the bounds find them:
#: test_noise_rounding.py, test_one_sided_sweeps.py, test_row_norm.py, test_discrete_tail.py and test_exit_time.py.
#: Fault -> (target, line that breaks, least ratio that shows it, trials, the seed if it is not 0).
PLANTED = {
    planted.entries_clipped: ("private_covariance", "line: (augmented )?covariance", 1.05, 900),
    planted.small_numbers_from_large_ones: (
        "private_normalized_adjacency, coherence",
        "line: projector",
        10.0,
        60,
        20,  # two of 24 seeds find it in so many trials, half of all in 300
    ),
    planted.certificate_not_charged: ("private_spectrum, certified", "delta", 2.0, 2),
    planted.fine_grid_kept: ("private_degrees", "support", 2.0, 60),
    planted.tiny_epsilon_answers: ("private_max_cut, pure", "line: adjacency bits", 10.0, 60),
    planted.unit_is_no_power_of_two: ("private_max_cut, pure", "support", 2.0, 60),
    planted.sums_in_floating_point: ("private_linear_queries", "line: linear queries", 1.0, 400),
}


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.__name__)
def test_a_fault_that_the_package_once_had_is_found(fault):
    function, line, least, trials, *seed = PLANTED[fault]
    broken = attack_under(fault, function, trials=trials, seed=seed[0] if seed else 0).broken()
    assert max((best.ratio for name, best in broken.items() if re.fullmatch(line, name)), default=0.0) > least


@pytest.mark.slow
def test_clipping_is_found_in_a_general_matrix_too():
    found = attack_under(planted.entries_clipped, "private_symmetric_matrix", trials=300)
    assert found.broken()["line: symmetric matrix"].ratio > 1.5


@pytest.mark.parametrize(
    ("fault", "target", "kind"),
    [
        (test_mutants.noise_halved, "private_normalized_adjacency", "noise: Gaussian"),
        (test_mutants.number_of_releases_depends_on_the_data, "private_degrees", "outcome"),
    ],
    ids=["law of the noise", "outcome"],
)
def test_ratios_that_are_not_of_lines_find_their_faults(fault, target, kind):
    assert kind in attack_under(fault, target, trials=120).broken()


def test_a_planted_fault_is_found_and_gone_afterwards():
    name = "line: degrees"
    broken = attack_under(test_mutants.one_endpoint_of_the_degrees_forgotten, "private_degrees", trials=60, stop=False)
    assert broken.lines[name].ratio > 1.4  # sqrt(2), by the missing end
    assert attack_under(None, "private_degrees", trials=60, stop=False).lines[name].ratio <= 1 + SLACK
