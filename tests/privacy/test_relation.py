"""Budgets add up where two calls protect the same thing, and nowhere else."""

import pickle

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph import PrivacyAccountant
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.graphs import open_graph
from dpgraph.privacy import Constraint, Custom, Edge, LabelEdge, PrivacyReport, Record, Shift
from dpgraph.privacy.relation import stated_relation
from dpgraph.projections import Box

GRAPH = nx.karate_club_graph()
ROWS = np.random.default_rng(0).integers(0, 2, size=(60, 3))
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def accountant():
    return PrivacyAccountant(epsilon=50.0, delta=1e-3)


def cut(payer, **options):
    return dpgraph.private_max_cut(GRAPH, **BUDGET, accountant=payer, **options)


def edge_csp(payer, adjacency="edge"):
    instance = dpgraph.TwoCSP.from_networkx(GRAPH, "max-k-cut", 3)
    return dpgraph.private_max_2csp(instance, **BUDGET, adjacency=adjacency, accountant=payer)


def covariance(payer, adjacency="replace"):
    return dpgraph.private_covariance(ROWS, epsilon=1.0, adjacency=adjacency, n_records=60, accountant=payer)


def marginals(payer, adjacency="replace"):
    return dpgraph.private_marginals(ROWS, 2, **BUDGET, adjacency=adjacency, accountant=payer)


def counts(payer, adjacency="replace"):
    return dpgraph.private_linear_queries(np.eye(2), [20, 40], **BUDGET, adjacency=adjacency, accountant=payer)


def array(payer, sensitivity=1.0, adjacency=None):
    options = {"sensitivity": sensitivity, "adjacency": adjacency, "accountant": payer}
    return dpgraph.perturb_and_project(np.ones(3), Box(0.0, 1.0), **BUDGET, **options)


@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_a_covariance_marginals_and_counts_of_the_same_records_share_an_accountant(adjacency):
    payer = accountant()
    results = [release(payer, adjacency) for release in (covariance, marginals, counts)]
    assert {result.privacy.relation for result in results} == {f"record:{adjacency}"} == {payer.report().relation}
    assert len({result.privacy.adjacency for result in results}) == 1
    assert payer.report().entries == tuple(entry for result in results for entry in result.privacy.entries)


def test_a_cut_and_a_constraint_problem_of_the_same_edges_share_an_accountant():
    payer = accountant()
    cut(payer)
    edge_csp(payer)
    dpgraph.private_max_k_cut(GRAPH, 3, **BUDGET, accountant=payer)
    dpgraph.private_degrees(GRAPH, **BUDGET, accountant=payer)
    assert payer.report().relation == "edge"


def test_the_bound_on_weights_is_no_part_of_what_is_protected():
    payer = accountant()
    cut(payer, weight="weight", max_weight=1.0)
    cut(payer, weight="weight", max_weight=2.0)
    cut(payer)
    assert payer.report().adjacency == Edge().words


@pytest.mark.parametrize("max_weight", [0.3, 1.0, 2.0])
def test_one_pair_changed_arbitrarily_is_one_pair_changed_by_at_most_the_bound(max_weight):
    """The argument by which calls with several bounds share an accountant: what a mechanism reads is capped."""
    weight = {"weight": "weight", "max_weight": max_weight}
    G = nx.Graph()
    G.add_weighted_edges_from([(0, 1, 0.2), (1, 2, 7.0), (0, 3, 1.0)])
    before = open_graph(G, **weight).read().adjacency.toarray()
    for changed in (0.0, 0.01, 0.5, 1.0, 1e6):
        H = G.copy()
        H.add_edge(0, 1, weight=changed)
        change = abs(open_graph(H, **weight).read().adjacency.toarray() - before)
        assert change.max() <= max_weight
        assert set(zip(*np.nonzero(change), strict=True)) <= {(0, 1), (1, 0)}


