"""Eigenvalues are within their public tolerance or the solver fails, and none of the leading ones is missed."""

import contextlib
import itertools

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

import dpgraph
from dpgraph import NotConvergedError
from dpgraph.datasets.planted import planted_cut_sparse
from dpgraph.linalg import eigen
from dpgraph.linalg.eigen import Eigenpairs, leading_eigenpairs, leading_values
from dpgraph.linalg.lanczos import Lanczos
from tests.about import each


def generator(seed=0):
    return np.random.default_rng(seed)


def nothing(n):
    """No pairs."""
    return Eigenpairs(np.zeros(0), np.zeros((n, 0)))


def sizes(A):
    return np.sort(np.abs(np.linalg.eigvalsh(A.toarray())))[::-1]


@each("count, n", list(itertools.product([1, 4], [5, 300, 1200])), parts=2)
def test_pairs_agree_with_lapack(n, count):
    A, _ = planted_cut_sparse(n, min(40.0, n / 2.5), -0.5, rng=1)
    pairs = leading_eigenpairs(A, count, tolerance=1e-6, generator=generator())
    assert np.allclose(np.abs(pairs.values), sizes(A)[:count], atol=1e-6)
    residuals = np.linalg.norm(A @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert residuals.max() <= 1e-6
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(count), atol=1e-8)


@each(
    "tolerance, count, degree, correlation",
    [
        (tolerance, count, degree, correlation)
        for tolerance in [1.0, 0.1, 0.003]
        for count in [1, 2, 9]
        for degree, correlation in [(10, -0.5), (40, -0.75), (6, 0.0)]
    ],
    parts=2,
)
def test_values_are_within_the_tolerance_that_was_asked_for(degree, correlation, count, tolerance):
    A, _ = planted_cut_sparse(1000, degree, correlation, rng=2)
    values = np.abs(
        leading_values(A, count, tolerance=tolerance, residual=1e-6, failure=1e-9, generator=generator()).values
    )
    assert np.all(np.diff(values) <= 0)
    assert np.abs(values - sizes(A)[:count]).max() <= tolerance * (1 + 1e-9)


@each("component, factor", list(itertools.product([1e-4, 1e-8], [1.0 + 1e-12, 1.5, 40.0])), parts=2)
def test_a_certificate_holds_for_starts_that_hardly_see_the_largest_eigenvalue(factor, component):
    # A start like these is drawn with probability 0.003 and 3e-7; certificates may fail with probability 1e-9.
    n = 1000
    diagonal = np.linspace(-1.0, 1.0, n)
    diagonal[-1] = factor
    start = generator().standard_normal(n)
    start[-1] = component

    class Unlucky(np.random.Generator):
        def standard_normal(self, *_args, **_kwargs):
            return start.copy()

    found = eigen._largest_value(
        sparse.diags_array(diagonal, format="csr"), nothing(n), Unlucky(np.random.PCG64(0)), failure=1e-9, width=0.02
    )
    assert factor - 0.02 <= found <= factor * (1 + 1e-12)


def test_what_is_excluded_has_a_start_less_likely_than_the_failure_probability():
    # With a failure probability of one half, starts are excluded at the level at which every second one would be wrong.
    n, wrong, runs = 900, 0, 200
    diagonal = np.linspace(-1.0, 1.0, n)
    diagonal[-1] = 1.2
    A = sparse.diags_array(diagonal, format="csr")
    for seed in range(runs):
        found = eigen._largest_value(A, nothing(n), generator(seed), failure=0.5, width=0.1)
        wrong += found < 1.1
    assert wrong / runs <= 0.5


@each("count", [2, 3], parts=2)
def test_a_solver_that_misses_an_eigenvalue_a_little_larger_is_caught(monkeypatch, count):
    n = 2000
    diagonal = np.linspace(0.1, 0.5, n)
    diagonal[:3] = [1.0, 0.81, 0.8]
    A = sparse.diags_array(diagonal, format="csr")

    def misses_the_second(operator, count, width, tolerance, restarts, generator):
        chosen = [0, 2, n - 1][:count]
        return Eigenpairs(diagonal[chosen], np.eye(n)[:, chosen])

    monkeypatch.setattr(eigen, "_krylov", misses_the_second)
    with pytest.raises(dpgraph.NotConvergedError):
        leading_values(A, count + 1, tolerance=1e-3, residual=1e-6, failure=1e-9, generator=generator())
    with pytest.raises(dpgraph.NotConvergedError):
        leading_eigenpairs(A, count, tolerance=1e-6, generator=generator(), least=0.805)


def star(n):
    edges = np.zeros(n - 1, dtype=int), np.arange(1, n)
    return sparse.coo_array((np.ones(n - 1), edges), shape=(n, n)).tocsr()


