"""Small cuts are listed: the optimum in whole numbers of any size, and "optimal"."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpgraph import TwoCSP, max_bisection, max_cut
from dpgraph.sos import enumeration
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.seed_search import SolverOptions
from tests.sos.brute_force import exact_best_cut


def test_listed_cuts_are_the_largest_and_optimal(monkeypatch):
    monkeypatch.setattr(enumeration, "MOST_VERTICES", 24)
    rng = np.random.default_rng(0)
    for case in range(24):
        n = int(rng.integers(2, 8))
        M = [rng.integers(-3, 4, (n, n)) * 1.0, rng.standard_normal((n, n)), 0.1 * (rng.random((n, n)) < 0.7)][case % 3]
        M = np.triu(M * (10.0 ** rng.integers(-8, 8, (n, n)) if case % 2 else 1.0), 1)
        M = M + M.T
        for search in ("beam", "optimal"):
            cut = max_cut(M, search=search)
            assert (cut.value, cut.status) == (float(exact_best_cut(M)), "optimal")
            assert exact_best_cut(M) <= Fraction(cut.upper_bound) <= Fraction(math.nextafter(cut.value, math.inf))
        half = max_bisection(M)
        assert (half.value, half.status) == (float(exact_best_cut(M, n % 2)), "optimal")


def test_what_is_optimal_does_not_depend_on_the_size_of_the_bound():
    assert max_cut(np.array([[0, -0.1], [-0.1, 0]]), search="optimal").status == "optimal"  # of value 0


@pytest.mark.parametrize("seed", [279, 1470])
def test_listed_cuts_bound_the_tables_that_they_stand_for(seed, monkeypatch):
    """Linear coefficients of the cut are rounded sums."""
    monkeypatch.setattr(enumeration, "MOST_VERTICES", 24)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    tables = rng.random((len(pairs), 2, 2)) * 10.0 ** rng.integers(-8, 8, (len(pairs), 2, 2))
    instance = TwoCSP(n, 2)
    instance.add_constraints(pairs, tables)
    listed = enumeration.solve_by_enumeration(CSPObjective.of(instance).signed(), SolverOptions())
    labels = itertools.product((0, 1), repeat=n)
    earned = [sum(Fraction(t[x[i], x[j]]) for t, (i, j) in zip(tables, pairs, strict=True)) for x in labels]
    assert listed is not None
    assert Fraction(listed.upper_bound) >= max(earned)
