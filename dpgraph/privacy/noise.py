"""The only source of randomness that protects private data: ChaCha with 20 rounds, a fresh 256-bit key for every call.

Coins, random subsets, discrete Laplace and discrete Gaussian noise have exact probabilities (exact_sampling.py). Every
number is released on a public grid (grid.py, with the proofs): no low-order bits of data or noise remain. Real noise,
before it is rounded, is floating point; docs/guarantee.md says what that means.
"""

from __future__ import annotations

import math
import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from randomgen import ChaCha

from dpgraph.arguments import as_generator
from dpgraph.exceptions import DPGraphError
from dpgraph.privacy import exact_sampling as exact
from dpgraph.privacy.exact_sampling import EXPONENT_BITS
from dpgraph.privacy.grid import (
    Terms,
    add_on_grid,
    coins,
    grid_step,
    laplace_grid,
    nearest_multiples,
    nearest_points,
    on_points,
    split,
    sum_on_grid,
)
from dpgraph.privacy.row_norm import RowNorm, ball_sizes, uniform_rows
from dpgraph.privacy.streams import stream_of
from dpgraph.typing import FloatArray, IntArray

#: A public part of a score is at least this many units below the best one: more than noise can make up for.
_MOST_BEHIND = 2.0**50
#: Numbers that are drawn at once where many are asked for a few at a time.
_AT_ONCE = 1 << 14


