"""Runs on worst-case neighbours certify most of the budget, and never more than the budget."""

import pytest

from tests.privacy.registry import ENTRIES
from tests.privacy.replay import doors  # noqa: F401
from tests.privacy.statistical import audit

pytestmark = pytest.mark.usefixtures("doors")

CHEAP = [entry for entry in ENTRIES if entry.function == "private_degrees"]


@pytest.mark.parametrize("entry", CHEAP, ids=lambda entry: entry.label)
def test_a_few_hundred_runs_find_a_loss_within_the_promise(entry):
    finding = audit(entry, 400)
    assert finding.share > 0.99, "these neighbours should cost the whole budget"
    assert 0.35 * finding.promised < finding.found <= finding.promised


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_two_thousand_runs_of_every_mechanism_stay_within_the_promise(entry):
    finding = audit(entry, 2000)
    assert finding.found <= finding.promised
    assert finding.found > 0.4 * finding.share * min(finding.promised, 3.0)
