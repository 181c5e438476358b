"""What an accountant of persons promises: neighbours that differ in up to k pairs at one vertex."""

import itertools
import math
import sqlite3
from contextlib import closing, nullcontext

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import FileAccountant, PrivacyAccountant
from dpgraph.bounds import sensitivity
from dpgraph.exceptions import BudgetExceededError, InvalidParameterError
from dpgraph.privacy import call as call_module
from dpgraph.privacy import gdp_delta, gdp_mu
from dpgraph.privacy import guard as guard_module
from dpgraph.privacy.call import open_call
from dpgraph.privacy.persons import Group, delta_share
from dpgraph.privacy.relation import Edge
from dpgraph.releases.totals import release_total_weight
from tests.privacy.enumeration import graph_family
from tests.privacy.inputs import Data, at_one_vertex
from tests.privacy.replay import doors, replay  # noqa: F401

G = nx.powerlaw_cluster_graph(60, 5, 0.5, seed=1)


def persons(k, epsilon=1e3, delta=0.5):
    return PrivacyAccountant(epsilon=epsilon, delta=delta, edges_per_person=k)


def test_degrees_of_all_neighbours_in_pairs_at_a_vertex_move_within_their_bound_and_some_reach_it():
    for weights, w in list(graph_family().values())[:14]:
        n = min(len(weights), 6)
        A = weights[:n, :n]
        for hub, k in itertools.product(range(n), (1, 2, 3)):
            for others in itertools.combinations(sorted(set(range(n)) - {hub}), min(k, n - 1)):
                for new in itertools.product((0.0, w), repeat=len(others)):
                    change = np.zeros(n)
                    change[list(others)] = new - A[hub, list(others)]
                    change[hub] = change.sum()
                    assert np.linalg.norm(change) <= sensitivity.degrees_l2(w, k) * (1 + 1e-12)
    star = np.array([3.0, 1.0, 1.0, 1.0])
    assert np.linalg.norm(star) == sensitivity.degrees_l2(1.0, 3) < 3 * sensitivity.degrees_l2(1.0)


@pytest.mark.parametrize("k", [2, 7, 50])
def test_the_share_of_delta_is_that_of_a_mechanism_whose_group_loses_all_of_it(k):
    """Mechanisms of k + 1 graphs on a path: each step fails with d where it can, and loses epsilon/k of the rest."""
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-6), (8.0, 1e-3), (60.0, 1e-9)):
        d, a, p = delta * delta_share(epsilon, k), epsilon / k, 0.0
        for _ in range(k):
            p = d + math.exp(a) * p  # the most that (a, d)-DP lets an event gain at one step, from probability 0
        assert p <= delta * (1 + 1e-9), "the events of a group fail oftener than was charged"
        assert p >= delta * (1 - 1e-9)
        # The exact curve of a group of Gaussian calls asks for less noise than that.
        mu = gdp_mu(epsilon, delta)
        assert gdp_delta(mu / k, epsilon / k) >= d * (1 - 1e-9)


def test_the_noise_of_each_kind_of_release_is_that_of_k_edges():
    k, epsilon, delta = 5, 1.0, 1e-6
    with persons(k):
        laplace = dpgraph.private_degrees(G, epsilon=epsilon, mechanism="laplace").privacy
        gaussian = dpgraph.private_degrees(G, epsilon=epsilon, delta=delta, mechanism="gaussian").privacy
        counted = dpgraph.private_subgraph_counts(G, epsilon=epsilon, delta=delta, mechanism="local-sensitivity")
        cut = dpgraph.private_max_cut(G, epsilon=epsilon, delta=delta, mechanism="randomized-response").privacy
        whole = dpgraph.private_normalized_adjacency(
            G, epsilon=4.0, delta=delta, mechanism="gaussian", regularization=5.0
        ).privacy
    assert laplace.entries[0].scale == pytest.approx(2 * k / epsilon)
    assert laplace.entries[0].sensitivity == pytest.approx(2 * k)
    assert gaussian.entries[0].scale == pytest.approx(math.sqrt(k * k + k) / gdp_mu(epsilon, delta))
    assert gaussian.entries[0].sensitivity == pytest.approx(math.sqrt(k * k + k))
    assert next(e for e in cut.entries if e.name == "adjacency bits").scale == pytest.approx(k / (0.975 * epsilon))
    event = next(e for e in counted.privacy.entries if e.mechanism == "good event")
    assert event.delta_share == pytest.approx(delta)
    # Its slack is that of an event which fails with the share of one edge, beside noise of k times the scale.
    first = counted.privacy.entries[0].scale
    assert first == pytest.approx(2 * k / epsilon)
    bound = counted.privacy.entries[2].sensitivity / k
    assert bound > first * math.log(1 / (2 * delta * delta_share(epsilon, k))) - 10 * first
    for report in (laplace, gaussian, counted.privacy, cut, whole):
        assert "up to 5 vertex pairs that share a vertex" in report.adjacency
        assert "protects a person with up to 5 edges" in report.table()
        assert report.relation == "edge:5"
        assert report.mu is None or gdp_delta(report.mu, report.epsilon) + report.delta_slack <= report.delta * 1.0001
    assert (gaussian.epsilon, gaussian.delta, counted.privacy.delta) == (epsilon, delta, delta)


