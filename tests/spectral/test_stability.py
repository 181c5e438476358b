"""The number of edges until an eigenspace becomes unstable moves by at most 1, and certifies what it promises."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpgraph.bounds.exit_time import SafeSet, steps_to_exit
from dpgraph.bounds.neighbours import EdgeNeighbours, MatrixNeighbours
from dpgraph.bounds.stability import EdgeRates, MatrixRates, SpectralState, Tolerances
from tests.privacy.enumeration import Graphs, graph_family, neighbours

EXACT = Tolerances(0.02)
FAMILY = graph_family()
#: Steps are computed to this from below, and eigenvectors are exact to fewer.
WIDTH, ROUNDING = 0.1, 0.101


def constant_limit(limit, least_gap):
    """The same limit at all times."""
    return SafeSet(np.zeros(1), np.array([limit]), least_gap)


def edges(weights, w, lower, tau):
    """The neighbouring relation of a graph, whose units states are in."""
    return EdgeNeighbours(w, lower, tau, weights.sum(axis=1))


def state_of(weights, w, lower, tau, rank):
    """Exact state and basis of one graph."""
    relation = edges(weights, w, lower, tau)
    values, vectors = Graphs(weights[None], tau).eigen
    U = vectors[0][:, :rank]
    inside, outside = values[0, rank - 1 : rank + 1] / relation.norm
    return relation.state(relation.coherence(U), inside, outside, relation.largest_degree), U


def sets_worth_testing(state, rates):
    """Limits that the state leaves after about one to a hundred edges, constant and falling, with gaps that it has."""
    rate, gap = float(rates.projector(state.array())), state.inside - state.outside
    kinked = np.array([0.0, 2.0, 3.0, 20.0])
    return [
        constant_limit(1.3 * rate, gap * 0.5),
        constant_limit(4.0 * rate, gap * 0.2),
        SafeSet(np.array([0.0, 5.0]), rate * np.array([4.0, 3.0]), gap * 0.2),
        SafeSet(kinked, rate * np.array([3.0, 1.5, 1.4, 0.9]), gap * 0.1),
    ]


def one_of_each_kind(weights, changed):
    """Of neighbours that differ in one pair, one of those that an exchange of twins turns into each other.

    Exchanging twins leaves the graph itself as it is, so that all claims are the same for such neighbours.
    """
    first = np.arange(len(weights))
    for u, v in itertools.combinations(range(len(weights)), 2):
        order = np.arange(len(weights))
        order[[u, v]] = v, u
        if first[v] == v and np.array_equal(weights[order][:, order], weights):
            first[v] = first[u]
    kinds = {}
    for after in changed:
        i, j = np.argwhere(after != weights)[0]
        kinds.setdefault((*sorted((first[i], first[j])), after[i, j]), after)
    return list(kinds.values())


def enumerated(name, rank, tau):
    """Yield (change of D, ||P - P'||_F / limit or 0 where nothing is promised) over all neighbours."""
    weights, w = FAMILY[name]
    lower = max(tau, weights.sum(axis=1).min() + tau - w)
    if lower < w:
        return
    rates = edges(weights, w, lower, tau).rates(EXACT)
    before, U = state_of(weights, w, lower, tau, rank)
    if before.inside - before.outside < 1e-3 * lower / w:
        return
    others = [state_of(after, w, lower, tau, rank) for after in one_of_each_kind(weights, neighbours(weights, w))]
    for safe in sets_worth_testing(before, rates):
        steps = steps_to_exit(before, rates, safe, cap=500.0, width=WIDTH)
        for after, V in others:
            moved = np.sqrt(max(2 * (rank - np.sum((U.T @ V) ** 2)), 0.0))
            other = steps_to_exit(after, rates, safe, cap=500.0, width=WIDTH)
            certified = max(steps, other)
            yield abs(steps - other), moved / safe.limit(certified - 1) if certified > 1 else 0.0


SMALL = [name for name in FAMILY if len(FAMILY[name][0]) <= 12]
#: Each of these has hundreds of neighbours or steps; the others are quick.
LONG = re.compile("weighted random|planted cut|power law|hypercube|random 4-regular|near-degenerate|^cycle|two equal")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * bool(LONG.search(name))) for name in SMALL]
)
def test_no_neighbour_of_any_small_graph_moves_the_steps_by_more_than_one_or_a_certified_projector_too_far(name):
    worst = np.zeros(2)
    for rank, tau in itertools.product((1, 2), (0.0, 16.0 * FAMILY[name][1])):
        for changes in enumerated(name, rank, tau):
            worst = np.maximum(worst, changes)
    assert worst[0] <= 1 + ROUNDING
    assert worst[1] <= 1 + ROUNDING


