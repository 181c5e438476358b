"""DN25a, Algorithms 7.13 and 7.18 and that of Theorem 7.19, to the letter; answers no better than chance halt."""

import numpy as np
import pytest
from scipy import sparse

import dpgraph
from dpgraph.datasets import planted_csp, planted_cut_sparse
from dpgraph.exceptions import MechanismHalted
from dpgraph.graph import Graph
from dpgraph.problems.low_rank import projected
from dpgraph.problems.released_solvers import Cut
from dpgraph.releases.random_graph import add_random_graph
from dpgraph.sos.cut import solver as cut_solver
from dpgraph.strategies import Coherence

DELTA = 1e-6


@pytest.fixture(scope="module")
def planted():
    return planted_cut_sparse(300, 140, -0.8, rng=1)[0]


def share(A, cut):
    return dpgraph.evaluate.cut_fraction(A, cut)


def test_algorithm_7_13_cuts_a_planted_graph(planted):
    cut = dpgraph.private_max_cut(planted, epsilon=8.0, delta=DELTA, mechanism=Coherence.paper(2), rng=0)
    assert share(planted, cut) > 0.85
    lines = {entry.name for entry in cut.privacy.entries}
    assert {"minimum degree", "degrees", "spectrum", "projector", "core", "advantage over chance"} <= lines


def test_theorem_7_19_returns_halves(planted):
    half = dpgraph.private_max_bisection(planted, epsilon=8.0, delta=DELTA, mechanism=Coherence.paper(2), rng=0)
    assert [len(side) for side in half.partition] == [150, 150]
    assert share(planted, half) > 0.85


@pytest.mark.parametrize(("epsilon", "halts"), [(1.0, True), (16.0, False)])
def test_algorithm_7_18_is_right_or_halts(epsilon, halts):
    game = planted_csp(90, 80, 3, 0.9, rng=0)
    arguments = {"epsilon": epsilon, "delta": DELTA, "mechanism": Coherence.paper(2), "rng": 0}
    if halts:
        with pytest.raises(MechanismHalted):
            dpgraph.private_max_2csp(game, **arguments)
        return
    found = dpgraph.private_max_2csp(game, **arguments)
    assert game.value(found.assignment) > 0.85 * game.total_weight


def test_a_negative_released_degree_halts_where_the_default_raises_it():
    """A certified minimum degree cannot do without tau here; the noise of single degrees is several times as large."""
    A, _ = planted_cut_sparse(300, 20, -1.0, rng=0)
    options = {"rank": 2, "regularization": 8.0}
    for low_degrees, stage in (("halt", "degrees"), ("floor", None)):
        arguments = {"epsilon": 1.0, "delta": DELTA, "rng": 0}
        try:
            dpgraph.private_max_cut(A, mechanism=Coherence(low_degrees=low_degrees, **options), **arguments)
            seen = None
        except MechanismHalted as halt:
            seen = halt.stage
        assert (seen == "degrees") == (stage == "degrees")


def test_the_projection_is_onto_the_set_of_the_paper_which_allows_a_diagonal():
    matrix = np.diag([0.75, 0.5, 0.25])
    assert projected(matrix, "spectral") == pytest.approx(matrix)
    assert projected(matrix, "frobenius") == pytest.approx(np.zeros((3, 3)), abs=1e-2)


def test_sampled_seeds_without_local_search_draw_labels_independently(planted, monkeypatch):
    """No hyperplane is drawn and nothing is improved."""

    def never(*_args, **_kwargs):
        raise AssertionError("the papers' algorithm has no such step")

    for name in ("hyperplane_rounding", "one_opt", "improve", "_search_locally"):
        monkeypatch.setattr(cut_solver, name, never)
    cut = dpgraph.max_cut(planted, search="sampled", local_search=False, seeds=3, rng=0)
    assert cut.value > 0.8 * planted.sum() / 2
    without_seeds = dpgraph.max_cut(planted, search="sampled", local_search=False, seeds=0, rng=0)
    assert without_seeds.value < 0.55 * planted.sum() / 2  # labels of probability 1/2


