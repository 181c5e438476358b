"""Replaced records: columns are charged by their differences, the number of records is public and exact."""

import itertools
import math

import numpy as np
import pytest
import scipy.sparse

from dpgraph.bounds.histogram import column_diameter, encoded_sensitivity
from dpgraph.exceptions import InvalidParameterError
from dpgraph.inputs.records import as_counted_histogram
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy import PrivacyAccountant
from dpgraph.problems.records.factorization import trace_factorization
from dpgraph.problems.records.linear_queries import expected_error, private_linear_queries
from tests.about import each
from tests.privacy.replay import doors, replay  # noqa: F401
from tests.queries.test_linear_queries import prefix_sums, rmse

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
SHAPES = ("gaussian", "ellipsoid", "factorization")


def longest_difference(A):
    return max(float(np.linalg.norm(A[:, i] - A[:, j])) for i, j in itertools.combinations(range(A.shape[1]), 2))


@each("seed", range(4), parts=2)
def test_every_replacement_moves_the_encoded_histogram_by_the_diameter_at_most_and_some_by_all_of_it(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 9)) * rng.choice([0.1, 1.0, 5.0], size=9) + 10 * rng.normal(size=(4, 1))
    x, moved = rng.integers(1, 5, 9), []
    for i, j in itertools.permutations(range(9), 2):
        y = x.copy()
        y[i], y[j] = y[i] - 1, y[j] + 1
        moved.append(np.linalg.norm(A @ x - A @ y))
    bound = encoded_sensitivity(QueryMatrix(A), "replace")
    assert bound * (1 - 1e-9) <= max(moved) <= bound * (1 + 1e-9)
    longest = np.linalg.norm(A, axis=0).max()
    assert longest <= encoded_sensitivity(QueryMatrix(A), "add-remove") <= longest * (1 + 1e-12)


def test_the_diameter_is_never_below_the_largest_difference_whatever_is_common_to_all_columns():
    A = np.random.default_rng(0).normal(size=(6, 1200))
    for offset in (0.0, 1e6, 1e12):
        shifted = A + offset
        bound, true = column_diameter(QueryMatrix(shifted)), longest_difference(shifted[:, :60])
        assert true <= bound
    exact = max(np.linalg.norm(A - A[:, [i]], axis=0).max() for i in range(1200))
    assert exact <= column_diameter(QueryMatrix(A)) <= exact * (1 + 1e-9)


def test_large_matrices_have_a_bound_between_the_diameter_and_the_old_charge(monkeypatch):
    from dpgraph.bounds import histogram as histogram_sensitivity

    counting = (np.random.default_rng(1).random((30, 80)) < 0.1).astype(float)
    signed = np.random.default_rng(2).normal(size=(30, 80)) + 3
    monkeypatch.setattr(histogram_sensitivity, "_PAIRWISE_LIMIT", 0)
    for A in (counting, signed):
        for kind in (A, scipy.sparse.csr_array(A)):
            bound = column_diameter(QueryMatrix(kind))
            assert longest_difference(A) <= bound <= 2 * np.linalg.norm(A, axis=0).max() * (1 + 1e-9)
    # Entries that are not negative: no pair is further apart than the two longest columns at a right angle.
    lengths = np.sort(np.linalg.norm(counting, axis=0))
    assert column_diameter(QueryMatrix(counting)) <= math.hypot(*lengths[-2:]) * (1 + 1e-9)
    # What all columns have in common costs nothing.
    assert column_diameter(QueryMatrix(signed)) < 1.4 * longest_difference(signed)


@each("seed", range(2), parts=2)
def test_the_factorization_for_differences_agrees_with_cvxpy(seed):
    import cvxpy as cp

    A = np.random.default_rng(seed).normal(size=(3, 6)) + 2
    S, T = cp.Variable((3, 3), symmetric=True), cp.Variable((3, 3), symmetric=True)
    # T >= S^{-1} by a Schur complement: minimise tr S subject to (a_i - a_j)' T (a_i - a_j) <= 1.
    block = cp.bmat([[S, np.eye(3)], [np.eye(3), T]])
    pairs = [A[:, i] - A[:, j] for i, j in itertools.combinations(range(6), 2)]
    problem = cp.Problem(cp.Minimize(cp.trace(S)), [block >> 0, *(cp.trace(np.outer(v, v) @ T) <= 1 for v in pairs)])
    expected = problem.solve(solver=cp.CLARABEL)
    found = trace_factorization(A, differences=True, tol=1e-5, max_iter=20_000)
    assert found.lower_bound <= expected * (1 + 1e-6)
    assert found.value == pytest.approx(expected, rel=1e-4)
    assert found.gap <= 1e-5


