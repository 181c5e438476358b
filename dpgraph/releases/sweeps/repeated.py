"""Sweeps that read every row several times, with noise that is drawn for all readings of a row together.

What one edge adds to a row is bounded in each reading, so that the readings of a row, taken as one vector, move inside
a cube, and noise made for the cube (:class:`~dpgraph.privacy.reading_norm.ReadingNorm`) has a sixth of the variance
that Laplace noise has by composition, and less than Gaussian noise at delta = 1e-6 up to two dozen sweeps. It is pure.

Two filters follow the fields. Rows that will move again answer to the last reading nearly alone: what was read earlier
was said of a worse iterate, and a cut that spans the graph grows fastest if it is forgotten. The last answer weighs all
readings, for what is read last is as noisy as what was read before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from dpgraph.bounds import sensitivity
from dpgraph.denoise.kalman import FieldTracker
from dpgraph.exceptions import DPGraphError
from dpgraph.privacy.call import Call
from dpgraph.privacy.noise import ReadingNoise
from dpgraph.privacy.reading_norm import ReadingNorm, reading_grid
from dpgraph.releases.sweeps.one_sided import row_blocks
from dpgraph.releases.sweeps.oracle import Core, FieldOracle, Iteration
from dpgraph.tuning import REPEATED
from dpgraph.typing import FloatArray, IntArray

__all__ = ["release_repeated_sweeps"]


#: Blocks of a sweep after the first; rows of a block do not see each other move.
_BLOCKS = 200
#: With fewer sweeps half of them settle nothing that could be put right.
_REVISED_HALFWAY = 6


def release_repeated_sweeps(
    iteration: Iteration,
    variances: FloatArray,
    core: Core,
    call: Call,
    *,
    sweeps: int,
) -> tuple[FloatArray, FloatArray]:
    """Set the rows of the core for a part of a pure budget; return the iterate and estimates of the last fields.

    Parameters
    ----------
    iteration, variances
        As for :func:`~dpgraph.releases.sweeps.gaussian.release_iterates`; `revise` is asked after all sweeps, and if
        there are many also after half of them.
    core : Core
        Rows that are set; the order of the first sweep. All others stay zero.
    call : Call
        Part of a pure budget.
    sweeps : int
        At least 1.

    Returns
    -------
    X, fields : ndarray, shape (rows, columns)
        Zero outside the core.

    Notes
    -----
    *Guarantee.* Pure, by the theorem at :func:`~dpgraph.bounds.sensitivity.repeated_readings`, whose condition
    :class:`PublicIterate` keeps: no row is set before its first reading is gone. Fields of core rows read pairs inside
    the core only, because all other rows of the iterate are zero.
    """
    oracle, response, revise = iteration.oracle, iteration.response, iteration.revise
    norm, generator = ReadingNorm(sweeps), call.generator
    step, envelope, epsilon = reading_grid(oracle.envelope, oracle.columns, oracle.unit, call.epsilon)
    moved = sensitivity.repeated_readings(envelope, norm, from_zero=True)  # by PublicIterate
    name = f"fields, {sweeps} sweeps"
    scale = call.ledger.pure(name, mechanism="K-norm", sensitivity=moved, epsilon=epsilon, pairs=core.pairs)
    drawn = call.noise.readings((oracle.rows, oracle.columns), core.rows, norm, step, scale)
    iterate = PublicIterate(oracle, drawn, norm.variances(scale))
    filters = _Filters.before(oracle, core, variances)
    questions = (sweeps // 2, sweeps) if sweeps >= _REVISED_HALFWAY else (sweeps,)
    for t in tqdm(range(sweeps), desc="sweeps", disable=not iteration.progress):
        order = core.rows if t == 0 else generator.permutation(core.rows)
        for k, block in enumerate(row_blocks(order, _BLOCKS) if t else row_blocks(order)):
            if t == k == 0:  # nothing is set yet: fields are zero whatever the data
                new = response.start(block.size, generator)
            else:
                filters.observe(block, *iterate.read(block))
                new = response.answer(block, *filters.ratio(block, t, sweeps), iterate.X)
            filters.moved(block, new - iterate.X[block])
            iterate.set(block, new)
        if t == 0:
            filters.see_all()
        if revise is not None and t + 1 in questions:
            revised = revise(iterate.X, filters.last.mean, 1 / len(questions), f"after sweep {t + 1}")
            if revised is not iterate.X:  # what was read of another iterate says nothing of this one
                iterate.replace(revised)
                filters = _Filters.before(oracle, core, variances)
                filters.see_all()
    return iterate.X, filters.last.mean


class PublicIterate:
    """The public iterate X, zero at every row that can still be read for the first time.

    This is what :func:`~dpgraph.bounds.sensitivity.repeated_readings` asks for, and nothing else sets or reads rows:
    X starts at zero, and a row that is set without having been read forgoes its first reading.

    Parameters
    ----------
    oracle : FieldOracle
        The private data.
    readings : ReadingNoise
        Noise of all readings.
    variances : tuple of float
        Variance of a first reading, and of a later one.
    """

    def __init__(self, oracle: FieldOracle, readings: ReadingNoise, variances: tuple[float, float]) -> None:
        self.X = np.zeros((oracle.rows, oracle.columns))
        self._oracle, self._readings, self._variances = oracle, readings, variances
        self._fresh = np.ones(oracle.rows, dtype=bool)

    def read(self, block: IntArray) -> tuple[FloatArray, float]:
        """Release the fields of `block`, rows that are all read for the first time or all again; also the variance."""
        fresh = self._fresh[block]
        if fresh.any() and not fresh.all():
            raise DPGraphError("internal error: some rows of a block are read for the first time, others again")
        self._fresh[block] = False
        release = self._readings.first if fresh.all() else self._readings.later
        return release(block, self._oracle.fields(block, self.X)), self._variances[0 if fresh.all() else 1]

    def set(self, block: IntArray, new: FloatArray) -> None:
        """Set rows."""
        self._fresh[block] = False
        self.X[block] = new

    def replace(self, X: FloatArray) -> None:
        """Go on with another public iterate that is zero at rows without a reading."""
        if X[self._fresh].any():
            raise DPGraphError("internal error: a row would be set before its first reading")
        self.X = X


@dataclass
class _Filters:
    """What steers the sweeps and what gives the last answer; the prior variance of what no row has seen yet."""

    steering: FieldTracker
    last: FieldTracker
    unseen: FloatArray

    @classmethod
    def before(cls, oracle: FieldOracle, core: Core, variances: FloatArray) -> _Filters:
        """Before the first sweep, in which a row sees only those before it; degrees are those inside the core."""
        place, scales = np.zeros(oracle.rows), np.zeros(oracle.rows)
        place[core.rows] = (np.arange(core.size) + 0.5) / core.size
        scales[core.rows] = core.inside(variances)[core.rows]
        steering, last = (
            FieldTracker(scales, oracle.columns, prior=REPEATED.prior, drift=drift)
            for drift in (REPEATED.steering_drift, REPEATED.last_drift)
        )
        steering.variance *= place
        last.variance *= place
        return cls(steering, last, REPEATED.prior * scales * (1 - place))

    def see_all(self) -> None:
        """From now on rows see all others."""
        self.steering.variance += self.unseen
        self.last.variance += self.unseen

    def observe(self, block: IntArray, fields: FloatArray, variance: float) -> None:
        self.steering.observe(block, fields, variance)
        self.last.observe(block, fields, variance)

    def moved(self, block: IntArray, change: FloatArray) -> None:
        self.steering.moved(block, change)
        self.last.moved(block, change)

    def ratio(self, block: IntArray, sweep: int, sweeps: int) -> tuple[FloatArray, float]:
        """Signal-to-noise ratio to answer to in this sweep, counted from 0, and how sharply."""
        if sweep == sweeps - 1:
            return self.last.signal_to_noise(block), math.inf
        return self.steering.signal_to_noise(block), REPEATED.softness + (
            REPEATED.sharpness - REPEATED.softness
        ) * sweep / sweeps
