"""Private marginals: the guarantee, consistent and nonnegative tables, accuracy, and what bad input is told."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dpgraph.exceptions import InvalidParameterError
from dpgraph.problems.records.marginals import private_marginals
from tests.about import each
from tests.privacy.replay import doors, replay  # noqa: F401

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def clustered(n, N, seed=0):
    """Records from five clusters of independent attributes."""
    rng = np.random.default_rng(seed)
    rates, cluster = rng.beta(0.5, 0.5, (5, n)), rng.integers(0, 5, N)
    return (rng.random((N, n)) < rates[cluster]).astype(int)


def baskets(n, N, t, seed=0):
    """Records with at most t ones, popular items first."""
    rng = np.random.default_rng(seed)
    popularity = np.sort(rng.dirichlet(np.full(n, 0.5)))[::-1] + 1e-9
    data = np.zeros((N, n), dtype=int)
    for record in data:
        record[rng.choice(n, rng.integers(0, t + 1), replace=False, p=popularity / popularity.sum())] = 1
    return data


def exact_table(data, columns, sizes=None):
    table = np.zeros([2] * len(columns) if sizes is None else [sizes[g] for g in columns])
    np.add.at(table, tuple(data[:, g] for g in columns), 1)
    return table


def table_rmse(result, data):
    n = data.shape[1]
    errors = [result.table(c) - exact_table(data, c) for c in itertools.combinations(range(n), result.k)]
    return float(np.sqrt(np.mean(np.square(errors))))


def test_without_delta_the_release_is_pure_and_with_it_where_laplace_noise_is_smaller():
    few, many = clustered(4, 50), clustered(12, 50)
    for options in ({}, {"sparsity": 2}, {"adjacency": "add-remove"}):
        assert private_marginals(many, 2, epsilon=1.0, rng=0, **options).privacy.delta == 0
    assert private_marginals(few, 1, rng=0, **BUDGET).privacy.delta == 0
    assert private_marginals(many, 3, rng=0, **BUDGET).privacy.delta == 1e-6
    for n, k in ((4, 1), (12, 3)):
        data = clustered(n, 50)
        pure = private_marginals(data, k, epsilon=1.0, rng=0).expected_rmse
        assert private_marginals(data, k, rng=0, **BUDGET).expected_rmse <= pure


@each(
    "n, N, k, options",
    [
        (6, 40, 2, {}),
        (8, 100, 3, {}),
        (8, 100, 4, {}),
        (8, 100, 3, {"degree": 0}),
        (8, 100, 3, {"sparsity": 2}),
        (6, 60, 2, {"adjacency": "add-remove"}),
        (4, 60, 3, {"degree": 8}),
        (3, 60, 3, {}),
        (5, 60, 3, {"categories": {0: [0, 1, 2], 3: [1, 0, 7, 8]}}),
        (5, 60, 3, {"delta": 0.0}),
        (5, 60, 3, {"delta": 0.0, "sparsity": 2, "adjacency": "add-remove"}),
    ],
    parts=2,
)
def test_tables_are_nonnegative_consistent_and_sum_to_the_count(n, N, k, options):
    data = baskets(n, N, 2) if "sparsity" in options else clustered(n, N)
    result = private_marginals(data, k, rng=1, **BUDGET | options)
    tables = result.tables()
    assert len(tables) == sum(1 for j in range(1, k + 1) for _ in itertools.combinations(range(n), j))
    for columns, table in tables.items():
        assert table.min() >= 0
        assert table.sum() == pytest.approx(result.count, abs=1e-9 * result.count)
        for axis in range(len(columns)):
            smaller = columns[:axis] + columns[axis + 1 :]
            if smaller:
                assert np.abs(table.sum(axis=axis) - tables[smaller]).max() <= 1e-9 * result.count


EXACT = [
    (30, 3, {}), (30, 3, {"sparsity": 2}), (30, 2, {"sparsity": 1}), (30, 2, {"degree": 4}),
    (30, 3, {"adjacency": "add-remove"}), (30, 3, {"categories": {0: [0, 1, 2]}}),
]  # fmt: skip


@each("epsilon, N, k, options", [(1e14, *case) for case in EXACT] + [(1e300, *case) for case in EXACT[::3]], parts=2)
def test_tables_are_exact_as_epsilon_grows(N, k, options, epsilon):
    accuracy = 1e-4
    if "adjacency" in options:
        accuracy = 0.01  # a private number of records is released with a standard deviation of at least about 1e-4
    t = options.get("sparsity")
    data = clustered(5, N) if t is None else baskets(5, N, t)
    result = private_marginals(data, k, epsilon=epsilon, delta=1e-6, rng=0, **options)
    assert result.count == pytest.approx(N, abs=accuracy)
    sizes = [len(values) for values in result.categories]
    for columns, table in result.tables().items():
        assert np.abs(table - exact_table(data, columns, sizes)).max() < accuracy
        assert table.min() >= 0


def test_parities_conjunctions_and_the_tensor_hold_the_same_numbers():
    data = clustered(5, 200)
    signs = np.column_stack([np.ones(200), 1 - 2 * data])
    result = private_marginals(data, 3, epsilon=1e14, delta=1e-6, rng=0)
    for subset in ([], [2], [0, 3], [4, 1, 2]):
        assert result.parity(subset) == pytest.approx(np.prod(1 - 2 * data[:, subset], axis=1).mean(), abs=1e-5)
        assert result.conjunction(subset) == pytest.approx(data[:, subset].prod(axis=1).mean(), abs=1e-5)
    assert np.allclose(result.tensor, np.einsum("ra,rb,rc->abc", signs, signs, signs) / 200, atol=1e-5)
    few = baskets(5, 200, 2)
    sparse = private_marginals(few, 3, epsilon=1e14, delta=1e-6, sparsity=2, rng=0)
    assert np.allclose(sparse.tensor, np.einsum("ra,rb,rc->abc", few, few, few) / 200, atol=1e-5)


def test_records_with_too_many_ones_keep_the_first_ones():
    data = np.array([[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0]])
    kept = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0]])
    long, short = (private_marginals(d, 2, sparsity=2, rng=0, **BUDGET) for d in (data, kept))
    assert np.array_equal(long.theta, short.theta)


def test_categorical_attributes_have_tables_of_their_own_shape():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, 3, 300), rng.integers(0, 2, 300), rng.integers(0, 4, 300)])
    frame = pd.DataFrame({
        "colour": pd.Categorical.from_codes(codes[:, 0], ["red", "green", "blue"]),
        "smoker": codes[:, 1],
        "region": np.array(["n", "e", "s", "w"])[codes[:, 2]],
    })  # fmt: skip
    categories = {"region": ["n", "e", "s", "w"]}
    result = private_marginals(frame, 2, epsilon=1e14, delta=1e-6, categories=categories, rng=0)
    assert result.categories == (("red", "green", "blue"), (0, 1), ("n", "e", "s", "w"))
    expected = exact_table(codes, (0, 2), (3, 2, 4))
    assert np.allclose(result.table(["colour", "region"]), expected, atol=1e-4)
    noisy = private_marginals(frame, 2, categories=categories, rng=0, epsilon=0.1, delta=1e-6)
    assert noisy.table(["colour", "region"]).min() >= 0
    assert np.allclose(noisy.table(["colour", "region"]).sum(axis=1), noisy.table("colour"), atol=1e-9)


def test_polars_frames_are_read_and_only_declared_categories_are_believed():
    pl = pytest.importorskip("polars")
    data = clustered(3, 40)
    colours = ["red", "green", "blue"]
    codes = np.random.default_rng(0).integers(0, 3, 40)
    names = [colours[code] for code in codes]
    frame = pl.DataFrame({"a": data[:, 0], "b": data[:, 1].astype(bool), "c": data[:, 2].astype(np.int8)})
    plain = private_marginals(data, 2, rng=3, **BUDGET)
    assert np.array_equal(private_marginals(frame, 2, rng=3, **BUDGET).theta, plain.theta)
    declared = frame.with_columns(pl.Series("colour", names, dtype=pl.Enum(colours)))
    result = private_marginals(declared, 2, rng=3, **BUDGET)
    assert result.columns == ("a", "b", "c", "colour")
    assert result.categories[3] == tuple(colours)
    nearly = private_marginals(declared, 2, epsilon=1e14, delta=1e-6, rng=0).table(["a", "colour"])
    assert np.allclose(nearly, exact_table(np.column_stack([data[:, 0], codes]), (0, 1), (2, 3)), atol=1e-4)
    # The categories of pl.Categorical are the entries themselves, and entries are private.
    collected = frame.with_columns(pl.Series("colour", names, dtype=pl.Categorical))
    with pytest.raises(InvalidParameterError, match="categories="):
        private_marginals(collected, 2, rng=3, **BUDGET)
    chosen = private_marginals(collected, 2, categories={"colour": colours}, rng=3, **BUDGET)
    assert np.array_equal(chosen.theta, result.theta)
    with pytest.raises(InvalidParameterError, match="0 and 1 only"):
        private_marginals(pl.DataFrame({"a": [0, None, 1]}), 1, rng=3, **BUDGET)


@pytest.mark.parametrize("dtype", ["float32", "float16", "Float32"])
def test_numbers_of_less_precision_are_the_declared_ones(dtype):
    data = pd.DataFrame({"dose": pd.array([0.1, 0.2, np.nan, 0.1], dtype=dtype)})
    found = private_marginals(data, 1, epsilon=1e4, categories={"dose": [0.1, 0.2, None]}, rng=0)
    assert found.table("dose").round().tolist() == [2, 1, 1]


def test_an_integer_of_numpy_is_an_order_and_a_degree_beyond_all_attributes_is_that_of_all():
    data = clustered(3, 40)
    plain = private_marginals(data, 2, degree=6, rng=3, **BUDGET).theta
    for degree in (8, 10**30):
        assert np.array_equal(private_marginals(data, np.uint8(2), degree=degree, rng=3, **BUDGET).theta, plain)


def test_dates_in_any_unit_are_categories_and_nan_declares_missing_values():
    days = list(pd.date_range("2020-01-01", periods=3))
    for unit in ("s", "us", "ns"):
        data = pd.DataFrame({"day": pd.Series([*days, pd.NaT]).astype(f"datetime64[{unit}]")})
        plain = [day.date() for day in days]
        for values in ([*days, pd.NaT], [*plain, np.nan], [*np.array(plain, "M8"), None]):
            found = private_marginals(data, 1, epsilon=1e4, categories={"day": values}, rng=0)
            np.testing.assert_array_equal(found.table("day").round(), 1.0)
    assert found.to_csv("day").splitlines()[4].startswith(",")
    with pytest.raises(InvalidParameterError, match="all different; got 2, of which 1 differ"):
        private_marginals(data, 1, epsilon=1.0, categories={"day": [None, np.nan]}, rng=0)


@each("k, N, factor", [(2, 100, 2.0), (3, 300, 3.0), (4, 300, 5.0)], parts=2)
def test_with_few_records_the_projection_divides_the_mean_squared_error(k, N, factor):
    data = clustered(12, N)
    ratios = []
    for seed in range(3):
        result = private_marginals(data, k, rng=seed, **BUDGET)
        ratios.append((result.expected_rmse / table_rmse(result, data)) ** 2)
    assert np.mean(ratios) > factor


MISSING = [["f", None], ["f", np.nan], [pd.NA, "f"], [pd.NaT, "f"]]


@each("values", MISSING, parts=2)
def test_missing_values_are_a_category_where_none_is_declared_and_an_error_elsewhere(values):
    data = pd.DataFrame({"sex": values * 50, "vote": [0, 1] * 50})
    found = private_marginals(data, 1, epsilon=1e4, categories={"sex": ["f", "m", None]}, rng=0)
    np.testing.assert_allclose(found.table("sex"), [50, 0, 50], atol=0.1)
    with pytest.raises(InvalidParameterError, match="None among them"):
        private_marginals(data, 1, epsilon=1.0, categories={"sex": ["f", "m"]}, rng=0)


def test_sparse_records_need_much_less_noise_and_gain_from_the_projection():
    data = baskets(16, 100, 2)
    dense = private_marginals(data, 3, rng=0, **BUDGET)
    sparse = private_marginals(data, 3, sparsity=2, rng=0, **BUDGET)
    assert dense.expected_rmse / sparse.expected_rmse > 1.5
    assert (sparse.expected_rmse / table_rmse(sparse, data)) ** 2 > 2
