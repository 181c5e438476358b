"""Sensitivities by enumeration of all pairs of records, optimal weights against their dual."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpgraph
from dpgraph.bounds.parities import conjunction_changes, l1_changes, optimal_weights, parity_changes, shape_noise
from dpgraph.linalg.parities import CHUNK, ParityBasis, character_table
from dpgraph.problems.records.marginals import expected_error
from dpgraph.releases.records import parities
from dpgraph.releases.records.parities import exact_products
from tests.about import each

#: Pairs of three attributes.
PAIRS = ((0, 1), (0, 2), (1, 2))


def all_records(sizes):
    return np.array(list(itertools.product(*(range(q) for q in sizes))))


def weighted(features, orders, w):
    return features * np.sqrt(np.append(0.0, w))[orders]


def features_of(basis, records):
    return np.array([sum(basis.sums([record[None, :]])) for record in records])


def conjunctions_of(basis, records):
    return np.array([basis.product_sums(iter([record[None, :].astype(float)])) for record in records])


def largest_move(features):
    gram = features @ features.T
    squares = np.diag(gram)
    return np.sqrt((squares[:, None] + squares[None, :] - 2 * gram).max())


@each(
    "sizes, k, seed",
    [
        (sizes, k, seed)
        for sizes, k in [
            ([2] * 5, 1),
            ([2] * 5, 2),
            ([2] * 6, 3),
            ([2] * 4, 4),
            ([3, 3, 3], 2),
            ([2, 3, 4], 3),
            ([5], 1),
        ]
        for seed in range(3)
    ],
    parts=2,
)
def test_the_sensitivity_of_parities_is_the_largest_move_of_any_pair_of_records(sizes, k, seed):
    w = np.random.default_rng(seed).uniform(0.1, 2.0, k)
    basis = ParityBasis(sizes, k)
    features = weighted(features_of(basis, all_records(sizes)), basis.orders, w)
    bound = np.sqrt((parity_changes(np.array(sizes), k) @ w).max())
    assert largest_move(features) == pytest.approx(bound)


@each("k, t", list(itertools.product([1, 2, 3], [1, 2, 3, 5])), parts=2)
def test_the_sensitivities_of_sparse_records_are_the_largest_moves_of_any_pair(k, t):
    n = 5
    w = np.random.default_rng(k).uniform(0.1, 2.0, k)
    basis = ParityBasis([2] * n, k)
    records = all_records([2] * n)
    records = records[records.sum(axis=1) <= t]
    ones = weighted(conjunctions_of(basis, records), basis.orders, w)
    assert largest_move(ones) == pytest.approx(np.sqrt((conjunction_changes(n, t, k) @ w).max()))
    signs = weighted(features_of(basis, records), basis.orders, w)
    assert largest_move(signs) == pytest.approx(np.sqrt((parity_changes(np.full(n, 2), k, most=2 * t) @ w).max()))


def largest_l1_move(features):
    return max(np.abs(features - record).sum(axis=1).max() for record in features)


BITS = [([2] * 5, 1), ([2] * 5, 2), ([2] * 6, 3), ([2] * 4, 4)]


@each("sizes, k", [*BITS, ([3, 3, 3], 2), ([2, 3, 4], 3), ([5], 1), ([2, 7], 2)], parts=2)
def test_no_pair_of_records_exceeds_the_l1_bound_which_is_attained_by_bits_and_else_up_to_a_third(sizes, k):
    factors = np.random.default_rng(k).uniform(0.1, 2.0, k)
    basis = ParityBasis(sizes, k)
    features = features_of(basis, all_records(sizes)) * np.append(0.0, factors)[basis.orders]
    bound, move = (l1_changes(np.array(sizes), k) @ factors).max(), largest_l1_move(features)
    assert bound / 1.5 < move <= bound * (1 + 1e-12)
    assert max(sizes) > 2 or move == pytest.approx(bound)


@each("t", [1, 2, 3, 5], parts=2)
def test_sparse_records_move_conjunctions_in_l1_by_the_squared_moves(t):
    n, k = 5, 3
    factors = np.random.default_rng(t).uniform(0.1, 2.0, k)
    basis = ParityBasis([2] * n, k)
    records = all_records([2] * n)
    features = conjunctions_of(basis, records[records.sum(axis=1) <= t]) * np.append(0.0, factors)[basis.orders]
    assert largest_l1_move(features) == pytest.approx((conjunction_changes(n, t, k) @ factors).max())


SPARSE = [([2] * 5, None), ([2] * 5, 1), ([2] * 5, 3), ([3, 2, 4], None)]


@each("law, sizes, sparsity", [*(("laplace", *c) for c in SPARSE), *(("gaussian", *c) for c in SPARSE[:3])], parts=2)
def test_the_sensitivity_to_one_more_record_is_the_norm_of_the_longest_record_or_above(law, sizes, sparsity):
    basis, losses = ParityBasis(sizes, 3), {kind: np.array([3.0, 2.0, 1.0]) for kind in (False, True)}
    shape = shape_noise(np.array(sizes), losses, sparsity=sparsity, add_remove=True, law=law)
    records = all_records(sizes)
    if sparsity is not None:
        records = records[records.sum(axis=1) <= sparsity]
    features = conjunctions_of(basis, records) if shape.conjunctions else features_of(basis, records)
    order = 1 if law == "laplace" else 2
    longest = np.linalg.norm(features * shape.factors[basis.orders], ord=order, axis=1).max()
    assert longest == pytest.approx(shape.sensitivity, rel=1e-9 if max(sizes) == 2 else 0.3)
    assert longest <= shape.sensitivity * (1 + 1e-12)


@each("n, k", [(6, 1), (10, 2), (16, 3), (40, 3), (16, 4)], parts=2)
def test_the_weights_are_optimal_up_to_a_certified_gap(n, k):
    import cvxpy as cp

    moves = parity_changes(np.full(n, 2), k)
    loss = np.array([float(c) for c in range(k, 0, -1)])
    w = optimal_weights(loss, moves)
    value = (loss / w).sum() * (moves @ w).max()
    v = cp.Variable(k, pos=True)
    scale = moves.max(axis=0)
    reference = cp.Problem(cp.Minimize(loss * scale @ cp.inv_pos(v)), [(moves / scale) @ v <= 1]).solve()
    assert value <= reference * (1 + 1e-4)


@each("n, k", [(6, 1), (10, 2), (16, 3), (16, 4)], parts=2)
def test_the_factors_of_laplace_noise_are_optimal_up_to_a_certified_gap(n, k):
    import cvxpy as cp

    moves = l1_changes(np.full(n, 2), k)
    loss = np.array([float(c) for c in range(k, 0, -1)])
    u = optimal_weights(loss, moves, power=2)
    value = (loss / u**2).sum() * (moves @ u).max() ** 2
    x, scale = cp.Variable(k), moves.max(axis=0)  # logarithms of scale * u
    rows = [cp.sum(cp.multiply(row / scale, cp.exp(x))) <= 1 for row in moves]
    reference = cp.Problem(cp.Minimize(cp.log_sum_exp(np.log(loss * scale**2) - 2 * x)), rows).solve()
    assert value <= np.exp(reference) * (1 + 1e-4)


def test_the_error_that_is_expected_is_measured_where_nothing_is_projected_and_for_categories():
    sizes = (2, 3, 4)
    data = np.stack([np.random.default_rng(g).integers(0, q, 5000) for g, q in enumerate(sizes)], axis=1)
    categories = {g: list(range(q)) for g, q in enumerate(sizes)}
    truth = [np.bincount(data[:, g] * sizes[h] + data[:, h], minlength=sizes[g] * sizes[h]) for g, h in PAIRS]
    errors = []
    for seed in range(12):
        found = dpgraph.private_marginals(data, 2, epsilon=1.0, categories=categories, degree=0, rng=seed)
        errors += [np.square(found.table([g, h]).ravel() - t) for (g, h), t in zip(PAIRS, truth, strict=True)]
    measured = np.sqrt(np.concatenate(errors).mean())
    assert measured == pytest.approx(expected_error(sizes, 2, epsilon=1.0), rel=0.25)


def exact_sums(parts):
    return np.array([sum(Fraction(float(number)) for number in numbers) for numbers in zip(*parts, strict=True)])


def test_sums_over_categorical_records_are_exact_whatever_their_number():
    sizes, count = (3, 2, 4, 5), 30_000
    data = np.stack([np.random.default_rng(g).integers(0, q, count) for g, q in enumerate(sizes)], axis=1)
    basis = ParityBasis(sizes, 3)
    pieces = [data[start : start + CHUNK] for start in range(0, count, CHUNK)]
    records, times = np.unique(data, axis=0, return_counts=True)
    alone = [exact_sums(basis.sums([record[None]])) for record in records]
    assert np.array_equal(
        exact_sums(basis.sums(pieces)), sum(n * one for n, one in zip(times.tolist(), alone, strict=True))
    )
    # What a record adds is its coordinates, up to the rounding that the sensitivity includes.
    tables = [character_table(q)[:, 1:] for q in sizes]
    for record, found in zip(records[:20], alone, strict=False):
        row = np.concatenate([table[value] for table, value in zip(tables, record, strict=True)])
        error = np.abs(found.astype(float) - basis.product_sums([row[None]])).max()
        assert error <= basis.rounding < 1e-9


@each("delta", [0.0, 1e-6], parts=2)
def test_a_record_more_moves_what_gets_noise_by_what_it_is_alone_and_within_the_ledger_line(delta, monkeypatch):
    """Floating-point sums of a million records moved by more, and by more than the allowance in the ledger line."""
    seen = []
    monkeypatch.setattr(parities, "exact_products", lambda f, s: seen.append((f, s)) or exact_products(f, s))
    many = np.tile([[g % 3, g % 5] for g in range(CHUNK)], (50, 1))
    budget = {"epsilon": 1.0, "delta": delta, "adjacency": "add-remove", "categories": {0: range(3), 1: range(5)}}
    for records in (many, np.vstack([many, [[2, 4]]]), np.array([[2, 4]])):
        result = dpgraph.private_marginals(records, 2, rng=0, forest=False, degree=0, **budget)
    without, with_it, alone = (exact_sums(exact_products(*pair)) for pair in seen)
    assert list(with_it - without) == list(alone)
    move = sum(map(abs, alone)) if delta == 0 else math.sqrt(sum(number**2 for number in alone))
    (line,) = result.privacy.entries
    assert 0.5 * line.sensitivity < move <= line.sensitivity
