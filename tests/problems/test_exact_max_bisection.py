"""Max-bisection of exact data against brute force and on real instances."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.datasets import planted_bisection
from dpgraph.evaluate import cut_value
from dpgraph.problems.cut.exact import max_bisection, max_cut
from dpgraph.sos import enumeration
from tests.sos.brute_force import exact_best_cut


def random_matrix(seed):
    """Signed or nonnegative, integer or real weights, 2 to 11 vertices."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    M = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.7), 1)
    M = np.rint(2.0 * M) if seed % 2 else M
    M = np.abs(M) if seed % 3 else M
    return M + M.T


def check_sandwich(seeds, imbalance=None):
    found = 0
    for seed in seeds:
        M = random_matrix(seed)
        allowed = max(imbalance or 0, len(M) % 2)
        best = exact_best_cut(M, allowed)
        result = max_bisection(M, rng=seed, imbalance=max(allowed, 1), sweeps=20, rounds=20, starts=3)
        left, right = map(len, result.partition)
        assert abs(left - right) <= allowed
        assert left + right == len(M)
        assert result.value == pytest.approx(cut_value(M, result), abs=1e-9)
        assert result.value <= best + 1e-9
        assert best <= result.upper_bound
        if result.status == "optimal":
            assert result.value == pytest.approx(best, abs=1e-9)
        found += result.value == pytest.approx(best, abs=1e-9)
    return found


def test_the_best_bisection_lies_between_value_and_bound_and_is_found():
    assert check_sandwich(range(60)) >= 0.95 * 60


@pytest.mark.parametrize("imbalance", [3, 4])
def test_a_larger_imbalance_is_used_but_not_exceeded(imbalance):
    def parity(M):
        return (imbalance - len(M)) % 2 == 0

    seeds = [seed for seed in range(200, 240) if parity(random_matrix(seed))]
    assert check_sandwich(seeds, imbalance) >= 0.95 * len(seeds)


def test_a_bisection_is_bounded_by_the_cutting_planes_of_all_cuts():
    """The relaxation alone bounds it by 79.8 and 180.0."""
    torus = nx.grid_2d_graph(10, 10, periodic=True)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], 200)
    nx.set_edge_attributes(torus, dict(zip(torus.edges, signs, strict=True)), "sign")
    for G, given in ((torus, {"weight": "sign"}), (nx.gnm_random_graph(50, 250, seed=0), {})):
        half, cut = (solve(G, rng=0, seeds=2, sweeps=50, **given) for solve in (max_bisection, max_cut))
        assert half.value <= half.upper_bound <= cut.upper_bound < cut.trace[0].upper_bound - 1.0
        assert half.bound_kind == "proven"


def test_a_star_shows_the_balance_constraint_in_value_and_bound():
    result = max_bisection(nx.star_graph(99), rng=0)
    assert result.value == 50.0
    assert 50.0 <= result.upper_bound <= 50.5
    assert sorted(map(len, result.partition)) == [50, 50]
    assert max_bisection(nx.star_graph(99), rng=0, local_search=False).upper_bound <= 50.5


def test_a_planted_bisection_is_recovered():
    G = planted_bisection(400, 40, -0.75, rng=1)
    result = max_bisection(G, rng=0, sweeps=100)
    planted = sum(G.nodes[u]["side"] != G.nodes[v]["side"] for u, v in G.edges)
    assert result.value >= planted
    agreement = np.mean([(v in result.partition[0]) == (G.nodes[v]["side"] == 0) for v in G])
    assert max(agreement, 1.0 - agreement) >= 0.99


def test_a_minimum_bisection_is_a_maximum_one_of_negated_weights():
    two_cliques = nx.connected_caveman_graph(2, 6)
    result = max_bisection(-nx.to_scipy_sparse_array(two_cliques).astype(float), rng=0)
    assert result.value == -nx.cut_size(two_cliques, set(range(6)))
    assert set(map(frozenset, result.partition)) == {frozenset(range(6)), frozenset(range(6, 12))}


def test_small_and_empty_inputs():
    assert max_bisection(nx.empty_graph(1), rng=0).partition == ({0}, set())
    assert sorted(map(len, max_bisection(nx.empty_graph(4), rng=0).partition)) == [2, 2]


def test_degree_four_bounds_every_bisection_and_is_tighter_than_degree_two(monkeypatch):
    monkeypatch.setattr(enumeration, "MOST_VERTICES", 0)  # would list all cuts instead of the relaxation of degree 2
    for seed in (0, 5):
        M = random_matrix(seed)[:8, :8]
        best = exact_best_cut(M, len(M) % 2)
        found = max_bisection(M, degree=4, rng=0)
        sides = [len(side) for side in found.partition]
        assert abs(sides[0] - sides[1]) <= len(M) % 2
        assert found.value == pytest.approx(best, abs=1e-9)
        assert best <= found.upper_bound
    # A triangle and a pentagon: two odd cycles miss an edge each.
    two = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(5))
    second, fourth = (max_bisection(two, degree=degree, rng=0).relaxation_value for degree in (2, 4))
    assert exact_best_cut(nx.to_numpy_array(two), 0) == 6.0
    assert fourth == pytest.approx(6.0, abs=1e-4)
    assert second > 6.7
