"""An argument of the wrong kind is refused by its name, in the package's own words, before anything is paid."""

import inspect
import itertools

import networkx as nx
import numpy as np
import pytest

import dpgraph
from dpgraph.arguments import (
    as_generator,
    check_choice,
    check_integer,
    check_nonnegative,
    check_positive,
    check_scale,
)
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import PrivacyAccountant
from dpgraph.projections import PSDCone
from tests.about import each

GRAPH = nx.complete_bipartite_graph(3, 4)
PAIR = np.array([1.0, 2.0])


@each(
    "check, value",
    [
        *((lambda v: check_choice("x", v, ("a", "b")), v) for v in ("c", "", None, 1, PAIR, ["a"])),
        *((lambda v: check_integer("x", v, 2, 5), v) for v in (1, 6, 2.0, True, "3", None, np.nan, PAIR, 10**400)),
        *((lambda v: check_scale("x", v), v) for v in (0, -1, "1", None, True, np.inf, np.nan, 1e101, 10**400, PAIR)),
        *((lambda v: check_positive("x", v), v) for v in (0, -1.0, "1", None, True, np.inf, np.nan, 10**400, PAIR, 1j)),
        *((lambda v: check_nonnegative("x", v), v) for v in (-1e-9, "1", None, np.inf, np.nan, PAIR)),
        *((as_generator, v) for v in ("seed", -1, 1.5, True, [1], np.random.RandomState(0))),
    ],
    parts=2,
)
def test_a_value_of_the_wrong_kind_or_range_is_refused(check, value):
    with pytest.raises(InvalidParameterError, match=r"must be .*; got"):
        check(value)


def test_integers_of_numpy_are_integers_and_generators_are_kept():
    assert type(check_integer("x", np.int64(2), 1)) is int
    generator = np.random.default_rng(0)
    assert as_generator(generator) is generator
    assert as_generator(np.int64(3)).integers(2**60) == as_generator(3).integers(2**60)


WRONG = [
    *(("max_rank", value) for value in (None, "many", 0, 1.5, PAIR)),
    *(("seeds", value) for value in (None, "2", -1, 1.5, np.nan, PAIR)),
    *(("rounds", value) for value in (None, "8", 0, 8.0, np.inf, PAIR)),
    *(("degree", value) for value in (None, "4", 0, 3, 4.0, PAIR)),
    *((name, PAIR) for name in ("mechanism", "projection", "on_halt", "max_weight")),
    *(("max_weight", value) for value in ("1", np.nan, 10**400)),
    *(("rng", value) for value in ("seed", 1.5, -1)),
    *(("epsilon", value) for value in ("1", None, PAIR, 10**400, 5e-324)),
    *(("delta", value) for value in ("1", None, PAIR, 1.0)),
]


@each(
    "name, value, function",
    [
        (name, value, function)
        for name, value in WRONG
        for function in [dpgraph.private_max_cut, dpgraph.private_max_bisection]
    ],
    parts=2,
)
def test_a_private_cut_refuses_it_by_name_and_nothing_is_spent(function, name, value):
    accountant = PrivacyAccountant(epsilon=10.0, delta=1e-3)
    arguments = {"epsilon": 1.0, "delta": 1e-6, "accountant": accountant}
    if name in inspect.signature(dpgraph.strategies.Coherence).parameters:
        arguments["mechanism"] = dpgraph.strategies.Coherence(**{name: value})
    else:
        arguments[name] = value
    with pytest.raises(InvalidParameterError, match=name):
        function(GRAPH, **arguments)
    assert accountant.spent == (0.0, 0.0)


INSTANCE = dpgraph.TwoCSP.from_networkx(GRAPH, "max-k-cut", 3)
SOLVERS = {
    "max_cut": lambda **options: dpgraph.max_cut(GRAPH, **options),
    "max_cut, degree 4": lambda **options: dpgraph.max_cut(GRAPH, degree=4, **options),
    "max_bisection": lambda **options: dpgraph.max_bisection(GRAPH, **options),
    "max_2csp": lambda **options: dpgraph.max_2csp(INSTANCE, **options),
    "max_2csp, lasserre": lambda **options: dpgraph.max_2csp(INSTANCE, relaxation="lasserre", **options),
}


