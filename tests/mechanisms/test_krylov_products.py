"""Leading spaces of general matrices from noisy products: a Krylov space first, then the average."""

import math

import numpy as np
import pytest

import dpgraph
from dpgraph.tuning import KRYLOV

BUDGET = {"sensitivity": 1.0, "delta": 1e-6}


def orthonormal(X):
    return np.linalg.qr(X)[0]


def sine(exact, found):
    return float(np.linalg.norm(exact - found @ (found.T @ exact), 2))


def above_bulk(n, rank, gap, ratio, seed, m=None):
    """Flat leading vectors of value ratio gap, above Gaussian noise of norm (ratio - 1) gap."""
    rng = np.random.default_rng(seed)
    U = orthonormal(rng.choice([-1.0, 1.0], size=(n, rank)))
    V = U if m is None else orthonormal(rng.choice([-1.0, 1.0], size=(m, rank)))
    W = rng.normal(size=(n, m or n))
    W = W + W.T if m is None else W
    W = W - U @ (U.T @ W)
    W = W - (W @ V) @ V.T
    A = (U * np.linspace(1.2, 1.0, rank) * ratio * gap) @ V.T + W * ((ratio - 1) * gap / np.linalg.norm(W, 2))
    return (A + A.T) / 2 if m is None else A, U, V


@pytest.mark.parametrize(
    ("rank", "ratio", "most"), [(1, 1, 0.03), (1, 2, 0.02), (1, 10, 0.01), (2, 4, 0.02), (3, 30, 0.04)]
)
def test_a_bulk_below_the_leading_values_does_not_hide_them(rank, ratio, most):
    # Averaged products, as many as mu alone said, had sines of 0.2 at ratio 2 and of 0.99 at ratio 10.
    A, U, _ = above_bulk(300, rank, 250.0, ratio, seed=ratio)
    found = dpgraph.private_projector(A, rank, epsilon=1.0, rng=3, **BUDGET)
    assert sine(U, found.basis) < most
    assert found.converged


@pytest.mark.parametrize("turned", [False, True])
def test_noise_of_a_very_long_side_does_not_count_as_what_the_short_side_lacks(turned):
    # The sine of the short side was 0.5, and its residuals were followed to the end.
    rng = np.random.default_rng(6)
    u = np.ones(60) / math.sqrt(60)
    Y = rng.normal(size=(60, 12_000))
    Y += (math.sqrt(1 + 12 * math.sqrt(60 / 12_000)) - 1) * np.outer(u, u @ Y)
    exact = np.linalg.svd(Y, full_matrices=False)[0][:, 0]
    found = dpgraph.private_singular_subspace(Y.T if turned else Y, 1, epsilon=2.0, rng=0, **BUDGET)
    short, long = (found.right, found.left) if turned else (found.left, found.right)
    assert short.shape == (60, 1)
    assert long.shape == (12_000, 1)
    assert abs(exact @ short[:, 0]) > 0.98
    names = {line.name.rsplit(" ", 1)[0] for line in found.privacy.entries}
    assert names == {"left product", "right product"}


def test_the_core_of_a_low_rank_matrix_costs_no_release_of_its_own():
    A, U, _ = above_bulk(200, 2, 250.0, 2, seed=1)
    found = dpgraph.private_low_rank(A, 2, epsilon=2.0, rng=0, **BUDGET)
    assert {line.name.split()[0] for line in found.privacy.entries} == {"product"}
    assert np.allclose(found.core, U.T @ A @ U if found.core[0, 0] > found.core[1, 1] else 0, atol=15)
    assert np.linalg.norm(found.matrix() - (U * [600, 500]) @ U.T, 2) < 40


@pytest.mark.parametrize(("epsilon", "gap"), [(0.2, 20.0), (1.0, 200.0), (100.0, 200.0)])
def test_products_spend_the_whole_budget_in_as_many_steps_as_the_noise_allows(epsilon, gap):
    A, _, _ = above_bulk(150, 1, gap, 3, seed=1)
    report = dpgraph.private_projector(A, 1, epsilon=epsilon, rng=0, **BUDGET).privacy
    spent = math.fsum((line.sensitivity / line.scale) ** 2 for line in report.entries)
    assert spent == pytest.approx(report.mu**2, rel=1e-6)
    assert KRYLOV.first <= len(report.entries) <= KRYLOV.most
    assert (len(report.entries) == KRYLOV.first) == (gap == 20.0)


def test_a_step_gets_what_the_longest_row_of_its_own_basis_asks_for():
    # Bases become the leading vector, whose first row is long; a step had what the basis before it asked for.
    n = 400
    v = np.r_[5.0, np.ones(n - 1)]
    v /= np.linalg.norm(v)
    private = dpgraph.private_projector(400 * np.outer(v, v), 1, epsilon=2.0, rng=1, **BUDGET).privacy
    for line in private.entries:
        share = (line.sensitivity / line.scale / private.mu) ** 2
        assert line.scale * math.sqrt(n) < 1.1 * 400 or share > 0.99 / KRYLOV.first, line.name
    assert max(line.sensitivity for line in private.entries) > 0.4


@pytest.mark.parametrize("shape", [(300, None), (150, 400)])
@pytest.mark.parametrize(("rank", "ratio", "gap"), [(1, 1, 250.0), (1, 3, 250.0), (3, 2, 250.0), (2, 1, 90.0)])
def test_the_estimated_sine_is_the_sine_where_vectors_converge(shape, rank, ratio, gap):
    A, U, V = above_bulk(shape[0], rank, gap, ratio, seed=2, m=shape[1])
    if shape[1] is None:
        found = dpgraph.private_projector(A, rank, epsilon=1.0, rng=1, **BUDGET)
        exact = sine(U, found.basis)
    else:
        found = dpgraph.private_singular_subspace(A, rank, epsilon=1.0, rng=1, **BUDGET)
        exact = max(sine(U, found.left), sine(V, found.right))
    assert found.estimated_sine == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize("seed", range(4))
def test_beside_a_larger_negative_eigenvalue_the_cautious_sine_is_no_less_than_the_sine(seed):
    # It was two thirds of it where products were shifted to make negative eigenvalues smaller.
    rng = np.random.default_rng(seed)
    U = orthonormal(rng.choice([-1.0, 1.0], size=(250, 2)))
    found = dpgraph.private_eigenspace((U * [50.0, -200.0]) @ U.T, 1, epsilon=1.5, rng=seed, **BUDGET)
    assert sine(U[:, :1], found.basis) <= found.cautious_sine < 0.3


@pytest.mark.parametrize("mechanism", ["auto", "gaussian"])
@pytest.mark.parametrize("function", ["private_projector", "private_low_rank", "private_singular_subspace"])
def test_what_is_all_noise_says_so_in_the_repr(function, mechanism):
    found = getattr(dpgraph, function)(np.zeros((60, 60)), 2, epsilon=0.5, mechanism=mechanism, rng=0, **BUDGET)
    assert found.estimated_sine > 0.9
    assert not found.converged
    assert "converged=False" in repr(found)
