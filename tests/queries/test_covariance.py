"""Private covariance: sensitivities, the ledger, the choice of the noise, the projection, the centred version."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy import call as private_call
from dpgraph.privacy.accountant import PrivacyAccountant
from dpgraph.problems.records.covariance import private_covariance, short_rows
from dpgraph.releases import symmetric as symmetric_release
from dpgraph.releases.records import moments
from dpgraph.releases.records.moments import grid_records, integer_gram, quotient
from tests.about import each
from tests.programs import benchmark

table = benchmark("covariance")


def records(n, d, seed=0, trace=0.3):
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(1, 0.2, d)
    X *= np.sqrt(trace) / np.sqrt((X**2).sum() / n)
    return short_rows(X, 1.0)


def second_moments(X):
    return X.T @ X / len(X)


def errors(X, truth, seeds, **options):
    return [np.linalg.norm(private_covariance(X, rng=seed, **options).matrix - truth) for seed in seeds]


def test_long_records_are_scaled_to_the_public_norm_and_short_ones_kept():
    rows = short_rows([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]], 1.0)
    assert rows == pytest.approx(np.array([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]))
    assert short_rows([[3.0, 4.0]], 10.0) == pytest.approx(np.array([[0.3, 0.4]]))
    assert short_rows([[3e200, 4e200]], 1e-100) == pytest.approx(np.array([[0.6, 0.8]]))


@each(
    "options, centered", list(itertools.product([{}, {"mechanism": "gaussian", "delta": 1e-6}], [False, True])), parts=2
)
def test_without_a_public_normaliser_add_remove_is_refused_before_anything_is_read_or_debited(options, centered):
    """The number of rows would show in the ledger: 1/n is the sensitivity."""

    class Trap(np.ndarray):
        def astype(self, *_, **__):
            raise AssertionError("the records were read")

    accountant = PrivacyAccountant(epsilon=1.0, delta=1e-6)
    rows = np.eye(3).view(Trap)
    with pytest.raises(InvalidParameterError, match="n_records="):
        private_covariance(
            rows, epsilon=1.0, adjacency="add-remove", centered=centered, accountant=accountant, **options
        )
    assert accountant.spent.epsilon == 0.0
    sizes = [
        private_covariance(np.eye(3)[:k], epsilon=1.0, adjacency="add-remove", n_records=3, rng=0).privacy
        for k in (2, 3)
    ]
    assert sizes[0] == sizes[1]


def test_a_markov_chain_is_labelled_as_approximate_everywhere():
    private = private_covariance(records(50, 7), epsilon=1.0, mechanism="nuclear-laplace", rng=0)
    assert private.approximate_sampler
    assert "APPROXIMATE" in repr(private)
    assert "approximate" in private.privacy.entries[-1].mechanism


@each("centered", [False, True], parts=2)
def test_the_projected_release_is_positive_semidefinite_with_bounded_trace(centered):
    private = private_covariance(records(80, 6), epsilon=0.5, centered=centered, rng=0)
    assert np.array_equal(private.matrix, private.matrix.T)
    assert np.linalg.eigvalsh(private.matrix)[0] >= -1e-12
    assert np.trace(private.matrix) <= private.trace_bound + 1e-12
    assert 0 <= private.trace_bound <= 1


@each("options", [{}, {"delta": 1e-6}, {"centered": True}, {"adjacency": "add-remove", "n_records": 4000}], parts=2)
def test_the_bound_on_the_trace_is_near_the_trace_of_the_second_moments(options):
    X = records(4000, 12, trace=0.4)
    bounds = [private_covariance(X, epsilon=1.0, **options, rng=seed).trace_bound for seed in range(20)]
    assert np.mean(bounds) == pytest.approx(0.4, abs=0.01)
    assert np.std(bounds) < 0.03


@each("adjacency", ["replace", "add-remove"], parts=2)
def test_the_centred_version_finds_covariance_and_mean(adjacency):
    X = short_rows(0.2 * np.random.default_rng(0).normal(size=(40_000, 3)) + [0.5, -0.2, 0.1], 1.0)
    options = {"epsilon": 4.0, "adjacency": adjacency, "centered": True, "n_records": 40_000}
    private = private_covariance(X, **options, rng=0)
    assert private.mean == pytest.approx(X.mean(axis=0), abs=2e-3)
    assert np.abs(private.matrix - np.cov(X.T, bias=True)).max() < 2e-3
    # The normaliser is the public number, whatever the number of records is.
    half = private_covariance(X[:20_000], **options, rng=0)
    if adjacency == "add-remove":
        assert np.abs(half.matrix - np.cov(X[:20_000].T, bias=True) / 2).max() < 2e-3
        assert half.mean == pytest.approx(X[:20_000].mean(axis=0), abs=4e-3)


@each("options", [{}, {"delta": 1e-6}], parts=2)
def test_shrinkage_errs_less_than_the_projection_with_the_public_or_with_twice_the_trace(options):
    # With trace 0.9 the public bound is nearly the true one, and little noise is left to shrink.
    for d, n, trace, factor in ((10, 500, 0.3, 0.85), (20, 2000, 0.9, 1.0), (30, 500, 0.1, 0.6)):
        X = records(n, d, trace=trace)
        truth = second_moments(X)
        shrunk = np.mean(errors(X, truth, range(12), epsilon=1.0, **options))
        for other in (table.unit_trace, table.algorithm_2):
            projected = [np.linalg.norm(other(X, 1.0, seed, **options) - truth) for seed in range(12)]
            assert shrunk < factor * np.mean(projected)


def test_with_few_records_the_projection_shrinks_the_error_to_the_bound_of_theorem_1_2():
    for d, n, trace in ((20, 60, 0.5), (20, 200, 0.1), (40, 200, 0.3)):
        X = records(n, d, trace=trace)
        projected = np.mean(errors(X, second_moments(X), range(10), epsilon=1.0))
        raw = np.mean(errors(X, second_moments(X), range(10), epsilon=1.0, project=False))
        bound = min(d**1.5 / n, np.sqrt(d * trace / n) + np.sqrt(d * np.log(d)) / n)
        assert projected < raw / 2
        assert projected < 2 * bound


def recorded_moments(monkeypatch, X, **options):
    """Sum of the terms that receive noise, as fractions, and the ledger line."""
    seen = []
    for module in (symmetric_release, private_call):
        honest = module.add_on_grid
        spy = lambda values, noise, unit, honest=honest: seen.append(values) or honest(values, noise, unit)  # noqa: E731
        monkeypatch.setattr(module, "add_on_grid", spy)
    line = private_covariance(X, project=False, rng=0, **options).privacy.entries[-1]
    monkeypatch.undo()
    d = seen[-1][0].shape[0]
    total = [[sum(Fraction(float(term[i, j])) for term in seen[-1]) for j in range(d)] for i in range(d)]
    return np.array(total, dtype=object), line


@each(
    "centered, n, options",
    list(
        itertools.product(
            [False, True], [30, 5_000_000], [{"epsilon": 2.0}, {"epsilon": 1e7}, {"epsilon": 1.0, "delta": 1e-6}]
        )
    ),
    parts=2,
)
def test_one_record_moves_what_receives_noise_by_no_more_than_its_ledger_line(n, options, centered, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9001, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    options |= {"adjacency": "add-remove", "n_records": n, "centered": centered}
    if "delta" in options:
        options |= {"mechanism": "gaussian"}
    more, line = recorded_moments(monkeypatch, X, **options)
    less, _ = recorded_moments(monkeypatch, X[:-1], **options)
    change = np.array((more - less) * n, dtype=np.float64)
    ratio = np.linalg.norm(change, "fro" if "delta" in options else "nuc") / (line.sensitivity * n)
    assert 1 - 1e-9 < ratio <= 1


def test_moments_are_sums_of_integers_however_they_are_split(monkeypatch):
    rng = np.random.default_rng(2)
    rows = grid_records(rng.normal(size=(60, 3)) / 5)
    assert np.array_equal(rows, np.trunc(rows))
    products = sum(np.outer(row, row) for row in np.array([[int(x) for x in row] for row in rows], dtype=object))
    expected = products[np.triu_indices(3)]
    monkeypatch.setattr(moments, "_BLOCK", 7)
    monkeypatch.setattr(moments, "_CHUNK", 20)
    gram = integer_gram(rows)
    assert np.array_equal(gram, expected)
    first, second = quotient(gram, 12345)
    for place, entry in np.ndenumerate(gram):
        exact = Fraction(entry, 12345 << 80)
        error = Fraction(float(first[place])) + Fraction(float(second[place])) - exact
        assert abs(error) <= abs(exact) / 2**105


@each("d", [1, 3, 40], parts=2)
def test_records_on_the_grid_are_no_longer_than_one(d):
    rows = np.random.default_rng(d).normal(size=(500, d))
    rows = grid_records(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    squares = [sum(int(x) ** 2 for x in row) for row in rows]
    assert max(squares) <= 2**80
    assert min(squares) >= 2**80 * (1 - 1e-10)