@each(
    "name, value, solver",
    [
        (name, value, solver)
        for name, value in [
            *(("seeds", value) for value in (-1, None, 1.5)),
            *(("rounds", value) for value in (0, None, 2.0)),
            *(("starts", value) for value in (0, None)),
            *(("sweeps", value) for value in (-1, "many")),
            ("target_correlation", None),
            ("search", PAIR),
            ("rng", "seed"),
        ]
        for solver in SOLVERS.values()
    ],
    parts=2,
)
def test_the_exact_solvers_refuse_it_by_name(solver, name, value):
    with pytest.raises(InvalidParameterError, match=name):
        solver(**{name: value})


@each(
    "wrong",
    [{"n": 1}, {"n": 2.0}, {"degree": -1}, {"degree": "2"}, {"correlation": 2}, {"correlation": None}, {"rng": "x"}],
    parts=2,
)
def test_the_planted_graphs_refuse_it(wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        dpgraph.datasets.planted_cut(**{"n": 20, "degree": 2, "correlation": -0.5, "rng": 0} | wrong)


A = 50 * np.ones((6, 6))
BITS = np.eye(6, dtype=int)
#: Function, its private data and further arguments, and what is wrong with which of them.
OTHERS = [
    *((dpgraph.perturb_and_project, (A, PSDCone()), {"sensitivity": 1.0}, wrong) for wrong in (
        {"delta": None}, {"sensitivity": 1e200}, {"sensitivity": "1"}, {"sets": 3}, {"method": PAIR}, {"tol": "x"},
    )),
    *((dpgraph.private_cosine_similarities, (A,), {"sensitivity": 1.0}, wrong) for wrong in (
        {"delta": None}, {"sensitivity": 1e200}, {"iterations": 2.0}, {"method": None},
    )),
    *((dpgraph.private_projector, (A, 1), {"sensitivity": 1.0}, wrong) for wrong in (
        {"sensitivity": 1e200}, {"certificate": PAIR}, {"mechanism": None}, {"max_rank": "2"},
    )),
    *((dpgraph.private_spectrum, (A, 1), {"sensitivity": 1.0}, wrong) for wrong in (
        {"max_weight": 2.0}, {"regularization": 1.0}, {"weight": "weight"}, {"symmetrize": True},
    )),
    *((dpgraph.private_marginals, (BITS, 2), {}, wrong) for wrong in (
        {"categories": 3}, {"degree": PAIR}, {"max_iter": 1.5},
    )),
    *((dpgraph.private_linear_queries, (A, np.ones(6)), {}, wrong) for wrong in (
        {"records": 1e200}, {"records": "6"}, {"mechanism": PAIR}, {"adjacency": None},
    )),
]  # fmt: skip


@each("function, data, more, wrong", OTHERS, parts=2)
def test_other_private_functions_refuse_it_before_anything_is_paid(function, data, more, wrong):
    accountant = PrivacyAccountant(epsilon=10.0, delta=1e-3)
    if "sets" in wrong:
        data, wrong = (data[0], wrong["sets"]), {}
    with pytest.raises(InvalidParameterError):
        function(*data, **({"epsilon": 1.0, "delta": 1e-6, "accountant": accountant} | more | wrong))
    assert accountant.spent == (0.0, 0.0)


@each(
    "name, A",
    list(
        itertools.product(
            ["perturb_and_project", "private_symmetric_matrix"],
            [np.array([["a"]]), np.array([[1j]]), [[1.0], [1.0, 2.0]], np.ones((2, 3))],
        )
    ),
    parts=2,
)
def test_what_is_no_square_array_of_numbers_costs_nothing(name, A):
    accountant = PrivacyAccountant(epsilon=10.0, delta=1e-3)
    more = {"sets": PSDCone(), "delta": 1e-6} if name == "perturb_and_project" else {}
    with pytest.raises(InvalidParameterError, match="expected a"):
        getattr(dpgraph, name)(A, sensitivity=1.0, epsilon=1.0, accountant=accountant, **more)
    assert accountant.spent == (0.0, 0.0)


@each(
    "name, A",
    list(
        itertools.product(
            ["private_coherence", "private_projector", "private_singular_subspace"],
            [None, 3.0, "A", [[1.0]], np.ones(3), np.array([["a"]]), np.array([[1j]])],
        )
    ),
    parts=2,
)
def test_what_is_no_matrix_of_numbers_costs_nothing(name, A):
    accountant = PrivacyAccountant(epsilon=10.0, delta=1e-3)
    with pytest.raises(InvalidParameterError, match="expected a"):
        getattr(dpgraph, name)(A, 1, sensitivity=1.0, epsilon=1.0, delta=1e-6, accountant=accountant)
    assert accountant.spent == (0.0, 0.0)
