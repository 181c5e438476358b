"""2-CSP instances: tables, label-extended graph, values, constructors."""

import itertools

import networkx as nx
import numpy as np
import pytest

from dpgraph.datasets import planted_csp
from dpgraph.exceptions import InvalidGraphError, InvalidParameterError
from dpgraph.instance import TwoCSP


def random_instance(seed, n=5, q=3, density=0.7):
    rng = np.random.default_rng(seed)
    instance = TwoCSP(n, q)
    for u, v in itertools.permutations(range(n), 2):
        if rng.random() < density / 2:
            instance.add_constraint(u, v, rng.random((q, q)) < 0.5, weight=rng.random())
    return instance


@pytest.mark.parametrize("seed", range(5))
def test_the_label_extended_graph_is_the_quadratic_form_of_the_value(seed):
    instance = random_instance(seed)
    n, q = instance.n_variables, instance.alphabet_size
    M = instance.label_extended_graph().toarray()
    np.testing.assert_array_equal(M, M.T)
    assert all(not M[i * q : (i + 1) * q, i * q : (i + 1) * q].any() for i in range(n))
    for labels in itertools.product(range(q), repeat=n):
        x = np.zeros((n, q))
        x[np.arange(n), labels] = 1.0
        assert instance.value(np.array(labels)) == pytest.approx(0.5 * x.ravel() @ M @ x.ravel())


def test_constraints_on_the_same_pair_are_summed_in_either_direction():
    instance = TwoCSP(["u", "v"], "ab")
    instance.add_constraint("u", "v", [[0, 1], [0, 0]])
    assert instance.total_weight == 1.0
    instance.add_constraint("v", "u", [[0, 0], [1, 0]], weight=2.0)
    np.testing.assert_array_equal(instance.pairs, [[0, 1]])
    np.testing.assert_array_equal(instance.tables, [[[0, 3], [0, 0]]])
    assert instance.total_weight == 3.0
    assert instance.value({"v": "b", "u": "a"}) == 3.0


def test_max_2_sat_counts_satisfied_clauses():
    clauses = [{"x": True, "y": True}, {"x": False, "y": True}, {"y": False}, {"x": True, "z": False}, {"x": True}]
    formula = nx.MultiGraph()
    for clause in clauses:
        ends = list(clause) * (3 - len(clause))
        formula.add_edge(*ends, clause=clause)
    instance = TwoCSP.from_networkx(formula, "max-2-sat")
    for values in itertools.product([False, True], repeat=3):
        assignment = dict(zip("xyz", values, strict=True))
        satisfied = sum(any(assignment[v] == wanted for v, wanted in clause.items()) for clause in clauses)
        assert instance.value(assignment) == satisfied


def test_a_unique_game_follows_the_direction_of_its_edges():
    game = nx.DiGraph()
    game.add_edge("u", "v", permutation=[2, 0, 1])
    instance = TwoCSP.from_networkx(game, "unique-games", "abc")
    assert instance.value({"u": "a", "v": "c"}) == 1.0
    assert instance.value({"u": "c", "v": "a"}) == 0.0
    with pytest.raises(InvalidGraphError, match="directed"):
        TwoCSP.from_networkx(game.to_undirected(), "unique-games", "abc")


@pytest.mark.parametrize(
    "act",
    [
        lambda c: c.add_constraint(0, 0, np.ones((2, 2))),
        lambda c: c.add_constraint(0, 3, np.ones((2, 2))),
        lambda c: c.add_constraint(0, [1], np.ones((2, 2))),
        lambda c: c.add_constraint(0, 1, np.ones((2, 3))),
        lambda c: c.add_constraint(0, 1, [[0, 1], [-1, 0]]),
        lambda c: c.add_constraint(0, 1, [[0, 1], [np.nan, 0]]),
        lambda c: c.add_constraint(0, 1, "differ"),
        lambda c: c.add_constraint(0, 1, np.ones((2, 2)), weight=-1.0),
        lambda c: c.add_constraint(0, 1, np.ones((2, 2)), weight="heavy"),
        lambda c: c.add_constraint(0, 1, np.ones((2, 2)), weight=None),
        lambda c: c.add_constraints([[0.0, 1.0]], np.ones((2, 2))),
        lambda c: c.add_constraints([[0, 5]], np.ones((2, 2))),
        lambda c: c.value({0: 0}),
        lambda c: c.value({0: 0, 1: 0, 2: 2}),
        lambda c: c.value(np.array([0, 1])),
        lambda c: c.value(np.array([0, 1, 2])),
        lambda c: c.value(np.array([0.0, 1.0, 0.0])),
        lambda c: c.value([0, 1, 0]),
        lambda c: TwoCSP(0, 2),
        lambda c: TwoCSP(3, 1),
        lambda c: TwoCSP(["a", "a"], 2),
        lambda c: TwoCSP([["a"]], 2),
        lambda c: TwoCSP(True, 2),
        lambda c: TwoCSP(1, 2).add_unary(0, [0, 1]),
        lambda c: TwoCSP.from_networkx(nx.path_graph(3), "max-flow"),
    ],
)
def test_bad_input_is_refused_by_name(act):
    with pytest.raises(InvalidParameterError):
        act(TwoCSP(3, 2))


def test_an_edge_without_its_attribute_is_refused():
    with pytest.raises(InvalidGraphError, match="permutation"):
        TwoCSP.from_networkx(nx.path_graph(3, create_using=nx.DiGraph), "unique-games", 3)


def test_the_text_of_an_instance_does_not_speak_of_its_constraints():
    assert repr(random_instance(0)) == repr(TwoCSP(5, 3))


def test_the_planted_assignment_satisfies_the_announced_share_of_random_permutations():
    instance = planted_csp(300, 40, "xyz", 0.85, rng=1)
    m = len(instance.pairs)
    assert m == pytest.approx(300 * 40 / 2, rel=0.05)
    assert instance.value(instance.planted) == round(0.85 * m)
    tables = instance.tables
    assert np.all(tables.sum(axis=1) == 1.0)
    assert np.all(tables.sum(axis=2) == 1.0)
    constant = [dict.fromkeys(range(300), label) for label in "xyz"]
    assert all(abs(instance.value(c) / m - 1 / 3) < 0.05 for c in constant)
    again = planted_csp(300, 40, "xyz", 0.85, rng=1)
    np.testing.assert_array_equal(again.tables, tables)
