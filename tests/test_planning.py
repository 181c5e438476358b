"""Planning: true noise scales, honest warnings, and nothing spent."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.interfaces.planning import plan
from dpgraph.interfaces.stand_ins import block_stand_in, random_graph
from dpgraph.problems.cut.strategies import CUTS
from dpgraph.strategies import Coherence
from tests.about import each

QUICK = {"mechanisms": ["bounded-iterates"], "repeats": 1, "delta": 1e-6}


def same(first, second):
    """All fields agree, NaN with NaN: from Python 3.13 on, ``==`` says that it does not."""
    return str(dataclasses.asdict(first)) == str(dataclasses.asdict(second))


def test_the_noise_scales_are_those_of_a_real_call():
    planned = plan(n=2000, average_degree=60, epsilon=2.0, **QUICK)
    G = dpgraph.datasets.planted_cut(2000, 60, -0.1, rng=9)
    real = dpgraph.private_max_cut(G, epsilon=2.0, delta=1e-6, mechanism="bounded-iterates", rng=4)
    # The grid of readings is finer for unit weights that are given as numbers; rounding to it is paid for.
    expected = [(e.name, e.mechanism, pytest.approx(e.scale, rel=1e-4)) for e in real.privacy.entries]
    assert [(e.name, e.mechanism, e.scale) for e in planned["bounded-iterates"].ledger] == expected
    assert planned["bounded-iterates"].value_std == pytest.approx(real.estimated_value_std)


def test_without_a_delta_what_is_pure_is_planned_for():
    planned = plan(n=400, average_degree=20, epsilon=2.0, repeats=1)
    real = dpgraph.private_max_cut(dpgraph.datasets.planted_cut(400, 20, 0.0, rng=1), epsilon=2.0, rng=0)
    assert planned.recommended == planned.automatic == real.mechanism
    assert (planned["bounded-iterates"].available, planned["bounded-iterates"].delta) == (True, 0.0)
    for name in ("coherence", "noisy-power"):
        assert not planned[name].available
        assert planned[name].note == "needs delta > 0"
    with pytest.raises(InvalidParameterError, match=r"none of the mechanisms .*coherence: needs delta > 0"):
        plan(n=400, average_degree=20, epsilon=2.0, mechanisms=["coherence"])


def test_a_mechanism_that_will_halt_is_announced_and_not_recommended():
    sparse = plan(n=5000, average_degree=20, epsilon=1.0, delta=1e-6, mechanisms=["coherence", "bounded-iterates"])
    assert (sparse["coherence"].halts, sparse["coherence"].cut_fraction) == (1.0, 0.5)
    assert "halt" in sparse["coherence"].note
    assert sparse["coherence"].ledger
    assert sparse.recommended == "bounded-iterates"
    dense = plan(n=2000, average_degree=240, correlation=-0.8, epsilon=8.0, delta=1e-6, mechanisms=["coherence"])
    assert dense["coherence"].halts == 0
    assert dense["coherence"].cut_fraction > 0.85
    assert dense.recommended == "coherence"


def test_more_budget_and_more_structure_give_better_cuts():
    options = {"n": 4000, "average_degree": 60} | QUICK
    cuts = [plan(**options, epsilon=epsilon)["bounded-iterates"].cut_fraction for epsilon in (0.1, 1.0, 8.0)]
    planted = plan(**options, epsilon=8.0, correlation=-0.5)["bounded-iterates"].cut_fraction
    assert 0.5 <= cuts[0] < cuts[1] < cuts[2] < 0.7 < planted


@each("correlation", [0.0, -0.6], parts=2)
def test_random_graphs_have_the_degrees_and_the_planted_cut_that_are_asked_for(correlation):
    degrees = np.sort(np.random.default_rng(1).pareto(2.5, size=3000) * 12 + 4)
    A = random_graph(degrees, 500, correlation, np.random.default_rng(2))
    assert np.array_equal(A, A.T)
    assert not A.diagonal().any()
    assert A.sum(axis=1).mean() == pytest.approx(degrees.mean(), rel=0.05)
    assert np.quantile(A.sum(axis=1), 0.95) == pytest.approx(np.quantile(degrees, 0.95), rel=0.2)


def test_a_plan_takes_degrees_in_place_of_their_average():
    degrees = np.repeat([2.0, 60.0], [900, 100])
    uneven = plan(n=1000, degrees=degrees, epsilon=1.0, **QUICK)
    even = plan(n=1000, average_degree=degrees.mean(), epsilon=1.0, **QUICK)
    assert uneven.average_degree == even.average_degree
    assert uneven["bounded-iterates"].cut_fraction != even["bounded-iterates"].cut_fraction
    for both in ({}, {"degrees": degrees, "average_degree": 3.0}, {"degrees": []}):
        with pytest.raises(InvalidParameterError, match="degree"):
            plan(n=1000, epsilon=1.0, **both, **QUICK)


def test_weights_scale_everything_alike():
    plain = plan(n=2000, average_degree=50, epsilon=2.0, **QUICK)
    heavy = plan(n=2000, average_degree=150, max_weight=3.0, epsilon=2.0, **QUICK)
    assert heavy["bounded-iterates"].value_std == pytest.approx(3 * plain["bounded-iterates"].value_std, rel=1e-3)


def test_planning_spends_nothing_even_inside_an_accountants_block():
    with dpgraph.PrivacyAccountant(epsilon=0.01, delta=1e-9) as budget:
        plan(n=100, average_degree=10, epsilon=1.0, **QUICK)
    assert budget.spent == (0.0, 0.0)


def test_a_plan_is_reproducible_frozen_and_prints_a_short_table():
    first, second = (plan(n=300, average_degree=20, epsilon=1.0, **QUICK) for _ in range(2))
    assert same(first, second)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.epsilon = 2.0
    table = first.table()
    assert "recommended: bounded-iterates" in table
    assert len(table.splitlines()) < 12
    with pytest.raises(InvalidParameterError, match="no mechanism"):
        first["coherence"]


def test_mechanisms_for_all_pairs_are_bounded_in_size_and_say_that_their_noise_grows():
    assert not plan(n=6000, average_degree=5, epsilon=1.0, delta=1e-6, mechanisms=["bounded-iterates", "gaussian"])[
        "gaussian"
    ].available
    with pytest.raises(InvalidParameterError, match="none of the mechanisms"):
        plan(n=6000, average_degree=5, epsilon=1.0, delta=1e-6, mechanisms=["gaussian"])
    small = plan(n=1000, average_degree=5, epsilon=4.0, delta=1e-6, mechanisms=["randomized-response"], repeats=1)
    assert "grows with n" in small["randomized-response"].note


@each("n, degree", [(2, 1.0), (3, 2.0), (50, 49.0), (1_000_000, 3.0), (10, 0.01)], parts=2)
def test_extreme_sizes_are_planned_for(n, degree):
    assert plan(n=n, average_degree=degree, epsilon=1.0, **QUICK).recommended == "bounded-iterates"


def test_bisections_are_planned_with_their_own_solver():
    half = plan(n=400, average_degree=60, epsilon=4.0, correlation=-0.5, problem="max-bisection", **QUICK)
    assert half["bounded-iterates"].cut_fraction > 0.65


@each(
    "change, words",
    [
        ({"n": 1}, "n must"),
        ({"n": 10.5}, "n must"),
        ({"average_degree": 0}, "average_degree"),
        ({"average_degree": 100}, "average_degree"),
        ({"average_degree": float("nan")}, "average_degree"),
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"max_weight": -1}, "max_weight"),
        ({"correlation": 2}, "correlation"),
        ({"problem": "max-clique"}, "problem"),
        ({"mechanisms": ["magic"]}, "mechanism"),
        ({"mechanisms": ["auto"]}, "mechanisms"),
        ({"mechanisms": "coherence"}, "mechanisms"),
        ({"mechanisms": []}, "mechanisms"),
        ({"repeats": 0}, "repeats"),
        ({"mechanisms": [Coherence(rank=-1)]}, "rank"),
        ({"blocks": 4}, "blocks"),
        ({"problem": "communities"}, "mechanisms"),
        ({"problem": "communities", "mechanisms": None, "blocks": 0}, "blocks"),
        ({"problem": "communities", "mechanisms": None, "blocks": 51}, "blocks"),
        ({"problem": "communities", "mechanisms": None, "correlation": -0.1}, "correlation must lie in .0, 1."),
        ({"problem": "communities", "mechanisms": None, "resolution": 0}, "resolution"),
    ],
    parts=2,
)
def test_bad_arguments_are_named(change, words):
    with pytest.raises(InvalidParameterError, match=words):
        plan(**{"n": 50, "average_degree": 4, "epsilon": 1.0, **QUICK} | change)


def test_every_mechanism_can_be_planned_for():
    planned = plan(n=18, average_degree=8, epsilon=4.0, delta=1e-6, mechanisms=list(CUTS.strategies), repeats=1)
    assert all(one.available and one.ledger for one in planned.mechanisms)
    larger = plan(n=60, average_degree=10, epsilon=4.0, delta=1e-6, mechanisms=list(CUTS.strategies), repeats=1)
    assert [one.mechanism for one in larger.mechanisms if not one.available] == ["permute-and-flip"]


@each(
    "n, degree, epsilon, expected",
    [
        (18, 8, 1.0, "permute-and-flip"),
        (300, 20, 8.0, "randomized-response"),
        (300, 20, 1.0, "bounded-iterates"),
        (300, 20, 3.0, "bounded-iterates"),
        (300, 20, 3.5, "randomized-response"),  # the noise at a vertex is less than 0.6 of its edges
        (2000, 5, 6.3, "bounded-iterates"),
    ],
    parts=2,
)
def test_a_plan_names_what_auto_takes_and_a_real_call_takes_it(n, degree, epsilon, expected):
    planned = plan(n=n, average_degree=degree, epsilon=epsilon, delta=1e-6, repeats=1)
    assert planned.automatic == expected
    assert planned[expected].ledger
    A = dpgraph.datasets.planted_cut_sparse(n, degree, -0.5, rng=1)[0]
    assert dpgraph.private_max_cut(A, epsilon=epsilon, delta=1e-6, rng=0).mechanism == expected


@each("bound", [{}, {"max_weight": 1.0}, {"max_weight": 1.0, "weight": "weight"}], parts=2)
def test_a_plan_and_a_run_agree_on_what_is_weighted(bound):
    A = dpgraph.datasets.planted_cut_sparse(400, 12, -0.5, rng=1)[0]
    automatic = plan(n=400, average_degree=12, epsilon=8.0, delta=1e-6, repeats=1, **bound).automatic
    assert automatic == ("bounded-iterates" if "weight" in bound else "randomized-response")
    for solver in (dpgraph.private_max_cut, dpgraph.private_max_bisection):
        assert solver(A, epsilon=8.0, delta=1e-6, rng=0, **bound).mechanism == automatic


@each("solver", ["private_max_cut", "private_max_bisection"], parts=2)
def test_naming_the_default_bound_on_weights_changes_no_bit(solver):
    G = dpgraph.datasets.planted_cut(300, 12, -0.5, rng=1)
    for graph in (G, nx.to_numpy_array(G)):
        for epsilon in (1.0, 3.0, 8.0):
            one, two = (
                getattr(dpgraph, solver)(graph, epsilon=epsilon, delta=1e-6, rng=0, **bound)
                for bound in ({}, {"max_weight": 1.0})
            )
            assert one.labels.tobytes() == two.labels.tobytes()
            assert one.privacy == two.privacy


def test_what_auto_takes_is_recommended_unless_something_else_is_clearly_better():
    planned = plan(n=400, average_degree=12, epsilon=8.0, delta=1e-6, repeats=1)
    assert planned.recommended == planned.automatic == "randomized-response"
    assert plan(n=400, average_degree=12, epsilon=8.0, max_weight=2.0, delta=1e-6, repeats=1).automatic == (
        "bounded-iterates"
    )


# --- communities -----------------------------------------------------------------------------------------------------

FOUND = {"problem": "communities", "repeats": 1}


@each(
    "blocks, correlation, degrees",
    [
        (blocks, correlation, degrees)
        for blocks, correlation in [(1, 0.5), (4, 0.0), (5, 0.6), (12, 1.0)]
        for degrees in [np.array([30.0]), np.random.default_rng(1).pareto(2.5, size=500) * 12 + 4]
    ],
    parts=2,
)
def test_stand_ins_with_blocks_have_the_degrees_and_the_edges_inside_that_are_asked_for(degrees, blocks, correlation):
    A, labels = block_stand_in(3000, degrees, blocks=blocks, correlation=correlation, max_weight=2.0, seed=3)
    assert (abs(A - A.T).sum(), A.diagonal().sum(), A.shape) == (0, 0, (3000, 3000))
    assert set(A.data) == {2.0}
    assert np.ptp(np.bincount(labels)) <= 1
    assert len(set(labels)) == blocks
    drawn, wanted = A.sum(axis=0), degrees if degrees.size > 1 else np.random.default_rng(0).exponential(30, 10**5)
    assert drawn.mean() == pytest.approx(degrees.mean(), rel=0.02)
    assert np.quantile(drawn, [0.3, 0.9]) == pytest.approx(np.quantile(wanted, [0.3, 0.9]), rel=0.2)
    inside = A.tocoo().data[labels[A.tocoo().row] == labels[A.tocoo().col]].sum() / A.sum()
    assert inside == pytest.approx(correlation + (1 - correlation) / blocks, abs=0.02)


def test_communities_are_planned_for_with_the_noise_scales_of_a_real_call():
    planned = plan(n=400, average_degree=40, epsilon=2.0, **FOUND)
    A, _ = block_stand_in(400, np.array([40.0]), blocks=8, correlation=0.5, seed=7)
    real = dpgraph.private_communities(A, epsilon=2.0, rng=4)
    one = planned[planned.recommended]
    assert [(e.name, e.mechanism, e.scale) for e in one.ledger] == [
        (e.name, e.mechanism, pytest.approx(e.scale)) for e in real.privacy.entries
    ]
    assert (planned.automatic, planned.recommended, one.delta) == (real.mechanism, real.mechanism, 0.0)
    assert one.value_std == pytest.approx(real.estimated_modularity_std, rel=0.3)
    assert one.modularity == pytest.approx(real.estimated_modularity, abs=0.1)
    assert same(planned, plan(n=400, average_degree=40, epsilon=2.0, **FOUND))


def test_more_budget_and_stronger_blocks_give_better_communities():
    weak, usual, loud = (
        plan(n=600, average_degree=40, epsilon=epsilon, **FOUND).mechanisms[0] for epsilon in (0.05, 1.0, 20.0)
    )
    assert weak.modularity_share < 0.3 < usual.modularity_share < loud.modularity_share
    assert loud.modularity_share == pytest.approx(1.0, abs=0.05)
    strong = plan(n=600, average_degree=40, epsilon=1.0, correlation=0.9, blocks=4, **FOUND)
    assert strong.mechanisms[0].modularity > usual.modularity
    assert strong.planted_modularity == pytest.approx(0.9 * (1 - 1 / 4), abs=0.05)


def test_the_table_of_communities_names_its_scenario_and_planning_them_spends_nothing():
    with dpgraph.PrivacyAccountant(epsilon=0.01, delta=1e-9) as budget:
        planned = plan(n=300, degrees=np.linspace(5, 60, 50), epsilon=1.0, blocks=3, correlation=0.4, **FOUND)
    assert budget.spent == (0.0, 0.0)
    table = planned.table()
    assert "300 vertices with 3 planted blocks of correlation 0.4 (60% of the edges inside" in table
    assert "share" in table
    assert "cut" not in table


@each("n, degree, blocks", [(2, 1.0, 2), (3, 2.0, 3), (9, 0.01, 4), (40, 39.0, 8)], parts=2)
def test_communities_of_extreme_sizes_are_planned_for(n, degree, blocks):
    for more in ({}, {"correlation": 1.0}, {"weight": "w", "max_weight": 0.5, "communities": 2, "resolution": 2.0}):
        degree_of = degree * more.get("max_weight", 1.0)
        table = plan(n=n, average_degree=degree_of, epsilon=1.0, blocks=blocks, **FOUND, **more).table()
        assert f"with {blocks} planted blocks" in table
        assert "nan" not in "".join(table.splitlines()[2:])
