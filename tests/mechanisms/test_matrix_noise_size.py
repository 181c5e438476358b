"""The sizes of matrix noise that are known in advance are those of its laws, integrated exactly and measured."""

from fractions import Fraction
from functools import cache
from itertools import permutations
from math import factorial, prod

import numpy as np
import pytest

from dpgraph.bounds.moments import NoiseSize, noise_size
from dpgraph.privacy.matrix_noise import LARGER_TRACE, NUCLEAR
from dpgraph.privacy.noise import noise_source

SAMPLERS = {
    ("wishart-difference", "nuclear"): NUCLEAR.difference,
    ("wishart-difference", "larger-trace"): LARGER_TRACE.difference,
    ("nuclear-laplace", "nuclear"): NUCLEAR.laplace,
    ("nuclear-laplace", "larger-trace"): LARGER_TRACE.laplace,
}


def sign(order):
    return prod(-1 if order[j] > order[i] else 1 for i in range(len(order)) for j in range(i))


@cache
def ordered_integral(exponents):
    """Integral of prod a_i^(e_i) exp(-sum a_i) over a_1 > a_2 > ... > 0, from the largest inwards."""
    if not exponents:
        return Fraction(1)
    powers = {exponents[0]: Fraction(1)}
    for rate, following in enumerate(exponents[1:], start=1):
        tails = {}  # of a^e exp(-rate a) beyond b: sum_j e!/j! b^j exp(-rate b) / rate^(e - j + 1)
        for e, c in powers.items():
            for j in range(e + 1):
                tails[j + following] = tails.get(j + following, 0) + c * Fraction(
                    factorial(e), factorial(j) * rate ** (e - j + 1)
                )
        powers = tails
    return sum(c * factorial(e) / Fraction(len(exponents)) ** (e + 1) for e, c in powers.items())


def exact_moments(d, norm):
    """E ||Z||_F^2 and E (tr Z)^2 for the density exp(-norm), from prod |l_i - l_j| expanded for each sign pattern."""
    total, square, trace = Fraction(0), Fraction(0), Fraction(0)
    for positive in range(d + 1):
        # Positive eigenvalues a_1 > a_2 > ..., negative ones -b_1 < -b_2 < ...
        reversal = (-1) ** ((d - positive) * (d - positive - 1) // 2)
        for order in permutations(range(d)):
            exponents = list(order)
            factor = sign(order) * reversal * (-1) ** sum(order[positive:])

            def integral(*raised, exponents=exponents, positive=positive):
                e = list(exponents)
                for i in raised:
                    e[i] += 1
                up, down = tuple(e[:positive]), tuple(e[positive:])
                value = ordered_integral(up) * ordered_integral(down)
                if norm == "larger-trace" and up and down:
                    # Sums A and B have densities A^(m-1)/(m-1)! and B^(k-1)/(k-1)!; exp(-max) in place of exp(-A-B).
                    m, k = sum(up) + len(up), sum(down) + len(down)
                    value *= Fraction(factorial(m + k), factorial(m) * factorial(k))
                return value

            total += factor * integral()
            for i in range(d):
                square += factor * integral(i, i)
                for j in range(d):
                    same = (i < positive) == (j < positive)
                    trace += factor * integral(i, j) * (1 if same else -1)
    return square / total, trace / total


@pytest.mark.parametrize("norm", ["nuclear", "larger-trace"])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.slow)])
def test_the_listed_moments_of_the_laplace_laws_are_their_integrals(d, norm):
    size = noise_size("nuclear-laplace", norm, d)
    assert (size.square, size.trace_variance) == pytest.approx([float(m) for m in exact_moments(d, norm)], rel=1e-14)


@pytest.mark.parametrize("law", SAMPLERS)
@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_samplers_have_the_stated_moments(law, d):
    size, noise, k = noise_size(*law, d), noise_source(1), max(d - 1, 1)
    Z = 3.0 * np.array([SAMPLERS[law](noise, d, 1.0) for _ in range(6000)])
    measured = {
        9 * size.square: (Z**2).sum(axis=(1, 2)),
        9 * size.trace_variance: np.trace(Z, axis1=1, axis2=2) ** 2,
        9 * size.block_trace_variance(k): np.trace(Z[:, :k, :k], axis1=1, axis2=2) ** 2,
    }
    if d > 1:
        measured[9 * size.variance] = 2 * Z[:, 0, 1] ** 2
    for stated, draws in measured.items():
        assert abs(draws.mean() - stated) < 4 * draws.std() / np.sqrt(len(draws))


def test_isotropic_noise_has_one_variance_in_all_directions():
    size = NoiseSize(5, 2.0 * 15, 2.0 * 5)
    assert size.variance == pytest.approx(2.0)
    assert size.block_trace_variance(3) == pytest.approx(6.0)


def test_replacement_noise_is_smaller_than_nuclear_noise_for_twice_the_change():
    """The figures of the design: 2.82 to 1.41, 6.00 to 3.95, 9.80 to 7.48 for d = 1, 2, 3."""
    before = [2 * np.sqrt(noise_size("wishart-difference", "nuclear", d).square) for d in (1, 2, 3)]
    after = [np.sqrt(noise_size("nuclear-laplace", "larger-trace", d).square) for d in (1, 2, 3)]
    assert before == pytest.approx([2.83, 6.00, 9.80], abs=0.01)
    assert after == pytest.approx([1.41, 3.95, 7.48], abs=0.01)
    for d in range(1, 40):
        tied = noise_size("wishart-difference", "larger-trace", d).square
        assert tied < 4 * noise_size("wishart-difference", "nuclear", d).square
        if 1 < d < 6:
            assert noise_size("nuclear-laplace", "larger-trace", d).square < tied