@pytest.mark.parametrize("name", SMALL)
def test_neighbours_that_are_left_out_have_the_spectrum_of_one_that_is_not(name):
    weights, w = FAMILY[name]
    changed = neighbours(weights, w)
    spectra, kept = (np.linalg.eigvalsh(some) for some in (changed, np.array(one_of_each_kind(weights, changed))))
    assert np.abs(spectra[:, None] - kept).max(axis=2).min(axis=1).max() < 1e-12


def test_the_bounds_are_not_absurdly_loose():
    worst = np.max(list(enumerated("complete bipartite 6 + 6", 2, 64.0)), axis=0)
    assert worst[0] > 0.7
    assert worst[1] > 0.3


def speeds_of(weights, w, tau, rank, pair, step):
    """Finite differences of (sigma_r downwards, sigma_{r+1}, coherence, projector) for a small change of one weight."""
    after = weights.copy()
    i, j = pair
    after[i, j] = after[j, i] = weights[i, j] + step
    (x, U), (y, V) = (state_of(side, w, tau, tau, rank) for side in (weights, after))
    moved = np.linalg.norm(U @ U.T - V @ V.T)
    return np.array([x.inside - y.inside, y.outside - x.outside, y.coherence - x.coherence, moved]) / abs(step)


@pytest.mark.parametrize(
    "name", ["planted cut", "power law", "random 4-regular", "planted cut, 48 vertices", "hypercube"]
)
@pytest.mark.parametrize("rank", [1, 2])
def test_derivatives_of_the_spectrum_the_coherence_and_the_projector_stay_below_their_bounds(name, rank):
    weights, w = FAMILY[name]
    tau, step = 2.0 * weights.sum(axis=1).mean(), 1e-5
    rates, state = edges(weights, w, tau, tau).rates(EXACT), state_of(weights, w, tau, tau, rank)[0].array()
    bound = np.append(rates.speeds(state)[:3], rates.projector(state)) / w
    pairs = list(itertools.combinations(range(len(weights)), 2))[:200]
    for pair in pairs:
        change = -step if weights[pair] > 0 else step
        assert np.all(speeds_of(weights, w, tau, rank, pair, change) <= bound * 1.001 + 1e-9)


def test_speeds_grow_with_every_other_coordinate_as_the_comparison_theorem_needs():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        m = float(np.exp(rng.uniform(0, 8)))
        rates = EdgeRates(m, m * rng.choice([0.0, 0.5, 1.0]), EXACT)
        t, share = m * rng.uniform(0.01, 1), rng.uniform(0, 0.98)
        x = np.array([t, share * t, rng.uniform(0, 1), m * rng.uniform(0.1, 3)])
        for k, up in enumerate((-1, 1, 1, 1)):
            y = x.copy()
            y[k] += up * rng.uniform(0, 0.5) * (x[0] - x[1] if k < 2 else x[k])
            slower, faster = rates.speeds(x), rates.speeds(y)
            others = [i for i in range(4) if i != k]
            assert np.all(faster[others] >= slower[others] * (1 - 1e-12))
            assert rates.projector(y) >= rates.projector(x) * (1 - 1e-12)


def random_matrix(rng, n, Delta):
    """A low-rank matrix with noise, and a neighbour: E is one pair of rows and columns, or all entries a little."""
    V = np.linalg.qr(rng.normal(size=(n, 3)))[0]
    A = V @ np.diag([40.0, -33.0, 9.0]) @ V.T
    E = rng.normal(size=(n, n)) * (rng.random((n, n)) < rng.choice([2 / n**2, 0.1, 1.0]))
    E = E + E.T
    size = np.sqrt((np.abs(E).sum(axis=1) ** 2).sum())
    return A, A + (Delta * E / size if size else 0 * E)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 2))