def test_what_a_call_opens_is_charged_for_k_edges_whoever_divided_its_budget():
    """A door that forgets to divide spends more of its persons' budget; it never protects them less."""
    accountant = persons(4, epsilon=2.0, delta=1e-5)
    graph = dpgraph.inputs.graphs.open_graph(G, weight=None, max_weight=None, symmetrize=False).read()
    call = open_call(epsilon=0.25, accountant=accountant, relation=Edge(), noise=0)
    assert release_total_weight(graph, call).std == pytest.approx(math.sqrt(2) / 0.25)
    assert accountant.spent.epsilon == 1.0
    open_call(epsilon=0.125, delta=1e-8, slack=1e-9, accountant=accountant, relation=Edge(), noise=1)
    assert accountant.spent.epsilon == 1.5
    assert accountant.spent.delta == pytest.approx(1e-8 / delta_share(0.5, 4))
    with pytest.raises(BudgetExceededError, match=r"epsilon=0\.6"):
        open_call(epsilon=0.15, accountant=accountant, relation=Edge(), noise=2)
    with pytest.raises(InvalidParameterError, match="promise nothing"):
        open_call(epsilon=0.1, delta=0.5, accountant=persons(40), relation=Edge(), noise=3)


def test_calls_with_events_add_up_as_epsilon_and_delta_and_gaussian_ones_as_such():
    accountant = persons(3, epsilon=4.0, delta=1e-5)
    for _ in range(4):
        dpgraph.private_degrees(G, epsilon=1.0, delta=1e-6, mechanism="gaussian", accountant=accountant)
    assert accountant.report().mu == pytest.approx(2 * gdp_mu(1.0, 1e-6))
    before = accountant._state()
    dpgraph.private_subgraph_counts(G, epsilon=0.5, delta=1e-6, mechanism="local-sensitivity", accountant=accountant)
    after = accountant._state()
    assert after.mu_squared == before.mu_squared
    assert after.pure == 0.5
    assert after.slack == pytest.approx(1e-6)
    assert repr(accountant).endswith("protects a person with up to 3 edges)")
    assert accountant.report().adjacency.endswith("(protects a person with up to 3 edges)")


def realised_shares(mechanism):
    """Realised shares of the budget. At an epsilon of 10^4, as the registry has it, no delta of an edge is a number."""
    shares = []
    for _, *pair in at_one_vertex(3):
        for epsilon in (0.5, 8.0):

            def call(data: Data, epsilon=epsilon):
                more = {"epsilon": epsilon, "delta": 1e-6, "mechanism": mechanism, "accountant": persons(3)}
                return lambda rng: dpgraph.private_degrees(data.value, rng=rng, **data.public, **more)

            shares.append(replay(*map(call, pair), seed=1).share)
    return shares


@pytest.mark.usefixtures("doors")
def test_gaussian_calls_of_persons_stay_within_their_lines_and_reach_them():
    assert 0.999 < max(realised_shares("gaussian")) <= 1 + 1e-9


def edges_of_a_person_not_divided(monkeypatch):
    monkeypatch.setattr(guard_module, "at_edge_level", lambda *_: nullcontext({}))
    monkeypatch.setattr(call_module, "person_cost", lambda who, *asked: Group(who.edges_per_person, *asked))


def hub_of_a_person_forgotten(monkeypatch):
    monkeypatch.setattr(sensitivity, "degrees_l2", lambda w, pairs=1: math.sqrt(2 * pairs) * w)


@pytest.mark.usefixtures("doors")
@pytest.mark.parametrize(
    ("fault", "mechanism"), [(edges_of_a_person_not_divided, "laplace"), (hub_of_a_person_forgotten, "gaussian")]
)
def test_a_fault_is_caught_by_the_replay(fault, mechanism, monkeypatch):
    fault(monkeypatch)
    with pytest.raises(AssertionError, match=r"of the budget|of its bound"):
        realised_shares(mechanism)


