"""K-norm mechanisms for repeated noisy queries of a row of numbers, with noise that is exact on the grid.

A row of K numbers is queried T times, and released with noise each time; queries may depend on earlier outputs. In each
query a neighbour changes the row by a vector of bounded norm, whose unit ball (:data:`UnitBall`) is the cross-polytope
(l1), the cube up to constants (range), or an interval for a single number. Often a constant may be added to all numbers
of a row, because it says nothing about which is largest. As the bound holds for each of T queries, the right norm of
all of them is the largest of T norms (:class:`RowNorm`), and noise is drawn once for all of them, of density
exp(-norm/scale). Without that, each of the K numbers would pay for its largest change in any query.

D is the dimension of a ball: the numbers in a row, less one if constants do not matter. V(r) is the number of integer
rows whose norm is r at most, S(r) of those whose norm is r; where constants do not matter, rows that differ by one
count once. A ball says how to propose such rows, in integer arithmetic, so that each of them comes up with the same
probability 1/(v C(r + D, D)), or 1/(s C(r + D - 1, D - 1)) where its norm shall be r, v and s not depending on r.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from dpgraph.exceptions import DPGraphError
from dpgraph.privacy.exact_sampling import geometric, geometric_sums
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: About so many random numbers are drawn at once.
_BATCH = 1 << 20


# --- the norm of one query --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CrossPolytope:
    """The sum of absolute values; with `shifts` the least one of a row plus any constant (minus a median)."""

    columns: int
    shifts: bool

    def size(self, rows: FloatArray, /) -> FloatArray:
        """The norm of each row."""
        centre = np.median(rows, axis=-1, keepdims=True) if self.shifts else 0.0
        return np.asarray(np.abs(rows - centre).sum(axis=-1))

    def moment(self) -> float:
        """Variance in each direction of a point drawn uniformly from the ball.

        The D absolute values u are uniform among those with sum 1 at most: the mean of u_i^2 is 2/((D + 1)(D + 2)),
        that of u_i u_j half as much. With shifts, b of them belong to positive numbers, a to negative ones, and a zero,
        the median, stands beside them: the sum of all has mean square (D + (b - a)^2)/((D + 1)(D + 2)), of which one
        part in D + 1 is not in the D directions.
        """
        if not self.shifts:
            return 2 / ((self.columns + 1) * (self.columns + 2))
        D, a = self.columns - 1, (self.columns - 1) // 2
        return (2 * D - (D + (D - 2 * a) ** 2) / (D + 1)) / (D * (D + 1) * (D + 2))

    def propose(
        self, radii: IntArray, generator: np.random.Generator, /, *, surface: bool
    ) -> tuple[IntArray, BoolArray]:
        """Rows, and which are accepted.

        Absolute values are uniform among C(r + D, D) (or C(r + D - 1, D - 1)) and get signs: the row comes up in 2^k
        ways if k numbers are zero, of which the one is accepted that gives all of them a plus.

        With shifts, a row has one representative whose lower median, the floor((K + 1)/2)-th smallest of K numbers, is
        0: with a = floor((K - 1)/2) negative numbers at most, and b = floor(K/2) positive ones. The first a of D
        absolute values become negative, the b others positive, a zero is put beside them, and all change places at
        random. A row comes up in several ways if more than one number is zero: the one is accepted in which the zeros
        stand in the order of the places that they come from: negative, positive, the zero beside.
        """
        sizes = _compositions(radii, self.columns - self.shifts, generator, surface=surface)
        if not self.shifts:
            signs = 2 * generator.integers(0, 2, size=sizes.shape) - 1
            return signs * sizes, np.all((sizes > 0) | (signs > 0), axis=1)
        a = (self.columns - 1) // 2
        sides = np.sign(np.arange(self.columns - 1) - a + 0.5).astype(np.int64)  # a times -1, b times 1
        kinds = np.append(sides, 2)
        places = _orders(radii.size, self.columns, generator)
        rows = np.take_along_axis(np.column_stack([sizes * sides, np.zeros_like(radii)]), places, axis=1)
        of_zeros = np.where(rows == 0, kinds[places], -1)
        in_order = (rows != 0) | (of_zeros == np.maximum.accumulate(of_zeros, axis=1))
        return rows, in_order.all(axis=1)


#: The ball of a row of one number: an interval.
NUMBER = CrossPolytope(1, shifts=False)


@dataclass(frozen=True)
class Range:
    """The largest number less the smallest: the least cube, with any centre on the diagonal, that holds a row."""

    columns: int

    @property
    def shifts(self) -> bool:
        """Rows that differ by a constant have distance 0."""
        return True

    def size(self, rows: FloatArray, /) -> FloatArray:
        """The norm of each row."""
        return np.asarray(np.ptp(rows, axis=-1))

    def moment(self) -> float:
        """Variance in each direction of a point drawn uniformly from the ball.

        The smallest number is 0, the D others are uniform in [0, 1]: squares of all sum to D/3 in the mean, the square
        of their sum has mean D/3 + D (D - 1)/4, of which one part in D + 1 is not in the D directions.
        """
        D = self.columns - 1
        return 1 / 3 - (1 / 3 + (D - 1) / 4) / (D + 1)

    def propose(
        self, radii: IntArray, generator: np.random.Generator, /, *, surface: bool
    ) -> tuple[IntArray, BoolArray]:
        """Rows, and which are accepted.

        A row has one representative whose smallest number is 0. A zero, on the surface also an r, and uniform numbers
        from {0, ..., r} change places at random. Of the ways in which a row comes up the one is accepted in which the
        zero is the first of all zeros, and the r the first of all other r. That has probability 1/(K (r + 1)^D), or
        1/(K D (r + 1)^(D - 1)); coins of probability (r + 1)/(r + i) make it what is wanted.
        """
        K, count, ends = self.columns, radii.size, 1 + surface
        numbers = generator.integers(0, radii[:, None] + 1, size=(count, K))
        numbers[:, 0] = 0
        if surface:
            numbers[:, 1] = radii
        places = _orders(count, K, generator)
        rows = np.take_along_axis(numbers, places, axis=1)
        accepted = np.take_along_axis(places, np.argmax(rows == 0, axis=1)[:, None], axis=1)[:, 0] == 0
        if surface:
            others = np.where(places == 0, -1, rows)
            accepted &= np.take_along_axis(places, np.argmax(others, axis=1)[:, None], axis=1)[:, 0] == 1
        for i in range(2, K - ends + 1):
            accepted &= generator.integers(0, radii + i) <= radii
        return rows, accepted


UnitBall = CrossPolytope | Range


# --- the norm of all queries ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowNorm:
    """Norm on all queries of one row: N(y, z) = a |y| + b max(max|z| - |y|, 0), |.| the norm of a ball.

    y is the first query, z are the others, a = 1/(1 + ratio), b = ratio/(1 + ratio); a = 1 for a single query,
    which has no others, so that N(y) = |y|. As the larger of a |y| and (a - b) |y| + b max|z| it is a norm. At
    ratio = 1 its unit ball is a power of the ball, for :data:`NUMBER` a cube. With ratio < 1 it costs less where one of
    the two ends of an edge is not seen in the first query (:meth:`edge`).
    """

    #: At least 1.
    queries: int
    ball: UnitBall
    #: In (0, 1]. A smaller ratio makes the first query more precise and the others less. At 0.7 most of the gain in
    #: the first is there and little is lost in the others (tuned on planted cuts, checked on SNAP and Facebook100).
    ratio: float = 0.7

    def __post_init__(self) -> None:
        if self.queries < 1 or not 0 < self.ratio <= 1 or self.dimension < 1:
            raise DPGraphError("internal error: a norm of rows needs one query and number at least, 0 < ratio <= 1")

    @property
    def first(self) -> float:
        """a, the norm of queries that all have size 1."""
        return 1.0 if self.queries == 1 else 1 / (1 + self.ratio)

    @property
    def later(self) -> float:
        """b, the norm of such queries without the first one."""
        return self.ratio * self.first

    def edge(self, *, from_zero: bool) -> float:
        """Sensitivity in this norm, summed over both ends of an edge that adds at most 1 to every query of either.

        With `from_zero`, at most one of any two rows sees the other in its first query. Then one row changes by (0,
        z), of norm at most b (nothing where there is no z), and the other by (y, z), of norm at most a: together 1.
        Otherwise both change by (y, z): 2 a.
        """
        return 1.0 if from_zero else 2 * self.first

    @property
    def dimension(self) -> int:
        """D, of the ball."""
        return self.ball.columns - self.ball.shifts

    def variances(self, scale: float) -> tuple[float, float]:
        """Variance in each direction of the first query, and of a later one, under density exp(-N / scale).

        (M, B), M = |y| and M + B the size of the ball that holds z, has the density M^(D - 1) (M + B)^(m D)
        exp(-a M - b B), m queries being later. On its surface a ball has (D + 2)/D times the moment of all of it.
        """
        exponent = (self.queries - 1) * self.dimension
        whole, moment = self._log_integral(0, exponent), self.ball.moment()
        first = math.exp(self._log_integral(2, exponent) - whole) * moment * (self.dimension + 2) / self.dimension
        return first * scale**2, math.exp(self._log_integral(0, exponent + 2) - whole) * moment * scale**2

    def _log_integral(self, power: int, exponent: int) -> float:
        """Logarithm of the integral of M^(D - 1 + power) (M + B)^exponent exp(-a M - b B) over M, B >= 0."""
        j = np.arange(exponent + 1)
        inner = self.dimension + power + j
        terms = gammaln(inner) - gammaln(j + 1) - inner * math.log(self.first)
        terms -= (exponent - j + 1) * math.log(self.later)
        return float(logsumexp(terms) + gammaln(exponent + 1))


# --- noise ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NestedRows:
    """Noise of the first query of all rows, and the sizes of the balls from which that of later ones is drawn."""

    ball: UnitBall
    first: IntArray
    #: One for each vector of noise: of a row, or of a number of it.
    radii: IntArray

    @classmethod
    def of(
        cls, shape: tuple[int, int], rows: IntArray, ball: UnitBall, first: IntArray, radii: IntArray
    ) -> "NestedRows":
        """Queries drawn for some rows of an array of this shape; others are not read."""
        vectors = shape[1] // ball.columns
        all_first, all_radii = (np.zeros((shape[0], width), dtype=np.int64) for width in (shape[1], vectors))
        all_first[rows], all_radii[rows] = first.reshape(rows.size, shape[1]), radii.reshape(rows.size, vectors)
        return cls(ball, all_first, all_radii)

    def later(self, rows: IntArray, generator: np.random.Generator) -> IntArray:
        """Noise for one more query of each of these rows."""
        points = _points(self.ball, self.radii[rows].ravel(), generator)
        return points.reshape(rows.size, self.first.shape[1])


def nested_rows(
    count: int, norm: RowNorm, exponents: tuple[int, int], generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    r"""Noise of the first query of `count` independent rows, and the sizes of the balls that hold that of m later ones.

    Noise (y, z) has probability proportional to exp(-g |y| - h max(max|z| - |y|, 0)) exactly, if each of z is drawn
    uniformly from the rows of norm r at most, r its size. `exponents` are g >= h > 0, in units of 2**-EXPONENT_BITS; it
    is fast where both are much smaller than 1/(m D)^2, the noise being many steps wide, and m is not 1. Returned are y
    and r, of shapes (count, columns) and (count,).

    Given y the weight of z is sum over r >= max(|y|, max|z|) of e^(-h (r - |y|)) (1 - e^-h). So (|y|, r) = (M, r) has
    weight S(M) V(r)^m e^(-g M - h (r - M)) for r >= M. Let M be a sum of D + j geometric variables of rate g and r - M
    one of m D - j + 1 of rate h, where j = 0, ..., m D has weight C(D - 1 + j, j) ((1 - e^-h)/(1 - e^-g))^j: their
    joint weight is C(M + D - 1, D - 1) C(r + D + m D, m D) e^(-g M - h (r - M)) by Vandermonde's identity. Of these the
    product of (r + i)/(r + D + t D + i) over t = 0, ..., m - 1 and i = 1, ..., D is accepted, which leaves C(r + D,
    D)^m in place of the second factor; then y is proposed, and one row for each later query: they are all accepted
    with a probability proportional to S(M)/C(M + D - 1, D - 1) (V(r)/C(r + D, D))^m. The proposed y is kept.
    """
    later, D = norm.queries - 1, norm.dimension
    first, radii = np.empty((count, norm.ball.columns), dtype=np.int64), np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:
        some = wanted[: max(_BATCH // (D * norm.queries + 2), 1)]
        powers = _powers(some.size, D, later * D, exponents, generator)
        inner = geometric_sums(powers + D, exponents[0], generator)
        outer = inner + geometric_sums(later * D - powers + 1, exponents[1], generator)
        first[some], accepted = norm.ball.propose(inner, generator, surface=True)
        for t in range(later):
            for i in range(1, D + 1):
                accepted &= generator.integers(0, outer + (D + t * D + i)) < outer + i
            accepted &= norm.ball.propose(outer, generator, surface=False)[1]
        radii[some] = outer
        wanted = np.concatenate([some[~accepted], wanted[some.size :]])
    return first, radii


def seeded_rows(
    count: int, norm: RowNorm, rates: tuple[float, float], generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Reproducible stand-in for :func:`nested_rows`, of the same law up to a step."""
    D, exponent = norm.dimension, (norm.queries - 1) * norm.dimension
    j = np.arange(exponent + 1)
    weights = gammaln(D + j) - gammaln(j + 1) + j * math.log(norm.ratio)
    weights = np.exp(weights - weights.max())
    powers = generator.choice(exponent + 1, size=count, p=weights / weights.sum())
    inner = np.rint(generator.gamma(D + powers) / rates[0]).astype(np.int64)
    outer = inner + np.rint(generator.gamma(exponent - powers + 1) / rates[1]).astype(np.int64)
    return _points(norm.ball, inner, generator, surface=True), outer


