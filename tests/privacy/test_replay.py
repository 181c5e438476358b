"""Given its noisy releases, nothing that a private function shows depends on the private data."""

import itertools

import pytest

from tests.privacy.inputs import CORE_PAIRS
from tests.privacy.registry import ENTRIES
from tests.privacy.replay import doors, replay  # noqa: F401
from tests.privacy.statistical import EPSILON

pytestmark = pytest.mark.usefixtures("doors")

#: A budget at which tests halt, and one at which every step is reached.
EPSILONS = (1.0, 1e4)


def losses(entry, *, stride=1, **more):
    """Replay every `stride`-th pair of neighbours of an entry, in both directions."""
    for number, (label, data, neighbour) in enumerate(itertools.islice(entry.neighbours(), None, None, stride)):
        for epsilon in EPSILONS:

            def call(data, epsilon=epsilon):
                return lambda rng: entry.call(data, rng=rng, epsilon=epsilon, **more)

            for first, second in ((data, neighbour), (neighbour, data)):
                try:
                    yield replay(call(first), call(second), seed=number)
                except AssertionError as error:
                    raise AssertionError(f"{entry.label}: {label}, epsilon = {epsilon}: {error}") from error


def check(entry, stride):
    seen = list(losses(entry, stride=stride))
    assert any(not loss.halted for loss in seen), "no run came to an end: the neighbours test nothing"
    assert max(loss.share for loss in seen) > 0.1, "no neighbour cost a tenth of the budget: they test nothing"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_equal_releases_give_equal_outputs_and_every_release_stays_within_its_ledger_line(entry):
    # Cuts from a whole noisy matrix take a second each; an odd stride visits either kind of pair.
    cut = entry.function in ("private_max_cut", "private_max_bisection", "one_exchange")
    slow = entry.options.get("mechanism") == "gaussian"
    check(entry, stride=(13 if slow else 5) if cut else 2 if many(entry) else 1)


def many(entry):
    return len(list(entry.neighbours())) > 20


def core_pairs(entry):
    """Kind of pair -> neighbours that differ in it, for a mechanism that sweeps a core and looks once at the others."""
    if entry.options.get("mechanism") == "coherence":
        return {}
    pairs = ((label.removeprefix("hubs, "), pair) for label, *pair in entry.neighbours())
    return {kind: pair for kind, pair in pairs if kind in CORE_PAIRS}


@pytest.mark.parametrize("entry", filter(core_pairs, ENTRIES), ids=lambda entry: entry.label)
def test_replays_see_pairs_that_the_sweeps_of_the_core_read_and_pairs_that_the_last_look_reads(entry):
    expected = {"hub-hub": "inside the core", "hub-leaf": "outside the core", "leaf-leaf": "outside the core"}
    for kind, pair in core_pairs(entry).items():
        calls = [lambda rng, data=data: entry.call(data, rng=rng, epsilon=EPSILON) for data in pair]
        # Released degrees choose the core, so that a few vertices of small degree get into it, others every time.
        assert any(replay(*calls, seed=seed).read == expected[kind] for seed in range(20)), kind


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_the_same_holds_for_all_neighbours_of_the_family(entry):
    check(entry, stride=1)
