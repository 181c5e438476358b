"""The three kinds of objective are the same function."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from dpgraph.sos.cut.base import CutObjective
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective
from dpgraph.sos.units import rounded_once


def signed_matrix(n, rng, density=0.5):
    M = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < density), 1)
    return M + M.T


def factored_and_dense(n, r, rng):
    U, B = rng.standard_normal((n, r)), np.diag(rng.standard_normal(r))
    M = U @ B @ U.T
    np.fill_diagonal(M, 0.0)
    return FactoredObjective(U, B), DenseObjective(M)


def pairs(rng):
    M = signed_matrix(12, rng)
    return [(SparseObjective(sparse.csr_array(M)), DenseObjective(M)), factored_and_dense(12, 3, rng)]


def edge_sum(M, x):
    return sum(M[i, j] for i in range(len(x)) for j in range(i) if x[i] != x[j])


def test_the_value_is_the_weight_across_the_cut():
    rng = np.random.default_rng(0)
    M = signed_matrix(9, rng)
    x = rng.choice([-1.0, 1.0], 9)
    for objective in (SparseObjective(sparse.csr_array(M)), DenseObjective(M)):
        assert objective.values(x) == pytest.approx(edge_sum(M, x))


def test_sparse_and_factored_objectives_agree_with_dense_ones():
    rng = np.random.default_rng(1)
    for other, dense in pairs(rng):
        X = rng.choice([-1.0, 1.0], (12, 5))
        assert other.constant == pytest.approx(dense.constant)
        np.testing.assert_allclose(other.values(X), dense.values(X))
        np.testing.assert_allclose(other.multiply(X), dense.multiply(X), atol=1e-12)
        np.testing.assert_allclose(other.row_norms, dense.row_norms)
        assert np.all(other.absolute_row_sums >= dense.absolute_row_sums - 1e-12)


def test_the_gain_of_a_sweep_is_the_growth_of_the_relaxation_and_never_negative():
    rng = np.random.default_rng(3)
    for pair in pairs(rng):
        for objective in pair:
            V = rng.standard_normal((12, 5))
            V /= np.linalg.norm(V, axis=1, keepdims=True)
            for _ in range(6):
                before = -0.25 * np.sum(V * objective.multiply(V))
                _, gain = objective.ascend(V, 1, -1.0)
                assert gain >= 0.0
                assert -0.25 * np.sum(V * objective.multiply(V)) - before == pytest.approx(gain, abs=1e-10)
                np.testing.assert_allclose(np.linalg.norm(V, axis=1), 1.0)


@pytest.mark.parametrize("n", [4, 400])
def test_ascent_is_the_same_problem_with_and_without_what_is_compiled(n):
    """Small objectives take products of matrices; both ends are the optimum."""
    rng = np.random.default_rng(5)
    objective = SparseObjective(sparse.csr_array(signed_matrix(n, rng, density=min(1.0, 8.0 / n))))
    start = rng.standard_normal((n, 40))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    V, U = start.copy(), start.copy()
    objective.ascend(V, 2000, 0.0)
    CutObjective.ascend(objective, U, 2000, 0.0)
    worth = [-0.25 * np.sum(X * objective.multiply(X)) for X in (V, U)]
    assert worth[0] == pytest.approx(worth[1], rel=1e-6)


def test_sums_of_any_magnitudes_are_rounded_once():
    rng = np.random.default_rng(0)
    for size in (0, 1, 7, 40_000):
        numbers = rng.standard_normal(size) * 10.0 ** rng.uniform(-25, 0, size)
        nearly = np.append(numbers, -numbers * (1 + 2.0**-52))
        assert [rounded_once(numbers), rounded_once(nearly)] == [math.fsum(numbers), math.fsum(nearly)]


def test_signs_meet_all_positive_entries_exactly_where_every_cycle_allows_it():
    rng = np.random.default_rng(1)
    assert SparseObjective(sparse.csr_array((0, 0))).unfrustrated().size == 0
    for _ in range(60):
        M = np.triu(rng.integers(-1, 2, size=(6, 6)) * (rng.random((6, 6)) < 0.5), 1).astype(float)
        M += M.T
        cuts = np.array(list(itertools.product((-1.0, 1.0), repeat=6)))
        meets = np.array([np.all(np.outer(x, x) * M <= 0) for x in cuts])
        found = SparseObjective(sparse.csr_array(M)).unfrustrated()
        assert (found is not None) == meets.any()
        assert found is None or np.all(np.outer(found, found) * M <= 0)