def _points(ball: UnitBall, radii: IntArray, generator: np.random.Generator, *, surface: bool = False) -> IntArray:
    """Uniform integer rows of these norms at most, or exactly."""
    if ball == NUMBER:  # needs no proposals
        if surface:
            return (radii * (2 * generator.integers(0, 2, size=radii.size) - 1))[:, None]
        return generator.integers(-radii, radii + 1)[:, None]
    rows = np.empty((radii.size, ball.columns), dtype=np.int64)
    wanted = np.arange(radii.size)
    while wanted.size:
        rows[wanted], accepted = ball.propose(radii[wanted], generator, surface=surface)
        wanted = wanted[~accepted]
    return rows


def _powers(
    count: int, terms: int, largest: int, exponents: tuple[int, int], generator: np.random.Generator
) -> IntArray:
    """Independent j in {0, ..., largest} of weight C(terms - 1 + j, j) t^j, t = (1 - e^-h)/(1 - e^-g).

    Coins of probability t are tossed until as many fail as there are `terms`: j succeed, or it starts again. t is the
    probability that of geometric variables of rates h and g - h the first is not larger than the second. Where g = h
    no coin fails, and j is the sum of a uniform choice among the C(terms - 1 + j, j) ways to write it as so many terms.
    """
    if exponents[0] == exponents[1]:
        return np.asarray(_compositions(np.full(count, largest), terms, generator, surface=False).sum(axis=1))
    powers, left = np.zeros(count, dtype=np.int64), np.full(count, terms if largest else 0)
    alive = np.flatnonzero(left)
    while alive.size:
        first, second = (geometric(alive.size, e, generator) for e in (exponents[1], exponents[0] - exponents[1]))
        won = first <= second
        powers[alive] += won
        left[alive] -= ~won
        over = alive[powers[alive] > largest]
        powers[over], left[over] = 0, terms
        alive = alive[left[alive] > 0]
    return powers


def _compositions(radii: IntArray, parts: int, generator: np.random.Generator, *, surface: bool) -> IntArray:
    """Uniform nonnegative integers whose sum is at most r, or r itself, for each radius r: as many as there are parts.

    They are the gaps between marks, `parts` different ones from {1, ..., r + parts}, or, if the sum shall be r, one
    mark less from {1, ..., r + parts - 1}, the last being r + parts.
    """
    marks = np.zeros((radii.size, parts + 1), dtype=np.int64)
    marks[:, parts] = radii + parts
    chosen = parts - surface
    wanted = np.arange(radii.size if chosen else 0)
    while wanted.size:
        ends = radii[wanted, None] + (parts - surface + 1)
        drawn = np.sort(generator.integers(1, ends, size=(wanted.size, chosen)), axis=1)
        marks[wanted, 1 : chosen + 1] = drawn
        wanted = wanted[np.any(np.diff(drawn, axis=1) == 0, axis=1)]
    return np.diff(marks, axis=1) - 1


def _orders(count: int, columns: int, generator: np.random.Generator) -> IntArray:
    """Independent uniform orders of the columns."""
    return generator.permuted(np.tile(np.arange(columns), (count, 1)), axis=1)
