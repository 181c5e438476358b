"""K-norm mechanisms for repeated noisy queries of a row of numbers, with noise that is exact on the grid.

A row of K numbers is queried T times, and released with noise each time; queries may depend on earlier outputs. In each
query a neighbour changes the row by a vector of bounded norm, whose unit ball (:data:`UnitBall`) is the cross-polytope
(l1), the cube up to constants (range), or an interval for a single number. Often a constant may be added to all numbers
of a row, because it says nothing about which is largest. As the bound holds for each of T queries, the right norm of
all of them is the largest of T norms (:class:`RowNorm`), and noise is drawn once for all of them, of density
exp(-norm/scale). Without that, each of the K numbers would pay for its largest change in any query.

D is the dimension of a ball: the numbers in a row, less one if constants do not matter. V(r) is the number of integer
rows whose norm is r at most; where constants do not matter, rows that differ by one count once. A ball says how to
propose such rows, in integer arithmetic, so that each of them comes up with the same probability 1/(v C(r + D, D)), v
not depending on r.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from dpgraph.exceptions import DPGraphError
from dpgraph.privacy.exact_sampling import geometric_sums
from dpgraph.typing import BoolArray, FloatArray, IntArray

#: About so many random numbers are drawn at once.
_BATCH = 1 << 20


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

    def propose(self, radii: IntArray, generator: np.random.Generator, /) -> tuple[IntArray, BoolArray]:
        """Rows, and which are accepted.

        Absolute values are uniform among C(r + D, D) and get signs: the row comes up in 2^k ways if k numbers are zero,
        of which the one is accepted that gives all of them a plus.

        With shifts, a row has one representative whose lower median, the floor((K + 1)/2)-th smallest of K numbers, is
        0: with a = floor((K - 1)/2) negative numbers at most, and b = floor(K/2) positive ones. The first a of D
        absolute values become negative, the b others positive, a zero is put beside them, and all change places at
        random. A row comes up in several ways if more than one number is zero: the one is accepted in which the zeros
        stand in the order of the places that they come from: negative, positive, the zero beside.
        """
        sizes = _compositions(radii, self.columns - self.shifts, generator)
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

    def propose(self, radii: IntArray, generator: np.random.Generator, /) -> tuple[IntArray, BoolArray]:
        """Rows, and which are accepted.

        A row has one representative whose smallest number is 0. A zero and uniform numbers from {0, ..., r} change
        places at random. Of the ways in which a row comes up the one is accepted in which the zero is the first of all
        zeros. That has probability 1/(K (r + 1)^D); coins of probability (r + 1)/(r + i) make it what is wanted.
        """
        K, count = self.columns, radii.size
        numbers = generator.integers(0, radii[:, None] + 1, size=(count, K))
        numbers[:, 0] = 0
        places = _orders(count, K, generator)
        rows = np.take_along_axis(numbers, places, axis=1)
        accepted = np.take_along_axis(places, np.argmax(rows == 0, axis=1)[:, None], axis=1)[:, 0] == 0
        for i in range(2, K):
            accepted &= generator.integers(0, radii + i) <= radii
        return rows, accepted


UnitBall = CrossPolytope | Range


@dataclass(frozen=True)
class RowNorm:
    """Norm on all queries of one row: that of the largest of them. For :data:`NUMBER` its unit ball is a cube."""

    #: At least 1.
    queries: int
    ball: UnitBall

    def __post_init__(self) -> None:
        if self.queries < 1 or self.dimension < 1:
            raise DPGraphError("internal error: a norm of rows needs one query and one number at least")

    @property
    def dimension(self) -> int:
        """D, of the ball."""
        return self.ball.columns - self.ball.shifts

    def variance(self, scale: float) -> float:
        """Variance in each direction of one query, under density exp(-norm / scale).

        All queries are uniform in a ball whose size is r scale, r a gamma variable of shape T D + 1: the mean of r^2 is
        (T D + 1)(T D + 2).
        """
        numbers = self.queries * self.dimension
        return (numbers + 1) * (numbers + 2) * scale**2 * self.ball.moment()


def ball_sizes(count: int, norm: RowNorm, exponent: int, generator: np.random.Generator) -> IntArray:
    r"""The sizes of the balls that hold the noise of all T queries of `count` independent rows.

    Noise z has probability proportional to exp(-h max|z|) exactly, if each of z_1, ..., z_T is drawn uniformly from the
    rows of norm r at most (:func:`uniform_rows`), r its size. h > 0 is `exponent` in units of 2**-EXPONENT_BITS; it is
    fast where h is much smaller than 1/(T D)^2, the noise being many steps wide.

    The weight of z is sum over r >= max|z| of e^(-h r) (1 - e^-h), so that of r is V(r)^T e^(-h r). A sum r of T D + 1
    geometric variables has weight C(r + T D, T D) e^(-h r). Of these the product of (r + i)/(r + t D + i) over t = 0,
    ..., T - 1 and i = 1, ..., D is accepted, which leaves C(r + D, D)^T in place of the binomial coefficient; then one
    row is proposed for each query: they are all accepted with a probability proportional to (V(r)/C(r + D, D))^T.
    """
    D, sizes = norm.dimension, np.empty(count, dtype=np.int64)
    wanted = np.arange(count)
    while wanted.size:
        some = wanted[: max(_BATCH // (D * norm.queries + 1), 1)]
        r = geometric_sums(np.full(some.size, norm.queries * D + 1), exponent, generator)
        accepted = np.ones(some.size, dtype=bool)
        for before, i in itertools.product(range(D, norm.queries * D, D), range(1, D + 1)):  # at t = 0 it is 1
            accepted &= generator.integers(0, r + (before + i)) < r + i
        for _ in range(norm.queries):
            accepted &= norm.ball.propose(r, generator)[1]
        sizes[some] = r
        wanted = np.concatenate([some[~accepted], wanted[some.size :]])
    return sizes


def uniform_rows(ball: UnitBall, radii: IntArray, generator: np.random.Generator) -> IntArray:
    """Uniform integer rows of these norms at most."""
    if ball == NUMBER:  # needs no proposals
        return generator.integers(-radii, radii + 1)[:, None]
    rows = np.empty((radii.size, ball.columns), dtype=np.int64)
    wanted = np.arange(radii.size)
    while wanted.size:
        rows[wanted], accepted = ball.propose(radii[wanted], generator)
        wanted = wanted[~accepted]
    return rows


def _compositions(radii: IntArray, parts: int, generator: np.random.Generator) -> IntArray:
    """Uniform nonnegative integers whose sum is at most r, for each radius r: as many as there are parts.

    They are the gaps between marks, `parts` different ones from {1, ..., r + parts}.
    """
    marks = np.zeros((radii.size, parts + 1), dtype=np.int64)
    wanted = np.arange(radii.size)
    while wanted.size:
        ends = radii[wanted, None] + (parts + 1)
        drawn = np.sort(generator.integers(1, ends, size=(wanted.size, parts)), axis=1)
        marks[wanted, 1:] = drawn
        wanted = wanted[np.any(np.diff(drawn, axis=1) == 0, axis=1)]
    return np.diff(marks, axis=1) - 1


def _orders(count: int, columns: int, generator: np.random.Generator) -> IntArray:
    """Independent uniform orders of the columns."""
    return generator.permuted(np.tile(np.arange(columns), (count, 1)), axis=1)