def test_a_query_that_counts_all_records_is_answered_exactly_since_the_count_is_public():
    A = np.vstack([prefix_sums(20), np.ones((1, 20))])
    result = private_linear_queries(A, np.full(20, 7), adjacency="replace", sparse=False, rng=0, **BUDGET)
    assert result.answers[[19, 20]] == pytest.approx([140, 140], abs=1e-9)
    assert result.standard_deviation[20] < 1e-9


@each("mechanism", [*SHAPES, "auto"], parts=2)
def test_equal_columns_leave_nothing_to_protect_and_no_error(mechanism):
    for A in (np.full((3, 4), 0.1), np.array([[2.0], [5.0]])):
        x = np.full(A.shape[1], 6.0)
        result = private_linear_queries(A, x, mechanism=mechanism, adjacency="replace", rng=0, **BUDGET)
        assert result.answers == pytest.approx(A @ x, rel=1e-6)
        assert result.privacy.entries[0].scale > 0


@each("sparse, adjacency", list(itertools.product(["auto", True], ["replace", "add-remove"])), parts=2)
def test_a_bound_on_the_number_of_records_that_is_far_too_large_does_not_add_records(adjacency, sparse):
    """Prefix sums of 50 records with records=2000 had an error of 244: the bound was used as the exact count."""
    A = prefix_sums(100)
    x = np.random.default_rng(0).multinomial(50, np.full(100, 1 / 100))
    options = {"adjacency": adjacency, "sparse": sparse, **BUDGET}
    errors = {
        records: np.mean(
            [rmse(private_linear_queries(A, x, records=records, rng=s, **options).answers, A @ x) for s in range(3)]
        )
        for records in (50, 2000)
    }
    assert errors[2000] < 17
    assert errors[50] <= errors[2000] * (1 + 1e-9)


@pytest.mark.usefixtures("doors")
@each(
    "mechanism, adjacency, records",
    list(itertools.product(["gaussian", "factorization"], ["replace", "add-remove"], [None, 0, 3, 2000])),
    parts=2,
)
def test_a_wrong_number_of_records_costs_no_privacy(records, adjacency, mechanism):
    A = prefix_sums(6)
    x, y = np.array([4.0, 1, 0, 2, 0, 3]), np.array([3.0, 1, 0, 2, 0, 3 + (adjacency == "replace")])
    options = {"mechanism": mechanism, "records": records, "adjacency": adjacency, "sparse": True, **BUDGET}
    calls = [lambda rng, h=h: private_linear_queries(A, h, rng=rng, **options) for h in (x, y)]
    assert 0.3 < replay(*calls, seed=1).share <= 1


def test_the_public_count_is_the_same_number_for_all_neighbours():
    rng = np.random.default_rng(5)
    for _ in range(200):
        x = rng.integers(0, 2**20, 30) / 2 ** rng.integers(0, 40, 30)  # exact sums of very different sizes
        x[0], y = x[0] + 1, x.copy()
        y[0], y[-1] = y[0] - 1, y[-1] + 1
        if math.fsum(x - y) == 0:
            assert as_counted_histogram(x)[1] == as_counted_histogram(y[::-1])[1]


@pytest.mark.usefixtures("doors")
@each("x", [[1e300, 2.0], [2.0**52, 1.0], [1e308, 1e308]], parts=2)
def test_more_records_than_floating_point_counts_are_refused_rather_than_clipped_at_one_end(x):
    """Clipped at one end, a replacement would move the answers by a column, which is longer than a difference."""
    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidParameterError, match=r"2\*\*52"):
        private_linear_queries(np.ones((1, 2)), x, adjacency="replace", accountant=accountant, **BUDGET)
    assert accountant.spent.epsilon == pytest.approx(1.0)  # neighbours are refused alike: their number is the same


def test_columns_of_too_different_lengths_are_refused_by_the_name_of_the_mechanism_and_auto_takes_another():
    rng, refused = np.random.default_rng(0), []
    for _ in range(25):
        A = rng.normal(size=(6, 5)) * 10.0 ** rng.uniform(-14, 0, size=5)
        for adjacency in ("replace", "add-remove"):
            assert np.isfinite(expected_error(A, adjacency=adjacency, **BUDGET))
            try:
                expected_error(A, adjacency=adjacency, mechanism="k-norm", **BUDGET)
            except InvalidParameterError as error:
                refused.append(str(error))
    assert any("mechanism='k-norm'" in text for text in refused)
