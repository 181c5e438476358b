"""Given its noisy releases, nothing that a private function shows depends on the private data."""

import itertools
from functools import partial

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.releases.sweeps import communities as community_sweeps
from tests.privacy.attack import planted
from tests.privacy.inputs import CORE_PAIRS
from tests.privacy.registry import ENTRIES, EPSILON
from tests.privacy.replay import doors, replay, replayed_communities, replayed_residuals  # noqa: F401

pytestmark = pytest.mark.usefixtures("doors")

#: A budget at which tests halt, and one at which every step is reached.
EPSILONS = (1.0, 1e4)


def losses(entry, *, stride, both, each_budget=True):
    """Replay every `stride`-th pair: in both directions or in turn in one of them, at all budgets or in turn at one."""
    budgets = (*EPSILONS, *({entry.epsilon} - {EPSILON, *EPSILONS}))
    for number, (label, *pair) in enumerate(entry.pairs[::stride]):
        round_, now = divmod(number, len(budgets))
        for turn, epsilon in enumerate(budgets) if each_budget else [(round_, budgets[now])]:

            def call(data, epsilon=epsilon):
                return lambda rng: entry.call(data, rng=rng, epsilon=epsilon)

            directions = (pair, pair[::-1])
            for first, second in directions if both else [directions[(number + turn) % 2]]:
                try:
                    yield replay(call(first), call(second), seed=number)
                except AssertionError as error:
                    raise AssertionError(f"{entry.label}: {label}, epsilon = {epsilon}: {error}") from error


def shows_something(seen):
    """Whether a run comes to its end, and a neighbour costs a tenth of the budget; no more are asked then."""
    ended = costly = False
    for loss in seen:
        ended, costly = ended or not loss.halted, costly or loss.share > 0.1
        if ended and costly:
            return True
    return False


def check(entry, stride, both):
    seen = list(losses(entry, stride=stride, both=both, each_budget=both))
    more = losses(entry, stride=1, both=both)
    assert shows_something(itertools.chain(seen, more)), "these neighbours test nothing"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_equal_releases_give_equal_outputs_and_every_release_stays_within_its_ledger_line(entry):
    stride = 2 if entry.persons > 1 else 5  # an odd one visits either kind of pair; few cost persons much
    check(entry, stride=stride if len(entry.pairs) > 20 else 1, both=False)


def core_pairs(entry):
    """Kind of pair -> neighbours that differ in it, for a mechanism that sweeps a core and looks once at the others."""
    if entry.options.get("mechanism") != "bounded-iterates" or "cut" not in entry.function:
        return {}  # on these graphs all rows are swept alike, or answer
    pairs = ((label.removeprefix("hubs, "), pair) for label, *pair in entry.pairs)
    return {kind: pair for kind, pair in pairs if kind in CORE_PAIRS}


@pytest.mark.parametrize("entry", filter(core_pairs, ENTRIES), ids=lambda entry: entry.label)
def test_replays_see_pairs_that_the_sweeps_of_the_core_read_and_pairs_that_the_last_look_reads(entry):
    expected = {"hub-hub": "inside the core", "hub-leaf": "outside the core", "leaf-leaf": "outside the core"}
    for kind, pair in core_pairs(entry).items():
        calls = [lambda rng, data=data: entry.call(data, rng=rng, epsilon=EPSILON) for data in pair]
        # Released degrees choose the core, so that a few vertices of small degree get into it, others every time.
        assert any(replay(*calls, seed=seed).read == expected[kind] for seed in range(20)), kind


@pytest.mark.parametrize("degree", [10, 50])
def test_auto_takes_the_same_mechanism_on_neighbours_when_the_average_degree_decides(degree):
    """The average degree is released purely, and so is everything that it may choose."""
    A = dpgraph.datasets.planted_cut_sparse(60, degree, -0.1, rng=3)[0].toarray()
    B = A.copy()
    B[0, 1] = B[1, 0] = 1.0 - A[0, 1]
    seen = set()
    for seed in range(6):
        calls = [
            lambda rng, M=M: dpgraph.private_max_cut(nx.from_numpy_array(M), epsilon=2.0, delta=1e-6, rng=rng)
            for M in (A, B)
        ]
        loss = replay(*calls, seed=seed)
        assert not loss.halted
        seen.add("adjacency bits" in loss.lines)
    assert seen >= {degree == 50}


