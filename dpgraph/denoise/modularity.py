"""Modularity of communities from released weights between them, which are better merged, and quotients of weights."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used: special takes a tenth of a second
from scipy import sparse

from dpgraph.denoise.iterates import LARGEST_SCALE
from dpgraph.linalg.some_rows import label_weights
from dpgraph.typing import FloatArray, IntArray


@dataclass(frozen=True)
class BlockWeights:
    """Noisy weight between every two of k groups, and inside each.

    `values` is upper triangular, shape (k, k); `numbers` says how many noisy numbers each entry is the sum of, and
    `std` is the standard deviation of the noise on each of those. Their sum has been corrected by a total with noise of
    its own (:meth:`with_total`), or by none, where `total_std` is infinite.
    """

    values: FloatArray
    numbers: FloatArray
    std: float
    total_std: float = math.inf

    @classmethod
    def released(cls, values: FloatArray, std: float) -> "BlockWeights":
        """Weights of which each is one noisy number."""
        return cls(values, np.triu(np.ones_like(values)), std)

    def grouped(self, groups: IntArray) -> "BlockWeights":
        """Weights between groups of the groups."""
        member = np.eye(int(groups.max()) + 1)[groups]
        values, numbers = (_folded(member.T @ entries @ member) for entries in (self.values, self.numbers))
        return BlockWeights(values, numbers, self.std, self.total_std)

    def with_total(self, total: float, std: float) -> "BlockWeights":
        """The same, where all weights together are known to be `total` with noise of this standard deviation.

        The sum of N noisy numbers moves towards it by the part N sigma^2/(N sigma^2 + std^2) of the difference, evenly
        for every number: the least-squares estimate.
        """
        known = BlockWeights(self.values, self.numbers, self.std, std)
        excess = total - float(self.values.sum())
        values = self.values + known.trust * excess / float(self.numbers.sum()) * self.numbers
        return BlockWeights(values, self.numbers, self.std, std)

    @property
    def trust(self) -> float:
        """By which part of the difference the sum was moved to the total."""
        own = self.std * math.sqrt(float(self.numbers.sum()))
        if not self.total_std < math.inf:
            return 0.0
        larger = max(own, self.total_std)
        return (own / larger) ** 2 / ((own / larger) ** 2 + (self.total_std / larger) ** 2) if larger > 0 else 0.0

    def deviation(self, slopes: FloatArray) -> float:
        """Standard deviation of sum_ab slopes_ab values_ab: the noise in it is that of the numbers and of the total.

        With s the mean slope of a number and t the trust, the numbers have slopes less t s, and the total has t s.
        """
        common = self.trust * float((self.numbers * slopes).sum()) / float(self.numbers.sum())
        own = self.std * math.sqrt(float((self.numbers * (slopes - common) ** 2).sum()))
        return math.hypot(own, common * self.total_std) if common else own

    @property
    def stds(self) -> FloatArray:
        """Standard deviation of the noise on each weight, before a total corrected it, as a symmetric matrix."""
        return self.std * np.sqrt(self.numbers + np.triu(self.numbers, 1).T)

    @property
    def symmetric(self) -> FloatArray:
        """The weights as a symmetric matrix."""
        return self.values + np.triu(self.values, 1).T


def _folded(sums: FloatArray) -> FloatArray:
    """Upper triangle of a matrix, with what stood below the diagonal added."""
    return np.asarray(np.triu(sums) + np.tril(sums, -1).T)


def modularity(weights: BlockWeights, resolution: float) -> tuple[float, float]:
    """Modularity Q of the groups, and its standard deviation to first order; NaN and infinity if no weight was found.

    With inside weights e_aa, total m and degree sums D_a = e_aa + sum_b e_ab, Q = sum_a (e_aa/m - gamma D_a^2/(4 m^2)),
    and dQ/de_ab = [a = b]/m - sum_c e_cc/m^2 - gamma ((D_a + D_b)/(2 m^2) - sum_c D_c^2/(2 m^3)).
    """
    total = float(weights.values.sum())
    if not total > 0:
        return math.nan, math.inf
    inside = np.diag(weights.values) / total
    volumes, squares = _volumes(weights, total)
    value = float(inside.sum()) - resolution * squares / 4
    slopes = np.eye(volumes.size) - inside.sum() - resolution * (np.add.outer(volumes, volumes) - squares) / 2
    return value, weights.deviation(slopes) / total


def _volumes(weights: BlockWeights, total: float) -> tuple[FloatArray, float]:
    """Shares v_a = D_a/m of the degree sums in the total, and the sum of their squares without what noise adds to it.

    With d_a of N numbers in D_a, those inside twice, and t the trust, the noise of D_a - v_a m has the variance
    sigma^2 (d_a + 2 n_aa - d_a^2/N + (1 - t) N (d_a/N - v_a)^2). No sum of squares is below 4/k, that of equal groups.
    """
    volumes = (weights.values.sum(axis=0) + weights.values.sum(axis=1)) / total
    inside, every = np.diag(weights.numbers), float(weights.numbers.sum())
    numbers = weights.numbers.sum(axis=0) + weights.numbers.sum(axis=1)
    apart = (1 - weights.trust) * every * (numbers / every - volumes) ** 2
    noise = min(weights.std / total, LARGEST_SCALE) ** 2 * (numbers + 2 * inside - numbers**2 / every + apart)
    return volumes, max(float(volumes @ volumes - noise.sum()), 4 / volumes.size)


def modularity_interval(weights: BlockWeights, resolution: float) -> tuple[float, float]:
    """A 95 % interval for the modularity within what one can be; the plug-in variance covers squares of noise, too."""
    least, total = min(-resolution / 2, 1 - resolution), float(weights.values.sum())
    if not total > 0:
        return least, 1.0
    value, _ = modularity(weights, resolution)
    volumes, squares = _volumes(weights, total)
    slopes = np.eye(volumes.size) - resolution * (np.add.outer(volumes, volumes) - squares / 2) / 2
    return _interval(weights, value * total, slopes, least)


def share_inside(weights: BlockWeights) -> tuple[float, float, float]:
    """Which share of the weight lies inside the groups (NaN if no weight was found), and its 95 % interval."""
    total, inside = float(weights.values.sum()), float(np.trace(weights.values))
    value = min(max(inside / total, 0.0), 1.0) if total > 0 else math.nan
    return value, *_interval(weights, inside, np.eye(len(weights.values)), 0.0)


def _interval(weights: BlockWeights, above: float, slopes: FloatArray, least: float) -> tuple[float, float]:
    """Of the quotient of a number that moves with the weights by `slopes`, and their total; at most 1."""
    ones = np.ones_like(slopes)
    moved = (slopes, ones, slopes + ones, slopes - ones)
    above_it, total, more, less = (min(weights.deviation(way), LARGEST_SCALE) ** 2 for way in moved)
    noise = Noise(above_it, total, (more - less) / 4)
    return ratio_interval(above, float(weights.values.sum()), noise, least=least)


def sums_between(pairs: sparse.csr_array, labels: IntArray) -> sparse.csr_array:
    """Public weights between every two groups, and inside each, twice, on the diagonal, from those of all pairs."""
    k = int(labels.max()) + 1
    if k * k <= pairs.nnz:  # no sorting
        return sparse.csr_array(label_weights(pairs, labels, labels, k))
    entries = pairs.tocoo()
    ends = (labels[entries.coords[0]], labels[entries.coords[1]])
    return sparse.coo_array((entries.data, ends), shape=(k, k)).tocsr()


def weights_between(pairs: sparse.csr_array, labels: IntArray) -> FloatArray:
    """The same as an upper triangle, once inside each."""
    between: FloatArray = np.triu(sums_between(pairs, labels).toarray())
    between[np.diag_indices_from(between)] /= 2
    return between


def largest_groups(labels: IntArray, sizes: FloatArray, most: int) -> IntArray:
    """Groups numbered from the largest sum of `sizes` on; all from number `most` on are one."""
    order = np.argsort(-np.bincount(labels, weights=sizes), kind="stable")
    rank: IntArray = np.minimum(np.argsort(order), most - 1)
    return rank[labels]


def ends_of(edges: FloatArray) -> FloatArray:
    """Ends of edges between groups, of symmetric numbers of edges: those inside, on the diagonal, count twice."""
    return edges + np.diag(np.diag(edges))


def merge_labels(weights: BlockWeights, resolution: float, *, least: int, most: int) -> tuple[IntArray, BlockWeights]:
    """Merge the two groups that raise modularity most (or lower it least), and again; weights below 0 count as 0.

    At least and at most so many groups are left; between these, groups are merged while modularity rises. The new
    number of each group, and the weights between the new ones.
    """
    groups, merged = np.arange(len(weights.values)), weights
    while len(merged.values) > least:
        shares = ends_of(np.maximum(merged.symmetric, 0.0))
        total = max(float(shares.sum()), np.finfo(np.float64).tiny)
        volumes = shares.sum(axis=1)
        expected = resolution * np.outer(volumes, volumes / total)
        gains = shares - expected
        gains[np.tril_indices(len(gains))] = -np.inf
        first, second = divmod(int(np.argmax(gains)), len(gains))
        if len(gains) <= most and not gains[first, second] > 0:
            break
        groups = np.where(groups == second, first, groups - (groups > second))
        merged = weights.grouped(groups)
    return groups, merged


class Noise(NamedTuple):
    """Variances of the noise on a numerator and on a denominator, and their covariance."""

    above: float
    below: float
    both: float


def ratio_interval(
    above: float, below: float, noise: Noise, *, level: float = 0.95, least: float = 0.0
) -> tuple[float, float]:
    """All quotients in [least, 1] that two numbers with noise do not contradict (Fieller 1954).

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
    c = max(float(scipy.special.ndtri(1 - miss / 2)), -math.log(miss) / math.sqrt(2.0)) ** 2
    square, linear, constant = below**2 - c * noise.below, above * below - c * noise.both, above**2 - c * noise.above

    def gap(p: float) -> float:
        return (square * p - 2 * linear) * p + constant

    found = [p for p in (least, 1.0) if gap(p) <= 0]
    root = linear**2 - square * constant
    if root >= 0 and square != 0:
        found += [p for sign in (-1, 1) if least < (p := (linear + sign * math.sqrt(root)) / square) < 1]
    if found:
        return min(found), max(found)
    nearest = 1.0 if above * below > 0 and abs(above) > abs(below) else least
    return nearest, nearest
