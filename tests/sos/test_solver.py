"""The max-cut solver on every kind of objective."""

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from dpgraph.sos.cut import solver
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective
from dpgraph.sos.cut.solver import close_gap, solve_max_cut
from dpgraph.sos.seed_search import SolverOptions
from dpgraph.threads import within
from tests.sos.brute_force import best_value


def random_objective(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    if kind == "factored":
        return FactoredObjective(rng.standard_normal((n, 3)), np.diag(rng.standard_normal(3)))
    M = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.6), 1)
    M = np.rint(2.0 * M) if kind == "integral" else M
    return DenseObjective(M + M.T) if kind == "dense" else SparseObjective(sparse.csr_array(M + M.T))


@pytest.mark.parametrize("kind", ["sparse", "integral", "dense", "factored"])
def test_small_objectives_are_cut_optimally_and_bounded_correctly(kind):
    for seed in range(12):
        objective = random_objective(kind, seed)
        best = best_value(objective)
        solution = solve_max_cut(objective, SolverOptions(seeds=2, rounds=20, sweeps=30), rng=seed)
        signs = 1.0 - 2.0 * solution.labels
        assert solution.value == pytest.approx(best, abs=1e-9)
        assert solution.value == pytest.approx(float(objective.values(signs)))
        assert solution.upper_bound >= best - 1e-9
        assert solution.labels[0] == 0


def test_a_planted_cut_is_recovered_from_a_factored_objective():
    rng = np.random.default_rng(0)
    n = 3000
    side = rng.choice([-1.0, 1.0], n)
    basis, _ = np.linalg.qr(np.column_stack([np.ones(n), side, rng.standard_normal((n, 2))]))
    objective = FactoredObjective(np.sqrt(20.0) * basis, np.diag([1.0, -0.7, 0.1, -0.1]))
    solution = solve_max_cut(objective, rng=0)
    assert abs(np.mean(side * (1 - 2 * solution.labels))) > 0.99
    assert solution.bound_kind == "proven"
    assert solution.value <= solution.upper_bound <= 1.01 * solution.value


def test_a_local_optimum_of_too_small_a_rank_is_left_by_widening():
    # The relaxation of a long odd cycle needs little rank; started from rank 1 every cut is a local optimum.
    n = 25
    ring = sparse.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n, n)).tolil()
    ring[0, n - 1] = ring[n - 1, 0] = 1.0
    objective = SparseObjective(ring.tocsr())
    solution = solve_low_rank(objective, np.random.default_rng(0), start=np.ones((n, 1)), tol=1e-6)
    assert solution.converged
    assert solution.vectors.shape[1] > 1
    assert solution.value == pytest.approx(n * (1.0 + np.cos(np.pi / n)) / 2.0, rel=1e-6)


def test_without_convergence_the_bound_is_still_a_bound():
    objective = random_objective("sparse", 8)
    solution = solve_low_rank(objective, np.random.default_rng(0), max_sweeps=1, tol=1e-9)
    assert not solution.converged
    assert solution.certificate.bound >= best_value(objective)


def test_no_product_is_begun_that_the_time_limit_would_wait_for(monkeypatch):
    objective, seen = DenseObjective(np.ones((300, 300))), []

    def multiply(block):
        seen.append(block.size // 300)
        time.sleep(0.02)
        return objective.matrix @ block

    monkeypatch.setattr(objective, "multiply", multiply)
    with within(0.1):  # sixteen products of eight columns
        solved = solve_low_rank(objective, np.random.default_rng(0))
    assert (max(seen), solved.certificate.kind, solved.vectors.shape) == (8, "trivial", (300, 1))


def test_a_gap_is_closed_where_weights_and_values_cancel():
    objective, rng = (
        DenseObjective(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 0.0]])),
        np.random.default_rng(0),
    )
    root = replace(solve_low_rank(objective, rng), value=0.0)
    assert close_gap(objective, root, 0.5, rng).certificate.bound >= best_value(objective)


def test_without_a_time_limit_the_search_ends_once_it_finds_the_best_value_again(monkeypatch):
    M, searches = np.triu(np.random.default_rng(0).standard_normal((60, 60)), 1), []
    monkeypatch.setattr(solver, "improve", lambda _, cuts, *__, **___: searches.append(cuts[:, 0]) or searches[0])
    solve_max_cut(SparseObjective(sparse.csr_array(M + M.T)), SolverOptions(starts=1), rng=0, patient=True)
    assert len(searches) <= 4
