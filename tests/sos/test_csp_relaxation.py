"""The degree-2 relaxation of 2-CSPs at scale: against the exact one, and its certificates."""

import networkx as nx
import numpy as np
import pytest

from dpgraph.datasets import planted_csp
from dpgraph.instance import TwoCSP
from dpgraph.sos.csp.certificate import certify_csp
from dpgraph.sos.csp.objective import CSPObjective
from dpgraph.sos.csp.relaxation import solve_csp_relaxation
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


@pytest.mark.parametrize("seed", range(9))
def test_any_vectors_and_multipliers_give_a_true_bound(seed):
    """The bound is above the exact relaxation with nonnegative pairs, however bad the dual point."""
    rng = np.random.default_rng(seed)
    instance = random_instance(seed, n=5, q=2 + seed % 3)
    objective = CSPObjective.of(instance)
    exact = lasserre(instance, 2, nonnegative=True)
    rough = solve_csp_relaxation(objective, rng, tol=1.0)
    S = rough.multipliers * rng.random(rough.multipliers.shape) + 0.1 * rng.random(rough.multipliers.shape)
    for V in (rough.vectors, rng.standard_normal(rough.vectors.shape)):
        bound = certify_csp(objective, V, S, rng).bound
        assert bound >= exact.value - 1e-6 * abs(exact.value)
        assert bound <= objective.trivial_bound
