"""The auditor is honest (it does not accuse a correct mechanism) and awake (it finds half the noise)."""

import numpy as np
import pytest

from dpgraph.privacy.accounting import gdp_epsilon
from tests.privacy.audit import epsilon_lower_bound, mu_lower_bound


@pytest.mark.parametrize("mu", [0.0, 1.0, 4.0])
def test_a_bound_at_99_percent_confidence_fails_at_most_once_in_a_hundred(mu):
    rng = np.random.default_rng(int(10 * mu))
    bounds = [mu_lower_bound(rng.normal(size=500), rng.normal(mu, size=500)) for _ in range(200)]
    # At most 2 expected; 10 or more has probability below 1e-4.
    assert sum(bound > mu for bound in bounds) < 10


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_epsilon_bound_is_honest_on_the_laplace_mechanism(epsilon):
    rng = np.random.default_rng(int(10 * epsilon))
    samples = [(rng.laplace(size=500) / epsilon, 1 + rng.laplace(size=500) / epsilon) for _ in range(200)]
    assert sum(epsilon_lower_bound(*pair) > epsilon for pair in samples) < 10


@pytest.mark.parametrize(("mu", "share"), [(0.5, 0.7), (2.0, 0.9), (4.0, 0.85)])
def test_many_runs_certify_most_of_mu(mu, share):
    rng = np.random.default_rng(1)
    assert mu_lower_bound(rng.normal(size=10_000), rng.normal(mu, size=10_000)) > share * mu


def test_in_gaussian_dp_the_audit_is_sharper_than_in_epsilon_and_delta():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=10_000), rng.normal(1.0, size=10_000)
    from_mu = gdp_epsilon(mu_lower_bound(first, second), 1e-5)
    assert from_mu > 1.5 * epsilon_lower_bound(first, second, delta=1e-5)
    assert from_mu <= gdp_epsilon(1.0, 1e-5)


def test_an_event_that_only_one_input_produces_refutes_every_small_epsilon():
    second = np.concatenate([np.zeros(500), np.full(500, 9.0)])
    rng = np.random.default_rng(4)
    bound = epsilon_lower_bound(np.zeros(1000), rng.permutation(second), delta=1e-6)
    assert bound > 3.5
    assert epsilon_lower_bound(np.zeros(1000), np.zeros(1000)) == 0.0


def test_delta_forgives_rare_events():
    rng = np.random.default_rng(5)
    rare = np.where(rng.random(4000) < 0.02, 9.0, 0.0)
    assert epsilon_lower_bound(np.zeros(4000), rare, delta=0.05) == 0.0
    assert epsilon_lower_bound(np.zeros(4000), rare, delta=0.0) > 1.0
