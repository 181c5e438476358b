"""Runs on worst-case neighbours certify most of the budget, and never more than the budget."""

import pytest

from tests.privacy.registry import ENTRIES
from tests.privacy.replay import doors  # noqa: F401
from tests.privacy.statistical import audit, documented_rows

pytestmark = pytest.mark.usefixtures("doors")

CHEAP = [entry for entry in ENTRIES if entry.function == "private_degrees"]


@pytest.mark.parametrize("entry", CHEAP, ids=lambda entry: entry.label)
def test_a_few_hundred_runs_find_a_loss_within_the_promise(entry):
    finding = audit(entry, 400)
    assert finding.share > 0.99, "these neighbours should cost the whole budget"
    assert 0.35 * finding.promised < finding.found <= finding.promised


def test_every_row_of_the_report_is_within_the_promise_and_certifies_something_if_it_has_enough_runs():
    rows = documented_rows()
    assert set(rows) <= {entry.label for entry in ENTRIES}
    assert len(rows) >= 40
    for label, row in rows.items():
        runs, _, promised, found, _ = (float(cell) for cell in row.split("|")[2:-1])
        assert runs >= 100, label
        assert found <= promised, label
        assert found > 0 or runs < 300, label  # a hundred runs may certify nothing


@pytest.mark.slow
def test_the_report_has_a_row_for_every_mechanism():
    """Slow in spirit: a new mechanism is audited (minutes) before the next release, not before the next commit."""
    assert set(documented_rows()) == {entry.label for entry in ENTRIES}


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_a_thousand_runs_of_every_mechanism_stay_within_the_promise(entry):
    # Cuts by Gaussian sweeps and marginals take up to a tenth of a second.
    slow = entry.function in ("private_max_cut", "private_max_bisection", "private_max_2csp", "one_exchange")
    finding = audit(entry, 300 if slow or entry.function == "private_marginals" else 1000)
    assert 0 < finding.found <= finding.promised
