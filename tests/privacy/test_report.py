"""Intervals around released numbers cover as often as they say, whatever the law of the noise."""

import math

import numpy as np
import pytest
from scipy import stats

import dpgraph
from dpgraph.exceptions import InvalidParameterError
from dpgraph.privacy.noise import noise_source
from dpgraph.privacy.report import LedgerEntry, PrivacyReport

DRAWS = 100_000


def report(*lines):
    return PrivacyReport(1.0, 0.0, None, "neighbours", tuple(LedgerEntry(n, law, 1.0, s) for n, law, s in lines))


def noise_of(law, scale):
    values, source = np.zeros(DRAWS), noise_source(3)
    if law == "Laplace":
        return source.laplace_on_grid(values, 2.0**-10, scale)
    return source.scalars(values, 2.0**-10, scale) if law == "discrete Gaussian" else source.gaussian(DRAWS, scale)


@pytest.mark.parametrize("law", ["Laplace", "Gaussian", "discrete Gaussian"])
@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.999])
def test_intervals_cover(law, coverage):
    half = report(("x", law, 3.0)).half_width("x", coverage)
    covered = int(np.sum(np.abs(noise_of(law, 3.0)) <= half))
    assert stats.binomtest(covered, DRAWS, coverage).pvalue > 1e-6


def test_a_normal_quantile_covers_laplace_noise_less_often():
    """1.96 standard deviations, as pictures had them: 93.7 % in place of 95 %."""
    deviation = 3.0 * math.sqrt(2)
    covered = float(np.mean(np.abs(noise_of("Laplace", 3.0)) <= 1.96 * deviation))
    assert covered == pytest.approx(1 - math.exp(-1.96 * math.sqrt(2)), abs=0.003)
    assert covered < 0.942
    assert report(("x", "Laplace", 3.0)).half_width("x") == pytest.approx(3 * math.log(20))


@pytest.mark.parametrize(("mechanism", "law"), [("auto", "Laplace"), ("noisy-power", "discrete Gaussian")])
def test_the_cut_of_a_result_has_an_interval(mechanism, law):
    G = dpgraph.datasets.load("five-cycle")
    cut = dpgraph.private_max_cut(G, epsilon=2.0, delta=1e-6, mechanism=mechanism, rng=0)
    line = next(line for line in cut.privacy.entries if line.name == "cut weight")
    assert line.mechanism == law
    per_deviation = cut.privacy.half_width("cut weight") / cut.estimated_value_std
    assert per_deviation == pytest.approx(math.log(20) / math.sqrt(2) if law == "Laplace" else 1.959964)


def test_what_has_no_interval_is_said():
    privacy = report(("x", "Laplace", 1.0), ("x", "Laplace", 2.0), ("y", "K-norm", 1.0), ("z", "Gaussian", 1.0))
    for name in ("x", "y", "w"):
        with pytest.raises(InvalidParameterError, match="'x', 'x', 'z'"):
            privacy.half_width(name)
    for coverage in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidParameterError, match="coverage"):
            privacy.half_width("z", coverage)
