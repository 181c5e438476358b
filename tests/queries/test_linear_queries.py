"""Private linear queries: the guarantee, the promised error, the sparse case, and what bad input is told."""

import itertools

import numpy as np
import pytest
import scipy.sparse
import scipy.stats

from dpgraph.bounds.k_norm import Ball, Hull
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.noise import NoiseSource
from dpgraph.problems.records.linear_queries import expected_error, private_linear_queries
from dpgraph.projections.l1_hull import project_histogram_answers
from dpgraph.releases.records.histogram import k_norm_noise
from tests.about import each
from tests.privacy.replay import doors, replay  # noqa: F401

MECHANISMS = ("gaussian", "ellipsoid", "factorization", "laplace", "auto")
PURE = ("laplace", "k-norm", "auto")
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def prefix_sums(n):
    return np.tril(np.ones((n, n)))


def counting_queries(d, N, seed=0):
    return (np.random.default_rng(seed).random((d, N)) < 0.5).astype(float)


def rmse(answers, truth):
    return float(np.sqrt(np.mean((answers - truth) ** 2)))


def shares_of(A, x, others, adjacency, **options):
    """Parts of the ledger line that one record more of each type takes, or one in place of the `others`."""
    for i, j in itertools.product(range(len(x)), others if adjacency == "replace" else [0]):
        changed = x.copy()
        changed[i] += 1
        if adjacency == "replace":
            changed[j] -= 1

        def call(histogram):
            return lambda rng: private_linear_queries(A, histogram, adjacency=adjacency, rng=rng, **options)

        yield replay(call(x), call(changed), seed=i).share


@pytest.mark.usefixtures("doors")
@each("mechanism, adjacency", list(itertools.product(MECHANISMS, ["add-remove", "replace"])), parts=2)
def test_every_neighbour_stays_within_the_ledger_line_and_one_of_them_uses_it_up(mechanism, adjacency):
    A = np.random.default_rng(1).normal(size=(6, 4)) * [1.0, 3.0, 0.2, 1.0]
    options = BUDGET | {"mechanism": mechanism, "sparse": True}
    assert max(shares_of(A, np.array([3.0, 1.0, 2.0, 5.0]), range(4), adjacency, **options)) > 0.999


@pytest.mark.usefixtures("doors")
@each(
    "shape, mechanism, adjacency", list(itertools.product([(3, 7), (6, 4)], PURE, ["add-remove", "replace"])), parts=2
)
def test_every_neighbour_stays_within_the_line_of_a_pure_release(shape, mechanism, adjacency):
    A, x = np.random.default_rng(1).normal(size=shape), np.arange(1.0, shape[1] + 1)
    options = {"mechanism": mechanism, "sparse": False, "epsilon": 1.0}
    assert 0.5 < max(shares_of(A, x, [0, 1], adjacency, **options)) <= 1


def test_k_norm_noise_has_the_density_that_its_proof_asks_for():
    """||z||_K has the law Gamma(r), and z/||z||_K is uniform in directions: here on the edges of a hexagon."""
    columns = np.array([[1.0, 0.5, -0.5], [0.0, np.sqrt(3) / 2, np.sqrt(3) / 2]])
    hull, source = Hull(columns, differences=False, gap=1e-3), NoiseSource(np.random.default_rng(0))
    draws = np.array([k_norm_noise(source, hull, 1.0) for _ in range(150)])
    norms = np.array([hull.norm(z) for z in draws])
    assert scipy.stats.kstest(norms, scipy.stats.gamma(2).cdf).pvalue > 1e-3
    edges = np.floor(np.arctan2(draws[:, 1], draws[:, 0]) / (np.pi / 3)).astype(int) % 6
    assert scipy.stats.chisquare(np.bincount(edges, minlength=6)).pvalue > 1e-3
    assert np.cov(draws.T) == pytest.approx(hull.spread @ hull.spread, abs=0.9)


def test_noise_of_an_ellipsoid_has_the_density_that_its_proof_asks_for():
    """|z| has the law Gamma(r), z/|z| is uniform in directions, and the covariance is r + 1 times the identity."""
    ball, source = Ball(4), NoiseSource(np.random.default_rng(1))
    draws = np.array([k_norm_noise(source, ball, 1.0) for _ in range(4000)])
    lengths = np.linalg.norm(draws, axis=1)
    assert scipy.stats.kstest(lengths, scipy.stats.gamma(4).cdf).pvalue > 1e-3
    squares = (draws[:, 0] / lengths) ** 2  # of a uniform direction: Beta(1/2, (r - 1)/2)
    assert scipy.stats.kstest(squares, scipy.stats.beta(0.5, 1.5).cdf).pvalue > 1e-3
    assert np.cov(draws.T) == pytest.approx(ball.spread @ ball.spread, abs=0.6)


@each("adjacency", ["add-remove", "replace"], parts=2)
def test_auto_takes_the_ellipsoid_for_few_queries_on_many_types_and_its_error_is_the_promised_one(adjacency):
    A = counting_queries(12, 120)
    laplace, auto = (expected_error(A, epsilon=1.0, mechanism=m, adjacency=adjacency) for m in ("laplace", "auto"))
    assert auto < 0.85 * laplace
    x = np.full(120, 5)
    runs = [private_linear_queries(A, x, epsilon=1.0, adjacency=adjacency, sparse=False, rng=i) for i in range(12)]
    assert {(run.mechanism, run.privacy.delta) for run in runs} == {("k-norm", 0.0)}
    measured = np.sqrt(np.mean([rmse(run.answers, A @ x) ** 2 for run in runs]))
    assert measured == pytest.approx(auto, rel=0.25)


