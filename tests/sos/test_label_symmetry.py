"""Symmetric reduction of the moment relaxation: same value, fewer unknowns, only where the tables allow it."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.instance import TwoCSP
from dpgraph.sos.moments.monomials import label_symmetries
from dpgraph.sos.moments.relaxation import _MomentProblem, lasserre


def unique_game(q, shifts):
    instance = TwoCSP(4, q)
    for (u, v), s in zip([(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)], shifts, strict=True):
        instance.add_constraint(u, v, np.roll(np.eye(q), s, axis=1))
    return instance


INSTANCES = {
    "5-cycle, degree 2": (TwoCSP.from_networkx(nx.cycle_graph(5)), 2, False),
    "5-cycle, degree 4": (TwoCSP.from_networkx(nx.cycle_graph(5)), 4, False),
    "Petersen": (TwoCSP.from_networkx(nx.petersen_graph()), 2, False),
    "max-3-cut of a wheel": (TwoCSP.from_networkx(nx.wheel_graph(6), "max-k-cut", 3), 2, True),
    "max-3-cut of K4, degree 4": (TwoCSP.from_networkx(nx.complete_graph(4), "max-k-cut", 3), 4, False),
    "unique game": (unique_game(3, [0, 1, 2, 1, 1]), 2, True),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_averaging_keeps_the_value_and_the_bound_with_fewer_unknowns(name):
    instance, degree, nonnegative = INSTANCES[name]
    reduced, full = (lasserre(instance, degree, nonnegative=nonnegative, symmetry=s) for s in (True, False))
    assert reduced.value == pytest.approx(full.value, abs=1e-5)
    assert reduced.upper_bound == pytest.approx(full.upper_bound, abs=1e-4)
    assert reduced.upper_bound >= reduced.value - 1e-5
    np.testing.assert_allclose(reduced.marginals(), 1.0 / instance.alphabet_size, atol=1e-9)
    assert np.linalg.eigvalsh(reduced.second_moments())[0] >= -1e-5
    unknowns = [_MomentProblem.of(instance, degree, nonnegative, s).free.shape[1] for s in (True, False)]
    assert unknowns[0] < unknowns[1]


def test_the_flip_leaves_the_moments_of_even_size():
    instance = TwoCSP.from_networkx(nx.cycle_graph(5))
    assert _MomentProblem.of(instance, 4, False, True).free.shape == (31, 1 + 10 + 5)


def test_averaged_moments_do_not_change_under_relabelling():
    instance = unique_game(3, [0, 1, 2, 1, 1])
    problem = _MomentProblem.of(instance, 4, False, True)
    y = problem.free @ np.random.default_rng(0).standard_normal(problem.free.shape[1])
    np.testing.assert_allclose(problem.average @ y, y, atol=1e-10)
    # every averaged vector is of this form
    rank = np.linalg.matrix_rank(problem.average.toarray())
    assert rank == np.linalg.matrix_rank(problem.free.toarray()) == problem.free.shape[1]


def test_symmetries_are_those_of_the_tables():
    assert len(label_symmetries(TwoCSP.from_networkx(nx.path_graph(3), "max-k-cut", 4))) == 24
    assert label_symmetries(unique_game(3, [0, 1, 2, 1, 1])) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


def test_an_instance_without_symmetry_is_left_alone():
    instance = TwoCSP.from_networkx(nx.cycle_graph(5))
    instance.add_unary(0, [0.0, 1e-9])  # a label preferred, however little
    assert label_symmetries(instance) == [(0, 1)]
    problem = _MomentProblem.of(instance, 2, False, True)
    assert problem.free.shape == (16, 16)
    assert lasserre(instance, 2).value == lasserre(instance, 2, symmetry=False).value