REFUSED = {
    "a cut and a covariance": (cut, covariance),
    "replace and add-remove": (covariance, lambda payer: marginals(payer, "add-remove")),
    "add-remove and replace": (lambda payer: counts(payer, "add-remove"), marginals),
    "an edge and one entry of a table": (cut, lambda payer: edge_csp(payer, "label-edge")),
    "one entry of a table and all": (
        lambda payer: edge_csp(payer, "label-edge"),
        lambda payer: edge_csp(payer, "constraint"),
    ),
    "two sensitivities": (array, lambda payer: array(payer, 2.0)),
    "two sensitivities that print alike": (array, lambda payer: array(payer, 1.0000001)),
    "two relations in words": (lambda p: array(p, adjacency="one day"), lambda p: array(p, adjacency="one week")),
    "two norms": (
        array,
        lambda payer: dpgraph.private_symmetric_matrix(np.eye(3), sensitivity=1.0, epsilon=1.0, accountant=payer),
    ),
    "two sensitivities of a matrix": (
        lambda payer: dpgraph.private_spectrum(np.eye(9), k=1, sensitivity=1.0, **BUDGET, accountant=payer),
        lambda payer: dpgraph.private_spectrum(np.eye(9), k=1, sensitivity=2.0, **BUDGET, accountant=payer),
    ),
}


@pytest.mark.parametrize(("first", "second"), REFUSED.values(), ids=REFUSED)
def test_calls_that_protect_different_things_share_none(first, second):
    payer, alone = accountant(), accountant()
    protected = first(payer).privacy.adjacency
    asked = second(alone).privacy.adjacency
    before = payer.report()
    with pytest.raises(InvalidParameterError, match="one accountant for each data set") as refused:
        second(payer)
    assert protected != asked
    assert protected in str(refused.value)
    assert asked in str(refused.value)
    assert payer.report() == before


def test_a_relation_in_words_is_shared_by_calls_of_several_sensitivities():
    payer = accountant()
    array(payer, 1.0, "one day of traffic")
    array(payer, 2.0, "one day of traffic")
    assert payer.report().adjacency == "one day of traffic"
    assert payer.report().relation == Custom("one day of traffic").key


@pytest.mark.parametrize("stated", [Record("replace"), Record("replace").words], ids=["relation", "words"])
def test_an_array_derived_from_records_shares_the_accountant_of_their_covariance(stated):
    payer = accountant()
    covariance(payer)
    array(payer, 0.5, stated)
    assert payer.report().relation == "record:replace"


def test_words_and_keys_tell_relations_apart():
    relations = [Edge(), LabelEdge(), Constraint(), Record("replace"), Record("add-remove"), Custom("edge")]
    relations += [Shift(what, s) for what in ("array", "matrix", "Gram matrix") for s in (1.0, 0.1, 0.1 + 1e-12)]
    assert len({relation.key for relation in relations}) == len({r.words for r in relations}) == len(relations)
    default = Shift("array", 1.0)
    for relation in relations[:5]:
        assert stated_relation(relation.words, default) == relation
    assert stated_relation(None, default) == stated_relation(default.words, default) == default
    assert stated_relation("edge", default) == Custom("edge")  # a key is no sentence


@pytest.mark.parametrize("wrong", [3, ["one edge"], b"edge"], ids=str)
def test_a_relation_is_words_or_a_relation(wrong):
    payer = accountant()
    with pytest.raises(InvalidParameterError, match="adjacency must be a string"):
        array(payer, 1.0, wrong)
    assert payer.spent == (0.0, 0.0)


def test_pickled_reports_keep_the_relation_and_older_ones_are_read():
    report = dpgraph.private_degrees(GRAPH, **BUDGET, rng=0).privacy
    assert pickle.loads(pickle.dumps(report)) == report
    older = PrivacyReport.__new__(PrivacyReport)
    older.__dict__.update({key: value for key, value in vars(report).items() if key != "relation"})
    older = pickle.loads(pickle.dumps(older))
    assert older.relation == ""
    assert older.table() == report.table()
