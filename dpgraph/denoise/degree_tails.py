"""A degree distribution from noisy numbers of vertices of degree at least 1, 2, ..., all released."""

import math

import numpy as np
import scipy  # its parts are imported when they are used: optimize takes .2 seconds

from dpgraph.tuning import COMMON, TAILS
from dpgraph.typing import FloatArray, IntArray

#: Steps of the search for a constant: rounded sums no longer change then.
_HALVINGS = 50
#: Vertices of a degree are expected to be at least so many: a rate of 0 would be certain.
_LEAST_RATE = 1e-3
#: Noisy numbers are integers: noise of a standard deviation below this is 0, but with probability at most its square.
_CERTAIN = 1e-3
#: Up to so many vertices are alone, and so many times the degree of all others is far from them.
_LONE, _FAR = 3, 1.25
#: With this probability noise makes a vertex of many edges.
_BY_CHANCE = 0.01


def degree_counts(tails: FloatArray, n: int, std: float, total: float | None = None) -> IntArray:
    """Numbers of vertices of degree 0, 1, ... from noisy numbers of vertices of degree at least k = 1, 2, ...

    The nearest decreasing numbers (isotonic regression) are a first estimate. :func:`_posterior_mean` takes from them
    how many vertices each degree may be expected to have, and combines this with the noisy numbers `tails`, whose noise
    has standard deviation `std`. With `total`, the sum of all degrees, the numbers are the mean given this sum too.
    """
    first = decreasing(tails, n)
    seen = int(np.count_nonzero(first))  # the rest is 0: no vertex has so many neighbours
    found = first[:seen]
    if seen > 1 and std > _CERTAIN:  # a single number has no steps
        mean, response = _posterior_mean(tails[:seen], found, std)
        found = decreasing(mean, n) if total is None else _with_sum(mean, response, n, total)
    return _steps(np.concatenate([[n], found, [0]]))


def _steps(at_least: FloatArray) -> IntArray:
    """Numbers of vertices of degree 0, 1, ... from those of at least so many, up to the largest degree that one has."""
    whole: IntArray = np.rint(at_least).astype(np.int64)
    return np.trim_zeros(whole[:-1] - whole[1:], "b")