def test_general_matrices_move_the_steps_by_at_most_one_too(seed, rank):
    rng = np.random.default_rng(seed)
    rates, states, bases = MatrixRates(EXACT), [], []
    for matrix in random_matrix(rng, 15, 1.0):
        values, vectors = np.linalg.eigh(matrix)
        order = np.argsort(-np.abs(values))
        U = vectors[:, order[:rank]]
        bases.append(U)
        sizes = np.abs(values[order])
        states.append(SpectralState(sizes[rank - 1], sizes[rank], MatrixNeighbours(1.0).coherence(U)))
    for safe in sets_worth_testing(states[0], rates):
        steps = [steps_to_exit(state, rates, safe, cap=500.0, width=WIDTH) for state in states]
        assert abs(steps[0] - steps[1]) <= 1 + ROUNDING
        if max(steps) > 1:
            moved = np.linalg.norm(bases[0] @ bases[0].T - bases[1] @ bases[1].T)
            assert moved <= safe.limit(max(steps) - 1) * (1 + ROUNDING)


@pytest.mark.parametrize("coordinate", range(3))
def test_errors_within_the_tolerances_move_the_steps_by_at_most_the_shift(coordinate):
    errors = (1e-4, 1e-3, 1e-6)
    rates = EdgeRates(100.0, 100.0, Tolerances(0.02, *errors))
    exact = np.array([50.0, 10.0, 0.02, 30.0])
    wrong = exact.copy()
    wrong[coordinate] += (-1, 1, 1)[coordinate] * errors[coordinate]
    safe = constant_limit(3 * float(rates.projector(exact)), 10.0)
    steps = [steps_to_exit(SpectralState(*x), rates, safe, cap=100.0, width=1e-4) for x in (exact, wrong)]
    assert 1e-5 < steps[0] - steps[1] <= 0.0201


def test_a_state_outside_the_safe_set_has_no_steps_left_and_a_closed_gap_is_outside():
    rates = MatrixRates(EXACT)
    assert steps_to_exit(SpectralState(10.0, 9.0, 0.5), rates, constant_limit(0.1, 0.5), cap=10.0, width=WIDTH) == 0.0
    assert steps_to_exit(SpectralState(9.0, 9.0, 0.5), rates, constant_limit(10.0, 0.5), cap=10.0, width=WIDTH) == 0.0
    assert rates.projector(SpectralState(9.0, 9.0, 0.5).array()) == np.inf


def test_the_papers_coherence_stands_in_for_the_degree_corrected_one_that_it_bounds():
    weights, w = FAMILY["planted cut"]
    _, U = state_of(weights, w, 8.0, 8.0, 2)
    plain, corrected = (EdgeNeighbours(w, 8.0, 8.0, weights.sum(axis=1), flag) for flag in (False, True))
    states = [nb.state(nb.coherence(U), 0.5, 0.1, 5.0) for nb in (plain, corrected)]
    assert states[0].coherence >= states[1].coherence


def test_many_edges_are_needed_where_weyl_would_count_few():
    """A planted cut of degree 150: a gap of 80 e is further than 60 edges away from one of 50 e."""
    m = 1200.0
    rates = EdgeRates(m, m, EXACT)
    state = SpectralState(100.0, 20.0, 1.22 * np.sqrt(2 / 2000 * m / (m + 150)), 191.0)
    weyl = 80 - 50
    assert steps_to_exit(state, rates, constant_limit(np.inf, 50.0), cap=1e4, width=WIDTH) > 2 * weyl


def test_mutant_speeds_of_one_endpoint_are_caught_by_the_enumeration(monkeypatch):
    speeds = EdgeRates.speeds
    monkeypatch.setattr(EdgeRates, "speeds", lambda self, *states: speeds(self, *states) / 2)
    assert np.max(list(enumerated("complete bipartite 6 + 6", 2, 64.0)), axis=0)[0] > 1.2