class NoiseSource:
    """Source of noise for one private call. Use :func:`noise_source`.

    A cryptographic source (without a generator) that finds itself in a forked child takes a new key, so that no two
    processes draw the same noise. A source cannot be pickled or copied.
    """

    def __init__(self, generator: np.random.Generator | None, *, lasting: bool = True) -> None:
        #: Where seeded noise comes from; a `lasting` generator belongs to the caller.
        self.stream = None if generator is None else stream_of(generator, lasting=lasting)
        self._generator = generator if generator is not None else _cryptographic_generator()
        self._pid = os.getpid()
        self._ahead = _Ahead(0.0, 0)

    def __del__(self) -> None:
        own = getattr(self, "stream", self) is None and self._pid == os.getpid()
        if own and sys.getrefcount(self._generator) <= 2:  # no thread of an interrupted call still draws from it
            _SPARE.append(self._generator)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a NoiseSource cannot be copied or pickled: two copies would draw the same noise")

    @property
    def seeded(self) -> bool:
        """Whether whoever knows the seed can make the noise again."""
        return self.stream is not None

    @property
    def generator(self) -> np.random.Generator:
        """The underlying generator, for randomness that need not be secret (public starting points, roundings)."""
        if not self.seeded and os.getpid() != self._pid:
            self._generator, self._pid, self._ahead = _cryptographic_generator(), os.getpid(), _Ahead(0.0, 0)
        return self._generator

    def gaussian(self, shape: int | tuple[int, ...], scale: float) -> FloatArray:
        """Independent normals of standard deviation `scale`, in floating point."""
        return self.generator.standard_normal(shape) * scale

    def symmetric_gaussian(self, n: int, scale: float) -> FloatArray:
        """Draw (W + W')/2 with W iid N(0, scale**2): isotropic in the Frobenius inner product, shape (n, n)."""
        W = self.gaussian((n, n), scale)
        return (W + W.T) / 2

    def chi(self, degrees_of_freedom: IntArray) -> FloatArray:
        """Draw chi variables with the given degrees of freedom (0 gives 0)."""
        draws = self.generator.chisquare(np.maximum(degrees_of_freedom, 1))
        return np.where(degrees_of_freedom > 0, np.sqrt(draws), 0.0)

    def gaussian_on_grid(self, values: FloatArray, unit: float, scale: float) -> FloatArray:
        """Release `values`, exact multiples of `unit`, plus Gaussian noise, rounded to that grid.

        Where the noise is more than 2**30 units wide, the grid is coarser. Either way this is the rounding of (values +
        Gaussian noise), hence post-processing of the Gaussian mechanism (:mod:`dpgraph.privacy.grid`).
        """
        return add_on_grid(values, self.gaussian(values.shape, scale), grid_step(scale, unit))

    def laplace_on_grid(self, values: Terms, unit: float, scale: float) -> FloatArray:
        """Release `values`, exact multiples of `unit`, plus discrete Laplace noise of scale `scale` on that grid.

        Where the noise is more than 2**28 units wide, the grid is coarser, and values are rounded to it up or down at
        random. The release is exactly (l1-sensitivity / scale)-DP either way (:mod:`dpgraph.privacy.grid`).
        """
        step, steps = laplace_grid(scale, unit)
        if step == unit:
            points = on_points(values, step)
            return sum_on_grid(points, self._laplace(points[0].shape, steps), unit)
        points, left = split(values, step)
        whole = np.trunc(left)  # what is left of several arrays may be more than a step
        carried = whole + np.copysign(coins(np.abs(left - whole), self.generator), left)
        return sum_on_grid(points, carried + self._laplace(left.shape, steps), step)

    def expect_laplace(self, count: int, unit: float, scale: float) -> None:
        """Take note that so many Laplace numbers of this grid and scale are asked for next, a few at a time.

        They are drawn many at once, which takes a tenth of the time. Seeded noise is drawn when it is asked for.
        """
        self._ahead = _Ahead(laplace_grid(scale, unit)[1], count)

    def noisy_argmax(
        self, scores: FloatArray, unit: float, scale: float, *, public: FloatArray | None = None
    ) -> IntArray:
        """Column of the largest of scores, multiples of `unit`, plus geometric noise of scale `scale`, for each row.

        This is report-noisy-max (permute-and-flip); of equal sums the first counts. Where neighbours change
        all scores of a row in one direction, by at most s, a choice is exactly (s / scale)-DP. `public` is added to the
        scores: first it is rounded to whole units and the largest of its row is subtracted, so that the sums are exact.
        Where L is discrete Laplace, max(L, -L - 1) is geometric. Below epsilon = 2**-29 the noise is too wide for
        the exact sampler; then the column is drawn uniformly.
        """
        if scale > exact.LARGEST_SCALE * unit:
            return self.generator.integers(scores.shape[1], size=len(scores))
        draws = self._laplace(scores.shape, scale / unit)
        steps = np.maximum(draws, -draws - 1)
        if public is not None:
            ahead = np.rint(public / unit)
            steps = steps + np.maximum(ahead - ahead.max(axis=1, keepdims=True), -_MOST_BEHIND)
        largest: IntArray = np.argmax(self.on_grid(scores, unit, steps), axis=1)
        return largest

    def queries(self, shape: tuple[int, int], rows: IntArray, norm: RowNorm, unit: float, scale: float) -> QueryNoise:
        """Noise for repeated noisy queries of `rows` of an array, of density exp(-norm / scale), drawn at once.

        A norm of rows as long as those of the array has one vector for each of them, one of single numbers has one for
        each number (:mod:`dpgraph.privacy.row_norm`). The noise is rounded to a grid whose step `unit` should be
        thousands of times smaller (:func:`~dpgraph.privacy.grid.query_grid`).
        """
        count = rows.size * (shape[1] // norm.ball.columns)
        if self.seeded:
            sizes = np.rint(self._generator.gamma(norm.queries * norm.dimension + 1, size=count) * (scale / unit))
        else:
            sizes = ball_sizes(count, norm, math.floor(unit / scale * 2.0**EXPONENT_BITS), self.generator)
        radii = np.zeros((shape[0], shape[1] // norm.ball.columns), dtype=np.int64)
        radii[rows] = sizes.reshape(rows.size, -1)
        return QueryNoise(self, norm, unit, scale, rows, radii)

    def scalars(self, values: Terms, unit: float, scale: float) -> FloatArray:
        """Release a few reals: rounded to the grid `unit`, plus discrete Gaussian noise of parameter `scale`."""
        points = nearest_multiples(values, unit)
        if self.seeded:
            draws = _seeded_discrete(self._generator, "gaussian", points[0].size, scale / unit)
        else:
            draws = exact.discrete_gaussian(points[0].size, scale / unit, self.generator).astype(np.float64)
        return sum_on_grid(points, draws, unit)

    def flipped_pairs(self, pairs: IntArray, shares: FloatArray, count: int, exponent: int) -> IntArray:
        """Randomised response for the numbers 0, ..., `count` - 1: return those whose published bit is 1, increasing.

        Number ``pairs[k]`` (increasing) has bit 1 with probability ``shares[k]``, a multiple of 2**-52, the others 0.
        Each bit is then flipped with probability 1 - exp(-g), exactly and independently of everything else; g is
        `exponent` in units of 2**-EXPONENT_BITS (:func:`~dpgraph.privacy.exact_sampling.flip_exponent`).
        """
        true = pairs[self.generator.random(shares.size) < shares]
        answers = np.concatenate([true, exact.random_subset(count, exponent, self.generator)])
        answers.sort(kind="stable")  # merges what is sorted
        once = np.ones(answers.size + 1, dtype=bool)
        once[1:-1] = answers[1:] != answers[:-1]
        return answers[once[1:] & once[:-1]]  # true and flipped is false

    def noisy_best(self, scores: IntArray, epsilon: float) -> int:
        """Draw a position by permute-and-flip.

        Each position is accepted with probability exp(epsilon (score - best)). One of the accepted is drawn uniformly.
        Scores are integer multiples of 2**-20 below 2**28, in units of their sensitivity. epsilon is rounded down to a
        multiple of 2**-20, and to 2**13, so that the exponents are exact integers.
        """
        rate = int(min(epsilon, 2.0**13) * 2.0 ** (EXPONENT_BITS - 20))
        accepted = np.flatnonzero(exact.exponential_coins((scores.max() - scores) * rate, self.generator))
        return int(accepted[self.generator.integers(accepted.size)])

    def on_ladder(self, count: int, widths: Sequence[int], exponent: int) -> int:
        """Release an integer by the ladder with these widths: :func:`~dpgraph.privacy.exact_sampling.ladder_offset`."""
        return count + exact.ladder_offset(widths, exponent, self.generator)

    def cauchy(self, count: int, scale: int, bits: int) -> int:
        """Release an integer with noise of weight 1/(s^2 + z^2), s = `scale` / 2**`bits`."""
        return count + exact.cauchy_offset(scale, bits, self.generator)

    def on_grid(self, values: FloatArray, unit: float, noise: FloatArray) -> FloatArray:
        """Round `values` to multiples of `unit`, and add `noise` units exactly."""
        return sum_on_grid(nearest_points(values, unit), noise, unit)

    def on_grid_up_to_constants(self, values: FloatArray, unit: float, noise: FloatArray) -> FloatArray:
        """The same for each row up to a constant: differences to its first number are released, rounded once."""
        points = nearest_points(values, unit)
        first = np.broadcast_to(points[:, :1], points.shape)
        return sum_on_grid((points, -first), noise - noise[:, :1], unit)

    def _laplace(self, shape: tuple[int, ...], scale: float) -> FloatArray:
        """Discrete Laplace numbers."""
        size = math.prod(shape)
        if self.seeded:
            return _seeded_discrete(self._generator, "laplace", size, scale).reshape(shape)
        generator, ahead = self.generator, self._ahead
        if scale != ahead.scale or size > ahead.left + ahead.draws.size:
            return exact.discrete_laplace(size, scale, generator).reshape(shape)
        if (lacking := size - ahead.draws.size) > 0:
            more = exact.discrete_laplace(min(max(lacking, _AT_ONCE), ahead.left), scale, generator)
            ahead.draws, ahead.left = np.append(ahead.draws, more), ahead.left - more.size
        found, ahead.draws = ahead.draws[:size], ahead.draws[size:]
        return found.reshape(shape)


@dataclass
class _Ahead:
    """Laplace numbers that are asked for next: their scale in steps, how many are to be drawn, and those drawn."""

    scale: float
    left: int
    draws: FloatArray = field(default_factory=lambda: np.zeros(0))


class QueryNoise:
    """Noise for several queries of the same rows: one vector of noise a row, or a number; each query uses a part.

    Use :meth:`NoiseSource.queries`. The parts of a vector lie in one ball (:mod:`dpgraph.privacy.row_norm`), whose size
    is drawn first. Given the size, they are uniform and independent, so that they are drawn when they are needed. Rows
    may be released up to a constant.
    """

    def __init__(
        self, source: NoiseSource, norm: RowNorm, unit: float, scale: float, rows: IntArray, radii: IntArray
    ) -> None:
        self.norm, self.scale = norm, scale
        self._source, self._unit, self._radii = source, unit, radii
        self._left = np.zeros(len(radii), dtype=np.int64)
        self._left[rows] = norm.queries
        self._next: list[IntArray] = []
        self._drawn: list[FloatArray] = []

    def expect(self, blocks: Sequence[IntArray]) -> None:
        """Take note that these blocks of rows are read next: :meth:`NoiseSource.expect_laplace`."""
        self._next, self._drawn = [] if self._source.seeded else list(blocks)[::-1], []

    def read(self, rows: IntArray, values: FloatArray) -> FloatArray:
        """Release one more query of `rows`: `values`, rounded to the grid, plus noise."""
        if self._next and self._next[-1] is rows:
            if not self._drawn:
                ends = np.cumsum([block.size for block in self._next[::-1]])
                some = self._next[: -2 - int(np.searchsorted(ends, _AT_ONCE)) : -1]
                self._drawn = np.split(self._noise(np.concatenate(some)), ends[: len(some) - 1])[::-1]
            self._next.pop()
            draws = self._drawn.pop()
        else:
            draws = self._noise(rows)
        add = self._source.on_grid_up_to_constants if self.norm.ball.shifts else self._source.on_grid
        return add(values, self._unit, draws)

    def _noise(self, rows: IntArray) -> FloatArray:
        """Noise for one more query of each of these rows."""
        np.subtract.at(self._left, rows, 1)
        if self._left[rows].min(initial=0) < 0:
            raise DPGraphError("internal error: a row is read more often than its noise was drawn for")
        found = uniform_rows(self.norm.ball, self._radii[rows].ravel(), self._source.generator)
        return found.reshape(rows.size, self._radii.shape[1] * self.norm.ball.columns).astype(np.float64)


def noise_source(rng: int | np.random.Generator | NoiseSource | None) -> NoiseSource:
    """Interpret the public argument ``rng``: ``None`` for cryptographic noise; an int or a Generator are a seed.

    Seeded noise is for tests and reproducible experiments: whoever knows the seed can subtract it, so results say so.
    Anything else raises :class:`InvalidParameterError`.
    """
    if isinstance(rng, NoiseSource):
        return rng
    return NoiseSource(None if rng is None else as_generator(rng), lasting=isinstance(rng, np.random.Generator))


#: Generators that no call uses any more. To make one takes longer than to give it a new key.
_SPARE: list[np.random.Generator] = []


def _cryptographic_generator() -> np.random.Generator:
    """ChaCha with 20 rounds and a fresh key, from its beginning."""
    try:
        generator = _SPARE.pop()
    except IndexError:
        generator = np.random.Generator(ChaCha(key=0, rounds=20))
    key = np.frombuffer(secrets.randbits(256).to_bytes(32, "little"), "<u4")
    state = {"block": np.zeros(16, np.uint32), "keysetup": key, "ctr": np.zeros(2, np.uint64), "rounds": 20}
    generator.bit_generator.state = {"bit_generator": ChaCha.__module__ + ".ChaCha", "state": state}
    return generator


def _seeded_discrete(generator: np.random.Generator, law: str, size: int, scale: float) -> FloatArray:
    """Reproducible stand-ins for the exact samplers, of the same law up to floating point."""
    if law == "gaussian":
        return np.rint(generator.standard_normal(size) * scale)
    success = -np.expm1(-1.0 / scale)
    return (generator.geometric(success, size) - generator.geometric(success, size)).astype(np.float64)
