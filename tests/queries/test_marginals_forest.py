"""What a forest says of noisy tables of pairs: its tables are exact, and it is believed as far as the noise allows."""

import itertools

import numpy as np
import pytest

from dpgraph.denoise.forests import forest_parities
from dpgraph.linalg.parities import ParityBasis
from dpgraph.problems.records.marginals import private_marginals
from tests.queries.test_marginals import BUDGET, clustered


def tree(n, N, seed=5):
    """Records whose attributes copy a parent's value or draw their own."""
    rng = np.random.default_rng(seed)
    data, own = np.zeros((N, n), dtype=int), rng.beta(2, 2, n)
    data[:, 0] = rng.random(N) < own[0]
    for v in range(1, n):
        copied = rng.random(N) < 0.8 * rng.random()
        data[:, v] = np.where(copied, data[:, rng.integers(v)], rng.random(N) < own[v])
    return data


def exclusive_ors(n, N):
    data = np.random.default_rng(1).integers(0, 2, (N, n))
    for v in range(2, n, 3):
        data[:, v] = data[:, v - 1] ^ data[:, v - 2]
    return data


def parities_of(joint, order):
    basis = ParityBasis(joint.shape, order)
    cells = np.array(list(itertools.product(*map(range, joint.shape))))
    return basis, np.array([sum(basis.sums([cell[None]])) for cell in cells]).T @ joint.ravel()


def triples_rmse(result, data):
    """Of the cells of all tables over three 0/1 attributes."""
    squares = []
    for columns in itertools.combinations(range(data.shape[1]), 3):
        exact = np.bincount(data[:, columns] @ [4, 2, 1], minlength=8)
        squares.append((result.table(columns).ravel() - exact) ** 2)
    return float(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_the_tables_of_a_tree_follow_from_its_pairs(order):
    rng = np.random.default_rng(order)
    sizes, parents = (2, 3, 2, 4, 2), (None, 0, 0, 1, 3)
    joint = rng.dirichlet(np.ones(sizes[0]))
    for v, parent in enumerate(parents[1:], 1):
        rates = rng.dirichlet(np.ones(sizes[v]), size=sizes[parent])
        shape = [sizes[parent] if g == parent else 1 for g in range(v)] + [sizes[v]]
        joint = joint[..., None] * rates.reshape(shape)
    basis, theta = parities_of(joint, order)
    found = forest_parities(basis, theta, theta, np.full(basis.size, 1e-12))
    np.testing.assert_allclose(found, theta, atol=1e-8)


@pytest.mark.parametrize(("make", "N", "ratio"), [
    (tree, 20_000, 0.9),
    (tree, 1000, 0.95),
    (exclusive_ors, 1000, 0.85),  # pairs are independent
    (exclusive_ors, 20_000, 1.0),  # and triples are not
    (clustered, 20_000, 1.005),
    (clustered, 1000, 1.005),
])  # fmt: skip
def test_a_forest_is_believed_as_far_as_it_is_true(make, N, ratio):
    data, errors = make(10, N), dict.fromkeys((False, True), 0.0)
    for forest, seed in itertools.product(errors, range(2)):
        errors[forest] += triples_rmse(private_marginals(data, 3, forest=forest, rng=seed, **BUDGET), data)
    assert errors[True] < ratio * errors[False]