@pytest.mark.parametrize("mechanism", ["coherence", Coherence(rank=2)])
def test_communities_are_certified_but_no_cut_so_a_cut_halts(mechanism):
    """The leading eigenvectors of positive correlation are those of communities: their best cut is a random one."""
    A, _ = planted_cut_sparse(600, 150, 0.8, rng=0)
    private = dpgraph.private_normalized_adjacency(A, epsilon=8.0, delta=DELTA, mechanism=mechanism, rng=0)
    assert private.core.shape[0] == 2
    with pytest.raises(MechanismHalted) as halt:
        dpgraph.private_max_cut(A, epsilon=8.0, delta=DELTA, mechanism=mechanism, rng=0)
    assert halt.value.stage == "core"
    assert halt.value.privacy.epsilon == 8.0


def test_an_answer_at_chance_level_halts(planted, monkeypatch):
    """Whatever the solver found, a cut that is no better than random halves is not returned."""
    half = Cut(np.arange(300, dtype=np.int8) % 2, None)
    monkeypatch.setattr("dpgraph.problems.labels.cut_matrix", lambda *_args, **_kwargs: half)
    with pytest.raises(MechanismHalted) as halt:
        dpgraph.private_max_cut(planted, epsilon=8.0, delta=DELTA, mechanism=Coherence(rank=2), rng=0)
    assert halt.value.stage == "advantage"


def test_a_random_graph_lets_small_degrees_pass(planted):
    """Vertices of degree 1 halt the paper's algorithm; with a random graph added to them there is a cut."""
    n, leaves = planted.shape[0], 10
    ends = np.arange(leaves)
    joined = sparse.coo_array((np.ones(leaves), (ends, n + ends)), shape=(n + leaves, n + leaves))
    A = sparse.csr_array(sparse.block_diag([planted, sparse.csr_array((leaves, leaves))]) + joined + joined.T)
    arguments = {"epsilon": 100.0, "delta": DELTA, "rng": 0}
    with pytest.raises(MechanismHalted) as halt:
        dpgraph.private_max_cut(A, mechanism=Coherence.paper(2), **arguments)
    assert halt.value.stage == "minimum degree"
    cut = dpgraph.private_max_cut(A, mechanism=Coherence.paper(2, random_degree=40), **arguments)
    assert share(A, cut) > 0.8


def test_the_union_with_a_random_graph_moves_no_further_and_its_expectation_comes_off():
    """The union and one of a neighbour differ in no more than their graphs; averages of what is restored are A."""
    weights = np.triu(np.random.default_rng(0).integers(0, 5, (40, 40)) / 4, 1)
    weights += weights.T
    changed = weights.copy()
    changed[3, 7] = changed[7, 3] = 1.0 - weights[3, 7]
    first, second = (Graph(sparse.csr_array(M), tuple(range(40)), 1.0, 0.25) for M in (weights, changed))
    total = np.zeros((40, 40))
    moved = set()
    for seed in range(400):
        one, two = (add_random_graph(G, 12.0, np.random.default_rng(seed)) for G in (first, second))
        difference = np.abs((one.graph.adjacency - two.graph.adjacency).toarray())
        moved.add(difference.max())
        assert np.all(difference <= np.abs(weights - changed))
        assert one.graph.adjacency.max() <= 1.0
        total += one.dense_without_it(one.graph.adjacency.toarray())
    assert moved == {0.0, abs(weights - changed).max()}
    off = ~np.eye(40, dtype=bool)
    assert np.abs(total[off] / 400 - weights[off]).max() < 5 * 0.66 / np.sqrt(400)
    # In factors the same.
    U = np.random.default_rng(1).normal(size=(40, 2))
    rows, core = one.without_it(U, np.diag([1.0, -2.0]))
    assert rows @ core @ rows.T == pytest.approx(one.dense_without_it(U @ np.diag([1.0, -2.0]) @ U.T))
