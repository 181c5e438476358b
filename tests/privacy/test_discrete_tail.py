"""The slack of a good event covers the noise that is drawn: a discrete Gaussian, and the rounding of what it hides."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from dpgraph.privacy.call import open_call
from dpgraph.privacy.ledger import _GRID_RATIO, grid_quantile
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.relation import Edge


def law(s, reach=12):
    """Probabilities of the discrete Gaussian on -K, ..., K, where K is `reach` standard deviations."""
    K = math.ceil(reach * s)
    weights = np.exp(-0.5 * (np.arange(-K, K + 1) / s) ** 2)
    return weights / math.fsum(weights), K


def tail(s, least):
    """P[X >= least], the exact sum."""
    p, K = law(s)
    return math.fsum(p[least + K :])


def normal_tail(x):
    return float(mpmath.ncdf(-mpmath.mpf(x)))


@pytest.mark.parametrize("s", [1.0, 1.3, 2.0, 5.5, 40.0])
def test_the_theorem_the_discrete_law_is_at_most_the_normal_one_plus_one_step_everywhere(s):
    with mpmath.workdps(40):
        for m in range(-math.ceil(8 * s), math.ceil(8 * s) + 1):
            assert tail(s, m) <= normal_tail((m - 1) / s) * (1 + 1e-12)


def test_the_theorem_in_rational_arithmetic():
    """s**2 = 1/(2 ln 2) makes all weights powers of two (the half of the theorem for m >= 1 holds for every s)."""
    total = 1 + 2 * sum(Fraction(1, 2 ** (k * k)) for k in range(1, 30))
    s = 1 / math.sqrt(2 * math.log(2))
    for m in (1, 2, 3, 4):
        exact = sum(Fraction(1, 2 ** (k * k)) for k in range(m, 30)) / total
        assert float(exact) <= normal_tail((m - 1) / s)
        assert float(exact) == pytest.approx(tail(s, m), rel=1e-12)


@pytest.mark.parametrize("failure", [1e-13, 1e-9, 1e-4, 0.05, 0.4, 0.9])
@pytest.mark.parametrize("s", [1.0, 3.7, 50.0, 2e3])
def test_one_release_is_further_off_than_its_slack_no_oftener_than_promised(s, failure):
    z = grid_quantile(failure, ratio=s)
    # The worst value lies half a step below the point that it is rounded to.
    assert tail(s, math.floor(z * s - 0.5) + 1) <= failure
    assert tail(s, math.floor(z * s - 0.5) + 1) > failure * math.exp(-4 * (abs(z) + 1) / s)  # nor much more rarely


@pytest.mark.parametrize("failure", [1e-8, 1e-3, 0.3, 0.8])
@pytest.mark.parametrize("s", [1.0, 3.7, 20.0])
def test_the_difference_of_two_releases_is_covered_too(s, failure):
    p, K = law(s)
    difference = np.convolve(p, p)  # on -2K, ..., 2K
    z = grid_quantile(failure, ratio=s, terms=2)
    assert math.fsum(difference[math.floor(math.sqrt(2) * z * s - 1) + 1 + 2 * K :]) <= failure


def test_a_normal_quantile_would_fail_more_often_than_its_share_of_delta():
    """The fault that was there: at the grid of the package, by a relative 1.4e-5."""
    failure = 1e-7
    z = -float(ndtri(failure))
    assert tail(_GRID_RATIO, math.floor(z * _GRID_RATIO - 0.5) + 1) > failure * (1 + 1e-5)


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-300, 0.999), st.floats(1.0, 1e9), st.integers(1, 4))
def test_the_quantile_is_above_the_normal_one_by_a_step_and_a_half_for_each_term(failure, ratio, terms):
    extra = grid_quantile(failure, ratio=ratio, terms=terms) + float(ndtri(failure))
    assert extra == pytest.approx(1.5 * math.sqrt(terms) / ratio, rel=1e-3, abs=1e-10)


def test_the_ledger_hands_out_this_quantile_and_a_grid_for_which_it_holds():
    for sensitivity, mu, count in ((1.0, 0.3, 1), (3e-7, 2.0, 9), (1e90, 1e-5, 40)):
        noise = noise_source(0)
        ledger = open_call(epsilon=60.0, delta=0.5, accountant=None, relation=Edge(), noise=noise, slack=0.1).ledger
        grid = ledger.gaussian_on_grid("numbers", sensitivity=sensitivity, mu=mu, count=count)
        assert grid.scale >= _GRID_RATIO * grid.unit
        assert ledger.good_event("bound", 0.06, candidates=3) == grid_quantile(0.02, ratio=_GRID_RATIO)