def block_counts(means: FloatArray, ends: IntArray, n: int) -> IntArray:
    """Numbers of vertices of degree 0, 1, ... from noisy means over blocks of degrees of those of degree at least k.

    `ends` are the last degrees of the blocks. The nearest decreasing means belong to the centres of blocks; between
    them, and from all `n` vertices of degree at least 0, numbers are linear. Beyond the last block they fall by
    the factor by which they fall from half of its degree to it.
    """
    widths, limit = np.diff(ends, prepend=0), int(ends[-1])
    first = scipy.optimize.isotonic_regression(means, weights=widths**2.0, increasing=False).x
    centres = np.append(0.0, ends - (widths - 1) / 2)
    found = np.interp(np.arange(limit + 1), centres, np.append(n, np.clip(first, 0, n)))
    last, before = found[-1], found[limit // 2]
    if 0.5 < last < before:
        rate = np.log(before / last) / (limit - limit // 2)
        more = min(int(np.log(2 * last) / rate), n - 1 - limit)
        found = np.append(found, last * np.exp(-rate * np.arange(1, more + 1)))
    return _steps(np.append(found[:n], 0.0))


def believable_counts(tails: tuple[FloatArray, float], degrees: tuple[FloatArray, float], total: int) -> IntArray:
    """The same for a known sum of all degrees, where noisy degrees of all vertices say how many edges the largest have.

    Both come with the standard deviation of their noise. That of the numbers hides vertices of many edges if these are
    fewer than it is large. A vertex is taken to be alone, and its noisy degree to be right, if that is so far above the
    degree of this rank that noise is as large for one of n vertices with probability `_BY_CHANCE`, were it of Laplace's
    law. No other one has more edges than both that degree and the largest noisy one of the others.
    """
    (numbers, std), (noisy, spread), n = tails, degrees, degrees[0].size
    counts = _believable_counts(numbers, n, std, total)
    usual = np.repeat(np.arange(counts.size), counts)[-min(math.ceil(min(std, n)) + 1, n) :][:1].sum()
    alone = noisy > usual + spread / math.sqrt(2) * math.log((n + 1) / (2 * _BY_CHANCE))
    largest = np.sort(np.rint(np.clip(noisy[alone], 0, max(int(counts[1:].sum()) - 1, 0))).astype(np.int64))
    others = max(math.ceil(min(noisy[~alone].max(initial=1.0), n)), usual)
    rest = (numbers - (largest.size - np.searchsorted(largest, np.arange(1, numbers.size + 1))))[:others]
    found = _believable_counts(rest, n - largest.size, std, max(total - int(largest.sum()), 0))
    return np.bincount(np.append(np.repeat(np.arange(found.size), found), largest))


def _believable_counts(tails: FloatArray, n: int, std: float, total: float) -> IntArray:
    """The same without noisy degrees; no vertex has as many edges as others have any, which could not be drawn.

    Up to three vertices of far more edges than all others are left out too unless the noisy numbers show them.
    Their numbers N_k are more likely than 0 by a factor of exp(sum_k N_k (2 y_k - N_k)/(2 std^2)), were the noise
    normal: that has to be e. Where there are none, noise makes some, as no number is negative.
    """
    while True:
        counts = degree_counts(tails, n, std, total)
        if counts.size > 1 + (most := max(int(counts[1:].sum()) - 1, 0)):
            tails = tails[:most]
            continue
        largest = np.append(np.repeat(np.arange(counts.size), counts)[: -_LONE - 2 : -1], np.zeros(_LONE + 1, np.int64))
        others = next((j for j in range(1, _LONE + 1) if largest[j - 1] > _FAR * largest[j] > 0), 0)
        first = int(largest[others])
        numbers = np.cumsum(counts[::-1])[::-1][first + 1 :]
        shown = float(numbers @ (2 * tails[first : first + numbers.size] - numbers))
        if others == 0 or shown >= 2 * std**2:
            return counts
        tails = tails[:first]


def _with_sum(mean: FloatArray, response: FloatArray, n: int, total: float) -> FloatArray:
    """Whole decreasing numbers near mean + t response, for a t, whose sum is `total`.

    If N is normal with covariance C and sum_k N_k is known, its mean changes along the `response` C 1.
    """

    def rounded(t: float) -> FloatArray:
        return np.rint(decreasing(mean + t * response, n))

    reach = mean.size * n / response.sum() + np.abs(mean / response).max()
    low, high = -reach, reach
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if rounded(middle).sum() > total else (middle, high)
    numbers = rounded(low)
    larger = np.flatnonzero(rounded(high) > numbers)  # a plateau that is rounded up as a whole: its first numbers are
    numbers[larger[: max(int(total - numbers.sum()), 0)]] += 1
    return numbers


def decreasing(values: FloatArray, n: int) -> FloatArray:
    """The nearest decreasing numbers, between 0 and n."""
    return np.clip(scipy.optimize.isotonic_regression(values, increasing=False).x if values.size else values, 0, n)


def _posterior_mean(noisy: FloatArray, first: FloatArray, std: float) -> tuple[FloatArray, FloatArray]:
    """Numbers N_k of vertices of degree at least k where the numbers of each degree are near a smooth rate.

    Released are y_k = N_k + noise; steps N_k - N_{k+1} have mean and variance rate_k, as of a Poisson variable. N
    minimises

        sum_k (y_k - N_k)^2/std^2 + sum_k (N_k - N_{k+1} - rate_k)^2/rate_k,   N = 0 beyond the last y_k,

    the mean of N given y if all laws are normal: one tridiagonal system. Also returned: the covariance of N given y
    times the vector of ones.

    The rate at k is the mean step of the numbers `first`, which decrease, in a window around k. A step further than
    `COMMON.clear` standard deviations from it is kept as it is (all vertices of a regular graph, say), and left out of
    the windows, and of the sum.
    """
    steps = first - np.append(first[1:], 0.0)
    reach = np.maximum(1, np.rint(TAILS.window * np.arange(1, steps.size + 1))).astype(np.int64)
    rate = _window_mean(steps, np.ones(steps.size, dtype=bool), reach)
    known = np.abs(steps - rate) <= COMMON.clear * np.sqrt(2 * std**2 + rate)
    if not known.all():
        rate = _window_mean(steps, known, reach)
    weight = np.where(known, 1.0 / rate, 0.0)
    before, drift = np.append(0.0, weight[:-1]), weight * rate
    evidence = noisy / std**2 + drift - np.append(0.0, drift[:-1])
    both = np.column_stack([evidence, np.ones_like(evidence)])
    mean, response = scipy.linalg.lapack.dptsv(1.0 / std**2 + weight + before, -before[1:], both)[2].T
    return mean, response


def _window_mean(steps: FloatArray, known: FloatArray, reach: IntArray) -> FloatArray:
    """The mean of those `steps` that are `known` up to reach_k places from k, taken twice, at least `_LEAST_RATE`."""
    k = np.arange(steps.size)
    low, high = np.maximum(k - reach, 0), np.minimum(k + reach + 1, steps.size)
    values, before = np.where(known, steps, 0.0), np.append(0, np.cumsum(known))
    for counted in (np.maximum(before[high] - before[low], 1), high - low):
        sums = np.append(0.0, np.cumsum(values))
        values = (sums[high] - sums[low]) / counted
    return np.maximum(values, _LEAST_RATE)
