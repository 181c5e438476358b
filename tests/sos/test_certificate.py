"""A bound that is called proven is a bound."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from dpgraph import max_bisection, max_cut
from dpgraph.linalg.lanczos import Lanczos, lower_bound
from dpgraph.sos import definiteness
from dpgraph.sos.cut.certificate import certify, certify_within, trivial_certificate
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.cut.objective import DenseObjective, FactoredObjective, SparseObjective


def unit_rows(n, k, rng):
    V = rng.standard_normal((n, k))
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def random_objective(seed):
    """Signed, integer or low-rank, with isolated vertices and several components now and then."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 20))
    if seed % 3 == 0:
        return FactoredObjective(rng.standard_normal((n, 3)), np.diag(rng.standard_normal(3)))
    M = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < rng.uniform(0.1, 1.0)), 1)
    if seed % 2:
        M = np.rint(2.0 * M)
    if seed % 5 == 0:
        M[: n // 2, n // 2 :] = 0.0
        M[0] = 0.0
    return SparseObjective(sparse.csr_array(M + M.T)) if seed % 4 else DenseObjective(M + M.T)


def dense_matrix(objective):
    return objective.multiply(np.eye(objective.n_vertices))


@pytest.mark.parametrize("seed", range(15))
def test_every_certificate_is_a_feasible_dual_point(seed):
    objective = random_objective(seed)
    rng = np.random.default_rng(seed)
    M = dense_matrix(objective)
    rough = unit_rows(objective.n_vertices, 3, rng)
    for certificate in (solve_low_rank(objective, rng).certificate, certify(objective, rough, rng)):
        lowest = np.linalg.eigvalsh(np.diag(certificate.diagonal) + M / 4)[0]
        assert lowest >= -1e-12 * max(1.0, np.abs(M).sum())
        assert certificate.bound >= objective.constant + certificate.diagonal.sum() - 1e-13 * np.abs(M).sum()


@pytest.mark.parametrize("seed", range(6))
def test_bounds_enclose_the_optimum_of_an_interior_point_solver(seed):
    import cvxpy as cp

    objective = random_objective(seed)
    M = dense_matrix(objective)
    X = cp.Variable(M.shape, PSD=True)
    problem = cp.Problem(cp.Maximize(-cp.trace(M @ X) / 4), [cp.diag(X) == 1])
    optimum = problem.solve(solver=cp.CLARABEL) + objective.constant
    solution = solve_low_rank(objective, np.random.default_rng(seed))
    scale = max(abs(optimum), abs(objective.constant), 1e-9)
    assert solution.converged
    assert solution.value <= optimum + 1e-6 * scale
    assert solution.certificate.bound >= optimum - 1e-7 * scale  # the accuracy of the interior point solver
    assert solution.certificate.bound - solution.value <= 1.02e-6 * scale


@pytest.mark.parametrize("kind", ["sparse", "dense", "factored"])
def test_semidefiniteness_is_decided_on_both_sides_of_the_boundary(kind):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 30
        if kind == "factored":
            objective = FactoredObjective(rng.standard_normal((n, 4)), np.diag([2.0, 1.0, -1.0, -0.5]))
        else:
            M = sparse.random_array((n, n), density=0.1, random_state=rng, data_sampler=rng.standard_normal).toarray()
            M = np.triu(M, 1) + np.triu(M, 1).T
            objective = SparseObjective(sparse.csr_array(M)) if kind == "sparse" else DenseObjective(M)
        diagonal = rng.uniform(0.0, 2.0, n)
        M = dense_matrix(objective)
        live = np.flatnonzero(np.abs(M).sum(axis=1))
        lowest = np.linalg.eigvalsh((np.diag(diagonal) + M / 4)[np.ix_(live, live)])[0]
        assert objective.is_semidefinite(diagonal - lowest + 1e-9) is True
        assert objective.is_semidefinite(diagonal - lowest - 1e-9) is False
        # At distance 1e-16 rounding decides; the answer must not be "proven".
        assert objective.is_semidefinite(diagonal - lowest - 1e-16) is False


def test_a_negative_multiplier_on_an_isolated_vertex_is_not_feasible():
    M = np.zeros((3, 3))
    M[0, 1] = M[1, 0] = 1.0
    diagonal = np.array([1.0, 1.0, -1e-12])
    for objective in (
        SparseObjective(sparse.csr_array(M)),
        DenseObjective(M),
        FactoredObjective(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])),
    ):
        assert objective.is_semidefinite(diagonal) is False
        assert objective.is_semidefinite(np.abs(diagonal)) is True


def test_a_bound_without_an_affordable_proof_says_so_and_is_still_above(monkeypatch):
    monkeypatch.setattr(definiteness, "DENSE_LIMIT", 10)
    objective = DenseObjective(nx.to_numpy_array(nx.gnp_random_graph(60, 0.5, seed=3)))
    rng = np.random.default_rng(0)
    certificate = certify(objective, solve_low_rank(objective, rng, max_sweeps=200).vectors, rng)
    lowest = np.linalg.eigvalsh(np.diag(certificate.diagonal) + dense_matrix(objective) / 4)[0]
    assert certificate.kind == "lanczos"
    assert lowest >= 0.0


def test_a_run_of_few_steps_claims_nothing():
    rng = np.random.default_rng(0)
    run = Lanczos(np.diag(np.arange(-50.0, 50.0)).__matmul__, rng.standard_normal(100))
    for _ in range(3):
        run.run(1)
        assert lower_bound(run, 0.0, steps=run.steps, failure=1e-10) < -50.0


@pytest.mark.parametrize("limit", [0.02, 0.1, 0.3])
def test_a_short_limit_proves_nothing_false(limit):
    G = nx.gnm_random_graph(6000, 30000, seed=1)
    cut = nx.to_scipy_sparse_array(G, dtype=float)
    for result in (max_bisection(-cut, rng=0, time_limit=limit), max_cut(cut, rng=0, time_limit=limit)):
        assert result.status == "bounded"
        assert result.upper_bound > result.value


@pytest.mark.parametrize("seed", range(5))
def test_without_time_for_a_proof_there_is_the_bound_of_the_lanczos_steps_that_were_taken(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.standard_normal((150, 150)), 1)
    objective = SparseObjective(sparse.csr_array(A + A.T))
    solution = solve_low_rank(objective, rng)
    late = certify(objective, solution.vectors, rng, deadline=0.0)
    assert late.kind == "lanczos"
    assert solution.value <= late.bound < 0.5 * trivial_certificate(objective).bound
    monkeypatch.setattr(definiteness, "there_is_time", lambda order: False)
    unproven = certify(objective, solution.vectors, rng)
    assert unproven.kind == "lanczos"
    assert solution.value <= unproven.bound <= late.bound


def test_the_last_rows_have_a_bound_though_a_proof_of_the_wanted_gap_fails(monkeypatch):
    A = np.triu(np.random.default_rng(0).standard_normal((150, 150)), 1)
    objective, rng = DenseObjective(A + A.T), np.random.default_rng(0)
    solution, answers = solve_low_rank(objective, rng), [False, False, True, True]
    monkeypatch.setattr(objective, "is_semidefinite", lambda t: answers.pop(0))
    gap = 0.01 * solution.value
    assert certify_within(objective, solution.vectors, gap, rng)[0] is None
    last, _ = certify_within(objective, solution.vectors, gap, rng, last=0.0)
    assert solution.value <= last.bound <= solution.value + 2 * gap
