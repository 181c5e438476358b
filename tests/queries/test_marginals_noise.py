"""Sensitivities by enumeration of all pairs of records, optimal weights against their dual, tensor multiplicities."""

import itertools

import numpy as np
import pytest

from dpgraph.exceptions import InvalidParameterError
from dpgraph.problems.records.parities import ParityBasis
from dpgraph.releases.records.parity_noise import (
    conjunction_moves,
    optimal_weights,
    parity_moves,
    shape_noise,
    tensor_weights,
)


def all_records(sizes):
    return np.array(list(itertools.product(*(range(q) for q in sizes))))


def weighted(features, orders, w):
    return features * np.sqrt(np.append(0.0, w))[orders]


def features_of(basis, records):
    return np.array([basis.sums(record[None, :]) for record in records])


def conjunctions_of(basis, records):
    return np.array([basis.product_sums(iter([record[None, :].astype(float)])) for record in records])


def largest_move(features):
    gram = features @ features.T
    squares = np.diag(gram)
    return np.sqrt((squares[:, None] + squares[None, :] - 2 * gram).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("sizes", "k"), [([2] * 5, 1), ([2] * 5, 2), ([2] * 6, 3), ([2] * 4, 4), ([3, 3, 3], 2), ([2, 3, 4], 3), ([5], 1)]
)
def test_the_sensitivity_of_parities_is_the_largest_move_of_any_pair_of_records(sizes, k, seed):
    w = np.random.default_rng(seed).uniform(0.1, 2.0, k)
    basis = ParityBasis(sizes, k)
    features = weighted(features_of(basis, all_records(sizes)), basis.orders, w)
    bound = np.sqrt((parity_moves(np.array(sizes), k) @ w).max())
    assert largest_move(features) == pytest.approx(bound)


@pytest.mark.parametrize("t", [1, 2, 3, 5])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_sensitivities_of_sparse_records_are_the_largest_moves_of_any_pair(k, t):
    n = 5
    w = np.random.default_rng(k).uniform(0.1, 2.0, k)
    basis = ParityBasis([2] * n, k)
    records = all_records([2] * n)
    records = records[records.sum(axis=1) <= t]
    ones = weighted(conjunctions_of(basis, records), basis.orders, w)
    assert largest_move(ones) == pytest.approx(np.sqrt((conjunction_moves(n, t, k) @ w).max()))
    signs = weighted(features_of(basis, records), basis.orders, w)
    assert largest_move(signs) == pytest.approx(np.sqrt((parity_moves(np.full(n, 2), k, most=2 * t) @ w).max()))


@pytest.mark.parametrize("sparsity", [None, 1, 3])
def test_the_sensitivity_to_one_more_record_is_the_length_of_the_longest_record(sparsity):
    n, k = 5, 3
    basis = ParityBasis([2] * n, k)
    losses = {kind: np.array([3.0, 2.0, 1.0]) for kind in (False, True)}
    shape = shape_noise(np.full(n, 2), losses, sparsity=sparsity, geometry="tables", add_remove=True)
    records = all_records([2] * n)
    if sparsity is not None:
        records = records[records.sum(axis=1) <= sparsity]
    features = conjunctions_of(basis, records) if shape.conjunctions else features_of(basis, records)
    lengths = np.linalg.norm(features * np.sqrt(shape.weights)[basis.orders], axis=1)
    assert lengths.max() == pytest.approx(shape.sensitivity)


def test_the_papers_bounds_for_the_normalised_tensor_are_never_exceeded():
    # mathematics.md, section 7: 2 always; 1 for dense 0/1; sqrt(2) for t-sparse 0/1 and for signs with even k.
    for n, k in itertools.product((3, 6, 11), (1, 2, 3, 4)):
        if k > n:
            continue
        signs = np.sqrt((parity_moves(np.full(n, 2), k) @ tensor_weights(n, k, signs=True)).max()) / (n + 1) ** (k / 2)
        assert signs <= (np.sqrt(2) if k % 2 == 0 else 2) * (1 + 1e-12)
        for t in range(1, n + 1):
            moves = conjunction_moves(n, t, k) @ tensor_weights(n, k, signs=False)
            sparse = np.sqrt(moves.max()) / t ** (k / 2)
            assert sparse <= np.sqrt(2) * (1 + 1e-12)
            if t == n:
                assert sparse <= 1 + 1e-12


@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 3), (3, 3), (2, 2)])
def test_tensor_weights_count_the_entries_of_each_parity(n, k):
    signs, ones = np.zeros(k + 1), np.zeros(k + 1)
    for index in itertools.product(range(n + 1), repeat=k):
        odd = [i for i in range(1, n + 1) if index.count(i) % 2]
        signs[len(odd)] += 1
        if 0 not in index:
            ones[len(set(index))] += 1
    sets = ParityBasis([2] * n, k).counts
    assert np.allclose(tensor_weights(n, k, signs=True), (signs / sets)[1:])
    assert np.allclose(tensor_weights(n, k, signs=False), (ones / sets)[1:])


@pytest.mark.parametrize(("n", "k"), [(6, 1), (10, 2), (16, 3), (40, 3), (16, 4)])
def test_the_weights_are_optimal_up_to_a_certified_gap(n, k):
    import cvxpy as cp

    moves = parity_moves(np.full(n, 2), k)
    loss = np.array([float(c) for c in range(k, 0, -1)])
    w = optimal_weights(loss, moves)
    value = (loss / w).sum() * (moves @ w).max()
    v = cp.Variable(k, pos=True)
    scale = moves.max(axis=0)
    reference = cp.Problem(cp.Minimize(loss * scale @ cp.inv_pos(v)), [(moves / scale) @ v <= 1]).solve()
    assert value <= reference * (1 + 1e-4)


def test_weighting_the_orders_beats_noise_on_each_parity_alike_and_on_the_tensor():
    n = 16
    loss = {False: np.array([3.0, 3.0, 1.0])}
    values = {
        geometry: shape_noise(np.full(n, 2), loss, sparsity=None, geometry=geometry, add_remove=False).loss
        for geometry in ("tables", "parities", "tensor")
    }
    assert values["parities"] / values["tables"] > 3
    assert values["tensor"] / values["tables"] > 1.01


def test_many_different_sizes_fall_back_to_a_bound_that_still_holds():
    sizes = np.arange(2, 24)
    bound, w = parity_moves(sizes, 2), np.array([1.0, 1.0])
    assert bound.shape == (1, 2)
    equal = parity_moves(sizes[:3], 2) @ w
    assert (parity_moves(sizes[:3], 2) @ w).max() == equal.max() <= (bound @ w).max()


def test_unknown_geometries_are_refused():
    for geometry, sizes in (("cube", [2, 2]), ("tensor", [2, 3])):
        with pytest.raises(InvalidParameterError, match="geometry"):
            shape_noise(np.array(sizes), {False: np.ones(2)}, sparsity=None, geometry=geometry, add_remove=False)
