"""Max-2-CSP of exact data against brute force, known optima and planted assignments."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from dpgraph.datasets import planted_csp
from dpgraph.evaluate import csp_value
from dpgraph.instance import TwoCSP
from dpgraph.problems.csp.exact import max_2csp


def random_instance(seed, n=None):
    """Random relations, random weights (every other instance: none), 2 to 4 labels, up to 12 variables."""
    rng = np.random.default_rng(seed)
    q = 2 + seed % 3
    n = int(rng.integers(2, {2: 13, 3: 11, 4: 9}[q])) if n is None else n
    instance = TwoCSP(n, q)
    for u in range(n):
        for v in range(u):
            if rng.random() < 0.6:
                weight = rng.random() if seed % 2 else 1.0
                instance.add_constraint(u, v, rng.random((q, q)) < rng.uniform(0.2, 0.8), weight)
    return instance


def optimum(instance):
    """Largest value over all assignments, all at once."""
    n, q = instance.n_variables, instance.alphabet_size
    total = np.zeros((q,) * n)
    for (u, v), table in zip(instance.pairs, instance.tables, strict=True):
        shape = [1] * n
        shape[u] = shape[v] = q
        total += table.reshape(shape)
    return float(total.max())


def check_sandwich(numbers, n=None, **options):
    found, proven, count = Counter(), 0, Counter()
    for seed in numbers:
        instance = random_instance(seed, n)
        count[instance.alphabet_size] += 1
        best = optimum(instance)
        result = max_2csp(instance, rng=seed, sweeps=30, rounds=30, starts=4, **options)
        assert result.value == pytest.approx(csp_value(instance, result.assignment), abs=1e-12)
        assert result.value <= best + 1e-9
        assert best <= result.upper_bound + 1e-9
        if result.status == "optimal":
            proven += 1
            assert result.value == pytest.approx(best)
        found[instance.alphabet_size] += result.value == pytest.approx(best)
    shares = ", ".join(f"q = {q}: {found[q]} of {count[q]}" for q in sorted(count))
    print(f"value = optimum on {found.total()} of {count.total()} instances ({shares}), proven on {proven}")
    assert all(found[q] >= 0.4 * count[q] for q in count)
    return found.total(), proven


@pytest.mark.parametrize(
    "numbers", [range(30), pytest.param(range(30, 300), marks=pytest.mark.slow)], ids="{0.start} to {0.stop}".format
)
def test_the_optimum_lies_between_value_and_bound_and_is_found(numbers):
    found, proven = check_sandwich(numbers, tol=1e-4)
    assert found >= 0.95 * len(numbers)
    assert proven >= 0.5 * len(numbers)


def test_the_exact_relaxation_is_sandwiched_at_degree_2_and_4():
    assert check_sandwich(range(0, 12), relaxation="lasserre")[0] >= 11
    small = [seed for seed in range(30) if random_instance(seed).n_variables <= 5]
    found, proven = check_sandwich(small, degree=4, seeds=2)
    assert found >= 0.95 * len(small)
    assert proven >= 0.6 * len(small)


@pytest.mark.parametrize(("n", "k"), [(7, 3), (9, 4)])
def test_max_k_cut_of_a_clique_is_a_turan_number(n, k):
    result = max_2csp(TwoCSP.from_networkx(nx.complete_graph(n), "max-k-cut", k), rng=0)
    assert result.value == nx.turan_graph(n, k).number_of_edges()


def test_a_bipartite_graph_is_two_coloured_and_proven():
    result = max_2csp(TwoCSP.from_networkx(nx.grid_2d_graph(6, 7), "coloring", ["black", "white"]), rng=0)
    assert result.status == "optimal"
    assert {frozenset({result.assignment[u], result.assignment[v]}) for u, v in nx.grid_2d_graph(6, 7).edges} == {
        frozenset({"black", "white"})
    }


def test_a_planted_assignment_of_a_large_unique_game_is_recovered_and_proven():
    instance = planted_csp(300, 40, 3, 0.9, rng=0)
    result = max_2csp(instance, rng=0, sweeps=50)
    assert result.value / instance.total_weight >= 0.89
    assert result.status == "optimal"


@pytest.mark.parametrize("q", [2, 3])
def test_instances_without_constraints_are_trivially_optimal(q):
    for n in (1, 3):
        result = max_2csp(TwoCSP(n, q), rng=0)
        assert (result.value, result.upper_bound, result.gap, result.status) == (0.0, 0.0, 0.0, "optimal")


def test_constraints_on_single_variables_are_met():
    instance = TwoCSP(["x", "y"], 3)
    instance.add_unary("x", [0, 0, 1])
    instance.add_unary("y", [0, 2, 0])
    result = max_2csp(instance, rng=0)
    assert result.assignment == {"x": 2, "y": 1}
    assert result.status == "optimal"
