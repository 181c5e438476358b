"""C x is an exact product, so that a record moves it by a column however many records there are."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from dpgraph.bounds.histogram import encoded_sensitivity
from dpgraph.linalg.exact_product import exact_product
from dpgraph.linalg.query_matrix import QueryMatrix
from dpgraph.privacy.grid import Terms
from dpgraph.privacy.noise import NoiseSource
from dpgraph.problems.records.linear_queries import private_linear_queries

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
KINDS = (np.asarray, scipy.sparse.csr_array)


def exactly(terms: Terms) -> list[Fraction]:
    parts = terms if isinstance(terms, tuple) else (terms,)
    return [sum(map(Fraction, numbers), Fraction(0)) for numbers in zip(*(p.tolist() for p in parts), strict=True)]


def squared_distance(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum(((u - v) ** 2 for u, v in zip(a, b, strict=True)), Fraction(0))


def product(A, x):
    return [sum((Fraction(a) * Fraction(n) for a, n in zip(row, x, strict=True)), Fraction(0)) for row in A.tolist()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1.0, 1e-100, 1e100])
@pytest.mark.parametrize("counts", ["whole", "fractions", "huge", "none"])
def test_the_product_is_exact(kind, size, counts):
    rng = np.random.default_rng(0)
    A = size * np.round(rng.normal(size=(5, 40)) * 2.0**40) * 2.0**-40  # no bit below 2**-60 of the longest column
    x = {
        "whole": rng.integers(0, 1000, 40).astype(float),
        "fractions": rng.integers(0, 2**50, 40) * 2.0 ** -rng.integers(0, 60, 40),
        "huge": 2.0**52 - rng.integers(0, 1000, 40),
        "none": np.zeros(40),
    }[counts]
    assert exactly(exact_product(QueryMatrix(kind(A)), x)) == product(A, x)


def test_many_columns_are_cut_into_shorter_digits_and_the_product_is_still_exact():
    rng = np.random.default_rng(1)
    for N in (1, 2, 70_000):
        A, x = np.round(rng.normal(size=(1, N)) * 2.0**30), 2.0**52 - np.floor(2.0**30 * rng.random(N))
        whole = sum(int(a) * int(n) for a, n in zip(A[0], x, strict=True))
        assert exactly(exact_product(QueryMatrix(A), x)) == [whole]


def test_what_is_dropped_of_the_matrix_does_not_depend_on_the_histogram():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(4, 6)) * np.exp(30 * rng.normal(size=(4, 6)))
    matrix = QueryMatrix(A)
    kept = np.array([exactly(exact_product(matrix, row)) for row in np.eye(6)], dtype=object).T
    below = [abs(Fraction(a)) - abs(k) for a, k in zip(A.ravel().tolist(), kept.ravel(), strict=True)]
    assert all(0 <= left < Fraction(2) ** (matrix.exponent - 60) for left in below)
    x = np.floor(1e13 * rng.random(6))
    expected = [sum(k * int(n) for k, n in zip(row, x, strict=True)) for row in kept]
    assert exactly(exact_product(matrix, x)) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("count", [1e3, 3e13])
def test_no_neighbour_of_any_histogram_moves_what_gets_noise_by_more_than_its_ledger_line(
    kind, adjacency, count, monkeypatch
):
    """Summation in floating point moved it by 1.001 of the line with 3e13 records, by 1.00008 with 7e11 in one cell."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(6, 6)) * np.exp(rng.normal(size=6))
    noisy: list[list[Fraction]] = []
    honest = NoiseSource.scalars

    def scalars(self: NoiseSource, values: Terms, unit: float, scale: float) -> np.ndarray:
        noisy.append(exactly(values))
        return honest(self, values, unit, scale)

    monkeypatch.setattr(NoiseSource, "scalars", scalars)
    for trial in range(2):
        x = np.floor(count * rng.random(6)) + 1
        if trial:  # one cell holds nearly all
            x[:5] = 1
        noisy.clear()
        neighbours = [x - row for row in np.eye(6)]
        if adjacency == "replace":
            neighbours = [x - a + b for a, b in itertools.permutations(np.eye(6), 2)]
        for y in (x, *neighbours):
            result = private_linear_queries(
                kind(A), y, mechanism="gaussian", sparse=False, adjacency=adjacency, rng=0, **BUDGET
            )
        sensitivity = Fraction(encoded_sensitivity(QueryMatrix(A), adjacency))
        assert sensitivity <= result.privacy.entries[0].sensitivity
        moved = [squared_distance(noisy[0], other) for other in noisy[1:]]
        assert sensitivity**2 * Fraction(1 - 1e-9) < max(moved) <= sensitivity**2


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_rounding_numbers_of_records_down_is_part_of_the_sensitivity(adjacency):
    """Neighbours at an l1 distance of a record at most, whose entries all cross a point of the grid."""
    N = 2**18 + 2  # the grid is 2**-60 of a record
    above, below = 2.0**-60, 2.0**-60 * (1 - 2.0**-53)
    x, y, signs = np.full(N, above), np.full(N, below), np.ones(N)
    x[0] = 1.0
    crossing, records = Fraction(above) - Fraction(below), 1
    if adjacency == "replace":  # the other half crosses in the other direction, so that sums are equal
        x[N // 2 :], y[N // 2 :], signs[N // 2 :], records = y[: N // 2], x[: N // 2], -1.0, 2
    assert records * (1 - Fraction(below)) + (N - records) * crossing <= records
    matrix = QueryMatrix(signs[None])
    moved = squared_distance(exactly(exact_product(matrix, x)), exactly(exact_product(matrix, y)))
    assert records**2 * Fraction(1 + 2.0**-43) < moved <= Fraction(encoded_sensitivity(matrix, adjacency)) ** 2


def test_a_cell_holds_up_to_two_to_the_52_records_and_more_count_as_so_many():
    N = 1000
    for records, counted in ((2.0**51, 2.0**51), (2.0**52, 2.0**52), (1e300, 2.0**52)):
        x = np.ones(N)
        x[3] = records
        answers = private_linear_queries(np.eye(N), x, mechanism="gaussian", sparse=False, rng=0, **BUDGET).answers
        assert answers[3] == pytest.approx(counted, rel=1e-12)


def test_the_noise_does_not_depend_on_how_many_digits_the_private_numbers_have():
    rng, scales = np.random.default_rng(4), set()
    A = (rng.random((3, 8)) < 0.5).astype(float)
    for x in (np.zeros(8), np.ones(8), np.full(8, 2.0**23), np.full(8, 2.0**23 - 1), 2.0**40 * rng.random(8)):
        result = private_linear_queries(A, x, records=2.0**50, sparse=False, rng=0, **BUDGET)
        scales.add((result.privacy.entries, tuple(result.standard_deviation)))
    assert len(scales) == 1
