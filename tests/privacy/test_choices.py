"""Every choice by noisy scores, at every budget: what gets noise moves by no more than the ledger charges."""

import ast
from pathlib import Path

import numpy as np
import pytest

import dpgraph
from dpgraph.bounds.sensitivity import label_scores
from dpgraph.privacy.call import Call, open_call
from dpgraph.privacy.grid import LAPLACE_BITS, grid_step
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Custom
from dpgraph.releases import all_cuts
from tests.privacy.registry import ENTRIES
from tests.privacy.replay import doors, record  # noqa: F401

pytestmark = pytest.mark.usefixtures("doors")

PACKAGE = Path(dpgraph.__file__).parent
#: How releases choose: what they call, and the law of the line in the ledger.
DOORS = {"noisy_maximum": "noisy maximum", "noisy_best": "permute and flip"}
#: Module that chooses -> how, and entries of the registry that bring it to do so, as few as reach each kind of score.
SITES = {
    "releases/all_cuts.py": ("noisy_best", ["private_max_cut, mechanism=permute-and-flip"]),
    "releases/nodes.py": ("noisy_maximum", ["private_subgraph_counts, adjacency=node, patterns=edge"]),
    "releases/sweeps/communities.py": (
        "noisy_maximum",
        [
            "private_communities, communities=auto",
            "private_communities, mechanism=bounded-iterates, communities=3, resolution=2.0",
        ],
    ),
    "releases/sweeps/core.py": ("noisy_maximum", ["private_max_k_cut, k=3", "private_max_2csp, adjacency=edge"]),
}
ENTRY = {entry.label: entry for entry in ENTRIES}
EACH_SITE = pytest.mark.parametrize("site", SITES)
#: From grids as fine as the weights to steps of many edges, and noise that is nothing.
EPSILONS = [2.0**k for k in (30, 14, -8, -12, -16, -20, -24, *range(-33, -25))]


def calls_of(names):
    """(module, name) of every place in the package that calls a method of one of these names."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if any(name in text for name in names) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
                found.add((path.relative_to(PACKAGE).as_posix(), node.func.attr))
    return found


def test_every_choice_of_the_package_is_entered_here():
    assert calls_of(DOORS) == {(site, door) for site, (door, _) in SITES.items()}


def test_scores_are_rounded_where_that_is_charged_and_nowhere_else():
    """`noisy_argmax` rounds to a grid; only the one function that charges for it may call it, or name its law."""
    assert calls_of({"noisy_argmax"}) == {("privacy/call.py", "noisy_argmax")}
    laws = {law: [p.name for p in PACKAGE.rglob("*.py") if f'law="{law}"' in p.read_text()] for law in DOORS.values()}
    assert laws == {"noisy maximum": ["call.py"], "permute and flip": ["all_cuts.py"]}


def choices(entry, law):
    """Replay neighbours at all budgets; yields at which scores have moved, and by how many charges."""
    for number, (_, *pair) in enumerate(entry.pairs[:5:2]):  # of each graph one
        for epsilon in EPSILONS:
            calls = [lambda rng, d=d, e=epsilon: entry.call(d, rng=rng, epsilon=e) for d in pair]
            recording = record(calls[0], number)
            loss = recording.replay(calls[1])
            yield from ((epsilon, loss.lines[line.name]) for line in recording.source.lines if line.mechanism == law)


@EACH_SITE
def test_scores_on_their_grid_move_by_at_most_the_charge_at_every_budget(site):
    door, labels = SITES[site]
    moves = [move for label in labels for move in choices(ENTRY[label], DOORS[door])]
    # Where the budget is large, labels are read repeatedly and nothing is chosen in one sweep.
    budgets = {epsilon for epsilon in EPSILONS if epsilon < 1 or "core" not in site}
    assert {epsilon for epsilon, _ in moves} >= budgets, "at some budget nothing is chosen"
    assert max(share for _, share in moves) > 0.5, "no neighbour moves a score: they test nothing"


def rounding_of_scores_not_charged(monkeypatch):
    """The step of the grid that scores are rounded to is free, as if they were multiples of it."""
    noisy_maximum = Call.noisy_maximum

    def free(call, name, bound, unit, **options):
        step = grid_step(bound / call.epsilon, unit, bits=LAPLACE_BITS)
        return noisy_maximum(call, name, bound, step, **options)

    monkeypatch.setattr(Call, "noisy_maximum", free)


def best_at_half_price(monkeypatch):
    monkeypatch.setattr(all_cuts.sensitivity, "partition_weight", lambda w: w / 2)


@EACH_SITE
def test_mutant_scores_that_move_by_more_than_is_charged_are_caught_at_every_site(site, monkeypatch):
    door, labels = SITES[site]
    (best_at_half_price if door == "noisy_best" else rounding_of_scores_not_charged)(monkeypatch)
    for label in labels:
        with pytest.raises(AssertionError, match=r"moves by|more sharply"):
            list(choices(ENTRY[label], DOORS[door]))


@pytest.mark.parametrize("bits", [0, 8, 20, 28])
def test_rounding_of_any_scores_stays_within_the_charge(bits):
    """Beside what neighbours do: scores that all move by the bound, or a part of it, from anywhere on the grid."""
    rng, bound = np.random.default_rng(bits), label_scores(1.0)
    unit = 2.0**-bits
    for epsilon in EPSILONS:
        call = open_call(epsilon=epsilon, accountant=None, relation=Custom(""), noise=0)
        maximum = call.noisy_maximum("labels", bound, unit)
        scores = rng.integers(0, 2**30, 4000) * unit
        halves = np.rint((rng.integers(0, 50, 2000) + 0.5) * maximum.step / unit)
        scores[::2] = (halves + rng.integers(-2, 3, 2000)) * unit  # where a small move may be rounded to a whole step
        moved = scores + rng.choice([unit, bound], 4000)
        zero = np.zeros(4000)
        first, second = (noise_source(0).on_grid(s, maximum.step, zero) for s in (scores, moved))
        change = second - first
        assert 0 <= change.min() <= change.max() <= call.ledger.entries[0].sensitivity
