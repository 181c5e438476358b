"""One noise vector for all queries of a row: its norm, its law, its grid, and who may use it how often."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpgraph.bounds import sensitivity
from dpgraph.exceptions import DPGraphError
from dpgraph.privacy.grid import query_grid
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.row_norm import NUMBER, RowNorm
from tests.about import each


def number_norm(queries, ratio=0.7):
    """The norm of all queries of a number by itself."""
    return RowNorm(queries, NUMBER, ratio)


def norm_of(norm, y, z):
    """The norm as it is written in the theorem; queries along the last axis of z."""
    return norm.first * np.abs(y) + norm.later * np.maximum(np.abs(z).max(axis=-1, initial=0.0) - np.abs(y), 0)


def exact_loss(norm, scale, box):
    """Largest log-ratio of the law at shifts by an edge, over all outputs of one number in two queries."""
    points = np.array(list(itertools.product(range(-box, box + 1), repeat=2)), dtype=float)

    def log_law(shift):
        return -norm_of(norm, points[:, 0] - shift[0], points[:, 1:] - shift[1]) / scale

    shifts = [(s, t) for s in (-1, 0, 1) for t in (-1, 0, 1)]
    later = max(np.max(log_law((0, t)) - log_law((0, 0))) for t in (-1, 1))
    return max(np.max(log_law(shift) - log_law((0, 0))) for shift in shifts) + later


@each("ratio", [0.3, 0.7, 0.99], parts=2)
def test_the_loss_of_an_edge_is_epsilon_and_attained(ratio):
    assert exact_loss(number_norm(2, ratio), 1 / 0.8, box=12) == pytest.approx(0.8)


def test_a_second_query_may_depend_on_the_first_and_nothing_more_is_lost():
    """All outputs of two rows and two queries each, where the label that is read second is chosen by the first."""
    norm, scale, box = number_norm(2), 1 / 0.9, 7
    grid = range(-box, box + 1)

    def log_law(first, later):
        return float(-norm_of(norm, np.float64(first), np.array([float(later)])) / scale)

    worst = 0.0
    for a, b, c in itertools.product(grid, grid, grid):  # outputs: j first, then i and j once more
        label_j = 1 if a > 0 else -1  # j answers to its first query of i, whose label is 1
        label_i = -1 if b > label_j else 1  # i answers to its query of j
        with_edge = log_law(a - 1, c - label_i) + log_law(0, b - label_j)
        without = log_law(a, c) + log_law(0, b)
        worst = max(worst, abs(with_edge - without))
    assert 0.85 < worst <= 0.9 * (1 + 1e-12)


def test_one_query_is_laplace_noise_and_many_a_sixth_of_the_variance_of_composed_ones():
    assert number_norm(1).variances(0.5)[0] == pytest.approx(0.5)
    for queries in (2, 5, 20):
        cube = number_norm(queries, ratio=1 - 1e-9).variances(1.0)
        assert cube == pytest.approx([(queries + 1) * (queries + 2) / 3 * 4] * 2)
        assert cube[0] / (2 * (2 * queries) ** 2) == pytest.approx((1 + 1 / queries) * (1 + 2 / queries) / 6)
    assert number_norm(4).variances(1.0)[0] < 0.6 * number_norm(4, ratio=0.99).variances(1.0)[0]
    assert number_norm(4).variances(1.0)[1] < 1.2 * number_norm(4, ratio=0.99).variances(1.0)[1]


@each(
    "unit, epsilon",
    list(itertools.product([2.0**-8, 2.0**-28, 3 * 2.0**-28], [1e-6, 0.01, 1.0, 100.0, 1e4, 1e12])),
    parts=2,
)
def test_the_grid_is_fine_beside_the_noise_and_rounding_is_paid_for(epsilon, unit):
    step, bound, used = query_grid(3.0, 2, unit, epsilon)
    assert used <= epsilon
    assert bound / used >= 2.0**15 * step
    assert math.log2(step / unit) == round(math.log2(step / unit))
    assert bound == 3.0 + 2 * step * (step > unit)
    assert bound < 3.0 * (1 + 1e-4 * max(1.0, 1 / epsilon))


def test_noise_that_is_drawn_ahead_is_that_of_its_row():
    """Every number lies in the ball of its own row, in whatever order rows are read, and no two reads have the same."""
    norm, rows = number_norm(3), np.arange(2000)
    queries = noise_source(None).queries((2000, 1), rows, norm, 2.0**-30, 1.0)
    radii, found = queries._nested.radii[:, 0] * 2.0**-30, []
    queries.first(rows, np.zeros((2000, 1)))
    order = np.argsort(radii)[::-1]
    queries.expect(order)
    for block in (order[:700], order[700:701], order[701:1500], order[1600:], order[1500:1600]):
        found.append((block, queries.later(block, np.zeros((block.size, 1)))[:, 0]))
    queries.expect(rows)
    found.append((rows, queries.later(rows, np.zeros((2000, 1)))[:, 0]))
    assert all(np.all(np.abs(noise) <= radii[block]) for block, noise in found)
    shares = np.concatenate([noise / radii[block] for block, noise in found])
    assert np.unique(shares).size > 3900
    assert stats.kstest((shares + 1) / 2, "uniform").pvalue > 1e-7


def test_a_row_is_not_read_more_often_than_its_noise_was_drawn_for():
    norm, rows = number_norm(2), np.arange(3)
    queries = noise_source(0).queries((5, 1), rows, norm, 2.0**-16, 1.0)
    queries.first(rows[:1], np.zeros((1, 1)))
    queries.later(rows, np.zeros((3, 1)))
    for row in (0, 1):  # row 1 has lost its first query
        with pytest.raises(DPGraphError, match="more often"):
            queries.later(np.array([row]), np.zeros((1, 1)))
    with pytest.raises(DPGraphError, match="before its first"):
        queries.first(np.array([1]), np.zeros((1, 1)))
    with pytest.raises(DPGraphError):
        queries.later(np.array([4]), np.zeros((1, 1)))  # a row without noise


@settings(max_examples=80, deadline=None)
@given(
    st.integers(2, 7), st.integers(1, 4), st.integers(1, 3), st.integers(0, 10_000), st.sampled_from([0.1, 1.0, 5.0])
)
def test_queries_of_all_rows_change_by_no_more_than_the_bound(n, queries, columns, seed, w):
    """Sweeps in any order and blocks, labels that depend on noisy queries; one edge added, removed or reweighted."""
    rng = np.random.default_rng(seed)
    norm = number_norm(queries, float(rng.uniform(0.1, 0.99)))
    weights = np.triu(w * rng.random((n, n)), 1)
    weights += weights.T
    changed = weights.copy()
    changed[0, 1] = changed[1, 0] = rng.choice([0.0, w])
    X, moved = np.zeros((n, columns)), np.zeros((n, queries, columns))
    for sweep in range(queries):
        for rows in np.array_split(rng.permutation(n), rng.integers(1, n + 1)):
            moved[rows, sweep] = np.abs((weights - changed)[rows] @ X)
            X[rows] = np.sign(weights[rows] @ X + rng.normal(size=(rows.size, columns)))
    total = norm_of(norm, moved[:, 0], np.moveaxis(moved[:, 1:], 1, -1)).sum()
    assert total <= sensitivity.repeated_queries(columns * w, norm, from_zero=True) * (1 + 1e-12)


def test_the_bound_is_attained_by_labels_that_stay():
    norm, E, X = number_norm(3), np.array([[0.0, 2.0], [2.0, 0.0]]), np.ones((2, 1))
    moved = np.stack([E @ np.array([[1.0], [0.0]]), E @ X, E @ X], axis=1)
    total = norm_of(norm, moved[:, 0], np.moveaxis(moved[:, 1:], 1, -1)).sum()
    assert total == pytest.approx(sensitivity.repeated_queries(2.0, norm, from_zero=True))


def test_without_zeros_at_the_start_queries_cost_more_than_the_theorem_with_them_says():
    """The counterexample: both labels stand before anything is read. 2/1.7 of an edge, and two for one query."""
    E, X = np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((2, 1))
    for norm, cost in ((number_norm(3), 2 / 1.7), (number_norm(1, 1.0), 2.0), (number_norm(4, 1.0), 1.0)):
        moved = np.stack([E @ X] * norm.queries, axis=1)
        assert norm_of(norm, moved[:, 0], np.moveaxis(moved[:, 1:], 1, -1)).sum() == pytest.approx(cost)
        assert sensitivity.repeated_queries(1.0, norm, from_zero=False) == pytest.approx(cost)
