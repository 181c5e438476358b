"""Intervals of quotients of two released numbers."""

import math
from typing import NamedTuple

from scipy.special import ndtri


class Noise(NamedTuple):
    """Variances of the noise on a numerator and on a denominator, and their covariance."""

    above: float
    below: float
    both: float


def ratio_interval(
    above: float, below: float, noise: Noise, *, level: float = 0.95, least: float = 0.0, most: float = 1.0
) -> tuple[float, float]:
    """All quotients in [least, most] that two numbers with noise do not contradict (Fieller 1954).

    For the true quotient p, above - p below is noise alone, of variance V(p) = above - 2 p both + p^2 below. So the
    interval holds all p with |above - p below| <= c V(p)^(1/2): a quadratic inequality. c is the larger one of the
    quantile of a normal variable, and of a Laplace variable of variance 1: a sum of Laplace noise lies between the two.
    A denominator that does not stand out of its noise leaves everything possible.
    """
    size = max(abs(above), abs(below), math.sqrt(noise.above), math.sqrt(noise.below))
    unit = math.ldexp(1.0, math.frexp(size)[1])  # fourth powers of large weights have no double
    above, below = above / unit, below / unit
    noise = Noise(*(variance / unit / unit for variance in noise))
    miss = 1 - level
    c = max(float(ndtri(1 - miss / 2)), -math.log(miss) / math.sqrt(2.0)) ** 2
    square, linear, constant = below**2 - c * noise.below, above * below - c * noise.both, above**2 - c * noise.above

    def gap(p: float) -> float:
        return (square * p - 2 * linear) * p + constant

    found = [p for p in (least, most) if gap(p) <= 0]
    root = linear**2 - square * constant
    if root >= 0 and square != 0:
        found += [p for sign in (-1, 1) if least < (p := (linear + sign * math.sqrt(root)) / square) < most]
    if found:
        return min(found), max(found)
    nearest = most if above * below > 0 and abs(above) > most * abs(below) else least
    return nearest, nearest
