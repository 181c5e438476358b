"""Sweeps that read every edge at one of its ends, and still let every row know all its neighbours.

Rows are set one after another, forwards through a public order and then backwards, and so on. A row reads only rows
that have been set in the same sweep: half the price of reading every row in full. What it has read in the sweep before,
about the rows on its other side, is still true. Where sweeps are few, the first rows, which start with little to read,
spend the whole budget on what they read of each other at once, and it is not read again. Where it is public what each
label earns, the last sweep releases no readings but choices, the noisy maximum of the scores, whose noise has half the
variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from dpgraph.bounds import sensitivity
from dpgraph.denoise.iterates import ITERATE_UNIT, Response
from dpgraph.privacy.call import Call
from dpgraph.privacy.grid import LAPLACE_BITS, grid_step
from dpgraph.privacy.report import Pairs
from dpgraph.progress import BAR
from dpgraph.releases.sweeps.iteration import Core, FieldOracle, Iteration, LabelScores, row_blocks
from dpgraph.tuning import CORE, ONE_SIDED
from dpgraph.typing import FloatArray, IntArray

#: Squares of larger scales overflow; nothing is learnt from either.
_LARGEST_SCALE = 1e150
#: Least weight of a reading that known readings are put in proportion to.
_LEAST_WEIGHT = 1e-3


def release_one_sided_sweeps(
    iteration: Iteration, variances: FloatArray, core: Core, X: FloatArray, call: Call, *, sweeps: int
) -> tuple[FloatArray, FloatArray]:
    """Set the rows outside the core for a part of the budget; return the iterate and posterior means of its fields.

    `X` is zero outside the core, whose rows stand; the means of its fields stay zero, and `revise` is not asked. Where
    there is a core, `sweeps` is 1: its rows are read in the first sweep only.

    Notes
    -----
    *Guarantee.* A sweep reads the pair {u, v} at one row only, the later one in its order, and there a row of X that is
    public (:func:`~dpgraph.bounds.sensitivity.first_sweep`). No sweep reads pairs inside the core. Pairs among the
    first rows are read in one sweep, for all of the budget, and all others in every sweep, for a part of it: which kind
    a pair is, the public order says, and both may spend the same budget. Where labels are chosen the pair moves the
    scores of one row, all in the same direction (:func:`~dpgraph.bounds.sensitivity.label_scores`). Readings of
    earlier sweeps are released, hence public.
    """
    rows, oracle = core.others, iteration.oracle
    size = round(ONE_SIDED.head * rows.size) if 1 < sweeps <= ONE_SIDED.head_sweeps else 0
    head, tail = (rows[:size], rows[size:]) if size > 1 else (rows[:0], rows)
    lines = _Lines(oracle, core, sweeps, call)
    known = _Readings.none(oracle, variances, rows, head=head.size, several=sweeps > 1)
    run = _Run(oracle, iteration.response, lines.scores, known, call.generator, X.copy())
    for sweep in tqdm(range(sweeps), desc="sweeps", disable=BAR.get() is None):
        side, seen = sweep % 2, run.X.copy() if sweep == 0 else np.zeros_like(run.X)
        if sweep == 0 and head.size:
            run.set(head, seen, lines.open(sweep, Pairs.FIRST_ROWS))
        release = lines.open(sweep, Pairs.LATER_ROWS if head.size else core.other_pairs)
        last = sweep == sweeps - 1
        if side == 0 and sweep:
            run.set(head, seen, release, apart=True, last=last)
        run.set(tail[::-1] if side else tail, seen, release, side=side, last=last)
        if side:
            run.set(head[::-1], seen, release, side=side, apart=True, last=last)
    return run.X, run.known.means(np.arange(oracle.rows))


@dataclass
class _Run:
    """The public iterate and what is known of it, and how rows are set."""

    oracle: FieldOracle
    response: Response
    scores: LabelScores | None
    known: _Readings
    generator: np.random.Generator
    X: FloatArray

    def set(
        self,
        rows: IntArray,
        seen: FloatArray,
        release: _Release,
        *,
        side: int = 0,
        apart: bool = False,
        last: bool = False,
    ) -> None:
        """Set rows one after another by what is `seen`, and add them to it; `apart`, they do not read each other."""
        visible = seen.copy() if apart else seen
        something = bool(visible.any())  # otherwise fields are zero whatever the data
        self.oracle.expect(rows)
        for block in row_blocks(rows):
            if something and last and self.scores is not None:
                relation, unit = self.scores.relation, self.oracle.unit
                counts = self.scores.counts(block, visible)
                private = np.asarray(score_units(counts, relation, unit) * unit, dtype=np.float64)
                public = self.known.in_proportion(block, 1 - side, release.variance / 2) @ relation
                new = np.eye(self.oracle.columns)[release.choose(private, public)]
            else:
                if something:
                    fields = self.oracle.fields if self.scores is None else self.scores.counts
                    self.known.add(block, side, release.add_noise(fields(block, visible)), release.variance)
                new = self._answer(block, math.inf if last else ONE_SIDED.sharpness)
            self.X[block] = seen[block] = new
            something = something or not apart

    def _answer(self, block: IntArray, sharpness: float) -> FloatArray:
        if not self.known.of(block):
            return self.response.start(block.size, self.generator)
        return self.response.answer(block, self.known.signal_to_noise(block), sharpness, self.X)


def score_units(counts: FloatArray, relation: FloatArray, unit: float) -> IntArray:
    """Scores ``counts @ relation`` of private counts, in whole units, rounded down and free of other errors.

    Counts are multiples of `unit`, the grid of the noise too. A neighbour moves the scores of one row, all in one
    direction, by at most a bound that is a multiple of `unit`. The relation, shape (columns, columns), has multiples of
    :data:`~dpgraph.denoise.iterates.ITERATE_UNIT` in [0, 1].

    Notes
    -----
    What is returned moves within the same bound and in the same direction: x <= y implies floor(x) <= floor(y), and
    floor(x + s) = floor(x) + s for an integer s. Rounding to the nearest has no such bound (halves go to even
    numbers, 0.5 to 0 and 1.5 to 2), nor has rounding a sum with something public. Counts are below 2**60 units for a
    graph that was accepted; they are split so that no product or sum leaves 64 bits.
    """
    steps = round(1 / ITERATE_UNIT)
    high, low = np.divmod(np.rint(counts / unit).astype(np.int64), steps)
    weights = np.rint(relation / ITERATE_UNIT).astype(np.int64)
    return high @ weights + (low @ weights) // steps


@dataclass
class _Readings:
    """What rows have read of the rows before them (side 0) and after them (side 1), and of which variance and prior."""

    values: FloatArray
    variance: FloatArray
    prior: FloatArray

    @classmethod
    def none(cls, oracle: FieldOracle, variances: FloatArray, rows: IntArray, *, head: int, several: bool) -> _Readings:
        """Before the first sweep; a field has the part of its prior variance that the rows it sees are of all rows."""
        prior = np.tile(CORE.prior * variances, (2, 1))
        if several:
            place = (np.arange(rows.size) + 0.5) / rows.size
            prior[0, rows] *= place
            prior[1, rows] *= np.minimum(1 - place, 1 - head / rows.size)
        return cls(np.zeros((2, oracle.rows, oracle.columns)), np.zeros((2, oracle.rows)), prior)

    def add(self, block: IntArray, side: int, fields: FloatArray, variance: float) -> None:
        """A reading takes the place of the one before on its side."""
        self.values[side, block], self.variance[side, block] = fields, variance

    def of(self, block: IntArray) -> bool:
        """Whether anything has been read at these rows."""
        return bool(self.variance[:, block].any())

    def _weights(self, block: IntArray) -> FloatArray:
        prior, variance = self.prior[:, block], self.variance[:, block]
        return np.where(variance > 0, prior / (prior + variance), 0.0)

    def means(self, block: IntArray) -> FloatArray:
        """Posterior means of the fields."""
        return np.asarray(np.einsum("ki,kij->ij", self._weights(block), self.values[:, block]))

    def signal_to_noise(self, block: IntArray) -> FloatArray:
        """The same over the posterior standard deviation."""
        variance = np.sum(self._weights(block) * self.variance[:, block], axis=0)
        return np.asarray(self.means(block) / np.sqrt(np.maximum(variance, 1e-300))[:, None])

    def in_proportion(self, block: IntArray, side: int, variance: float) -> FloatArray:
        """Readings of one side, such that exact fields of the other, to be released with this variance, weigh 1."""
        prior = self.prior[1 - side, block]
        weights = self._weights(block)[side] / np.maximum(prior / (prior + variance), _LEAST_WEIGHT)
        return np.asarray(weights[:, None] * self.values[side, block])


@dataclass(frozen=True)
class _Release:
    """Adds the noise of one sweep to exact fields, or chooses labels by exact scores; variance of the noise."""

    add_noise: Callable[[FloatArray], FloatArray]
    choose: Callable[[FloatArray, FloatArray], IntArray]
    variance: float


@dataclass(frozen=True)
class _Lines:
    """Enters sweeps in the ledger."""

    oracle: FieldOracle
    core: Core
    sweeps: int
    call: Call

    @property
    def scores(self) -> LabelScores | None:
        """Scores, where labels are chosen by them."""
        scores = self.oracle.scores
        return None if scores is None or (scores.single and (self.core.size or self.sweeps > 1)) else scores

    def open(self, sweep: int, pairs: Pairs) -> _Release:
        """Enter one sweep, or what the first rows read of each other."""
        scores, unit, noise = self.scores, self.oracle.unit, self.call.noise
        first = pairs is Pairs.FIRST_ROWS
        call = self.call if first else self.call.equal_part(self.sweeps)
        rows = "other rows" if self.core.size else "first rows" if first else f"sweep {sweep + 1}"
        name = f"{'fields' if scores is None else 'labels'}, {rows}"
        bound = sensitivity.first_sweep(self.oracle.row_bound) if scores is None else scores.bound
        chooses = scores is not None and sweep == self.sweeps - 1
        step = grid_step(bound / call.epsilon, unit, bits=LAPLACE_BITS)
        if chooses and step > unit:  # rounding is monotone: scores still move in one direction, by a step more
            bound += step
        scale = call.scale(name, bound, law="noisy maximum" if chooses else "Laplace", pairs=pairs)
        return _Release(
            lambda exact: noise.laplace_on_grid(exact, unit, scale),
            lambda exact, public: noise.noisy_argmax(exact, step, scale, public=public),
            2 * min(scale, _LARGEST_SCALE) ** 2,
        )
