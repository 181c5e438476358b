"""Runs on worst-case neighbours certify most of the budget, and never more than the budget."""

import re

import pytest

from tests.privacy.registry import ENTRIES, Entry
from tests.privacy.replay import doors  # noqa: F401
from tests.privacy.statistical import audit, documented_rows

pytestmark = pytest.mark.usefixtures("doors")

CHEAP = [entry for entry in ENTRIES if entry.function == "private_degrees"][:2]


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
        runs, share, promised, found, _ = (float(cell) for cell in row.split("|")[2:-1])
        assert runs >= 100, label
        assert found <= promised, label
        assert found > 0 or runs < 300 or share < 0.25, label  # a hundred runs may certify nothing


@pytest.mark.slow
def test_the_report_has_a_row_for_every_mechanism():
    """Slow in spirit: a new mechanism is audited (minutes) before the next release, not before the next commit."""
    assert set(documented_rows()) == {entry.label for entry in ENTRIES}


#: Runs on either side for the first line that matches. They are fixed: with a clock a loaded machine would certify
#: less. In 300 simulated audits of Gaussian noise nothing was certified by 100 runs in 9 % at mu = 1.5 and in none at
#: 2.2; by 200 in none at 1.5; by 1000 in 0.3 % at 0.8. Nearly all entries of epsilon = 32 lose 2.2 and more, and take a
#: twentieth of a second a run; the steps to instability of a matrix lose 1.6.
RUNS = (
    (r"private_normalized_adjacency, mechanism=auto, rank=2$", 200),  # epsilon = 1, a fifth of a second a run
    (r"mechanism=auto, rank=1$|adjacency=label-edge, mechanism=auto", 100),  # pure, about as slow
    (r"mechanism=coherence, rank=2, certificate=gap|^private_(spectrum|coherence|projector, rank=auto$)", 1000),
    (r"mechanism=projector$", 1000),  # as those above: share below 0.8, a millisecond
    (r"^private_(projector|low_rank|eigenspace|singular_subspace).*mechanism=coherence", 1000),  # three milliseconds
    (r"^networkx randomized_partitioning", 1000),  # every other partition does not cut the edge at all
    (r"certificate=stability|mechanism=coherence, rank=1, regularization=5", 200),  # share of a half or less
    (r"adjacency, mechanism=coherence$", 200),  # found by 100 runs: .6 to nothing, by 200 at least .37
    (r"mechanism=coherence", 100),
    (r"", 200),  # nine tenths of the budget and more
)


def runs_of(entry: Entry) -> int:
    return next(runs for pattern, runs in RUNS if re.search(pattern, entry.label))


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_many_runs_of_every_mechanism_certify_a_loss_within_the_promise(entry):
    finding = audit(entry, runs_of(entry))
    assert finding.found <= finding.promised
    # Where neighbours lose a sixth of mu = 1.5, 3000 runs certify nothing or nearly so.
    assert finding.found > 0 or finding.share < 0.25
