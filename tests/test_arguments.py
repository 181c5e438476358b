"""An argument of the wrong kind is refused by its name, in the package's own words, before anything is paid."""

import inspect

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