LOW_RANK = {
    "one edge": sparse.coo_array((np.ones(1), ([3], [4])), shape=(1500, 1500)).tocsr(),
    "star": star(1500),
    "two stars": sparse.block_diag([star(700), star(800)], format="csr"),
    "two sides, all joined": sparse.csr_array(np.kron([[0.0, 1.0], [0.0, 0.0]], np.ones((400, 400)))),
}


@each("tolerance, half", list(itertools.product([1e-3, 1e-6], LOW_RANK.values())), parts=2)
def test_a_matrix_of_low_rank_has_eigenvalues_zero(half, tolerance):
    # Beside its eigenvectors nothing is left but rounding errors, which must not lead back to them.
    A = (half + half.T) / 50
    exact = np.sqrt(np.linalg.eigvalsh((A @ A).toarray()).clip(0)[::-1][:9])
    values = leading_values(A, 9, tolerance=tolerance, residual=1e-6, failure=1e-9, generator=generator()).values
    assert np.allclose(np.abs(values), exact, atol=tolerance)
    pairs = leading_eigenpairs(A, 4, tolerance=tolerance, generator=generator())
    assert np.allclose(np.abs(pairs.values), exact[:4], atol=tolerance)


def test_an_unreachable_tolerance_fails_instead_of_pretending():
    n = 1500
    rng = np.random.default_rng(1)
    noisy = LinearOperator(
        (n, n), matvec=lambda x: np.ones(n) * x.sum() / n + 1e-3 * rng.standard_normal(n), dtype=float
    )
    with pytest.raises(dpgraph.NotConvergedError, match="tolerance"):
        leading_eigenpairs(noisy, 1, tolerance=1e-9, generator=generator())


class _Counted(np.random.Generator):
    """Counts the vectors it draws."""

    starts = 0

    def standard_normal(self, *arguments, **options):
        self.starts += 1
        return super().standard_normal(*arguments, **options)


@each("failure, runs", [(1e-9, 1), (1e-18, 2), (1e-100, 10)], parts=2)
def test_what_one_run_cannot_show_for_rounding_several_show_together(failure, runs):
    counted = _Counted(np.random.PCG64(0))
    A = sparse.diags_array(np.linspace(-1.0, 1.0, 1000), format="csr")
    assert 0.9 <= eigen._largest_value(A, nothing(1000), counted, failure=failure, width=0.1) <= 1.0 + 1e-12
    assert runs <= counted.starts <= runs + 1


def test_no_run_claims_to_see_a_component_below_rounding():
    A = sparse.diags_array(np.linspace(-1.0, 1.0, 1000), format="csr")
    run = Lanczos(A.__matmul__, generator().standard_normal(1000)).run(100)
    assert run.least_doubt > 1e-11
    assert run.doubt(1.2, run.least_doubt) == pytest.approx(run.least_doubt)
    assert run.doubt(1.0 + 1e-6, 1e-9) > 1e-3


def test_an_exhausted_run_is_as_doubtful_as_its_rounding():
    # Two eigenvalues, of which the larger has a component of 1e-15: the run is exhausted before it is seen.
    diagonal = np.zeros(1000)
    diagonal[0] = 1.0
    start = np.ones(1000)
    start[0] = 1e-15
    run = Lanczos((lambda x: diagonal * x), start).run(5)
    assert run.exhausted
    assert run.doubt(0.5, run.least_doubt) >= run.least_doubt


def test_lapacks_rounding_is_compared_with_the_tolerance():
    A = np.diag(np.linspace(1.0, 1e13, 300))
    with pytest.raises(dpgraph.NotConvergedError, match="tolerance"):
        leading_values(A, 2, tolerance=1.0, residual=1.0, failure=1e-9, generator=generator())
    assert leading_values(A, 2, tolerance=10.0, residual=1.0, failure=1e-9, generator=generator()).values[0] == 1e13


def test_several_doubtful_runs_are_wrong_together_as_seldom_as_they_say(monkeypatch):
    # Runs that are exhausted with uniform doubts, though ||B|| is larger: products of doubts are at most 0.01 in 8 %.
    generator, failure, searches = np.random.default_rng(0), 0.01, 20_000

    def run(_operator, _pairs, _generator, _found, _width, _level, wanted):
        shown = eigen._evidence(generator.random(), wanted * (1 - eigen._EXHAUSTED))
        if shown > eigen._USEFUL_DOUBT:
            raise NotConvergedError("nothing is shown")
        return 1.0, shown

    monkeypatch.setattr(eigen, "_one_run", run)
    wrong = 0
    for _ in range(searches):
        with contextlib.suppress(NotConvergedError):
            wrong += eigen._largest_value(None, None, generator, failure=failure, width=1.0) == 1.0
    assert 0 < wrong <= searches * failure + 4 * (searches * failure) ** 0.5