def test_auto_takes_the_same_mechanism_on_neighbours_when_the_residual_of_the_degrees_decides():
    """Whether degrees are far from the leading eigenvector is asked of the private graph, and answered with noise."""
    asked, moved = {}, 0.0
    for label, loss in replayed_residuals():
        assert "squared residual of degrees" in loss.lines
        asked.setdefault(label.partition(",")[0], set()).add("adjacency bits" in loss.lines)
        moved = max(moved, loss.lines["squared length of degrees"])
    assert asked == {"two communities": {True}, "two hubs": {False}}
    assert moved > 0.8


def test_pairs_among_the_first_rows_of_communities_are_read_once_for_all_of_the_budget(monkeypatch):
    losses = list(replayed_communities())
    assert max(loss.lines.get("labels, core", 0.0) for loss in losses) == 1.0
    assert max(loss.lines["labels, sweep 1"] for loss in losses) == 1.0
    setter = community_sweeps._Run._set
    monkeypatch.setattr(
        community_sweeps._Run, "_set", lambda run, *a, apart=False, **more: setter(run, *a, apart=False, **more)
    )
    with pytest.raises(AssertionError):
        list(replayed_communities())


def test_triangles_that_choose_randomised_response_for_communities_are_paid_for():
    ring = nx.ring_of_cliques(28, 20)
    graphs = [nx.to_scipy_sparse_array(G, format="csr") for G in (ring, nx.restricted_view(ring, [], [(0, 1)]))]
    loss = replay(*(lambda rng, A=A: dpgraph.private_communities(A, epsilon=2.0, rng=rng) for A in graphs), 0)
    assert {"triangle count", "adjacency bits"} <= set(loss.lines)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.label)
def test_the_same_holds_for_all_neighbours_of_the_family(entry):
    check(entry, stride=1, both=True)


def replayed_answers():
    """Losses of calls with three sweeps of 160 rows, of which the first, all dense ones, answer pair by pair."""
    rng = np.random.default_rng(5)
    dense = np.arange(160) < 80
    A = np.triu(rng.random((160, 160)) < np.where(np.outer(dense, dense), 0.9, 0.05), 1).astype(float)
    A += A.T
    call = partial(dpgraph.private_communities, epsilon=2.0, mechanism="bounded-iterates")
    for seed, (i, j) in itertools.product(range(3), [(0, 1), (2, 70), (3, 100), (5, 150), (110, 120), (130, 90)]):
        B = A.copy()
        B[i, j] = B[j, i] = 1.0 - A[i, j]
        yield replay(*(lambda rng, M=M: call(M, rng=rng) for M in (A, B)), seed=seed)


def test_pairs_of_a_core_of_communities_answer_and_are_not_read_by_the_sweeps():
    losses = list(replayed_answers())
    assert {loss.read for loss in losses} == {"inside the core", "outside the core", "with one of the last rows"}
    for loss in losses:
        sweeps = [lost for name, lost in loss.lines.items() if name.startswith("labels, sweep")]
        if loss.read == "inside the core":
            assert loss.lines["adjacency bits"] == pytest.approx(1.0, abs=1e-9)
        else:
            assert loss.lines["adjacency bits"] == 0.0
        assert any(sweeps) is (loss.read == "outside the core")
        assert (loss.lines["labels, last rows"] > 0) is (loss.read == "with one of the last rows")


def test_rows_that_choose_once_are_found_where_a_sweep_reads_them_too(monkeypatch):
    split = np.split
    monkeypatch.setattr(
        community_sweeps.np, "split", lambda rows, at: (rows, split(rows, at)[1])
    )  # the last rows are swept before
    with pytest.raises(AssertionError):
        list(replayed_answers())


def test_half_the_noise_of_the_answers_of_a_core_of_communities_is_found(monkeypatch):
    planted.noise_of_core_answers_halved(monkeypatch)
    with pytest.raises(AssertionError):
        list(replayed_answers())