def test_a_fault_is_caught_by_the_shares_of_delta(monkeypatch):
    def delta_of_an_edge_is_that_of_its_person(epsilon, edges):
        return 1.0

    monkeypatch.setitem(globals(), "delta_share", delta_of_an_edge_is_that_of_its_person)
    with pytest.raises(AssertionError, match="fail oftener"):
        test_the_share_of_delta_is_that_of_a_mechanism_whose_group_loses_all_of_it(7)


def test_one_edge_per_person_changes_no_bit():
    for function, more in (
        (dpgraph.private_degrees, {"delta": 1e-6, "mechanism": "gaussian"}),
        (dpgraph.private_max_cut, {"delta": 1e-6}),
        (dpgraph.private_subgraph_counts, {"delta": 1e-6, "mechanism": "local-sensitivity"}),
    ):
        plain = function(G, epsilon=1.0, rng=3, accountant=PrivacyAccountant(epsilon=9.0, delta=0.1), **more)
        one = function(G, epsilon=1.0, rng=3, accountant=persons(np.int64(1)), **more)
        assert plain.to_frame().equals(one.to_frame())
        assert plain.privacy == one.privacy


def test_networkx_and_estimators_divide_the_budget_once():
    accountant = persons(2, epsilon=10.0)
    nx.volume(G, [0, 1], backend="dpgraph", epsilon=1.0, accountant=accountant)
    nx.config.backends.dpgraph.epsilon = 1.0
    try:
        nx.volume(G, [0, 1], backend="dpgraph", accountant=accountant)
    finally:
        nx.config.backends.dpgraph.epsilon = None
    assert accountant.spent == (2.0, 0.0)
    from dpgraph.sklearn import PrivateCommunities

    PrivateCommunities(epsilon=1.0, accountant=accountant).fit(nx.to_scipy_sparse_array(G))
    assert accountant.spent == (3.0, 0.0)


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, "3", None, math.nan, 10**30])
def test_a_number_of_edges_is_a_whole_number(wrong, tmp_path):
    with pytest.raises(InvalidParameterError, match="edges_per_person must be an integer"):
        PrivacyAccountant(epsilon=1.0, edges_per_person=wrong)
    if wrong is not None:
        with pytest.raises(InvalidParameterError, match="edges_per_person must be an integer"):
            FileAccountant(tmp_path / "b", epsilon=1.0, edges_per_person=wrong)
        assert not (tmp_path / "b").exists()


def test_a_gigantic_number_of_edges_is_answered_with_gigantic_noise():
    accountant = persons(10**9, epsilon=2.0, delta=1e-5)
    pure = dpgraph.private_degrees(G, epsilon=1.0, accountant=accountant)
    gaussian = dpgraph.private_degrees(G, epsilon=0.5, delta=1e-6, mechanism="gaussian", accountant=accountant)
    assert pure.privacy.entries[0].scale == pytest.approx(2e9)
    assert gaussian.privacy.entries[0].scale == pytest.approx(1e9 / gdp_mu(0.5, 1e-6))


def test_data_that_are_no_graphs_and_whole_vertices_are_refused_before_the_debit():
    accountant = persons(3)
    for call in (
        lambda: dpgraph.private_covariance(np.eye(3), epsilon=1.0, accountant=accountant),
        lambda: dpgraph.private_symmetric_matrix(np.eye(3), sensitivity=1.0, epsilon=1.0, accountant=accountant),
        lambda: dpgraph.private_degree_distribution(G, epsilon=1.0, adjacency="node", accountant=accountant),
    ):
        with pytest.raises(InvalidParameterError, match=r"is about the edges of a graph.*nothing was spent"):
            call()
    assert accountant.spent == (0.0, 0.0)


def test_a_budget_file_keeps_the_number_and_old_files_have_one(tmp_path):
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    first = FileAccountant(new, epsilon=2.0, delta=1e-6, edges_per_person=7)
    dpgraph.private_degrees(G, epsilon=1.0, accountant=first)
    assert FileAccountant(new).edges_per_person == FileAccountant(new, edges_per_person=7).edges_per_person == 7
    assert FileAccountant(new).spent.epsilon == 1.0
    assert [charge.epsilon for charge in FileAccountant(new).charges()] == [1.0]
    with pytest.raises(InvalidParameterError, match="edges_per_person=7 in all, not 1"):
        FileAccountant(new, edges_per_person=1)
    FileAccountant(old, epsilon=1.0)
    with closing(sqlite3.connect(old)) as database:  # what versions without persons have made, and can read
        assert [row[1] for row in database.execute("PRAGMA table_info(total)")] == ["name", "epsilon", "delta"]
    assert FileAccountant(old).edges_per_person == 1
