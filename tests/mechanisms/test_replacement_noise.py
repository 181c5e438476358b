"""Noise for replaced records has the densities that its privacy proof needs, and the norm is the one of the proof."""

import numpy as np
import pytest
from scipy import stats

from dpgraph.privacy.matrix_noise import LARGER_TRACE, NUCLEAR, MatrixLaw
from dpgraph.privacy.noise import noise_source
from dpgraph.problems.records.covariance import private_covariance
from tests.privacy.replay import larger_trace

# Every statistical claim below is tested at this level; seeds are fixed, so that a pass is a pass for ever.
LEVEL = 1e-3


def draws(sampler, d, scale, count, seed=0):
    noise = noise_source(seed)
    return np.array([sampler(noise, d, scale) for _ in range(count)])


def sides(Z):
    """tr Z_+ and tr Z_- of each matrix."""
    values = np.linalg.eigvalsh(Z)
    return np.maximum(values, 0).sum(axis=-1), np.maximum(-values, 0).sum(axis=-1)


# --- the norm ----------------------------------------------------------------------------------------------------


def test_the_larger_trace_is_a_norm_between_half_the_nuclear_norm_and_all_of_it():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        for _ in range(50):
            A, B = (M + M.T for M in rng.normal(size=(2, d, d)) * rng.choice([0.1, 1.0], size=(2, d, 1)))
            nuclear = np.abs(np.linalg.eigvalsh(A)).sum()
            assert nuclear / 2 * (1 - 1e-12) <= larger_trace(A) <= nuclear * (1 + 1e-12)
            assert larger_trace(-3 * A) == pytest.approx(3 * larger_trace(A))
            assert larger_trace(A + B) <= larger_trace(A) + larger_trace(B) + 1e-12
            # It is the largest <P, A> or <P, -A> over 0 <= P <= I, attained by a projector onto eigenvectors.
            P = np.linalg.qr(rng.normal(size=(d, d))).Q
            P = (P * rng.random(d)) @ P.T
            assert abs(np.sum(P * A)) <= larger_trace(A) + 1e-12


# --- exact laws --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampler", [LARGER_TRACE.difference, LARGER_TRACE.laplace, LARGER_TRACE.laplace_markov])
def test_for_one_dimension_the_noise_is_laplace(sampler):
    count = 400 if sampler == LARGER_TRACE.laplace_markov else 4000
    Z = draws(sampler, 1, 0.7, count)[:, 0, 0]
    assert stats.kstest(Z, stats.laplace(scale=0.7).cdf).pvalue > LEVEL
    assert stats.kstest(Z / 2, stats.laplace(scale=0.7).cdf).pvalue < LEVEL


