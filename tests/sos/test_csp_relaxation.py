"""The degree-2 relaxation of 2-CSPs at scale: against the exact one, and its certificates."""

import itertools

import networkx as nx
import numpy as np
import pytest

from dpgraph.datasets import planted_csp
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.certificate import certify_csp
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import solve_csp_relaxation
from dpgraph.sos.csp.solver import csp_correlation
from dpgraph.sos.cut.low_rank_sdp import solve_low_rank
from dpgraph.sos.moments.relaxation import lasserre


def random_instance(seed, n=7, q=3):
    rng = np.random.default_rng(seed)
    instance = TwoCSP(n, q)
    for u in range(n):
        for v in range(u):
            if rng.random() < 0.6:
                instance.add_constraint(u, v, rng.random((q, q)) < 0.5, rng.random())
    return instance


INSTANCES = {
    "three labels": random_instance(0),
    "four labels": random_instance(1, n=6, q=4),
    "two labels": random_instance(2, n=8, q=2),
    "max-3-cut": TwoCSP.from_networkx(nx.gnp_random_graph(12, 0.5, seed=1), "max-k-cut", 3),
    "unique game": planted_csp(15, 4, 3, 0.7, rng=0),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_low_rank_and_exact_relaxation_agree_and_the_bound_is_near(name):
    instance = INSTANCES[name]
    exact = lasserre(instance, 2, nonnegative=True)
    found = solve_csp_relaxation(CSPObjective.of(instance), np.random.default_rng(0), tol=1e-5)
    assert found.value == pytest.approx(exact.value, rel=1e-3)
    assert exact.value * (1.0 - 1e-6) <= found.certificate.bound
    assert found.certificate.bound <= min(1.01 * exact.value, instance.total_weight)
    assert found.violation <= 1e-2


def test_label_vectors_satisfy_the_label_constraints_to_rounding_errors():
    found = solve_csp_relaxation(CSPObjective.of(INSTANCES["unique game"]), np.random.default_rng(1))
    V = found.vectors
    gram = np.einsum("iak,ibk->iab", V, V)
    off = gram[:, ~np.eye(3, dtype=bool)]
    np.testing.assert_allclose(off, 0.0, atol=1e-9)
    np.testing.assert_allclose(V.sum(axis=1), np.eye(1, V.shape[2]).repeat(len(V), axis=0), atol=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_any_vectors_and_multipliers_give_a_true_bound(seed):
    """The bound is above the exact relaxation with nonnegative pairs, however bad the dual point."""
    rng = np.random.default_rng(seed)
    instance = random_instance(seed, n=5, q=2 + seed % 3)
    objective = CSPObjective.of(instance)
    exact = lasserre(instance, 2, nonnegative=True)
    rough = solve_csp_relaxation(objective, rng, max_sweeps=20)
    S = rough.multipliers * rng.random(rough.multipliers.shape) + 0.1 * rng.random(rough.multipliers.shape)
    for V in (rough.vectors, rng.standard_normal(rough.vectors.shape)):
        bound = certify_csp(objective, V, S, rng).bound
        assert bound >= exact.value - 1e-6 * abs(exact.value)
        assert bound <= objective.trivial_bound


def test_conditioned_objectives_and_signed_cuts_keep_all_values():
    rng = np.random.default_rng(0)
    for seed in range(6):
        q = 2 + seed % 3
        objective = CSPObjective.of(random_instance(seed, n=5, q=q))
        labels = rng.integers(q, size=5)
        i = int(rng.integers(5))
        rest = objective.condition(i, int(labels[i]))
        assert rest.value(np.delete(labels, i)) == pytest.approx(objective.value(labels))
        if q == 2:
            for each in (objective, rest):
                x = rng.integers(2, size=each.n_variables)
                assert each.signed().values(np.concatenate([[1.0], 1.0 - 2.0 * x])) == pytest.approx(each.value(x))


def test_correlations_of_label_vectors_are_those_of_their_moments():
    objective = CSPObjective.of(INSTANCES["three labels"])
    V = solve_csp_relaxation(objective, np.random.default_rng(0)).vectors
    n, q, k = V.shape
    p = np.random.default_rng(1).dirichlet(np.ones(n))
    rows = V.reshape(n * q, k)
    cov = rows @ rows.T - np.outer(rows[:, 0], rows[:, 0])
    spread = np.repeat(p, q)
    M = INSTANCES["three labels"].label_extended_graph().toarray()
    found = csp_correlation(objective, V, p)
    assert found.global_ == pytest.approx(spread @ cov**2 @ spread)
    assert found.local == pytest.approx(0.5 * np.sum(M * cov))
    likely = rows[:, 0] > 1e-6  # other labels are not conditioned on
    drops = np.where(likely, cov**2 @ spread / np.maximum(rows[:, 0], 1e-6), 0.0).reshape(n, q).sum(axis=1)
    np.testing.assert_allclose(found.drops, drops)


def test_without_the_inequalities_two_labels_are_the_max_cut_relaxation_and_bounds_hold():
    for seed in range(16):
        instance = random_instance(seed, n=3 + seed % 6, q=2)
        objective = CSPObjective.of(instance)
        if not len(instance.pairs):
            continue
        found = solve_csp_relaxation(objective, np.random.default_rng(seed), nonnegative=False, tol=1e-5)
        exact = solve_low_rank(objective.signed(), np.random.default_rng(0))
        assert found.value == pytest.approx(exact.value, rel=1e-3)
        assert found.certificate.bound <= exact.value * 1.001
        labels = np.array(list(itertools.product(range(2), repeat=instance.n_variables)))
        assert max(objective.value(row) for row in labels) <= found.certificate.bound + 1e-12
