"""Parities and tables: characters, enumeration, exact sums, and the transform between them, against brute force."""

import itertools

import numpy as np
import pytest

from dpgraph.exceptions import InvalidParameterError
from dpgraph.linalg.parities import ParityBasis


@pytest.mark.parametrize(("sizes", "order"), [([2, 2, 2, 2, 2], 3), ([2, 3, 4, 2], 3), ([3, 3], 2), ([2], 1)])
def test_the_coordinates_are_all_products_of_functions_of_different_attributes(sizes, order):
    basis = ParityBasis(sizes, order)
    owners = [g for g, q in enumerate(sizes) for _ in range(q - 1)]
    for j, members in enumerate(basis.members):
        expected = [c for c in itertools.combinations(range(len(owners)), j) if len({owners[f] for f in c}) == j]
        assert [tuple(row) for row in members] == expected
    assert basis.size == basis.counts.sum()
    assert np.array_equal(basis.lookup(basis.codes), np.arange(basis.size))


@pytest.mark.parametrize(
    ("sizes", "k"), [([2, 2, 2, 2, 2], 3), ([2, 3, 4, 2], 2), ([2, 3, 2, 3], 3), ([2, 2, 2, 2], 4)]
)
def test_sums_of_parities_give_exact_tables_and_back(sizes, k):
    rng = np.random.default_rng(0)
    records = np.column_stack([rng.integers(0, q, 50) for q in sizes])
    basis = ParityBasis(sizes, k)
    theta = sum(basis.sums([records])) / 50
    adjoint = np.zeros(basis.size)
    gram = np.zeros(basis.size)
    for group in basis.table_groups(k):
        tables = group.tables(theta)
        for attributes, table in zip(group.attributes, tables, strict=True):
            expected = np.zeros([sizes[g] for g in attributes])
            np.add.at(expected, tuple(records[:, g] for g in attributes), 1 / 50)
            assert np.allclose(table, expected.ravel())
        adjoint += group.adjoint(tables, basis.size)
        gram += np.bincount(group.index.ravel(), minlength=basis.size) / group.cells
    # The tables are an orthogonal image of the parities, up to the stated weights.
    assert np.allclose(adjoint, gram * theta)


def test_sums_agree_with_products_for_more_records_than_one_block():
    rng = np.random.default_rng(1)
    records = rng.integers(0, 2, size=(10_000, 7))
    signs = 1.0 - 2 * records
    basis = ParityBasis([2] * 7, 4)
    expected = [signs[:, list(c)].prod(axis=1).sum() for j in range(5) for c in itertools.combinations(range(7), j)]
    assert np.array_equal(sum(basis.sums([records])), expected)


def test_too_many_parities_are_refused_before_memory_is_taken():
    with pytest.raises(InvalidParameterError, match="parities"):
        ParityBasis([2] * 2000, 4)
    with pytest.raises(InvalidParameterError, match="cells"):
        ParityBasis([2000] * 10, 1).table_groups(2)
