"""Matrix analogues of Laplace noise have the densities that their proofs need, for both norms in which data change."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from dpgraph.privacy.matrix_noise import LARGER_TRACE, NUCLEAR
from dpgraph.privacy.noise import noise_source
from tests.privacy.replay import larger_trace

# Every statistical claim below is tested at this level; seeds are fixed, so that a pass is a pass for ever.
LEVEL = 1e-3


def draws(sampler, d, scale, count, seed=0):
    noise = noise_source(seed)
    return np.array([sampler(noise, d, scale) for _ in range(count)])


def nuclear_norms(Z):
    return np.abs(np.linalg.eigvalsh(Z)).sum(axis=-1)


def sides(Z):
    """tr Z_+ and tr Z_- of each matrix."""
    values = np.linalg.eigvalsh(Z)
    return np.maximum(values, 0).sum(axis=-1), np.maximum(-values, 0).sum(axis=-1)


@pytest.mark.parametrize("law", [NUCLEAR, LARGER_TRACE])
def test_for_one_dimension_the_noise_is_laplace(law):
    for sampler in (law.difference, law.laplace, law.laplace_markov):
        Z = draws(sampler, 1, 0.7, 300)[:, 0, 0]
        assert stats.kstest(Z, stats.laplace(scale=0.7).cdf).pvalue > LEVEL
        assert stats.kstest(Z / 2, stats.laplace(scale=0.7).cdf).pvalue < LEVEL


@pytest.mark.parametrize("d", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("law", [NUCLEAR, LARGER_TRACE])
def test_the_markov_chain_agrees_with_the_exact_sampler_where_both_exist(law, d):
    exact, chain = draws(law.laplace, d, 1.0, 600 // d), draws(law.laplace_markov, d, 1.0, 80, seed=2)
    for statistic in (
        nuclear_norms,
        lambda Z: sides(Z)[0],
        lambda Z: np.linalg.eigvalsh(Z)[:, -1],
        lambda Z: np.linalg.norm(Z, axis=(1, 2)),
    ):
        assert stats.ks_2samp(statistic(exact), statistic(chain)).pvalue > LEVEL


@njit
def singular_values_of_square_noise(values, steps, log_uniforms):
    """A Markov chain for the density prod |s_i^2 - s_j^2| exp(-sum s_i): d x d matrices, as the paper has them."""
    for sweep in range(len(steps)):
        for i in range(len(values)):
            proposed = abs(values[i] + steps[sweep, i])
            gain = values[i] - proposed
            for j in range(len(values)):
                if j != i:
                    gain += np.log(abs((proposed**2 - values[j] ** 2) / (values[i] ** 2 - values[j] ** 2)))
            if log_uniforms[sweep, i] < gain:
                values[i] = proposed


@pytest.mark.slow
def test_the_spectral_norm_of_the_noise_is_pi_rho_d_and_not_what_theorem_4_4_of_dn25b_prints():
    """docs/covariance.md: 1.1 rho d is printed; pi is the limit, and pi/2 on symmetric matrices."""
    d, rng = 60, np.random.default_rng(0)
    values, norms = rng.gamma(1.0, d, size=d), []
    for _ in range(40):
        singular_values_of_square_noise(values, 3 * rng.normal(size=(100, d)), np.log(rng.random((100, d))))
        norms.append(values.max() / d)
    assert values.sum() / d**2 == pytest.approx(1.0, abs=0.1)  # the nuclear norm is Gamma(d^2)
    assert 0.88 * np.pi < np.mean(norms[20:]) < 1.02 * np.pi
    symmetric = np.abs(np.linalg.eigvalsh(draws(NUCLEAR.laplace_markov, d, 1.0, 30))).max(axis=1) / d
    assert 0.92 * np.pi / 2 < symmetric.mean() < 1.05 * np.pi / 2
    assert min(*norms[20:], *symmetric) > 1.1


@pytest.mark.parametrize("sampler", [NUCLEAR.difference, NUCLEAR.laplace, NUCLEAR.laplace_markov])
def test_noise_is_symmetric_centred_and_rotation_invariant(sampler):
    count = 80 if sampler == NUCLEAR.laplace_markov else 1500
    Z = draws(sampler, 3, 1.0, count)
    assert np.array_equal(Z, Z.transpose(0, 2, 1))
    v = np.array([2.0, -1.0, 2.0]) / 3
    along_v = np.einsum("i,kij,j->k", v, Z, v)
    assert stats.ks_2samp(along_v, Z[:, 0, 0]).pvalue > LEVEL
    assert abs(along_v.mean()) < 4 * along_v.std() / np.sqrt(count)


@pytest.mark.parametrize("d", [2, 3])
def test_the_nuclear_norm_of_nuclear_laplace_noise_is_gamma(d):
    norms = nuclear_norms(draws(NUCLEAR.laplace, d, 2.0, 2500))
    assert stats.kstest(norms, stats.gamma(d * (d + 1) / 2, scale=2.0).cdf).pvalue > LEVEL
    # The law on all d x d matrices, Gamma(d^2), would be wrong here.
    assert stats.kstest(norms, stats.gamma(d**2, scale=2.0).cdf).pvalue < LEVEL


def test_the_eigenvalues_of_nuclear_laplace_noise_have_the_stated_density():
    # d = 2, density |l1 - l2| exp(-|l1| - |l2|): signs ++, --, +- have probability 1/6, 1/6, 2/3, and with opposite
    # signs the share l1/(l1 - l2) of the positive one is uniform.
    values = np.linalg.eigvalsh(draws(NUCLEAR.laplace, 2, 1.0, 4000))
    low, high = values.T
    counts = [np.sum(low > 0), np.sum(high < 0), np.sum((low < 0) & (high > 0))]
    assert stats.chisquare(counts, np.array([1, 1, 4]) / 6 * len(values)).pvalue > LEVEL
    mixed = values[(low < 0) & (high > 0)]
    assert stats.kstest(mixed[:, 1] / (mixed[:, 1] - mixed[:, 0]), "uniform").pvalue > LEVEL
    # With equal signs the share s of the larger one has density proportional to 2s - 1 on [1/2, 1].
    same = np.sort(np.abs(values[low * high > 0]), axis=1)
    assert stats.kstest(same[:, 1] / same.sum(axis=1), lambda s: (2 * s - 1) ** 2).pvalue > LEVEL
    # The Wishart difference is another law: it must fail the same test.
    other = np.linalg.eigvalsh(draws(NUCLEAR.difference, 2, 1.0, 6000))
    counts = [np.sum(other[:, 0] > 0), np.sum(other[:, 1] < 0), np.sum(other[:, 0] * other[:, 1] < 0)]
    assert stats.chisquare(counts, np.array([1, 1, 4]) / 6 * len(other)).pvalue < LEVEL


def random_change(rng, d, size):
    """A symmetric matrix of nuclear norm `size`."""
    E = rng.normal(size=(d, d)) * rng.choice([0.05, 1.0], size=(d, 1))
    E = E + E.T
    return E * size / nuclear_norms(E)


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_the_likelihood_ratio_of_nuclear_laplace_noise_never_exceeds_epsilon(d):
    rng, epsilon = np.random.default_rng(d), 0.8
    ratios = []
    for Z in draws(NUCLEAR.laplace if d <= 3 else NUCLEAR.difference, d, 1 / epsilon, 200):
        E = random_change(rng, d, 1.0)
        ratios.append((nuclear_norms(Z - E) - nuclear_norms(Z)) * epsilon)
    assert np.abs(ratios).max() <= epsilon * (1 + 1e-12)
    assert np.abs(ratios).max() > 0.5 * epsilon


def log_wishart_difference_density(Z, nodes=120):
    """Exact log-density for d = 2 and scale 1, up to a constant, by quadrature.

    f(Z) is proportional to exp(tr Z) times the integral of exp(-2 tr X) over X >= 0, X >= Z. In the eigenbasis of Z,
    with eigenvalues of opposite signs, the off-diagonal entry of X ranges over an interval of explicit length.
    """
    low, high = np.linalg.eigvalsh(Z)
    if low >= 0 or high <= 0:
        # X = Z_+ + cone: the integral is exp(-2 tr Z_+) times that over the cone.
        return low + high - 2 * (max(low, 0) + max(high, 0)) + np.log(_cone_integral())
    x, w = np.polynomial.legendre.leggauss(nodes)
    # (a, c) = r (cos^2 t, sin^2 t) beyond the corner (high, 0); split the angle where the two constraints cross.
    cross = np.arctan2(-low, high) if high > 0 else np.pi / 2
    total = 0.0
    r_nodes, r_weights = np.polynomial.laguerre.laggauss(60)
    r = r_nodes / 2
    for start, stop in ((0.0, cross), (cross, np.pi / 2)):
        t = (stop - start) / 2 * x + (stop + start) / 2
        u, c = np.outer(r, np.cos(t)), np.outer(r, np.sin(t))
        speed = np.cos(t) + np.sin(t)  # a + c = r (cos t + sin t): rescale r so that the weight is exp(-2r)
        u, c = u / speed, c / speed
        width = 2 * np.sqrt(np.minimum((high + u) * c, u * (c - low)))
        total += (stop - start) / 2 * np.sum((r_weights / 2 * r)[:, None] * width * w / speed**2)
    return low + high - 2 * high + np.log(total)


def _cone_integral():
    """Integral of exp(-2 tr X) over 2 x 2 positive semidefinite X: 2 sqrt(ac) exp(-2a - 2c) over a, c > 0."""
    return 2 * (math.gamma(1.5) / 2**1.5) ** 2


def test_the_quadrature_density_of_the_wishart_difference_fits_its_sampler():
    # The share of definite draws and the density near the two sides of a sign change pin the oracle down.
    near = log_wishart_difference_density(np.diag([1e-9, 1.3]))
    assert log_wishart_difference_density(np.diag([-1e-9, 1.3])) == pytest.approx(near, abs=2e-3)
    values = np.linalg.eigvalsh(draws(NUCLEAR.difference, 2, 1.0, 10000))
    definite = np.mean(values[:, 0] * values[:, 1] > 0)
    # Integrate |l1 - l2| f over each region of the eigenvalues.
    grid = (np.arange(30) + 0.5) / 30
    high = -np.log1p(-grid)
    weight = 1 / (1 - grid) / 30
    mixed = sum(
        w1 * w2 * (a + b) * np.exp(log_wishart_difference_density(np.diag([-b, a]), nodes=12))
        for a, w1 in zip(high, weight, strict=True)
        for b, w2 in zip(high, weight, strict=True)
    )
    same = 2 * sum(
        w1 * w2 * abs(a - b) / 2 * np.exp(-a - b) * _cone_integral()
        for a, w1 in zip(high, weight, strict=True)
        for b, w2 in zip(high, weight, strict=True)
    )
    assert definite == pytest.approx(same / (same + mixed), abs=0.015)


def test_the_likelihood_ratio_of_the_wishart_difference_never_exceeds_epsilon():
    rng, largest = np.random.default_rng(0), 0.0
    noise = draws(NUCLEAR.difference, 2, 1.0, 100)
    for Z in np.concatenate([noise, 3 * noise[:50]]):
        E = random_change(rng, 2, 0.8)  # epsilon = 0.8 at scale 1
        ratio = abs(log_wishart_difference_density(Z) - log_wishart_difference_density(Z - E))
        largest = max(largest, ratio)
    assert largest <= 0.8 + 2e-3  # the accuracy of the quadrature
    assert largest > 0.6


@pytest.mark.parametrize("d", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_the_norm_of_replacement_laplace_noise_is_gamma(d):
    norms = np.maximum(*sides(draws(LARGER_TRACE.laplace, d, 2.0, 3000, seed=1)))
    assert stats.kstest(norms, stats.gamma(d * (d + 1) / 2, scale=2.0).cdf).pvalue > LEVEL
    # As many draws tell a shape apart that is larger by a half.
    assert stats.kstest(norms, stats.gamma((d * (d + 1) + 1) / 2, scale=2.0).cdf).pvalue < LEVEL


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_tied_pair_has_the_joint_law_of_its_proof(d):
    noise, D = noise_source(3), d * (d + 1) / 2
    pairs = np.array([LARGER_TRACE.pair(noise, d, 2.0) for _ in range(2500)])
    traces = np.trace(pairs, axis1=2, axis2=3)
    assert np.linalg.eigvalsh(pairs).min() > -1e-12
    # Density (a b)^(D - 1) exp(-max(a, b) / 2): the larger is Gamma(2 D), the smaller a share U^(1/D) of it.
    assert stats.kstest(traces.max(axis=1), stats.gamma(2 * D, scale=2.0).cdf).pvalue > LEVEL
    assert stats.kstest((traces.min(axis=1) / traces.max(axis=1)) ** D, "uniform").pvalue > LEVEL
    assert stats.binomtest(int(np.sum(traces[:, 0] > traces[:, 1])), len(pairs)).pvalue > LEVEL
    # Both are rotations of each other's law: an entry of X / tr X is one of a normalised Wishart matrix.
    G = np.random.default_rng(0).normal(size=(4000, d, d + 1))
    W = G @ G.transpose(0, 2, 1)
    shares = W[:, 0, 0] / np.trace(W, axis1=1, axis2=2)
    if d > 1:
        assert stats.ks_2samp(pairs[:, 0, 0, 0] / traces[:, 0], shares).pvalue > LEVEL


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_likelihood_ratio_for_a_replaced_record_reaches_epsilon_and_never_exceeds_it(d):
    rng, ratios = np.random.default_rng(d), []
    for Z in draws(LARGER_TRACE.laplace, d, 1.0, 300):
        x, y = rng.normal(size=(2, d))
        x, y = x / np.linalg.norm(x), y / np.linalg.norm(y) * (rng.random() < 0.5 and d > 1)
        E = np.outer(x, x) - np.outer(y, y)
        ratios.append(larger_trace(Z - E) - larger_trace(Z))
    assert np.abs(ratios).max() <= 1 + 1e-12
    assert np.abs(ratios).max() > 0.7