@pytest.mark.parametrize("d", [2, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_the_norm_of_replacement_laplace_noise_is_gamma(d):
    norms = np.maximum(*sides(draws(LARGER_TRACE.laplace, d, 2.0, 3000, seed=1)))
    assert stats.kstest(norms, stats.gamma(d * (d + 1) / 2, scale=2.0).cdf).pvalue > LEVEL
    # As many draws tell a shape apart that is larger by a half.
    assert stats.kstest(norms, stats.gamma((d * (d + 1) + 1) / 2, scale=2.0).cdf).pvalue < LEVEL


def test_the_eigenvalues_of_replacement_laplace_noise_have_the_stated_density():
    # d = 2, density |l1 - l2| exp(-max(tr+, tr-)). Over a > b > 0, a - b times exp(-a - b) has the integral 1/2; over
    # a, b > 0, a + b times exp(-max(a, b)) has the integral 6. So ++, --, +- have the odds 1:1:12.
    values = np.linalg.eigvalsh(draws(LARGER_TRACE.laplace, 2, 1.0, 6000))
    low, high = values.T
    counts = [np.sum(low > 0), np.sum(high < 0), np.sum((low < 0) & (high > 0))]
    odds = np.array([1, 1, 12]) / 14
    assert stats.chisquare(counts, odds * len(values)).pvalue > LEVEL
    # Given mixed signs, the smaller side is a share t of the larger one with density proportional to 1 + t on [0, 1].
    mixed = np.abs(values[(low < 0) & (high > 0)])
    share = mixed.min(axis=1) / mixed.max(axis=1)
    assert stats.kstest(share, lambda t: (t + t**2 / 2) / 1.5).pvalue > LEVEL
    # The tied Wishart difference is another law: it must fail the same test.
    other = np.linalg.eigvalsh(draws(LARGER_TRACE.difference, 2, 1.0, 6000))
    counts = [np.sum(other[:, 0] > 0), np.sum(other[:, 1] < 0), np.sum(other[:, 0] * other[:, 1] < 0)]
    assert stats.chisquare(counts, odds * len(other)).pvalue < LEVEL


@pytest.mark.parametrize("d", [2, 3])
def test_the_law_is_the_nuclear_laplace_law_after_one_more_acceptance(d):
    """An independent sampler: exp(-N) = exp(-||Z||_*/2) exp(-|tr Z|/2), so nuclear noise of scale 2 is thinned."""
    rng, nuclear = np.random.default_rng(0), draws(NUCLEAR.laplace, d, 2.0, 9000, seed=5)
    thinned = nuclear[rng.random(len(nuclear)) < np.exp(-np.abs(np.trace(nuclear, axis1=1, axis2=2)) / 2)]
    direct = draws(LARGER_TRACE.laplace, d, 1.0, 4000, seed=6)
    for statistic in (lambda Z: sides(Z)[0], lambda Z: Z[:, 0, 1], lambda Z: np.linalg.norm(Z, axis=(1, 2))):
        assert stats.ks_2samp(statistic(thinned), statistic(direct)).pvalue > LEVEL
    assert stats.ks_2samp(sides(nuclear)[0], sides(direct)[0]).pvalue < LEVEL


@pytest.mark.parametrize("d", [2, 4])
def test_the_markov_chain_agrees_with_the_exact_sampler_where_both_exist(d):
    exact, chain = draws(LARGER_TRACE.laplace, d, 1.0, 1000), draws(LARGER_TRACE.laplace_markov, d, 1.0, 250, seed=2)
    for statistic in (lambda Z: sides(Z)[0], lambda Z: np.linalg.eigvalsh(Z)[:, -1], lambda Z: Z[:, 0, 0]):
        assert stats.ks_2samp(statistic(exact), statistic(chain)).pvalue > LEVEL


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_tied_pair_has_the_joint_law_of_its_proof(d):
    noise, D = noise_source(3), d * (d + 1) / 2
    pairs = np.array([LARGER_TRACE.pair(noise, d, 2.0) for _ in range(4000)])
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


# --- privacy -----------------------------------------------------------------------------------------------------


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


def halve(monkeypatch):
    for name in ("difference", "laplace"):
        honest = getattr(MatrixLaw, name)
        monkeypatch.setattr(MatrixLaw, name, lambda laws, noise, d, scale, f=honest: f(laws, noise, d, scale / 2))


@pytest.mark.parametrize("mechanism", ["wishart-difference", "nuclear-laplace"])
@pytest.mark.parametrize("d", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_an_audit_of_replaced_records_does_not_refute_the_guarantee_and_refutes_half_the_noise(
    d, mechanism, monkeypatch
):
    """Lower confidence bound (99.9 %) on epsilon from one event, fixed in advance, on a worst pair of neighbours."""
    pair = [np.eye(d)[[0] * 5], np.vstack([np.eye(d)[[0] * 4], np.eye(d)[1:2] if d > 1 else np.zeros((1, 1))])]

    def certified(runs=2500 if mechanism == "wishart-difference" else 1200):
        hits = []
        for start, rows in zip((0, runs), pair, strict=True):
            options = {"epsilon": 1.0, "mechanism": mechanism, "project": False}
            matrices = (private_covariance(rows, **options, rng=start + seed).matrix for seed in range(runs))
            hits.append(sum(M[0, 0] - (M[1, 1] if d > 1 else 0.0) > 1.0 for M in matrices))
        low = stats.beta.ppf(5e-4, hits[0], runs - hits[0] + 1)
        high = stats.beta.ppf(1 - 5e-4, hits[1] + 1, runs - hits[1])
        return np.log(low / high)

    assert 0.4 < certified() <= 1.0
    halve(monkeypatch)
    assert certified() > 1.0