def test_the_noise_has_the_covariance_that_the_result_states():
    A, x = counting_queries(5, 8), np.arange(8.0)
    for mechanism in MECHANISMS[:-1]:
        results = [private_linear_queries(A, x, mechanism=mechanism, rng=seed, **BUDGET) for seed in range(100)]
        errors = np.array([result.answers - A @ x for result in results])
        assert np.allclose(errors.std(axis=0) / results[0].standard_deviation, 1, atol=0.25)
        assert np.sqrt(np.mean(errors**2)) == pytest.approx(results[0].expected_rmse, rel=0.1)


@each("sparse, mechanism", list(itertools.product([True, False, "auto"], MECHANISMS)), parts=2)
def test_answers_are_exact_as_epsilon_grows(mechanism, sparse):
    A, x = counting_queries(20, 12, seed=3), np.random.default_rng(1).poisson(4.0, 12)
    for epsilon in (1e12, 1e300):
        result = private_linear_queries(
            A, x, mechanism=mechanism, sparse=sparse, records=x.sum(), epsilon=epsilon, delta=1e-6, rng=0
        )
        assert np.abs(result.answers - A @ x).max() < 1e-4


def test_parts_of_an_entry_are_added_up_as_numbers():
    twice = scipy.sparse.coo_array((np.full(2, 100, dtype=np.int8), ([0, 0], [0, 0])), shape=(1, 1))  # 200 is no int8
    assert private_linear_queries(twice, [7.0], epsilon=1e9).answers == pytest.approx([1400.0])


def test_huge_histograms_are_clipped_rather_than_refused():
    # A refusal would tell neighbours apart.
    answers = private_linear_queries(np.eye(2), [1e300, 1.0], rng=0, sparse=False, **BUDGET).answers
    assert np.isfinite(answers).all()
    assert answers[0] > 1e9 > answers[1]


def test_on_prefix_sums_auto_is_more_than_six_times_better_than_independent_noise():
    A = prefix_sums(256)
    plain = expected_error(A, mechanism="gaussian", **BUDGET)
    assert plain / expected_error(A, **BUDGET) > 6
    assert plain / expected_error(A, mechanism="ellipsoid", **BUDGET) > 5
    x = np.random.default_rng(0).poisson(20.0, 256)
    measured = [rmse(private_linear_queries(A, x, rng=seed, **BUDGET).answers, A @ x) for seed in range(3)]
    assert plain / np.mean(measured) > 5


@each("d, N, seed", [(40, 200, 0), (200, 40, 1), (60, 60, 2), (1, 5, 3)], parts=2)
def test_auto_is_never_worse_than_independent_noise(d, N, seed):
    A = counting_queries(d, N, seed)
    best = expected_error(A, **BUDGET)
    for mechanism in ("gaussian", "ellipsoid", "factorization"):
        # The factorization is optimal among all Gaussian shapes up to its certified gap.
        assert best <= expected_error(A, mechanism=mechanism, **BUDGET) * 1.003
    assert best <= expected_error(A, mechanism="gaussian", **BUDGET)


@each("records", [None, 20], parts=2)
def test_with_few_records_the_projection_divides_the_error_by_more_than_three(records):
    d = 400
    A = counting_queries(d, 600)
    x = np.random.default_rng(1).multinomial(d // 20, np.full(600, 1 / 600))
    errors = {True: [], False: []}
    for seed in range(3):
        for sparse in errors:
            result = private_linear_queries(
                A, x, mechanism="gaussian", sparse=sparse, records=records if sparse else None, rng=seed, **BUDGET
            )
            errors[sparse].append(rmse(result.answers, A @ x))
    assert np.mean(errors[False]) / np.mean(errors[True]) > 3
    assert private_linear_queries(A, x, records=records, rng=0, **BUDGET).projected


def test_the_sparse_bound_holds_and_is_known_in_advance():
    A, n = counting_queries(300, 200), 10
    x = np.random.default_rng(0).multinomial(n, np.full(200, 1 / 200))
    bound = expected_error(A, records=n, mechanism="gaussian", **BUDGET)
    assert bound < expected_error(A, mechanism="gaussian", **BUDGET)
    errors = [
        rmse(private_linear_queries(A, x, mechanism="gaussian", records=n, rng=s, **BUDGET).answers, A @ x)
        for s in range(3)
    ]
    assert np.mean(errors) < bound


def test_the_nearest_answers_of_a_data_set_satisfy_the_optimality_conditions():
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(8, 30))
    for exactly in (True, False):
        y = 20 * rng.normal(size=8)
        z = project_histogram_answers(y, columns, 7.0, exactly=exactly)
        vertices = 7.0 * columns if exactly else np.hstack([7.0 * columns, np.zeros((8, 1))])
        assert np.max((y - z) @ (vertices - z[:, None])) < 1e-6
    inside = columns @ np.full(30, 0.1)
    assert np.allclose(project_histogram_answers(inside, columns, 7.0, exactly=False), inside)


def test_a_large_sparse_matrix_is_never_made_dense():
    N = 400_000
    A = scipy.sparse.random_array((300, N), density=1e-4, random_state=np.random.default_rng(0), format="csr")
    result = private_linear_queries(A, np.ones(N), rng=0, **BUDGET)
    assert result.mechanism == "laplace"
    assert private_linear_queries(A, np.ones(N), mechanism="gaussian", rng=0, **BUDGET).mechanism == "gaussian"
    assert not result.projected
    with pytest.raises(InvalidParameterError, match="mechanism='gaussian'"):
        private_linear_queries(A, np.ones(N), mechanism="factorization", rng=0, **BUDGET)
