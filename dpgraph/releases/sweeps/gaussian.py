"""Bounded public iterates: no coherence, no gap, no halting (mathematics.md, section 6).

The iterate X (one row for each variable, entries of absolute value at most 1) is public at all times. A step reads the
exact fields of a block of rows, releases them with Gaussian noise, and moves the block against (or along) its estimated
fields. What one edge {i, j} changes is at most w |X_j| at row i and w |X_i| at row j, whatever n, the degrees and the
spectrum. A sweep releases every row once; one Kalman filter for each row averages the noise of all sweeps.

A pair whose two rows are never read while both are set costs nothing. So only a :class:`Core` of rows (of large
released degree) iterates; each other row is looked at when the core stands
(:mod:`~dpgraph.releases.sweeps.one_sided`), and that look may spend the whole budget again.

The same loop solves max-cut (one column, signs), bisection (the same with balanced blocks) and 2-CSPs (one column for
each label, simplex rows): a :class:`Response` says how a block answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dpgraph.arguments import check_choice
from dpgraph.bounds import sensitivity
from dpgraph.denoise.kalman import FieldTracker
from dpgraph.privacy.ledger import Ledger
from dpgraph.privacy.noise import NoiseSource

__all__ = [
    "GAUSSIAN_SCHEDULE",
    "ITERATE_UNIT",
    "LAPLACE_LIMIT",
    "LOOK_DELTA",
    "Core",
    "FieldOracle",
    "LabelScores",
    "Response",
    "Revision",
    "Schedule",
    "is_parallel",
    "is_pure",
    "release_iterates",
]

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

#: Iterates are multiples of this, so that fields lie exactly on a public grid (mathematics.md, section 10).
ITERATE_UNIT = 2.0**-8


@dataclass(frozen=True)
class Schedule:
    """Public parameters of the iteration, tuned on planted cuts, checked on real graphs.

    Parameters
    ----------
    sweeps : int
        Number of sweeps; each releases every row once.
    blocks : int
        Blocks of a sweep (fewer on graphs with fewer vertices).
    growth : float
        Sweep t = 1, 2, ... gets a share of the budget proportional to t**growth.
    softness, sharpness : float
        A row answers to a multiple of its field over the standard deviation of the field; the multiple grows from
        `softness` in the first sweep towards `sharpness` (a slow cooling), and is infinite in the last sweep.
    prior, drift : float
        See :class:`~dpgraph.denoise.kalman.FieldTracker`.
    """

    sweeps: int = 24
    blocks: int = 16
    growth: float = 0.5
    softness: float = 2.0
    sharpness: float = 16.0
    prior: float = 3.0
    drift: float = 0.5

    def shares(self) -> FloatArray:
        """Share of mu**2 of each sweep."""
        weights = np.arange(1, self.sweeps + 1, dtype=np.float64) ** self.growth
        return weights / weights.sum()

    def sharpness_of(self, sweep: int) -> float:
        """How sharply rows answer in this sweep, counted from 0."""
        if sweep == self.sweeps - 1:
            return math.inf
        return self.softness + (self.sharpness - self.softness) * sweep / self.sweeps


#: noise="auto" takes Laplace noise below this epsilon: at delta = 1e-6 a Gaussian look at epsilon = 1 is three times as
#: noisy as a Laplace look, but Laplace noise can afford only a few of them.
LAPLACE_LIMIT = 1.5

#: Share of delta that pays for a Laplace look beside Gaussian sweeps
#: (:meth:`~dpgraph.privacy.ledger.Ledger.laplace_beside`).
LOOK_DELTA = 0.05


def is_pure(noise: str, epsilon: float) -> bool:
    """Whether bounded iterates with this public choice of noise are pure (Laplace)."""
    check_choice("noise", noise, ("auto", "gaussian", "laplace"))
    return noise == "laplace" or (noise == "auto" and epsilon < LAPLACE_LIMIT)


def is_parallel(noise: str, epsilon: float) -> bool:
    """Whether Gaussian sweeps of the core and a Laplace look at the other rows stand side by side."""
    return noise == "auto" and not is_pure(noise, epsilon)


#: Gaussian noise: many sweeps, because composition is quadratic.
GAUSSIAN_SCHEDULE = Schedule()


@dataclass(frozen=True)
class LabelScores:
    """Private counts whose product with a public relation says what each label is worth.

    Parameters
    ----------
    counts : callable
        ``counts(block, X)``: weight of the edges of the rows `block` to each label. Private.
    relation : ndarray, shape (columns, columns)
        What a pair of labels earns, public.
    bound : float
        Bound on the l1 change of one row of counts, and on the change of the scores of a row, all in one direction.
    single : bool
        Labels are chosen in a single sweep of all rows only; otherwise fields are released, for what they tell of the
        labels that are not best.
    """

    counts: Callable[[IndexArray, FloatArray], FloatArray]
    relation: FloatArray
    bound: float
    single: bool = False


@dataclass(frozen=True)
class FieldOracle:
    """The private data behind a bounded iteration.

    Parameters
    ----------
    rows, columns : int
        Shape of the iterate.
    fields : callable
        ``fields(block, X)``: exact fields of the rows `block`, shape (len(block), columns). Private.
    unit : float
        Fields of iterates on the grid :data:`ITERATE_UNIT` are multiples of this.
    row_bound : float
        Bound on the l2 change of one row of the fields between neighbours; at most two rows change.
    row_bound_l1 : float
        The same in l1.
    envelope : float
        Sum over the entries of a row of the most that each of them changes at any iterate.
    scores : LabelScores, optional
        What each column is worth as a label, where that is public.
    """

    rows: int
    columns: int
    fields: Callable[[IndexArray, FloatArray], FloatArray]
    unit: float
    row_bound: float
    row_bound_l1: float
    envelope: float
    scores: LabelScores | None = None


@dataclass(frozen=True)
class Core:
    """A public order of all rows, and how many of the first ones iterate.

    Parameters
    ----------
    order : ndarray of int64, shape (rows,)
        Order of the first sweep and of the last look.
    size : int
        0 <= size <= rows.
    """

    order: IndexArray
    size: int

    @property
    def rows(self) -> IndexArray:
        """The rows that iterate."""
        return self.order[: self.size]

    @property
    def others(self) -> IndexArray:
        """The rows that are looked at once."""
        return self.order[self.size :]

    @property
    def pairs(self) -> str:
        """Which pairs the sweeps of the core read, for the ledger."""
        return "inside the core" if self.others.size else ""

    @property
    def other_pairs(self) -> str:
        """Which pairs the looks at the other rows read."""
        return "outside the core" if self.size else ""

    def inside(self, degrees: FloatArray) -> FloatArray:
        """Expected degrees inside the core, if edges choose their ends in proportion to the degrees."""
        return degrees * float(degrees[self.rows].sum() / degrees.sum())


#: ``revise(X, fields, part, when)``: another iterate that is zero on the same rows, or X itself, for a part of what
#: all such questions may cost. In a parallel call that is a pure stage, which may come at any time
#: (:meth:`~dpgraph.privacy.ledger.Ledger.stage`).
Revision = Callable[[FloatArray, FloatArray, float, str], FloatArray]


class Response(Protocol):
    """How a block answers to its fields; everything here is public."""

    def start(self, size: int, generator: np.random.Generator) -> FloatArray:
        """Rows for the first block, drawn independently of the data."""
        ...

    def answer(self, block: IndexArray, ratio: FloatArray, sharpness: float, X: FloatArray) -> FloatArray:
        """Rows of `block` for fields of signal-to-noise `ratio` at X; infinitely sharp in the last sweep."""
        ...


def release_iterates(
    oracle: FieldOracle,
    response: Response,
    variances: FloatArray,
    *,
    ledger: Ledger,
    share: float,
    noise: NoiseSource,
    schedule: Schedule,
    core: Core | None = None,
    revise: Revision | None = None,
    progress: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Run the iteration for a share of a Gaussian budget; return the last iterate and estimates of the last fields.

    Parameters
    ----------
    oracle : FieldOracle
        The private data.
    response : Response
        The public answer of a block.
    variances : ndarray, shape (rows,)
        Public scale of the variance of a field at each row (released degrees).
    ledger, share, noise
        Budget of the call, share of mu**2 for this release, source of noise.
    schedule : Schedule
        Public parameters.
    core : Core, optional
        Rows that iterate; the others stay zero. By default all rows iterate.
    revise : callable, optional
        Asked after half of the sweeps and after all whether to go on with another iterate.
    progress : bool
        Show a bar on stderr (its length is public).

    Notes
    -----
    *Core and others compose in parallel.* While the core iterates, the other rows of X are zero, so that its fields
    read pairs inside the core only. Looks at the others read no field of a core row, and a pair {i, j} outside the core
    shows at one of its rows only, as in a first sweep (:func:`~dpgraph.bounds.sensitivity.first_sweep`). Which kind a
    pair is, the released core says: whatever the pair, one of the two stages reads it. Both may spend the same budget.
    """
    if core is None:
        core = Core(noise.generator.permutation(oracle.rows), oracle.rows)
    run = _Run(oracle, response, noise.generator, np.zeros((oracle.rows, oracle.columns)))
    scales = core.inside(variances)
    new_tracker = partial(FieldTracker, scales, oracle.columns, prior=schedule.prior, drift=schedule.drift)
    tracker = new_tracker()
    middle = schedule.sweeps // 2
    for t, sweep_share in enumerate(tqdm(schedule.shares(), desc="sweeps", disable=not progress)):
        release = _sweep_release(oracle, t, ledger, share * float(sweep_share), noise, pairs=core.pairs)
        order = core.rows if t == 0 else noise.generator.permutation(core.rows)
        run.sweep(order, schedule.blocks, release, tracker, schedule.sharpness_of(t))
        if revise is not None and t + 1 in (middle, schedule.sweeps):
            revised = revise(run.X, tracker.mean, 0.5, f"after sweep {t + 1}")
            if revised is not run.X:  # what was read of another iterate says nothing of this one
                run.X, tracker = revised, new_tracker()
    return run.X, tracker.mean


