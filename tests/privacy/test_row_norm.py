"""One noise vector for all queries of a row: balls, law, grid, what an edge costs, and who may use it how often."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT
from dpgraph.exceptions import DPGraphError
from dpgraph.privacy import row_norm
from dpgraph.privacy.exact_sampling import EXPONENT_BITS
from dpgraph.privacy.grid import query_grid
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.row_norm import NUMBER, CrossPolytope, Range, RowNorm, ball_sizes, uniform_rows
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


@each("ball", BODIES, parts=2)
def test_rows_of_a_size_are_uniform_and_their_acceptance_counts_them(ball):
    """P[accepted] C(r + D, D) / V(r) is one constant for all r."""
    draws, constants = 10_000, []
    D = ball.columns - ball.shifts
    for r in range(4):
        grid = all_rows(ball, 2 * r)
        inside = dict.fromkeys(cells(grid[ball.size(grid) <= r], ball), 0)
        drawn, accepted = ball.propose(np.full(draws, r), rng(r))
        for row in cells(drawn[accepted], ball):
            inside[row] += 1  # a KeyError: a row of another size
        counts = np.array(list(inside.values()))
        assert len(counts) == 1 or stats.chisquare(counts).pvalue > REJECT
        share = len(counts) / math.comb(r + D, D)
        constants.append((accepted.mean() / share, math.sqrt(accepted.mean() / draws) / share))
    pooled = np.average([c for c, _ in constants], weights=[1 / s**2 for _, s in constants])
    assert all(abs(c - pooled) < 5 * s + 1e-12 for c, s in constants)


@each("ball", [*BODIES, CrossPolytope(8, shifts=True), CrossPolytope(9, shifts=True), Range(7)], parts=2)
def test_moments_are_those_of_points_that_are_drawn_and_alike_in_all_directions(ball):
    draws, radius = 40_000, 1 << 30
    rows = uniform_rows(ball, np.full(draws, radius), rng(1)) / radius
    rows = rows - rows.mean(axis=1, keepdims=True) * ball.shifts
    squares = np.sum(rows**2, axis=1) / (ball.columns - ball.shifts)
    assert abs(squares.mean() - ball.moment()) < 5 * squares.std() / math.sqrt(draws) + 1e-8
    assert np.ptp(np.mean(rows**2, axis=0)) < 0.1 * ball.moment()


LAWS = [
    (NUMBER, 1, 40),
    (NUMBER, 2, 40),
    (NUMBER, 3, 24),
    (CrossPolytope(2, shifts=False), 1, 24),
    (CrossPolytope(2, shifts=False), 2, 24),
    (CrossPolytope(3, shifts=False), 1, 16),
    (CrossPolytope(2, shifts=True), 2, 48),
    (CrossPolytope(2, shifts=True), 3, 48),
    (CrossPolytope(3, shifts=True), 2, 48),
    (CrossPolytope(4, shifts=True), 1, 32),
    (Range(3), 2, 48),
    (Range(4), 1, 32),
]


@each("ball, queries, far", LAWS, parts=2)
def test_queries_have_the_law_that_is_written_above_them(ball, queries, far):
    """Cells near the origin against the weights of all rows up to a distance beyond which nothing has weight."""
    h, draws = 0.9, 10_000
    radii = ball_sizes(draws, RowNorm(queries, ball), round(h * ONE), rng(3))
    keys = zip(*(cells(uniform_rows(ball, radii, rng(4 + t)), ball) for t in range(queries)), strict=True)
    near = [tuple(row) for row in all_rows(ball, 1).tolist()]
    counts = dict.fromkeys(itertools.product(near, repeat=queries), 0)
    for key in keys:
        if key in counts:
            counts[key] += 1
    sizes = ball.size(all_rows(ball, far))
    # The sum over all queries, by the number of rows of each size
    levels, multiplicity = np.unique(sizes[sizes <= far // (1 + ball.shifts) + 0.5], return_counts=True)
    total = np.exp(-h * np.max(np.meshgrid(*[levels] * queries, indexing="ij"), axis=0))
    for axis in range(queries):
        total = total * multiplicity.reshape([-1 if k == axis else 1 for k in range(queries)])
    inside = np.array(list(counts))  # shape (cells, queries, columns)
    expected = draws * np.exp(-h * ball.size(inside).max(axis=1)) / total.sum()
    seen, many = np.array(list(counts.values())), expected > 5
    assert many.sum() > 2
    observed = np.append(seen[many], draws - seen[many].sum())
    wanted = np.append(expected[many], draws - expected[many].sum())
    assert stats.chisquare(observed, wanted).pvalue > REJECT


def drawn(norm, scale, source, rows=4000):
    """All queries of some rows on the grid of the package, of values 0."""
    step, size, epsilon = query_grid(1.0, norm.ball.columns, 2.0**-8, 1 / scale)
    shape, chosen = (rows + 3, norm.ball.columns), np.arange(rows)
    queries = noise_source(source).queries(shape, chosen, norm, step, size / epsilon)
    return np.stack([queries.read(chosen, np.zeros((rows, norm.ball.columns))) for _ in range(norm.queries)])


DRAWN = [NUMBER, CrossPolytope(3, shifts=False), CrossPolytope(3, shifts=True), CrossPolytope(4, shifts=True), Range(3)]


@each("ball, queries, source", list(itertools.product(DRAWN, [1, 2, 4], [0, None])), parts=2)
def test_variances_are_those_of_noise_on_the_grid_and_the_norm_has_its_gamma_law(ball, queries, source):
    """Seeded noise, and exact noise."""
    norm, scale, rows = RowNorm(queries, ball), 1.7, 4000
    noise = drawn(norm, scale, source, rows)
    for query in noise - noise.mean(axis=-1, keepdims=True) * ball.shifts:
        squares = np.sum(query**2, axis=1) / norm.dimension
        assert abs(squares.mean() - norm.variance(scale)) < 5 * squares.std() / math.sqrt(rows)
    sizes = np.max([ball.size(query) for query in noise], axis=0)
    assert stats.kstest(sizes / scale, stats.gamma(queries * norm.dimension).cdf).pvalue > REJECT


def test_one_query_is_laplace_noise_and_many_a_sixth_of_the_variance_of_composed_ones():
    assert RowNorm(1, NUMBER).variance(0.5) == pytest.approx(0.5)
    for queries in (2, 5, 20):
        cube = RowNorm(queries, NUMBER).variance(sensitivity.repeated_queries(1.0))
        assert cube / (2 * (2 * queries) ** 2) == pytest.approx((1 + 1 / queries) * (1 + 2 / queries) / 6)


def test_rows_come_in_batches(monkeypatch):
    monkeypatch.setattr(row_norm, "_BATCH", 64)
    radii = ball_sizes(100, RowNorm(3, CrossPolytope(4, shifts=True)), ONE >> 5, rng(8))
    assert len(set(radii.tolist())) > 30


def test_noise_that_is_drawn_ahead_is_that_of_its_row():
    """Every number lies in the ball of its own row, whatever blocks are read, and no two reads have the same."""
    norm, rows = RowNorm(3, NUMBER), np.arange(2000)
    queries = noise_source(None).queries((2000, 1), rows, norm, 2.0**-30, 1.0)
    radii, found = queries._radii[:, 0] * 2.0**-30, []
    order = np.argsort(radii)[::-1]
    blocks = [order[:700], order[700:701], order[701:1500], order[1500:1600], order[1600:]]
    queries.expect(blocks)
    for block in (*blocks[:2], rows[::7], *blocks[2:]):
        found.append((block, queries.read(block, np.zeros((block.size, 1)))[:, 0]))
    queries.expect([rows])
    found.append((rows, queries.read(rows, np.zeros((2000, 1)))[:, 0]))
    assert all(np.all(np.abs(noise) <= radii[block]) for block, noise in found)
    shares = np.concatenate([noise / radii[block] for block, noise in found])
    assert np.unique(shares).size > 3900
    assert stats.kstest((shares + 1) / 2, "uniform").pvalue > 1e-7


def test_a_row_is_not_read_more_often_than_its_noise_was_drawn_for():
    queries = noise_source(0).queries((5, 1), np.arange(3), RowNorm(2, NUMBER), 2.0**-16, 1.0)
    queries.read(np.arange(3), np.zeros((3, 1)))
    queries.read(np.arange(1), np.zeros((1, 1)))
    for row in (0, 4):  # row 4 has no noise
        with pytest.raises(DPGraphError, match="more often"):
            queries.read(np.array([row]), np.zeros((1, 1)))


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


def cost(ball, moved):
    """Norm of the changes of all queries of a row, shape (queries, columns), as the theorem has it."""
    return size_of_rows(ball, moved).max()


def test_a_second_query_may_depend_on_the_first_and_nothing_more_is_lost():
    """All outputs of two rows and two queries each, where the label that is read second is chosen by the first."""
    epsilon, box = 0.9, 7
    scale, grid = sensitivity.repeated_queries(1.0) / epsilon, range(-box, box + 1)

    def log_law(first, later):
        return -max(abs(first), abs(later)) / scale

    worst = 0.0
    for a, b, c, d in itertools.product(grid, grid, grid, grid):  # outputs: j and i, then j and i once more
        label_j, label_i = (1 if a > 0 else -1), (-1 if b > 0 else 1)  # they were 1, and answer to what they saw
        with_edge = log_law(a - 1, c - label_i) + log_law(b - 1, d - label_j)
        worst = max(worst, abs(with_edge - log_law(a, c) - log_law(b, d)))
    assert 0.85 < worst <= epsilon * (1 + 1e-12)


def test_all_neighbours_of_small_graphs_move_queries_of_labels_by_the_bound_at_most_and_by_nearly_all_of_it():
    """Sweeps in random orders and blocks over every graph of the family, labels that follow noisy queries."""
    columns = 3
    worst = {"sum": 0.0, "shifts": 0.0, "numbers": 0.0}
    for number, (weights, w) in enumerate(graph_family().values()):
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
                total = math.fsum(cost(ball, row) for row in moved)
                bound = sensitivity.repeated_queries(sensitivity.label_rows_l1(w))
                worst[name] = max(worst[name], total / bound)
            worst["numbers"] = max(worst["numbers"], float(np.abs(moved).max(axis=1).sum()) / (2 * w))
    assert 0.999 < worst["sum"] <= 1 + 1e-9
    assert 0.999 < worst["shifts"] <= 1 + 1e-9
    assert worst["numbers"] > 1.3  # the trap: numbers by themselves lose more than 2 w


def answers(fields, random):
    """Points of the simplex on the grid of iterates: labels, or weights of several."""
    if random.random() < 0.7:
        return np.eye(fields.shape[1])[np.argmax(fields, axis=1)]
    soft = np.exp(fields - fields.max(axis=1, keepdims=True))
    return np.floor(soft / soft.sum(axis=1, keepdims=True) / ITERATE_UNIT) * ITERATE_UNIT


def test_the_largest_loss_over_all_outputs_is_epsilon_and_attained():
    """Two queries of three labels on the grid: every output near the origin, every pair of moves of one end."""
    ball, epsilon = CrossPolytope(3, shifts=True), 0.8
    outputs = np.array(list(itertools.product(all_rows(ball, 3), repeat=2)))

    def log_law(moves):
        return -epsilon / sensitivity.repeated_queries(1.0) * ball.size(outputs - moves).max(axis=1)

    corners = np.vstack([np.zeros(3), np.eye(3), -np.eye(3)])
    losses = {
        pair: np.max(np.abs(log_law(corners[list(pair)]) - log_law(np.zeros((2, 3)))))
        for pair in itertools.product(range(len(corners)), repeat=2)
    }
    assert 2 * max(losses.values()) == pytest.approx(epsilon)  # of both ends
    assert losses[1, 2] == pytest.approx(epsilon / 2)  # another label costs no more than one that stays


def audited(ball, epsilon, there, rows=20_000):
    """Lower bound on the loss between rows of values 0 and rows of the values `there`, shape (queries, columns)."""
    norm, chosen = RowNorm(len(there), ball), np.arange(rows)
    step, size, used = query_grid(1.0, ball.columns, 2.0**-8, epsilon)

    def log_likelihood_ratios(values, seed):
        noise = noise_source(seed).queries((rows, ball.columns), chosen, norm, step, 2 * size / used)
        outputs = np.stack([noise.read(chosen, np.tile(row, (rows, 1))) for row in values])
        norms = [ball.size(outputs - centre[:, None]).max(axis=0) for centre in (np.zeros_like(there), there)]
        return (norms[0] - norms[1]) * used / (2 * size)

    return epsilon_lower_bound(log_likelihood_ratios(there * 0, 1), log_likelihood_ratios(there, 2))


@each("ball", [CrossPolytope(3, shifts=False), CrossPolytope(3, shifts=True)], parts=2)
def test_an_audit_finds_most_of_the_loss_of_a_label_that_changes_and_half_the_noise_to_be_too_little(ball, monkeypatch):
    """One row sees label 1, then label 2: half of epsilon. From outputs alone, exact values known on either side."""
    there, epsilon = np.eye(3)[:2], 3.0
    assert 0.7 * epsilon / 2 < audited(ball, epsilon, there) <= epsilon / 2
    noise_of_rows_halved(monkeypatch)
    assert audited(ball, epsilon, there) > epsilon / 2


def test_the_range_of_a_row_of_a_constraint_problem_moves_by_two_weights_at_most_and_by_that():
    random, w, q = rng(11), 0.7, 3
    worst = 0.0
    for _ in range(3000):
        before, after = random.choice([0.0, w], size=(2, q, q))
        x = np.eye(q)[random.integers(q)] if random.random() < 0.5 else random.dirichlet(np.ones(q))
        worst = max(worst, float(Range(q).size((after - before) @ x)))
    assert 0.999 < worst / sensitivity.constraint_rows_range(w) <= 1 + 1e-12
