"""Private cosine similarities: exact Gram matrix, valid sensitivities, the error of CDEMZ24 Theorem 2.1."""

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from dpgraph.bounds.cosine import row_sensitivity, sign_flip_sensitivity
from dpgraph.privacy import gdp_mu
from dpgraph.problems.records.cosine import normalized_gram, private_cosine_similarities

BUDGET = {"sensitivity": 1.0, "epsilon": 4.0, "delta": 1e-6}


def gram_change(V, W):
    return np.linalg.norm(normalized_gram(V) - normalized_gram(W))


def rows_of_kind(kind, n, rng):
    """Unit rows: random signs, a few clusters, or nonnegative histograms."""
    if kind == "signs":
        return rng.choice([-1.0, 1.0], size=(n, n)) / np.sqrt(n)
    if kind == "clusters":
        return np.eye(4)[rng.integers(4, size=n)] + 0.3 * rng.normal(size=(n, 4))
    return rng.gamma(0.5, size=(n, 6))


def test_rows_are_normalised_and_zero_rows_stay_zero():
    V = np.array([[3.0, 4.0], [0.0, 0.0], [-6.0, -8.0]])
    expected = np.array([[1.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-1.0, 0.0, 1.0]])
    assert normalized_gram(V) == pytest.approx(expected)
    assert normalized_gram(sparse.csr_array(V)) == pytest.approx(expected)


@pytest.mark.parametrize("size", [5e-324, 1.5e-162, 1e-150, 1.0, 1e160, 1e308])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_of_any_size_have_length_one(size, kind):
    # Where squares lose their digits, rows came out up to sqrt(d) times too long: no sensitivity bound covers that.
    V = np.full((3, 5000), size)
    V[1, 0] *= 1.7
    V[2] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gram = normalized_gram(kind(V))
    assert gram[:2, :2] == pytest.approx(1.0, rel=1e-3)
    assert np.diagonal(gram).max() <= 1 + 1e-12
    assert not gram[2].any()


@pytest.mark.parametrize("method", ["shrinkage", "practical", "elliptope"])
def test_with_hardly_any_noise_the_similarities_come_back(method):
    V = rows_of_kind("clusters", 25, np.random.default_rng(0))
    private = private_cosine_similarities(
        V, sensitivity=1e-4, epsilon=8.0, delta=1e-6, method=method, iterations=2000, tol=1e-6, rng=0
    )
    assert private.projection.converged
    assert np.abs(private.matrix - normalized_gram(V)).max() < 1e-3


@pytest.mark.parametrize("method", ["shrinkage", "practical", "elliptope"])
def test_the_result_is_a_similarity_matrix(method):
    V = rows_of_kind("signs", 40, np.random.default_rng(0))
    private = private_cosine_similarities(V, **BUDGET, method=method, rng=0)
    X = private.matrix
    assert np.array_equal(X, X.T)
    assert np.abs(X).max() <= 1.0
    # Practical: psd up to the stated accuracy of the averaging, 1e-3 sqrt(n) in Frobenius norm.
    assert np.linalg.eigvalsh(X)[0] >= (-1e-3 * np.sqrt(40) if method == "practical" else -1e-9)


@pytest.mark.parametrize(("kind", "n"), [("clusters", 100), ("signs", 40), ("histograms", 100)])
def test_averaging_says_converged_when_the_returned_matrix_is_positive_semidefinite_to_the_tolerance(kind, n):
    """It said so of clusters (n = 100) with an eigenvalue of -0.06: the tolerance was 1e-3 n, before clipping."""
    V, seen = rows_of_kind(kind, n, np.random.default_rng(0)), set()
    for options in ({}, {"iterations": 45}, {"iterations": 90}, {"tol": 1e-5, "iterations": 1000}):
        private = private_cosine_similarities(V, **BUDGET, method="practical", rng=0, **options)
        negative = np.minimum(np.linalg.eigvalsh(private.matrix), 0.0)
        found, tol = private.projection, options.get("tol", 1e-3 * np.sqrt(n))
        assert np.array_equal(found.matrix, private.matrix)
        assert found.tol == pytest.approx(tol)
        assert np.linalg.norm(negative) == pytest.approx(found.residual, abs=1e-9)  # the norm is far below n
        assert found.converged == (found.residual <= tol)
        assert found.converged or found.iterations == options["iterations"]
        seen.add(found.converged)
    assert seen == {True, False}


@pytest.mark.parametrize("nonnegative", [False, True])
def test_replacing_one_row_moves_the_gram_matrix_by_at_most_the_bound_which_is_attained(nonnegative):
    rng, largest = np.random.default_rng(0), 0.0
    choices = [np.zeros(2), np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    if not nonnegative:
        choices += [np.array([-1.0, 0.0]), rng.normal(size=2)]
    for n in (1, 2, 3):
        bound = row_sensitivity(n, nonnegative=nonnegative)
        for rows in itertools.product(choices, repeat=n + 1):
            V = np.array(rows[:n])
            W = V.copy()
            W[0] = rows[n]
            assert gram_change(V, W) <= bound + 1e-12
            largest = max(largest, gram_change(V, W) / bound)
    assert largest == pytest.approx(1.0)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 3), (3, 2)])
def test_flipping_signs_moves_the_gram_matrix_by_at_most_the_bound_for_every_choice(n, m):
    ratios = dict.fromkeys(range(1, n * m + 1), 0.0)
    for signs in itertools.product([-1.0, 1.0], repeat=n * m):
        V = np.array(signs).reshape(n, m)
        for flipped in itertools.product([1.0, -1.0], repeat=n * m):
            flips = flipped.count(-1.0)
            if flips:
                bound = sign_flip_sensitivity(n, m, flips)
                ratios[flips] = max(ratios[flips], gram_change(V, V * np.reshape(flipped, (n, m))) / bound)
    assert max(ratios.values()) <= 1 + 1e-12
    assert ratios[1] == pytest.approx(1.0)


@cache
def squared_error(kind, method):
    """Mean of three runs on 150 rows."""
    V = rows_of_kind(kind, 150, np.random.default_rng(0))
    runs = [private_cosine_similarities(V, **BUDGET, method=method, rng=seed).matrix for seed in range(3)]
    return float(np.mean([np.sum((matrix - normalized_gram(V)) ** 2) for matrix in runs]))


@pytest.mark.parametrize("kind", ["signs", "clusters", "histograms"])
def test_the_squared_error_obeys_the_bound_and_beats_the_plain_gaussian_mechanism(kind):
    n, sigma = 150, 1.0 / gdp_mu(4.0, 1e-6)
    error = squared_error(kind, "elliptope")
    assert error <= 2 * np.sqrt(2) * sigma * n**1.5
    assert error <= sigma**2 * n**2 / 2 / 3  # (W + W')/2 alone


@pytest.mark.parametrize(("kind", "factor"), [("signs", 0.3), ("clusters", 0.8), ("histograms", 0.9)])
def test_shrinkage_errs_less_than_either_projection(kind, factor):
    error = squared_error(kind, "shrinkage")
    assert error < factor * squared_error(kind, "elliptope")
    assert error < factor * squared_error(kind, "practical")