@dataclass(frozen=True)
class _Release:
    """Adds the noise of one sweep to exact fields; its variance."""

    add_noise: Callable[[FloatArray], FloatArray]
    variance: float


@dataclass
class _Run:
    """The public iterate X and how a sweep changes it."""

    oracle: FieldOracle
    response: Response
    generator: np.random.Generator
    X: FloatArray

    def sweep(self, order: IndexArray, blocks: int, release: _Release, tracker: FieldTracker, sharpness: float) -> None:
        """Release the rows in `order` block by block and let each block answer."""
        for block in np.array_split(order, min(blocks, order.size)):
            if not self.X.any():  # nothing is set yet: fields are zero whatever the data
                new = self.response.start(block.size, self.generator)
            else:
                tracker.observe(block, release.add_noise(self.oracle.fields(block, self.X)), release.variance)
                new = self.response.answer(block, tracker.signal_to_noise(block), sharpness, self.X)
            tracker.moved(block, new - self.X[block])
            self.X[block] = new


def _sweep_release(
    oracle: FieldOracle, sweep: int, ledger: Ledger, share: float, noise: NoiseSource, *, pairs: str
) -> _Release:
    """Enter one sweep in the ledger.

    While X is still zero on the rows that come later, an edge is seen by one of its ends only, so that the first sweep
    costs one row and each further one two.
    """
    bound = (sensitivity.first_sweep if sweep == 0 else sensitivity.row_release)(oracle.row_bound)
    mu = ledger.mu * math.sqrt(share)
    scale = ledger.gaussian(f"fields, sweep {sweep + 1}", sensitivity=bound, mu=mu, pairs=pairs)
    return _Release(lambda fields: noise.gaussian_on_grid(fields, oracle.unit, scale), scale**2)
