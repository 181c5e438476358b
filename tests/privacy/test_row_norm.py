"""Noise that is drawn for all queries of a whole row: balls, laws, moments, what an edge costs, the choice."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT
from dpgraph.privacy import row_norm
from dpgraph.privacy.exact_sampling import EXPONENT_BITS
from dpgraph.privacy.grid import query_grid
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.row_norm import NUMBER, CrossPolytope, Range, RowNorm, nested_rows, seeded_rows
from dpgraph.releases.sweeps.iteration import FieldOracle, RowSensitivity, query_law
from tests.about import each
from tests.privacy.attack.planted import noise_of_rows_halved
from tests.privacy.audit import epsilon_lower_bound
from tests.privacy.enumeration import graph_family, neighbours
from tests.privacy.replay import size_of_rows

ONE = 1 << EXPONENT_BITS
REJECT = 1e-4
BODIES = [
    NUMBER,
    CrossPolytope(2, shifts=False),
    CrossPolytope(3, shifts=False),
    *(CrossPolytope(columns, shifts=True) for columns in (2, 3, 4, 5)),
    *(Range(columns) for columns in (2, 3, 4)),
]


def rng(seed=0):
    return np.random.default_rng(seed)


def all_rows(ball, far):
    """One representative of each integer row, its first number 0 where constants do not matter."""
    free = ball.columns - ball.shifts
    axes = np.meshgrid(*[np.zeros(1, dtype=np.int64)] * ball.shifts, *[np.arange(-far, far + 1)] * free, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def cells(rows, ball):
    """A row as a key."""
    return list(map(tuple, (rows - rows[:, :1] if ball.shifts else rows).tolist()))


# --- the balls --------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(BODIES), st.integers(0, 10_000), st.floats(-5, 5))
def test_the_size_is_a_norm_up_to_constants_and_the_least_over_them(ball, seed, constant):
    rows = rng(seed).standard_cauchy((2, ball.columns))
    sizes = ball.size(rows)
    assert sizes == pytest.approx(size_of_rows(ball, rows))
    assert ball.size(rows.sum(axis=0)) <= sizes.sum() * (1 + 1e-12)
    assert ball.size(-3 * rows) == pytest.approx(3 * sizes)
    if isinstance(ball, CrossPolytope):
        assert np.all(sizes <= np.abs(rows + constant * ball.shifts).sum(axis=1) * (1 + 1e-12))
        around = rows[:, :, None] - rows[:, None, :] * ball.shifts  # the least sum is attained at one of the numbers
        assert sizes == pytest.approx(np.abs(around).sum(axis=1).min(axis=1))
    if ball.shifts:
        assert ball.size(rows + constant) == pytest.approx(sizes)


@each("ball, surface", list(itertools.product(BODIES, [False, True])), parts=2)
def test_rows_of_a_size_are_uniform_and_their_acceptance_counts_them(ball, surface):
    """P[accepted] C(r + D, D) / V(r) is one constant for all r; the same for S(r) on the surface."""
    draws, constants = 10_000, []
    D = ball.columns - ball.shifts
    for r in range(4):
        grid = all_rows(ball, 2 * r)
        sizes = ball.size(grid)
        inside = dict.fromkeys(cells(grid[sizes == r if surface else sizes <= r], ball), 0)
        drawn, accepted = ball.propose(np.full(draws, r), rng(r), surface=surface)
        for row in cells(drawn[accepted], ball):
            inside[row] += 1  # a KeyError: a row of another size
        counts = np.array(list(inside.values()))
        assert len(counts) == 1 or stats.chisquare(counts).pvalue > REJECT
        share = len(counts) / math.comb(r + D - surface, D - surface)
        constants.append((accepted.mean() / share, math.sqrt(accepted.mean() / draws) / share))
    pooled = np.average([c for c, _ in constants], weights=[1 / s**2 for _, s in constants])
    assert all(abs(c - pooled) < 5 * s + 1e-12 for c, s in constants)


@each("ball", [*BODIES, CrossPolytope(8, shifts=True), CrossPolytope(9, shifts=True), Range(7)], parts=2)
def test_moments_are_those_of_points_that_are_drawn_and_alike_in_all_directions(ball):
    draws, radius = 40_000, 1 << 30
    D = ball.columns - ball.shifts
    for surface, factor in ((False, 1.0), (True, (D + 2) / D)):
        rows = row_norm._points(ball, np.full(draws, radius), rng(1), surface=surface) / radius
        rows = rows - rows.mean(axis=1, keepdims=True) * ball.shifts
        squares = np.sum(rows**2, axis=1) / D
        expected = ball.moment() * factor
        assert abs(squares.mean() - expected) < 5 * squares.std() / math.sqrt(draws) + 1e-8
        assert np.ptp(np.mean(rows**2, axis=0)) < 0.1 * expected


def test_compositions_are_uniform():
    for parts, surface in itertools.product((1, 2, 3), (False, True)):
        drawn = row_norm._compositions(np.full(20_000, 3), parts, rng(2), surface=surface)
        wanted = [c for c in itertools.product(range(4), repeat=parts) if sum(c) == 3 or (sum(c) < 3 and not surface)]
        counts = [int(np.sum(np.all(drawn == c, axis=1))) for c in wanted]
        assert sum(counts) == len(drawn)
        assert len(counts) == 1 or stats.chisquare(counts).pvalue > REJECT


# --- the law of all queries -------------------------------------------------------------------------------------------


def weight(ball, y, z, g, h):
    """Of first queries y and later ones z, shape (..., m, columns)."""
    first, later = ball.size(y), np.max(ball.size(z), axis=-1, initial=0)
    return np.exp(-g * first - h * np.maximum(later - first, 0))


LAWS = [
    (NUMBER, 0, 40),
    (NUMBER, 1, 40),
    (NUMBER, 2, 24),
    (CrossPolytope(2, shifts=False), 0, 24),
    (CrossPolytope(2, shifts=False), 1, 24),
    (CrossPolytope(3, shifts=False), 0, 16),
    (CrossPolytope(2, shifts=True), 1, 48),
    (CrossPolytope(2, shifts=True), 2, 48),
    (CrossPolytope(3, shifts=True), 1, 48),
    (CrossPolytope(4, shifts=True), 0, 32),
    (Range(3), 1, 48),
    (Range(4), 0, 32),
]


@each("ball, later, far", LAWS, parts=2)
def test_nested_rows_have_the_law_that_is_written_above_them(ball, later, far):
    """Cells near the origin against the weights of all rows up to a distance beyond which nothing has weight."""
    g, h, draws = 0.9, 0.6, 10_000
    norm = RowNorm(later + 1, ball)
    y, radii = nested_rows(draws, norm, (round(g * ONE), round(h * ONE)), rng(3))
    z = [row_norm._points(ball, radii, rng(4 + t)) for t in range(later)]
    keys = zip(cells(y, ball), *(cells(each, ball) for each in z), strict=True)
    near = [tuple(row) for row in all_rows(ball, 1).tolist()]
    counts = dict.fromkeys(itertools.product(near, repeat=later + 1), 0)
    for key in keys:
        if key in counts:
            counts[key] += 1
    grid = all_rows(ball, far)
    sizes = ball.size(grid)
    # The sum over all queries, by the number of rows of each size
    levels, multiplicity = np.unique(sizes[sizes <= far // (1 + ball.shifts) + 0.5], return_counts=True)
    axes = np.meshgrid(*[levels] * (later + 1), indexing="ij")
    first, outer = axes[0], np.max(axes[1:], axis=0) if later else np.zeros_like(axes[0])
    total = np.exp(-g * first - h * np.maximum(outer - first, 0))
    for axis in range(later + 1):
        total = total * multiplicity.reshape([-1 if k == axis else 1 for k in range(later + 1)])
    inside = np.array(list(counts))  # shape (cells, queries, columns)
    expected = draws * weight(ball, inside[:, 0], inside[:, 1:], g, h) / total.sum()
    seen, many = np.array(list(counts.values())), expected > 5
    assert many.sum() > 2
    observed = np.append(seen[many], draws - seen[many].sum())
    wanted = np.append(expected[many], draws - expected[many].sum())
    assert stats.chisquare(observed, wanted).pvalue > REJECT


@each(
    "h, terms, largest",
    [(h, terms, largest) for h in [0.014, 0.02] for terms, largest in [(1, 5), (2, 0), (2, 6), (5, 10)]],
    parts=2,
)
def test_powers_have_exactly_their_weights(terms, largest, h):
    g, draws = 0.02, 20_000
    powers = row_norm._powers(draws, terms, largest, (round(g * ONE), round(h * ONE)), rng(5))
    t = math.expm1(-h) / math.expm1(-g)
    weights = np.array([math.comb(terms - 1 + j, j) * t**j for j in range(largest + 1)])
    counts = np.bincount(powers, minlength=largest + 1)
    assert largest == 0 or stats.chisquare(counts, draws * weights / weights.sum()).pvalue > REJECT


def drawn(norm, scale, source, rows=4000):
    """All queries of some rows on the grid of the package, of values 0."""
    step, size, epsilon = query_grid(1.0, norm.ball.columns, 2.0**-8, 1 / scale)
    shape, chosen = (rows + 3, norm.ball.columns), np.arange(rows)
    queries = noise_source(source).queries(shape, chosen, norm, step, size / epsilon)
    zeros = np.zeros((rows, norm.ball.columns))
    return np.stack([queries.first(chosen, zeros)] + [queries.later(chosen, zeros) for _ in range(norm.queries - 1)])


DRAWN = [CrossPolytope(3, shifts=False), CrossPolytope(3, shifts=True), CrossPolytope(4, shifts=True), Range(3)]


@each(
    "ball, ratio, queries, source",
    [
        *itertools.product(DRAWN, [0.7], [1, 2, 4], [0, None]),
        *itertools.product([NUMBER], [0.3, 0.7, 0.99], [1, 2, 4, 9], [0, None]),
    ],
    parts=2,
)
def test_variances_are_those_of_noise_on_the_grid_and_the_norm_has_its_gamma_law(ball, ratio, queries, source):
    norm, scale, rows = RowNorm(queries, ball, ratio), 1.7, 4000
    noise = drawn(norm, scale, source, rows)
    centred = noise - noise.mean(axis=-1, keepdims=True) * ball.shifts
    for query, expected in zip(
        centred, (norm.variances(scale)[:1] + norm.variances(scale)[1:] * (queries - 1)), strict=True
    ):
        squares = np.sum(query**2, axis=1) / norm.dimension
        assert abs(squares.mean() - expected) < 5 * squares.std() / math.sqrt(rows)
    first = ball.size(noise[0])
    later = np.max(ball.size(noise[1:]), axis=0, initial=0.0)
    sizes = norm.first * first + norm.later * np.maximum(later - first, 0)
    assert stats.kstest(sizes / scale, stats.gamma(queries * norm.dimension).cdf).pvalue > REJECT


def test_seeded_and_exact_noise_have_one_law():
    norm, g, h = RowNorm(3, CrossPolytope(3, shifts=True)), 2.0**-7, 0.7 * 2.0**-7
    exact_first, exact = nested_rows(4000, norm, (round(g * ONE), round(h * ONE)), rng(6))
    seeded_first, seeded = seeded_rows(4000, norm, (g, h), rng(7))
    assert stats.ks_2samp(exact, seeded).pvalue > REJECT
    assert stats.ks_2samp(norm.ball.size(exact_first), norm.ball.size(seeded_first)).pvalue > REJECT


def test_rows_come_in_batches(monkeypatch):
    monkeypatch.setattr(row_norm, "_BATCH", 64)
    norm = RowNorm(3, CrossPolytope(4, shifts=True))
    first, radii = nested_rows(100, norm, (ONE >> 4, ONE >> 5), rng(8))
    assert first.shape == (100, 4)
    assert np.all(norm.ball.size(first) <= radii)
    assert len(set(radii.tolist())) > 30


# --- a release up to a constant ---------------------------------------------------------------------------------------


@each("size", [1.0, 2.0**60], parts=2)
def test_what_is_released_up_to_a_constant_does_not_change_with_it(size):
    """Also where numbers are so large that a double skips points of the grid: differences are rounded once."""
    source, unit = noise_source(0), 2.0**-8
    coarse = max(size * 2.0**-30, 1.0)  # so that the sum of two values is exact
    values = np.rint(size / coarse * rng(9).standard_normal((50, 3))) * coarse
    noise = np.rint(1e5 * rng(10).standard_normal((50, 3)))
    released = source.on_grid_up_to_constants(values, unit, noise)
    assert np.all(released[:, 0] == 0.0)
    assert np.array_equal(released, source.on_grid_up_to_constants(values, unit, noise + 17.0))
    assert np.array_equal(released, source.on_grid_up_to_constants(values + size, unit, noise))
    assert released[:, 1] == pytest.approx((values[:, 1] - values[:, 0]) + (noise[:, 1] - noise[:, 0]) * unit)


# --- what an edge costs -----------------------------------------------------------------------------------------------


def cost(norm, moved):
    """N of the moves of one row, shape (queries, columns), as the theorem has it."""
    sizes = size_of_rows(norm.ball, moved)
    later = sizes[1:].max(initial=0.0)
    a = 1.0 if norm.queries == 1 else 1 / (1 + norm.ratio)
    return a * sizes[0] + a * norm.ratio * max(later - sizes[0], 0.0)


@each(
    "ball, ratio, from_zero, queries",
    [
        *itertools.product(
            [CrossPolytope(2, shifts=False), CrossPolytope(3, shifts=True)], [0.6], [True, False], [1, 2, 3]
        ),
        *itertools.product([NUMBER], [0.1, 0.7, 1.0], [True, False], [1, 2, 3, 5]),
    ],
    parts=2,
)
def test_the_sensitivity_is_the_worst_change_for_every_start(ball, ratio, queries, from_zero):
    """All labels, or signs, that the two ends of an edge may have had in each query (0: not set)."""
    norm = RowNorm(queries, ball, ratio)
    corners = np.vstack([np.zeros(ball.columns), np.eye(ball.columns), *([-np.eye(1)] if ball is NUMBER else [])])
    sequences = np.array(list(itertools.product(range(len(corners)), repeat=queries)))
    costs = np.array([cost(norm, corners[labels]) for labels in sequences])
    blind = sequences[:, 0] == 0
    worst = costs.max() + costs[blind].max() if from_zero else 2 * costs.max()
    assert sensitivity.repeated_queries(1.0, norm, from_zero=from_zero) == pytest.approx(worst)


@each("columns", [3, 4], parts=2)
def test_all_neighbours_of_small_graphs_move_queries_of_labels_by_the_bound_at_most_and_by_nearly_all_of_it(columns):
    """Sweeps in random orders and blocks over every graph of the family, labels that follow noisy queries."""
    worst = {"sum": 0.0, "shifts": 0.0, "numbers": 0.0}
    small = [(weights, w) for weights, w in graph_family().values() if len(weights) <= 12]
    for number, (weights, w) in enumerate(small):
        for k, changed in enumerate(neighbours(weights, w)):
            random, queries = rng([number, k]), 3
            n = len(weights)
            X, moved = np.zeros((n, columns)), np.zeros((n, queries, columns))
            for sweep in range(queries):
                for rows in np.array_split(random.permutation(n), random.integers(1, n + 1)):
                    moved[rows, sweep] = (weights - changed)[rows] @ X
                    X[rows] = answers(weights[rows] @ X + random.normal(size=(rows.size, columns)), random)
            for name, ball in (
                ("sum", CrossPolytope(columns, shifts=False)),
                ("shifts", CrossPolytope(columns, shifts=True)),
            ):
                norm = RowNorm(queries, ball)
                total = math.fsum(cost(norm, row) for row in moved)
                bound = sensitivity.repeated_queries(sensitivity.label_rows_l1(w), norm, from_zero=True)
                worst[name] = max(worst[name], total / bound)
            numbers = RowNorm(queries, NUMBER)
            sizes = np.abs(moved)
            later = np.maximum(sizes[:, 1:].max(axis=1) - sizes[:, 0], 0)
            worst["numbers"] = max(
                worst["numbers"], float((numbers.first * sizes[:, 0] + numbers.later * later).sum()) / w
            )
    assert 0.999 < worst["sum"] <= 1 + 1e-9
    assert 0.999 < worst["shifts"] <= 1 + 1e-9
    assert worst["numbers"] > 1.3  # the trap: numbers by themselves lose more than w


def answers(fields, random):
    """Points of the simplex on the grid of iterates: labels, or weights of several."""
    if random.random() < 0.7:
        return np.eye(fields.shape[1])[np.argmax(fields, axis=1)]
    soft = np.exp(fields - fields.max(axis=1, keepdims=True))
    return np.floor(soft / soft.sum(axis=1, keepdims=True) / ITERATE_UNIT) * ITERATE_UNIT


def test_the_largest_loss_over_all_outputs_is_epsilon_and_attained():
    """Two queries of three labels on the grid: every output near the origin, every pair of moves of an edge."""
    ball, epsilon = CrossPolytope(3, shifts=True), 0.8
    norm = RowNorm(2, ball)
    grid = all_rows(ball, 3)
    outputs = np.array(list(itertools.product(grid, repeat=2)))

    def log_law(moves):
        shifted = outputs - moves
        first, later = ball.size(shifted[:, 0]), ball.size(shifted[:, 1])
        return -epsilon * (norm.first * first + norm.later * np.maximum(later - first, 0))

    corners = np.vstack([np.zeros(3), np.eye(3), -np.eye(3)])
    losses = {
        pair: np.max(np.abs(log_law(corners[list(pair)]) - log_law(np.zeros((2, 3)))))
        for pair in itertools.product(range(len(corners)), repeat=2)
    }
    sees_it_first = max(losses.values())
    sees_it_later = max(loss for (first, _), loss in losses.items() if first == 0)
    assert sees_it_first + sees_it_later == pytest.approx(epsilon)
    moved_to_another_label = losses[1, 2]
    assert moved_to_another_label == pytest.approx(norm.first * epsilon)  # no more than a label that stays


def audited(ball, epsilon, there, rows=20_000):
    """Lower bound on the loss between rows of values 0 and rows of the values `there`, shape (queries, columns)."""
    norm, chosen = RowNorm(len(there), ball), np.arange(rows)
    step, size, used = query_grid(1.0, ball.columns, 2.0**-8, epsilon)

    def log_likelihood_ratios(values, seed):
        shape = (rows, ball.columns)
        noise = noise_source(seed).queries(shape, chosen, norm, step, size / used)
        reads = [noise.later if t else noise.first for t in range(len(there))]
        outputs = np.stack([read(chosen, np.tile(row, (rows, 1))) for read, row in zip(reads, values, strict=True)])
        sizes = [ball.size(outputs - centre[:, None]) for centre in (np.zeros_like(there), there)]
        norms = [norm.first * s[0] + norm.later * np.maximum(s[1:].max(axis=0) - s[0], 0) for s in sizes]
        return (norms[0] - norms[1]) * used / size

    return epsilon_lower_bound(log_likelihood_ratios(there * 0, 1), log_likelihood_ratios(there, 2))


@each("ball", [CrossPolytope(3, shifts=False), CrossPolytope(3, shifts=True)], parts=2)
def test_an_audit_finds_most_of_the_loss_of_a_label_that_changes_and_half_the_noise_to_be_too_little(ball, monkeypatch):
    """One row sees label 1, then label 2: a epsilon. From outputs alone, exact values known on either side."""
    there, epsilon = np.eye(3)[:2], 2.0
    promised = RowNorm(2, ball).first * epsilon
    assert 0.7 * promised < audited(ball, epsilon, there) <= promised
    noise_of_rows_halved(monkeypatch)
    assert audited(ball, epsilon, there) > promised


def test_the_range_of_a_row_of_a_constraint_problem_moves_by_two_weights_at_most_and_by_that():
    random, w, q = rng(11), 0.7, 3
    worst = 0.0
    for _ in range(3000):
        before, after = random.choice([0.0, w], size=(2, q, q))
        x = np.eye(q)[random.integers(q)] if random.random() < 0.5 else random.dirichlet(np.ones(q))
        worst = max(worst, float(Range(q).size((after - before) @ x)))
    assert 0.999 < worst / sensitivity.constraint_rows_range(w) <= 1 + 1e-12


# --- noise for whole rows ---------------------------------------------------------------------------------------------


def law_of(columns, bound, queries):
    def fields(block, X):
        return np.zeros((block.size, columns))

    return query_law(FieldOracle(9, columns, fields, ITERATE_UNIT, 1.0, bound), queries, 1.0)


@each("queries", [1, 2, 4, 16], parts=2)
def test_noise_for_whole_rows_is_smaller_than_for_each_number_by_itself(queries):
    """What numbers by themselves cost is the sum of the most that an edge, or a table, changes each of them."""
    for q in (2, 3, 8, 40):
        for ball, size, envelope in (
            (CrossPolytope(q, shifts=True), 1.0, q - 1.0),
            (CrossPolytope(q, shifts=False), 1.0, float(q)),
            (Range(q), 2.0, float(q)),
        ):
            rows = law_of(q, RowSensitivity(ball, size), queries)
            assert rows.norm == RowNorm(queries, ball)
            alone = law_of(q, RowSensitivity(NUMBER, envelope), queries)
            assert rows.mean_variance <= alone.mean_variance * (1 + 1e-9)
